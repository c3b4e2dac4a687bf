#include "engine/metrics/origins.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "engine/base/hash.h"
#include "engine/metrics/innermost.h"

namespace advise {
namespace {

constexpr std::size_t kTensors = 2;  // whose sizes tell two operators of a name apart
constexpr std::string_view kModule = "nn.Module: ";

class OriginFinder : Finder {
 public:
  explicit OriginFinder(const Basis& basis) : Finder(basis) {}

  Origins Find() {
    for (const Step& step : run_.steps.all) step_starts_.push_back(step.start);
    operator_of_ = InnermostOfCalls(trace_.operators, trace_, [](std::uint32_t) { return true; });
    range_of_ = InnermostOfCalls(trace_.ranges, trace_, [&](std::uint32_t row) {
      return !std::binary_search(step_starts_.begin(), step_starts_.end(),
                                 trace_.ranges.start[row]);
    });
    module_of_ = InnermostOfCalls(trace_.python_frames, trace_, [&](std::uint32_t row) {
      return trace_.strings[trace_.python_frames.name[row]].starts_with(kModule);
    });
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) Add(op);
    std::vector<std::pair<Key, Sum>> sums(sums_.begin(), sums_.end());
    std::sort(sums.begin(), sums.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    Origins origins;
    for (const auto& [key, sum] : sums) origins.rows.push_back(RowOf(key, sum));
    std::stable_sort(origins.rows.begin(), origins.rows.end(),
                     [](const OriginRow& a, const OriginRow& b) { return a.time_ns > b.time_ns; });
    return origins;
  }

 private:
  // Kernel by its shape, kNone of a whole graph; operator by name and inputs; range or module.
  using Key = std::tuple<std::uint32_t, StringId, std::uint32_t, StringId>;
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      Fnv1a hash;
      std::apply([&](const auto... parts) { (hash.Add(parts), ...); }, key);
      return hash.value();
    }
  };
  struct Sum {
    std::int64_t count = 0;
    double time = 0;
    double placed = 0;  // time of what lies in a step
    double place = 0;   // weighted by that
  };

  void Add(std::uint32_t op) {
    const OpKind kind = trace_.ops.kind[op];
    const Nanos start = trace_.ops.start[op];
    const bool whole = kind == OpKind::kGraph;
    if ((kind != OpKind::kKernel && !whole) || !basis_.InWindow(start)) return;
    if (run_.IsComm(op)) return;
    const auto time = static_cast<double>(trace_.ops.end[op] - start);
    Sum& sum = sums_[KeyOf(op, whole)];
    sum.count += 1;
    sum.time += time;
    const std::uint32_t step = run_.steps.At(start);
    if (step == kNone) return;
    const Step& within = run_.steps.all[step];
    sum.placed += time;
    sum.place += time * static_cast<double>(start - within.start) /
                 static_cast<double>(std::max<Nanos>(1, within.Length()));
  }

  Key KeyOf(std::uint32_t op, bool whole) const {
    Key key = {whole ? kNone : trace_.ops.detail[op], kNone, kNone, kNone};
    const std::uint32_t call = trace_.ops.call[op];
    if (call == kNone) return key;
    const auto row_of = [call](const std::vector<std::uint32_t>& of) {
      return of.empty() ? kNone : of[call];
    };
    if (const std::uint32_t row = row_of(operator_of_); row != kNone) {
      std::get<1>(key) = trace_.operators.name[row];
      if (!trace_.operators.inputs.empty()) std::get<2>(key) = trace_.operators.inputs[row];
    }
    if (const std::uint32_t range = row_of(range_of_); range != kNone) {
      std::get<3>(key) = trace_.ranges.name[range];
    } else if (const std::uint32_t module = row_of(module_of_); module != kNone) {
      std::get<3>(key) = trace_.python_frames.name[module];
    }
    return key;
  }

  OriginRow RowOf(const Key& key, const Sum& sum) const {
    const auto& [shape, op, inputs, range] = key;
    OriginRow row;
    row.kernel_class = "graph";
    if (shape != kNone) {
      row.kernel = trace_.strings[trace_.shapes[shape].name];
      row.kernel_class = run_.names.Kernel(shape).name;
      row.blocks = static_cast<double>(trace_.shapes[shape].Blocks());
      row.threads = static_cast<double>(trace_.shapes[shape].ThreadsPerBlock());
    }
    if (op != kNone) row.op = trace_.strings[op];
    if (inputs != kNone) row.sizes = SizesOf(trace_.operator_inputs[inputs]);
    if (range != kNone) row.range = trace_.strings[range];
    if (sum.placed > 0) row.place = sum.place / sum.placed;
    row.count = sum.count;
    row.time_ns = sum.time;
    return row;
  }

  static std::string SizesOf(const OperatorInputs& inputs) {
    std::string text;
    for (std::size_t i = 0; i < std::min(kTensors, inputs.tensors.size()); ++i) {
      text += fmt::format("{}[{}]", i == 0 ? "" : " ", fmt::join(inputs.tensors[i].sizes, ", "));
    }
    return text;
  }

  std::vector<Nanos> step_starts_;
  std::vector<std::uint32_t> operator_of_, range_of_, module_of_;  // by call
  std::unordered_map<Key, Sum, KeyHash> sums_;
};

}  // namespace

Origins FindOrigins(const Basis& basis) { return OriginFinder(basis).Find(); }

}  // namespace advise
