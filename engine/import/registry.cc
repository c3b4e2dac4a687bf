// Which importer reads a file, and what to say of files that none reads.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "engine/import/foreign.h"
#include "engine/import/importer.h"
#include "engine/import/kineto/kineto.h"
#include "engine/import/links/nccl_log.h"
#include "engine/import/links/topology_text.h"
#include "engine/import/monitors/dcgm.h"
#include "engine/import/monitors/dmon.h"
#include "engine/import/monitors/smi_csv.h"
#include "engine/import/ncu/ncu_csv.h"
#include "engine/import/ncu/ncu_rep.h"
#include "engine/import/nsys/nsys_report.h"
#include "engine/import/nsys/nsys_sqlite.h"

namespace advise {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeadBytes = 65536;  // logs may open with much that is not theirs

// The first bytes of a file that has some.
Result<std::string> ReadHead(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    return Fail("no such file", path, "check the path");
  }
  if (fs::is_directory(status)) {
    return Fail("a directory, not a report", path, "give the files inside it");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Fail(fmt::format("cannot be opened: {}", std::strerror(errno)), path,
                "check that you may read it");
  std::string head(kHeadBytes, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  if (head.empty()) return Fail("the file is empty", path, "was the export or the copy cut short?");
  return head;
}

}  // namespace

const std::vector<const Importer*>& Importers() {
  static const NsysSqliteImporter nsys_sqlite;
  static const NsysReportImporter nsys_report;
  static const KinetoImporter kineto;
  static const NcuReportImporter ncu_report;
  static const NcuCsvImporter ncu_csv;
  static const NcclLogImporter nccl_log;
  static const SmiCsvImporter smi_csv;
  static const DmonImporter dmon;
  static const DcgmImporter dcgm;
  static const TopologyImporter topology;
  static const std::vector<const Importer*> all = {&nsys_sqlite, &ncu_report, &nsys_report, &kineto,
                                                   &ncu_csv,     &nccl_log,   &smi_csv,     &dmon,
                                                   &dcgm,        &topology};
  return all;
}

std::string_view ImporterNameOf(const std::string& path) {
  const Result<std::string> head = ReadHead(path);
  if (!head) return "";
  for (const Importer* importer : Importers()) {
    if (importer->Sniff(*head, path)) return importer->Name();
  }
  return "";
}

Result<Trace> ImportReport(const std::string& path, const ImportOptions& options) {
  const Result<std::string> head = ReadHead(path);
  if (!head) return tl::unexpected(head.error());
  for (const Importer* importer : Importers()) {
    if (importer->Sniff(*head, path)) return importer->Import(path, options);
  }
  return tl::unexpected(ForeignFile(*head, path));
}

}  // namespace advise
