#include "engine/metrics/losses/host/sampled_functions.h"

#include <algorithm>
#include <utility>

#include "engine/base/text.h"

namespace advise {
namespace {

std::string NameOf(const Trace& trace, StringId symbol, StringId module) {
  const std::string& name = trace.strings[symbol];
  if (!name.empty()) return KernelInWords(name);
  const std::string& file = trace.strings[module];
  return SafeText(file.substr(file.rfind('/') + 1));
}

}  // namespace

SampledFunctions::SampledFunctions(const Trace& trace)
    : trace_(trace), of_thread_(RowsByThread(trace.samples.thread, trace.threads.size())) {}

void SampledFunctions::Add(std::uint32_t thread, Nanos start, Nanos end) {
  const SampleTable& samples = trace_.samples;
  const auto last = samples.time.begin() + of_thread_[thread].last;
  auto at = std::lower_bound(samples.time.begin() + of_thread_[thread].first, last, start);
  for (; at != last && *at < end; ++at) {
    const auto row = static_cast<std::size_t>(at - samples.time.begin());
    ++samples_[{samples.symbol[row], samples.module[row]}];
  }
}

std::vector<SampledFunction> SampledFunctions::MostFirst() const {
  std::map<std::string, double> by_name;
  for (const auto& [key, count] : samples_) {
    const std::string name = NameOf(trace_, key.first, key.second);
    if (!name.empty()) by_name[name] += count;
  }
  std::vector<SampledFunction> functions;
  for (const auto& [name, count] : by_name) functions.push_back({name, count});
  std::stable_sort(
      functions.begin(), functions.end(),
      [](const SampledFunction& a, const SampledFunction& b) { return a.samples > b.samples; });
  return functions;
}

}  // namespace advise
