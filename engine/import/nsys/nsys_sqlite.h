// Nsight Systems SQLite exports (`nsys export --type sqlite`), all schema versions from 2020 on.
#pragma once

#include "engine/import/importer.h"

namespace advise {

class NsysSqliteImporter : public Importer {
 public:
  std::string_view Name() const override { return "nsys-sqlite"; }
  // Any SQLite file: databases of other programs get an error that says so.
  bool Sniff(std::string_view head, const std::string& path) const override;
  Result<Trace> Import(const std::string& path, const ImportOptions& options) const override;
};

}  // namespace advise
