// Reads Nsight Compute's own report files (.ncu-rep), told by their content.
#pragma once

#include "engine/import/importer.h"

namespace advise {

class NcuReportImporter : public Importer {
 public:
  std::string_view Name() const override { return "ncu-rep"; }
  bool Sniff(std::string_view head, const std::string& path) const override;
  Result<Trace> Import(const std::string& path, const ImportOptions& options) const override;
};

}  // namespace advise
