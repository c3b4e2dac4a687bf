#include "engine/metrics/losses/serving/engine_steps.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

namespace advise {
namespace {

struct Sized {
  Nanos start;
  StepSize size;
};

class EngineStepFinder : Finder {
 public:
  explicit EngineStepFinder(const Basis& basis) : Finder(basis) {}

  EngineSteps Find() {
    for (const std::uint32_t thread : run_.launching_threads) {
      const std::vector<Sized> steps = StepsOf(thread);
      Measure(steps, EndsOf(thread, steps));
    }
    if (!sequences_.empty()) result_.sequences = Median(sequences_);
    if (!tokens_.empty()) result_.tokens = Median(tokens_);
    if (!waiting_.empty()) result_.waiting = Median(waiting_);
    const double generating = Sum(generating_);
    const double reading = Sum(reading_);
    if (!generating_.empty()) result_.generating = static_cast<Nanos>(Median(generating_));
    if (!reading_.empty()) result_.reading = static_cast<Nanos>(Median(reading_));
    if (reading > 0) result_.reading_share = reading / (generating + reading);
    return result_;
  }

 private:
  static double Sum(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum;
  }

  const std::optional<StepSize>& SizeOf(StringId name) {
    const auto [at, is_new] = sizes_.try_emplace(name);
    if (is_new) at->second = run_.knowledge.StepSizeOf(run_.trace.strings[name]);
    return at->second;
  }

  // Of ranges inside each other, the outermost.
  std::vector<Sized> StepsOf(std::uint32_t thread) {
    std::vector<Sized> steps;
    const Trace& trace = run_.trace;
    const RowRange rows = run_.ranges_of_thread[thread];
    Nanos end = std::numeric_limits<Nanos>::min();
    for (const std::uint32_t r : rows) {
      const Nanos start = trace.ranges.start[r];
      const bool inside = trace.ranges.end[r] > run_.window.start && start < run_.window.end;
      // Where no loop was found, all that was launched is of the window.
      if (start < end || (run_.steps.known() && !inside)) continue;
      const auto& size = SizeOf(trace.ranges.name[r]);
      if (!size) continue;
      end = trace.ranges.end[r];
      steps.push_back({start, *size});
    }
    return steps;
  }

  void Measure(const std::vector<Sized>& steps, const std::vector<Nanos>& ends) {
    std::int64_t generated = 0;  // by the last step that generated
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const StepSize& size = steps[i].size;
      ++result_.count;
      if (size.ReadsPrompts()) {
        ++result_.with_prompts;
        if (size.tokens > 0) tokens_.push_back(static_cast<double>(size.tokens));
        waiting_.push_back(static_cast<double>(std::max(generated, size.sequences)));
      }
      if (size.sequences > 0) {
        generated = size.sequences;
        sequences_.push_back(static_cast<double>(generated));
      }
      if (const auto time = TimeOf(steps, ends, i); time > 0)
        (size.ReadsPrompts() ? reading_ : generating_).push_back(static_cast<double>(time));
    }
  }

  // From one end on the GPU to the next, which is when its tokens are there. The host's ranges do
  // not tell: a server that launches ahead waits for a long step while the range of the next one is
  // open. 0 where the first or the last step has no other.
  static Nanos TimeOf(const std::vector<Sized>& steps, const std::vector<Nanos>& ends,
                      std::size_t i) {
    if (i > 0 && ends[i] > 0 && ends[i - 1] > 0) return ends[i] - ends[i - 1];
    const bool known = ends[i] > 0 || i + 1 == steps.size();
    return known ? 0 : steps[i + 1].start - steps[i].start;
  }

  // When the work is done that each step launched; 0 where it launched none.
  std::vector<Nanos> EndsOf(std::uint32_t thread, const std::vector<Sized>& steps) const {
    std::vector<Nanos> ends(steps.size(), 0);
    const Trace& trace = run_.trace;
    std::size_t step = 0;
    for (const std::uint32_t call : run_.calls_of_thread[thread]) {
      const Nanos start = trace.calls.start[call];
      while (step < steps.size() && steps[step].start <= start) ++step;
      const std::uint32_t op = run_.first_op_of_call[call];
      if (step == 0 || op == kNone || trace.ops.kind[op] == OpKind::kCopy) continue;
      ends[step - 1] = std::max(ends[step - 1], trace.ops.end[op]);
    }
    return ends;
  }

  std::unordered_map<StringId, std::optional<StepSize>> sizes_;
  std::vector<double> sequences_, tokens_, waiting_, generating_, reading_;
  EngineSteps result_;
};

}  // namespace

EngineSteps FindEngineSteps(const Basis& basis) { return EngineStepFinder(basis).Find(); }

}  // namespace advise
