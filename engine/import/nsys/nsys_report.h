// Reads Nsight Systems' own report files (.nsys-rep, .qdrep) by way of `nsys export`.
#pragma once

#include "engine/import/importer.h"

namespace advise {

class NsysReportImporter : public Importer {
 public:
  std::string_view Name() const override { return "nsys-sqlite"; }
  bool Sniff(std::string_view head, const std::string& path) const override;
  Result<Trace> Import(const std::string& path, const ImportOptions& options) const override;
};

}  // namespace advise
