// Steps without annotations: from the periodicity of the GPU work itself.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "engine/base/median.h"
#include "engine/timeline/layers.h"
#include "engine/timeline/period.h"
#include "engine/timeline/repeats.h"
#include "engine/timeline/step.h"
#include "engine/timeline/step_sequence.h"
#include "engine/timeline/tokens.h"

namespace advise {
namespace {

// Median absolute deviation of the steady lengths over their median: what is usual, whatever stands
// out now and then (a checkpoint every few steps). 0 for fewer than four.
double Spread(const Steps& steps) {
  std::vector<Nanos> lengths;
  for (std::size_t i = steps.first_steady; i < steps.all.size(); ++i)
    lengths.push_back(steps.all[i].Length());
  if (lengths.size() < 4) return 0;
  const Nanos median = Median(lengths);
  const Nanos deviation = MedianDeviation(std::move(lengths), median);
  return median > 0 ? static_cast<double>(deviation) / static_cast<double>(median) : 0;
}

// A sequence of ops that comes back, cut into iterations.
class Iterations {
 public:
  Iterations(const Run& run, const GraphLaunches& launches,
             const std::vector<std::uint32_t>& sequence, const Tokens& tokens, const Period& period)
      : run_(run),
        ops_(run.trace.ops),
        launches_(launches),
        sequence_(sequence),
        tokens_(tokens),
        period_(period),
        cut_(BestCut()),
        begins_(Begins()) {}

  bool WaitsAtCut() const { return cut_ > 0; }

  std::vector<Step> All() const {
    const std::vector<Nanos> bounds = Bounds();
    std::vector<Step> all;
    for (std::size_t i = 1; i < bounds.size(); ++i) all.push_back({bounds[i - 1], bounds[i]});
    const Nanos usual = (bounds.back() - bounds.front()) /
                        static_cast<Nanos>(std::max<std::size_t>(2, bounds.size()) - 1);
    // The last one is complete when all its ops are there, and the first of the next. Where nothing
    // follows, it ends with its last op, unless each iteration ends with a wait.
    const std::size_t next = begins_.back() + period_.length;
    const auto min_count = run_.knowledge.CountOf("step.min_count");
    const bool is_whole = next < sequence_.size() ||
                          (next == sequence_.size() &&
                           (all.size() < min_count || !StepsEndWithWait(run_, GapsAtCut(), usual)));
    if (!is_whole) return all;
    const Nanos end = next < sequence_.size() ? ops_.start[sequence_[next]] : End(sequence_.back());
    if (end > bounds.back()) all.push_back({bounds.back(), end});
    return all;
  }

 private:
  std::size_t Offset() const { return cut_ % period_.length; }

  Nanos End(std::uint32_t op) const {
    const auto launch = launches_.find(ops_.call[op]);
    return launch == launches_.end() ? ops_.end[op] : launch->second.end;
  }

  // Where the device usually waits longest: that is where one iteration ends and the next begins.
  // Where no wait stands out, no cut is better than another: the anchor's own place keeps the most
  // whole iterations.
  std::size_t BestCut() const {
    auto longest = run_.knowledge.Time("idle.launch_latency");
    std::size_t cut = 0;
    for (std::size_t k = 0; k < period_.length; ++k) {
      const Nanos wait = UsualWait(k);
      if (wait > longest) longest = wait, cut = k + 1;
    }
    return cut;
  }

  // The lower median: a wait that only half of the repeats have is not their boundary.
  Nanos UsualWait(std::size_t k) const {
    std::vector<Nanos> waits;
    for (const std::size_t start : period_.starts) {
      if (start + k + 1 >= sequence_.size()) continue;
      waits.push_back(
          std::max<Nanos>(0, ops_.start[sequence_[start + k + 1]] - End(sequence_[start + k])));
    }
    return LowerMedian(std::move(waits));
  }

  // Where each iteration begins, in the sequence; the last one may lie behind its end. What is done
  // in few of them, such as a checkpoint, stands between the anchor and the cut: the op that
  // usually begins one is then further on.
  std::vector<std::size_t> Begins() const {
    std::map<std::uint64_t, std::size_t> count;
    std::vector<std::size_t> begins;
    for (const std::size_t start : period_.starts) {
      begins.push_back(start + Offset());
      if (begins.back() < sequence_.size()) ++count[tokens_.what[begins.back()]];
    }
    const auto usual =
        std::max_element(count.begin(), count.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    for (std::size_t i = 0; !count.empty() && i + 1 < begins.size(); ++i) {
      const std::size_t most = std::min(period_.starts[i + 1] + Offset(), sequence_.size());
      std::size_t at = begins[i];
      while (at < most && tokens_.what[at] != usual->first) ++at;
      if (at < most) begins[i] = at;
    }
    return begins;
  }

  std::vector<Nanos> Bounds() const {
    std::vector<Nanos> bounds;
    const std::size_t first = begins_.front();
    if (first >= period_.length) {  // an iteration before the first anchor may be whole
      bounds.push_back(ops_.start[sequence_[first - period_.length]]);
    }
    for (const std::size_t begin : begins_) {
      if (begin < sequence_.size()) bounds.push_back(ops_.start[sequence_[begin]]);
    }
    std::sort(bounds.begin(), bounds.end());
    bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
    return bounds;
  }

  std::vector<Interval> GapsAtCut() const {
    std::vector<Interval> gaps;
    for (const std::size_t first : begins_) {
      if (first == 0 || first >= sequence_.size()) continue;
      gaps.push_back({End(sequence_[first - 1]), ops_.start[sequence_[first]]});
    }
    return gaps;
  }

  const Run& run_;
  const OpTable& ops_;
  const GraphLaunches& launches_;
  const std::vector<std::uint32_t>& sequence_;
  const Tokens& tokens_;
  const Period& period_;
  const std::size_t cut_;
  const std::vector<std::size_t> begins_;
};

// Its kernels are none that layers of a model run, and it repeats too often for layers, too.
bool IsPlain(const Run& run, const std::vector<std::uint32_t>& sequence, const Period& period) {
  const std::size_t first = period.starts.front();
  const std::size_t last = std::min(sequence.size(), first + period.length);
  const bool layers = std::any_of(sequence.begin() + static_cast<std::ptrdiff_t>(first),
                                  sequence.begin() + static_cast<std::ptrdiff_t>(last),
                                  [&](std::uint32_t op) { return IsOfLayer(run, op); });
  return !layers &&
         static_cast<double>(period.starts.size()) >= run.knowledge.Number("step.plain_count");
}

// One kernel of attention, in one size, runs oftener in each repeat than it does in any layer.
bool HoldsLayers(const Run& run, const std::vector<std::uint32_t>& sequence, const Period& period) {
  const std::size_t last = std::min(sequence.size(), period.starts.front() + period.length);
  std::unordered_map<std::uint32_t, std::size_t> launches;  // by kernel and grid
  for (std::size_t i = period.starts.front(); i < last; ++i) {
    if (run.trace.ops.kind[sequence[i]] != OpKind::kKernel) continue;
    const std::uint32_t shape = run.trace.ops.detail[sequence[i]];
    if (run.names.Kernel(shape).name == "attention") ++launches[shape];
  }
  const auto most = run.knowledge.CountOf("step.layer_attentions");
  return std::any_of(launches.begin(), launches.end(),
                     [&](const auto& launch) { return launch.second > most; });
}

// What repeats may be a layer, too: an iteration launches graphs as a whole, is the same one or two
// kernels very often, does nothing that layers do, holds layers, or is longer than any layer.
bool LooksLikeIteration(const Run& run, const std::vector<std::uint32_t>& sequence,
                        const Tokens& tokens, const Period& period) {
  const auto first = sequence.begin() + static_cast<std::ptrdiff_t>(period.starts.front());
  const std::size_t last = std::min(sequence.size(), period.starts.front() + period.length);
  const bool graph = LaunchesGraph(run, sequence, period);
  const bool computes_layers =
      std::any_of(first, sequence.begin() + static_cast<std::ptrdiff_t>(last),
                  [&](std::uint32_t op) { return IsOfLayer(run, op); });
  const bool short_one =
      period.length == 1 ||
      (period.length == 2 && (!computes_layers || ComputesNothingElse(tokens, period)));
  const bool uniform = short_one && static_cast<double>(period.starts.size()) >=
                                        run.knowledge.Number("step.uniform_count");
  const bool plain = IsPlain(run, sequence, period);
  return graph || uniform || plain || HoldsLayers(run, sequence, period) ||
         static_cast<double>(period.length) >= run.knowledge.Number("step.layer_most");
}

// Batches of other lengths change the grids. Where they come at even distances by chance, what
// repeats with its sizes is several steps: too few to be sure. Then what repeats by name in each
// part of it is the step, if it is all the same, and takes in data each time. Or what repeats with
// its sizes is a layer, in which the host takes no part: then the step is what repeats by name,
// holds several of these, and meets the host each time.
void PreferNames(const Run& run, const GraphLaunches& launches,
                 const std::vector<std::uint32_t>& sequence,
                 const std::function<bool(const std::vector<std::size_t>&, bool)>& meets_host,
                 Tokens* tokens, Period* period) {
  if (!period->same_sizes || period->length == 0) return;
  const bool unsure = period->starts.size() < run.knowledge.CountOf("step.uneven_count");
  const bool layers = !meets_host(period->starts, false);
  if (!unsure && !layers) return;
  Tokens names = TokensOf(run.trace, launches, sequence, {.of_grids = false, .of_copies = false});
  Period found = FindPeriod(run.knowledge, names, meets_host);
  if (found.length == 0) return;
  const bool parts = unsure && found.starts.size() >= 2 * period->starts.size() &&
                     found.match >= run.knowledge.Number("step.period_exact") &&
                     meets_host(found.starts, true);
  const bool longer = layers && found.length >= 2 * period->length &&
                      found.starts.size() < period->starts.size() &&
                      meets_host(found.starts, false);
  if (!parts && !longer) return;
  found.same_sizes = false;
  *tokens = std::move(names);
  *period = std::move(found);
}

// Up to the first and the last ones, which the capture cuts off.
bool AreAsMany(const Run& run, std::size_t iterations, std::size_t named) {
  const auto more = static_cast<double>(std::max(iterations, named));
  const auto fewer = static_cast<double>(std::min(iterations, named));
  return named > 0 && fewer >= run.knowledge.Number("step.named_share") * more;
}

Steps StepsOfSequence(const Run& run, const GraphLaunches& launches,
                      const std::vector<std::uint32_t>& sequence, std::size_t named) {
  const OpTable& ops = run.trace.ops;
  const auto host_share = [&](const std::vector<std::size_t>& places, bool data_only) {
    std::vector<Nanos> opened;  // by the host, which may run far ahead of the steps
    for (const std::size_t place : places) {
      const std::uint32_t call = ops.call[sequence[place]];
      if (call != kNone) opened.push_back(run.trace.calls.start[call]);
    }
    return HostTakesPart(run, std::move(opened), data_only);
  };
  const double enough = run.knowledge.Number("step.meets_host");
  // A thread that hands steps over may send the data of several of them ahead: as many iterations
  // as it names are its steps.
  const auto meets_host = [&](const std::vector<std::size_t>& places, bool data_only) {
    return AreAsMany(run, places.size(), named) || host_share(places, data_only) >= enough;
  };
  Period period;
  Tokens tokens;
  const auto min_count = run.knowledge.CountOf("step.min_count");
  for (const TellsSize size_of : {TellsSize{}, TellsSize{.of_copies = false},
                                  TellsSize{.of_grids = false, .of_copies = false}}) {
    tokens = TokensOf(run.trace, launches, sequence, size_of);
    period = FindPeriod(run.knowledge, tokens, meets_host);
    period.same_sizes = size_of.of_grids;
    if (period.length > 0) break;
  }
  PreferNames(run, launches, sequence, meets_host, &tokens, &period);
  if (period.length == 0) return {};
  period = Joined(run, sequence, tokens, period);
  std::optional<Iterations> iterations;
  iterations.emplace(run, launches, sequence, tokens, period);
  Steps steps;
  steps.all = iterations->All();
  // A program that computes nothing else, and that the host meets now and then, is a loop: a model
  // has more than its layers.
  const auto iterates = [&] {
    return iterations->WaitsAtCut() || LooksLikeIteration(run, sequence, tokens, period) ||
           (host_share(period.starts, false) * static_cast<double>(steps.all.size()) >= 2 &&
            ComputesNothingElse(tokens, period)) ||
           meets_host(period.starts, false);
  };
  if (steps.all.size() < min_count || !iterates()) {
    // Something that comes a few times only, such as a check of a solver or a new list of
    // neighbors, opens no steps: the iterations between them do.
    const bool same_sizes = period.same_sizes;
    period = FindPeriod(run.knowledge, tokens, meets_host, period.starts.size() + 1);
    period.same_sizes = same_sizes;
    if (period.length == 0 || !IsPlain(run, sequence, period)) return {};
    iterations.emplace(run, launches, sequence, tokens, period);
    steps.all = iterations->All();
    if (steps.all.size() < min_count) return {};
  }
  steps.source = "period";
  steps.of_device = true;
  const std::uint32_t anchor = sequence[period.starts.front()];
  if (ops.kind[anchor] == OpKind::kKernel) {
    steps.name = run.trace.strings[run.trace.shapes[ops.detail[anchor]].short_name];
  }
  SplitWarmup(run, {}, &steps);
  // Iterations of one loop take about the same time, unless their data differ: then it is the same
  // kernels in the same grids, and the host takes part each time.
  const bool same =
      period.same_sizes && meets_host(period.starts, false) &&
      static_cast<double>(period.starts.size()) >= run.knowledge.Number("step.uneven_count");
  if (!same && Spread(steps) > run.knowledge.Number("step.period_spread")) return {};
  return steps;
}

}  // namespace

Steps StepsFromPeriod(const Run& run, std::size_t named) {
  const std::vector<std::uint32_t> sequence = BusiestSequence(run);
  const GraphLaunches launches = FindGraphLaunches(run.trace);
  Steps steps = StepsOfSequence(run, launches, sequence, named);
  const auto without = [&](auto&& left_out) {
    std::vector<std::uint32_t> rest = sequence;
    std::erase_if(rest, left_out);
    return rest.size() < sequence.size() ? StepsOfSequence(run, launches, rest, named) : Steps{};
  };
  const auto computes = [&](std::uint32_t op) { return IsCompute(run.trace.ops, op); };
  if (named > 0 && !AreAsMany(run, steps.all.size(), named)) {
    // Results and checkpoints are copied now and then: what computes tells the steps by itself.
    Steps of_kernels = without([&](std::uint32_t op) { return !computes(op); });
    if (AreAsMany(run, of_kernels.all.size(), named)) return of_kernels;
  }
  if (!steps.all.empty()) return steps;
  // Copies that another thread queues stand between other kernels in each iteration: without them
  // the rest tells.
  const Trace& trace = run.trace;
  const auto thread_of = [&](std::uint32_t op) {
    return trace.ops.call[op] == kNone ? kNone : trace.calls.thread[trace.ops.call[op]];
  };
  const auto kernel = std::find_if(sequence.begin(), sequence.end(), computes);
  if (kernel == sequence.end()) return steps;
  const std::uint32_t launching = thread_of(*kernel);
  steps = without([&](std::uint32_t op) { return !computes(op) && thread_of(op) != launching; });
  if (!steps.all.empty()) return steps;
  const std::set<std::uint32_t> irregular = IrregularKernels(run, sequence);
  return without([&](std::uint32_t op) { return irregular.contains(op); });
}

}  // namespace advise
