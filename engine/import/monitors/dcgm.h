// Reads `dcgmi dmon` tables and the Prometheus text of dcgm-exporter.
#pragma once

#include "engine/import/importer.h"

namespace advise {

class DcgmImporter : public Importer {
 public:
  std::string_view Name() const override { return "dcgm"; }
  bool Sniff(std::string_view head, const std::string& path) const override;
  Result<Trace> Import(const std::string& path, const ImportOptions& options) const override;
};

}  // namespace advise
