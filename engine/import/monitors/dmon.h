// Reads the table of `nvidia-smi dmon`, whatever columns it was asked for.
#pragma once

#include "engine/import/importer.h"

namespace advise {

class DmonImporter : public Importer {
 public:
  std::string_view Name() const override { return "dmon"; }
  bool Sniff(std::string_view head, const std::string& path) const override;
  Result<Trace> Import(const std::string& path, const ImportOptions& options) const override;
};

}  // namespace advise
