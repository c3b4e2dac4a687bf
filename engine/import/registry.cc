// Which importer reads a file, and what to say of files that none reads.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "engine/base/text.h"
#include "engine/import/foreign.h"
#include "engine/import/formats.h"
#include "engine/import/host_calls.h"
#include "engine/import/text_input.h"

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
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return Fail("a pipe or a device, not a file", path,
                "save what comes out of it in a file first");
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

// The formats that are text are told by, and read from, text in one encoding.
template <bool (*kSniff)(std::string_view)>
bool SniffText(std::string_view head, const std::string& /*path*/) {
  return kSniff(NormalText(head));
}

template <std::optional<Error> (*kRead)(std::string_view, const std::string&, Trace*)>
Result<Trace> ReadText(const std::string& path, const ImportOptions& /*options*/) {
  const auto text = ReadTextFileAsLines(path);
  if (!text) return tl::unexpected(text.error());
  Trace trace;
  if (const auto problem = kRead(*text, path, &trace)) return tl::unexpected(*problem);
  return trace;
}

constexpr auto kImporters = std::to_array<Importer>({
    {"rocprof", SniffRocprofDatabase, ReadRocprofDatabase, true},
    {"nsys-sqlite", SniffNsysSqlite, ReadNsysSqlite, true},
    {"ncu-rep", SniffNcuReport, ReadNcuReport},
    {"nsys-sqlite", SniffNsysReport, ReadNsysReport, true},
    {"rocprof", SniffRocprof, ReadRocprof, true},
    {"jax-trace", SniffJaxTrace, ReadJaxTrace, true},
    {"kineto", SniffKineto, ReadKineto, true},
    {"allocator-page", SniffText<SniffAllocatorPage>, ReadText<ReadAllocatorPage>},
    {"operator-table", SniffText<SniffOperatorTable>, ReadText<ReadOperatorTable>},
    {"ncu-text", SniffText<SniffNcuText>, ReadText<ReadNcuText>},
    {"ncu-source", SniffText<SniffNcuSource>, ReadText<ReadNcuSource>},
    {"ncu-csv", SniffText<SniffNcuCsv>, ReadText<ReadNcuCsv>},
    {"server-log", SniffText<SniffServerLog>, ReadText<ReadServerLog>},
    {"server-page", SniffText<SniffServerPage>, ReadText<ReadServerPage>},
    {"server-log", SniffText<SniffTrtLlmLog>, ReadText<ReadTrtLlmLog>},
    {"nccl-log", SniffText<SniffNcclLog>, ReadText<ReadNcclLog>},
    {"smi-page", SniffText<SniffSmiPage>, ReadText<ReadSmiPage>},
    {"smi-page", SniffText<SniffSmiTable>, ReadText<ReadSmiTable>},
    {"process-list", SniffText<SniffProcessList>, ReadText<ReadProcessList>},
    {"smi-csv", SniffText<SniffSmiCsv>, ReadText<ReadSmiCsv>},
    {"dmon", SniffText<SniffDmon>, ReadText<ReadDmon>},
    {"amd-smi", SniffText<SniffAmdSmi>, ReadText<ReadAmdSmi>},
    {"amd-smi", SniffText<SniffAmdSmiJson>, ReadText<ReadAmdSmiJson>},
    {"kernel-log", SniffText<SniffKernelLog>, ReadText<ReadKernelLog>},
    {"dcgm", SniffText<SniffDcgm>, ReadText<ReadDcgm>},
    {"topology", SniffText<SniffTopology>, ReadText<ReadTopology>},
    {"gpu-trace", SniffText<SniffGpuTrace>, ReadText<ReadGpuTrace>, true},
    {"nvprof-metrics", SniffText<SniffNvprofMetrics>, ReadText<ReadNvprofMetrics>},
    {"totals", SniffText<SniffTotals>, ReadText<ReadTotals>},
    {"folded-stacks", SniffText<SniffFoldedStacks>, ReadText<ReadFoldedStacks>},
});

// Exports may lack the table of names, and traces that were cut or rewritten the names themselves.
void NameUnnamedKernels(Trace* trace) {
  for (KernelShape& shape : trace->shapes) {
    if (!trace->strings[shape.name].empty()) continue;
    shape.name = trace->strings.Intern(UnnamedKernel(shape.Blocks(), shape.ThreadsPerBlock()));
    shape.short_name = shape.name;
  }
}

const Importer* ImporterFor(std::string_view head, const std::string& path) {
  const auto found =
      std::find_if(kImporters.begin(), kImporters.end(),
                   [&](const Importer& importer) { return importer.sniff(head, path); });
  return found == kImporters.end() ? nullptr : &*found;
}

}  // namespace

std::span<const Importer> Importers() { return kImporters; }

bool MayHaveTimeline(const std::string& path) {
  const Result<std::string> head = ReadHead(path);
  const Importer* const importer = head ? ImporterFor(*head, path) : nullptr;
  return importer == nullptr || importer->timeline;
}

std::string_view ImporterNameOf(const std::string& path) {
  const Result<std::string> head = ReadHead(path);
  const Importer* const importer = head ? ImporterFor(*head, path) : nullptr;
  return importer == nullptr ? std::string_view() : importer->kind;
}

Result<Trace> ImportReport(const std::string& path, const ImportOptions& options) {
  const Result<std::string> head = ReadHead(path);
  if (!head) return tl::unexpected(head.error());
  const Importer* const importer = ImporterFor(*head, path);
  if (importer == nullptr) return tl::unexpected(ForeignFile(*head, path));
  return ImportWith(*importer, path, options);
}

Result<Trace> ImportWith(const Importer& importer, const std::string& path,
                         const ImportOptions& options) {
  Result<Trace> trace = importer.read(path, options);
  if (trace) {
    trace->path = path;
    trace->kind = importer.kind;
    NameUnnamedKernels(&*trace);
    const std::size_t early = ForgetImpossibleLaunches(&*trace);
    if (early > 0)
      trace->diagnostics.Add(Level::kInfo, kClocksDisagree, "", static_cast<std::int64_t>(early));
  }
  return trace;
}

}  // namespace advise
