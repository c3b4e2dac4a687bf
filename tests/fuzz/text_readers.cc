// Logs, CSV and printed tables: told and read as the registry does, without a file.
#include <optional>

#include "engine/import/formats.h"
#include "engine/import/text_input.h"
#include "tests/fuzz/target.h"

namespace advise {
namespace {

struct TextFormat {
  bool (*sniff)(std::string_view head);
  std::optional<Error> (*read)(std::string_view text, const std::string& path, Trace* trace);
};

constexpr TextFormat kFormats[] = {
    {SniffAllocatorPage, ReadAllocatorPage},
    {SniffOperatorTable, ReadOperatorTable},
    {SniffNcuText, ReadNcuText},
    {SniffNcuSource, ReadNcuSource},
    {SniffNcuCsv, ReadNcuCsv},
    {SniffServerLog, ReadServerLog},
    {SniffServerPage, ReadServerPage},
    {SniffTrtLlmLog, ReadTrtLlmLog},
    {SniffKernelLog, ReadKernelLog},
    {SniffNcclLog, ReadNcclLog},
    {SniffSmiPage, ReadSmiPage},
    {SniffSmiTable, ReadSmiTable},
    {SniffSmiCsv, ReadSmiCsv},
    {SniffDmon, ReadDmon},
    {SniffAmdSmi, ReadAmdSmi},
    {SniffDcgm, ReadDcgm},
    {SniffTopology, ReadTopology},
    {SniffGpuTrace, ReadGpuTrace},
    {SniffNvprofMetrics, ReadNvprofMetrics},
    {SniffTotals, ReadTotals},
    {SniffFoldedStacks, ReadFoldedStacks},
};

}  // namespace
}  // namespace advise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace advise;
  const std::string_view raw = fuzz::TextOf(data, size);
  const std::string head = NormalText(raw.substr(0, 65536));
  const std::string text = NormalText(raw);
  for (const TextFormat& format : kFormats) {
    if (!format.sniff(head)) continue;
    Trace trace;
    if (const auto problem = format.read(text, "input", &trace)) fuzz::CheckError(*problem);
  }
  return 0;
}
