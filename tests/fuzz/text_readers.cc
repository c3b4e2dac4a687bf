// Logs, CSV and printed tables: told and read as the registry does, without a file.
#include <optional>

#include "engine/import/formats.h"
#include "engine/import/text_input.h"
#include "tests/fuzz/target.h"

namespace advise {
namespace {

struct TextFormat {
  bool (*told)(std::string_view head);
  std::optional<Error> (*read)(std::string_view text, const std::string& path, Trace* trace);
};

constexpr TextFormat kFormats[] = {
    {ToldAllocatorPage, ReadAllocatorPage},
    {ToldNcuText, ReadNcuText},
    {ToldNcuSource, ReadNcuSource},
    {ToldNcuCsv, ReadNcuCsv},
    {ToldServerLog, ReadServerLog},
    {ToldServerPage, ReadServerPage},
    {ToldTrtLlmLog, ReadTrtLlmLog},
    {ToldKernelLog, ReadKernelLog},
    {ToldNcclLog, ReadNcclLog},
    {ToldSmiPage, ReadSmiPage},
    {ToldSmiCsv, ReadSmiCsv},
    {ToldDmon, ReadDmon},
    {ToldDcgm, ReadDcgm},
    {ToldTopology, ReadTopology},
    {ToldGpuTrace, ReadGpuTrace},
    {ToldNvprofMetrics, ReadNvprofMetrics},
    {ToldTotals, ReadTotals},
    {ToldFoldedStacks, ReadFoldedStacks},
};

}  // namespace
}  // namespace advise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace advise;
  const std::string_view raw = fuzz::TextOf(data, size);
  const std::string head = NormalText(raw.substr(0, 65536));
  const std::string text = NormalText(raw);
  for (const TextFormat& format : kFormats) {
    if (!format.told(head)) continue;
    Trace trace;
    if (const auto problem = format.read(text, "input", &trace)) fuzz::CheckError(*problem);
  }
  return 0;
}
