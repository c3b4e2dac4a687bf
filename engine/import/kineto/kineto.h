// PyTorch profiler (Kineto) traces: Chrome trace JSON, plain or gzip, of all generations since
// 2020.
#pragma once

#include "engine/import/importer.h"

namespace advise {

class KinetoImporter : public Importer {
 public:
  std::string_view Name() const override { return "kineto"; }
  bool Sniff(std::string_view head, const std::string& path) const override;
  Result<Trace> Import(const std::string& path, const ImportOptions& options) const override;
};

}  // namespace advise
