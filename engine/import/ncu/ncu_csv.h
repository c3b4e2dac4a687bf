// Reads `ncu --csv`: the details page (a row a metric) and the raw page (a row a kernel).
#pragma once

#include "engine/import/importer.h"

namespace advise {

class NcuCsvImporter : public Importer {
 public:
  std::string_view Name() const override { return "ncu-csv"; }
  bool Sniff(std::string_view head, const std::string& path) const override;
  Result<Trace> Import(const std::string& path, const ImportOptions& options) const override;
};

}  // namespace advise
