// Reads what topology tools print: `nvidia-smi topo -m` and `-p2p`, `ibstat`; several of them
// mayn// stand in one file.
#pragma once

#include "engine/import/importer.h"

namespace advise {

class TopologyImporter : public Importer {
 public:
  std::string_view Name() const override { return "topology"; }
  bool Sniff(std::string_view head, const std::string& path) const override;
  Result<Trace> Import(const std::string& path, const ImportOptions& options) const override;
};

}  // namespace advise
