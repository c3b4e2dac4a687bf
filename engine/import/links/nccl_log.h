// Reads a log with NCCL's INFO lines, of one or of many ranks, with other output in between.
#pragma once

#include "engine/import/importer.h"

namespace advise {

class NcclLogImporter : public Importer {
 public:
  std::string_view Name() const override { return "nccl-log"; }
  bool Sniff(std::string_view head, const std::string& path) const override;
  Result<Trace> Import(const std::string& path, const ImportOptions& options) const override;
};

}  // namespace advise
