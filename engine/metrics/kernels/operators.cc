#include "engine/metrics/kernels/operators.h"

#include <algorithm>
#include <map>

#include "engine/timeline/python_frames.h"

namespace advise {
namespace {

// Walks the spans of one thread, outer before inner, beside its calls in time order.
template <typename Enter, typename Leave, typename At>
void Walk(const RangeTable& spans, RowRange rows, const CallTable& calls, RowRange own, Enter enter,
          Leave leave, At at) {
  std::vector<std::uint32_t> open;
  std::uint32_t call = own.first;
  const auto close_until = [&](Nanos time) {
    while (!open.empty() && spans.end[open.back()] <= time) {
      leave(open);
      open.pop_back();
    }
  };
  const auto calls_until = [&](Nanos time) {
    for (; call < own.last && calls.start[call] < time; ++call) {
      close_until(calls.start[call]);
      at(call, open);
    }
  };
  for (const std::uint32_t row : rows) {
    calls_until(spans.start[row]);
    close_until(spans.start[row]);
    open.push_back(row);
    enter(open);
  }
  for (; call < own.last; ++call) {
    close_until(calls.start[call]);
    at(call, open);
  }
  while (!open.empty()) {
    leave(open);
    open.pop_back();
  }
}

class OperatorFinder : Finder {
 public:
  explicit OperatorFinder(const Basis& basis) : Finder(basis) {}

  Operators Find() {
    Frames();
    if (trace_.operators.size() == 0) return std::move(result_);
    GpuOfCalls();
    result_.of_call.assign(trace_.calls.size(), kNone);
    const std::vector<RowRange> rows = RowsByThread(trace_.operators.thread, trace_.threads.size());
    for (std::uint32_t t = 0; t < trace_.threads.size(); ++t) Thread(rows[t], t);
    for (const auto& [name, stat] : stats_) {
      if (stat.count > 0) result_.by_name.push_back(stat);
    }
    std::stable_sort(result_.by_name.begin(), result_.by_name.end(),
                     [](const OperatorStat& a, const OperatorStat& b) {
                       return a.host_self_ns > b.host_self_ns;
                     });
    MainOfKernels();
    return std::move(result_);
  }

 private:
  void GpuOfCalls() {
    gpu_of_call_.assign(trace_.calls.size(), 0);
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      const std::uint32_t call = trace_.ops.call[op];
      if (call == kNone || run_.IsComm(op)) continue;
      gpu_of_call_[call] += static_cast<double>(Length(op));
    }
  }

  bool Counts(std::uint32_t row) const { return basis_.InWindow(trace_.operators.start[row]); }

  // Whether no operator around the one at `depth` has its name: totals must not count it twice.
  bool IsOutermost(const std::vector<std::uint32_t>& open, std::size_t depth) const {
    const StringId name = trace_.operators.name[open[depth]];
    return std::none_of(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(depth),
                        [&](std::uint32_t row) { return trace_.operators.name[row] == name; });
  }

  void Thread(RowRange rows, std::uint32_t thread) {
    const RangeTable& operators = trace_.operators;
    const auto enter = [&](const std::vector<std::uint32_t>& open) {
      const std::uint32_t row = open.back();
      if (!Counts(row)) return;
      const auto length = static_cast<double>(operators.end[row] - operators.start[row]);
      OperatorStat& stat = stats_[operators.name[row]];
      stat.name = operators.name[row];
      ++stat.count;
      stat.host_self_ns += length;
      if (IsOutermost(open, open.size() - 1)) stat.host_ns += length;
      if (open.size() > 1 && Counts(open[open.size() - 2])) {
        stats_[operators.name[open[open.size() - 2]]].host_self_ns -= length;
      }
    };
    const auto at = [&](std::uint32_t call, const std::vector<std::uint32_t>& open) {
      if (open.empty()) return;
      result_.of_call[call] = open.back();
      const double gpu = gpu_of_call_[call];
      if (gpu <= 0) return;
      OperatorStat& own = stats_[operators.name[open.back()]];
      own.name = operators.name[open.back()];
      own.gpu_self_ns += gpu;
      ++own.launches;
      for (std::size_t i = 0; i < open.size(); ++i) {
        if (IsOutermost(open, i)) stats_[operators.name[open[i]]].gpu_ns += gpu;
      }
    };
    Walk(
        operators, rows, trace_.calls, run_.calls_of_thread[thread], enter,
        [](const std::vector<std::uint32_t>&) {}, at);
  }

  void Frames() {
    if (trace_.python_frames.size() == 0) return;
    result_.frame_of_call.assign(trace_.calls.size(), kNone);
    const RangeTable& frames = trace_.python_frames;
    const std::vector<RowRange> rows = RowsByThread(frames.thread, trace_.threads.size());
    OwnPythonFrames own(run_);
    for (std::uint32_t t = 0; t < trace_.threads.size(); ++t) {
      Walk(
          frames, rows[t], trace_.calls, run_.calls_of_thread[t],
          [](const std::vector<std::uint32_t>&) {}, [](const std::vector<std::uint32_t>&) {},
          [&](std::uint32_t call, const std::vector<std::uint32_t>& open) {
            const auto inner = std::find_if(open.rbegin(), open.rend(), [&](std::uint32_t row) {
              return own.Has(frames.name[row]);
            });
            if (inner != open.rend()) result_.frame_of_call[call] = *inner;
          });
    }
  }

  void MainOfKernels() {
    std::map<std::pair<StringId, StringId>, double> time;  // (kernel, operator)
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      const std::uint32_t call = trace_.ops.call[op];
      if (trace_.ops.kind[op] != OpKind::kKernel || call == kNone ||
          result_.of_call[call] == kNone) {
        continue;
      }
      time[{trace_.shapes[trace_.ops.detail[op]].name,
            trace_.operators.name[result_.of_call[call]]}] += static_cast<double>(Length(op));
    }
    result_.main_of_kernel.assign(trace_.strings.size(), 0);
    std::vector<double> most(trace_.strings.size(), 0);
    for (const auto& [key, total] : time) {
      if (total <= most[key.first]) continue;
      most[key.first] = total;
      result_.main_of_kernel[key.first] = key.second;
    }
  }

  std::vector<double> gpu_of_call_;
  std::map<StringId, OperatorStat> stats_;
  Operators result_;
};

}  // namespace

const OperatorStat* Operators::Find(const Trace& trace, std::string_view name) const {
  for (const OperatorStat& stat : by_name) {
    if (trace.strings[stat.name] == name) return &stat;
  }
  return nullptr;
}

Operators FindOperators(const Basis& basis) { return OperatorFinder(basis).Find(); }

std::string SourceOfCall(const Trace& trace, const Operators& operators, std::uint32_t call) {
  if (call >= operators.frame_of_call.size() || operators.frame_of_call[call] == kNone) return "";
  return trace.strings[trace.python_frames.name[operators.frame_of_call[call]]];
}

}  // namespace advise
