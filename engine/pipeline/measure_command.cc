#include "engine/pipeline/measure_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/base/is_in.h"
#include "engine/base/text.h"
#include "engine/facts/rows.h"

namespace advise {
namespace {

bool HasKernelsOfAmd(const Rows& rows, const Knowledge& knowledge) {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
    const auto* name = CellOf<std::string>(row, "name");
    return name != nullptr && RunsOnAmdOnly(knowledge, knowledge.ClassifyKernel(*name));
  });
}

}  // namespace

bool RunsOnAmdOnly(const Knowledge& knowledge, const KernelClass& kernel) {
  return !knowledge.ValueIn(NameList::kAmdLibrary, kernel.family).empty();
}

bool WroteAmdTool(const InputInfo& input) {
  return input.kind == "rocprof" || input.kind == "amd-smi" ||
         input.producer.starts_with("rocprof");
}

bool IsAmd(const Report& report) {
  const auto says = [](const std::string& text, std::string_view word) {
    return text.find(word) != std::string::npos;
  };
  return std::any_of(report.inputs.begin(), report.inputs.end(),
                     [&](const InputInfo& input) {
                       return WroteAmdTool(input) || says(input.producer, "ROCm") ||
                              says(input.producer, "rocprof");
                     }) ||
         std::any_of(report.devices.begin(), report.devices.end(), [&](const DeviceBudget& device) {
           return says(device.name, "AMD") || says(device.name, "Instinct");
         });
}

bool IsNvidia(const Report& report) {
  static constexpr auto kTools =
      std::to_array<std::string_view>({"nvidia-smi", "DCGM", "Nsight Compute", "nvprof", "nsys"});
  if (IsAmd(report)) return false;
  return !report.devices.empty() ||
         std::any_of(report.inputs.begin(), report.inputs.end(), [](const InputInfo& input) {
           return std::any_of(kTools.begin(), kTools.end(), [&](std::string_view tool) {
             return input.producer.starts_with(tool);
           });
         });
}

bool KernelsAreOfAmd(const Report& report, const Knowledge& knowledge) {
  const Rows* rows = FactRows(report, "summary.kernels");
  return rows != nullptr && HasKernelsOfAmd(*rows, knowledge);
}

namespace {

// The beginning of a long name, up to the word by which it differs from all others: profilers take
// a part of a name for the whole.
std::string Telling(const std::string& name, const std::vector<std::string>& all) {
  constexpr std::size_t kLong = 48;
  if (name.size() <= kLong) return name;
  std::size_t end = kLong / 2;
  for (const std::string& other : all) {
    if (other == name) continue;
    const auto differ =
        std::mismatch(name.begin(), name.end(), other.begin(), other.end()).first - name.begin();
    end = std::max(end, static_cast<std::size_t>(differ) + 1);
  }
  while (end < name.size() && name[end] != '_') ++end;
  return name.substr(0, end);
}

}  // namespace

std::string WindowOption(Nanos from, Nanos to) {
  constexpr Nanos kMillisecond = 1'000'000;
  const Nanos first = from / kMillisecond;
  const Nanos last = (to + kMillisecond - 1) / kMillisecond;
  return fmt::format("--window {}.{:03}:{}.{:03}", first / 1000, first % 1000, last / 1000,
                     last % 1000);
}

std::string CountWord(std::size_t count) {
  static constexpr std::array<const char*, 11> kWords = {
      "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"};
  return count < kWords.size() ? kWords[count] : std::to_string(count);
}

MeasureCommand CommandToMeasure(const Report& report, const Knowledge& knowledge) {
  MeasureCommand made;
  const Rows* rows = FactRows(report, "efficiency.unmeasured");
  if (rows == nullptr || rows->empty()) rows = FactRows(report, "summary.kernels");
  if (rows == nullptr) return made;
  const bool amd = IsAmd(report) || HasKernelsOfAmd(*rows, knowledge);
  std::vector<std::string> all;
  for (const Row& row : *rows) {
    const auto* text = CellOf<std::string>(row, "name");
    if (text != nullptr) all.push_back(KernelFunction(SafeText(*text)));
  }
  const auto most = knowledge.CountOf("measure.kernels");
  const double enough = knowledge.Number("measure.enough_share");
  std::vector<std::string> functions;
  double launches = 0;
  for (const Row& row : *rows) {
    const auto* text = CellOf<std::string>(row, "name");
    if (text == nullptr || functions.size() >= most || made.share >= enough) break;
    made.share += NumberIn(row, "share");
    launches += NumberIn(row, "count");
    ++made.kernels;
    const std::string function = Telling(KernelFunction(SafeText(*text)), all);
    if (!function.empty() && !IsIn(function, functions)) functions.push_back(function);
  }
  if (functions.empty()) return made;
  const char* const tool = amd ? "rocprof-compute" : "Nsight Compute";
  // A profiler of kernels counts the launches of each process by itself.
  const double processes = std::max(1.0, FactNumber(report, "run.processes").value_or(1));
  const char* const where = processes > 1 ? " in one process" : "";
  made.step = made.kernels == 1 ? fmt::format("Measure this kernel with {}{}.", tool, where)
                                : fmt::format("Measure these {} kernels with {}{}.",
                                              CountWord(made.kernels), tool, where);
  if (amd) {
    made.command = fmt::format("rocprof-compute profile --name run --kernel {} -- COMMAND",
                               fmt::join(functions, " "));
    return made;
  }
  // The first launches warm caches and clocks up; where there are many, those of the middle count.
  const double wanted = knowledge.Number("measure.launches") * static_cast<double>(made.kernels);
  const double of_one = std::floor(launches / processes);
  const double skip = of_one > 2 * wanted ? std::floor(of_one / 2) : 0;
  // An expression matches wherever it stands in a name: "kernel" is a part of most.
  std::vector<std::string> patterns;
  for (const std::string& function : functions)
    patterns.push_back(IsIn(function, all) ? function + "$" : function);
  made.command = fmt::format(
      "ncu --set full --kernel-name 'regex:^({})' --launch-skip {:.0f} --launch-count {:.0f} --csv "
      "--page raw --print-units base -- COMMAND > kernels.csv",
      fmt::join(patterns, "|"), skip, std::max(1.0, std::min(wanted, of_one)));
  return made;
}

}  // namespace advise
