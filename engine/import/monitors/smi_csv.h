// Reads the comma-separated log of `nvidia-smi --query-gpu`, with or without units, also when a
// scriptn// appended several runs or wrote the header itself.
#pragma once

#include "engine/import/importer.h"

namespace advise {

class SmiCsvImporter : public Importer {
 public:
  std::string_view Name() const override { return "smi-csv"; }
  bool Sniff(std::string_view head, const std::string& path) const override;
  Result<Trace> Import(const std::string& path, const ImportOptions& options) const override;
};

}  // namespace advise
