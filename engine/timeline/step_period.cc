// Steps without annotations: from the periodicity of the GPU work itself.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "engine/base/median.h"
#include "engine/timeline/step.h"

namespace advise {

namespace {

// One token an op: what it is, and for copies how large (to a power of two).
std::vector<std::uint64_t> Tokens(const Run& run, const std::vector<std::uint32_t>& ops,
                                  bool with_grid) {
  std::vector<std::uint64_t> tokens;
  tokens.reserve(ops.size());
  const Trace& trace = run.trace;
  for (const std::uint32_t op : ops) {
    const std::uint32_t detail = trace.ops.detail[op];
    switch (trace.ops.kind[op]) {
      case OpKind::kKernel:
        tokens.push_back(with_grid ? detail : 0x100000000ULL | trace.shapes[detail].name);
        break;
      case OpKind::kCopy:
        tokens.push_back(0x200000000ULL |
                         (static_cast<std::uint64_t>(trace.copies.direction[detail]) << 8U) |
                         static_cast<std::uint64_t>(
                             std::lround(std::log2(1.0 + static_cast<double>(std::max<std::int64_t>(
                                                             0, trace.copies.bytes[detail]))))));
        break;
      case OpKind::kMemset:
        tokens.push_back(0x300000000ULL);
        break;
      case OpKind::kGraph:
        tokens.push_back(0x400000000ULL | detail);
        break;
    }
  }
  return tokens;
}

struct Period {
  std::size_t length = 0;           // tokens
  std::vector<std::size_t> starts;  // token indices
  double match = 0;                 // share of tokens equal to the one a period later
};

// How many tokens of two stretches are alike. Of unequal lengths, one holds something extra (a
// checkpoint, an evaluation): then what is alike from the front and from the back counts.
std::size_t Alike(const std::uint64_t* one, std::size_t one_length, const std::uint64_t* two,
                  std::size_t two_length) {
  std::size_t same = 0;
  if (one_length == two_length) {
    for (std::size_t k = 0; k < one_length; ++k) same += one[k] == two[k] ? 1 : 0;
    return same;
  }
  const std::size_t most = std::min(one_length, two_length);
  while (same < most && one[same] == two[same]) ++same;
  std::size_t back = 0;
  while (same + back < most && one[one_length - 1 - back] == two[two_length - 1 - back]) ++back;
  return same + back;
}

// Share of the tokens from the second anchor on that are as in the stretch before.
double MatchFrom(const std::vector<std::uint64_t>& tokens, const std::vector<std::size_t>& anchors,
                 std::size_t period) {
  std::size_t same = 0;
  std::size_t all = 0;
  for (std::size_t i = 1; i < anchors.size(); ++i) {
    const std::size_t before = anchors[i] - anchors[i - 1];
    // The last stretch may be cut off by the end of the trace: as much as there is, from the front.
    const bool last = i + 1 == anchors.size();
    const std::size_t length =
        last ? std::min({period, before, tokens.size() - anchors[i]}) : anchors[i + 1] - anchors[i];
    same += Alike(&tokens[anchors[i - 1]], last ? length : before, &tokens[anchors[i]], length);
    all += length;
  }
  return all == 0 ? 0 : static_cast<double>(same) / static_cast<double>(all);
}

// An iteration meets the host: it takes in data, hands something back, or is waited for. The layers
// of a model do not, or only some of them. `anchors`: the op that opens each repeat. Told by the
// calls between theirs, for the host may run far ahead of the steps. With
// `data_only` it must send data to the GPU each time.
bool HostTakesPart(const Run& run, const std::vector<std::uint32_t>& anchors, bool data_only) {
  const Trace& trace = run.trace;
  std::vector<Nanos> opened;  // when the host launched each anchor
  for (const std::uint32_t op : anchors) {
    if (trace.ops.call[op] != kNone) opened.push_back(trace.calls.start[trace.ops.call[op]]);
  }
  if (opened.size() < 2) return true;  // cannot be told: benefit of the doubt
  std::sort(opened.begin(), opened.end());
  std::vector<std::uint8_t> met(opened.size() - 1, 0);
  for (const std::uint32_t thread : run.launching_threads) {
    for (std::uint32_t call = run.calls_of_thread[thread].first;
         call < run.calls_of_thread[thread].last; ++call) {
      const Nanos when = trace.calls.start[call];
      if (when < opened.front() || when >= opened.back()) continue;
      const std::uint32_t op = run.first_op_of_call[call];
      const bool copy = op != kNone && trace.ops.kind[op] == OpKind::kCopy;
      const CopyDirection direction =
          copy ? trace.copies.direction[trace.ops.detail[op]] : CopyDirection::kUnknown;
      const bool takes = direction == CopyDirection::kHostToDevice;
      const bool gives = direction == CopyDirection::kDeviceToHost;
      if (!takes && (data_only || (!gives && !IsSync(run.ClassOfCall(call))))) continue;
      met[static_cast<std::size_t>(std::upper_bound(opened.begin(), opened.end(), when) -
                                   opened.begin()) -
          1] = 1;
    }
  }
  const auto times = static_cast<double>(std::count(met.begin(), met.end(), 1));
  return times >= run.knowledge.Number("step.meets_host") * static_cast<double>(met.size());
}

// Whether the stretches of `period` tokens from these places on mostly compute. A train of copies
// repeats itself too, and is part of an iteration.
bool Computes(const std::vector<std::uint8_t>& computes, const std::vector<std::size_t>& places,
              std::size_t period) {
  std::size_t stretches = 0;
  for (const std::size_t place : places) {
    const auto from = computes.begin() + static_cast<std::ptrdiff_t>(place);
    const auto to =
        computes.begin() + static_cast<std::ptrdiff_t>(std::min(computes.size(), place + period));
    stretches += std::find(from, to, 1) != to ? 1 : 0;
  }
  return 2 * stretches > places.size();
}

// Kinds of computing (tokens of kernels and graphs) in a stretch.
std::set<std::uint64_t> Computing(const std::vector<std::uint64_t>& tokens,
                                  const std::vector<std::uint8_t>& computes, std::size_t from,
                                  std::size_t length) {
  std::set<std::uint64_t> seen;
  for (std::size_t i = from; i < std::min(tokens.size(), from + length); ++i) {
    if (computes[i] != 0) seen.insert(tokens[i]);
  }
  return seen;
}

// Tokens that come back at even distances open a period; the rarest such token gives the longest
// one.
// `meets_host(places, data_only)`: whether the host takes part in each of the iterations that
// tokens at these places open, see HostTakesPart. `computes`: by token, 1 for kernels and graphs.
Period FindPeriod(const Knowledge& knowledge, const std::vector<std::uint64_t>& tokens,
                  const std::vector<std::uint8_t>& computes,
                  const std::function<bool(const std::vector<std::size_t>&, bool)>& meets_host) {
  const auto min_count = static_cast<std::size_t>(knowledge.Number("step.min_count"));
  const double min_match = knowledge.Number("step.period_match");
  const double min_cover = knowledge.Number("step.period_cover");
  const double min_even = knowledge.Number("step.period_even");
  const double exact = knowledge.Number("step.period_exact");
  const double most_loss = knowledge.Number("step.period_loss");
  const double extra = knowledge.Number("step.period_extra");
  std::map<std::uint64_t, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < tokens.size(); ++i) places[tokens[i]].push_back(i);
  std::vector<const std::vector<std::size_t>*> by_rarity;
  for (const auto& [token, at] : places) {
    if (at.size() >= min_count) by_rarity.push_back(&at);
  }
  std::stable_sort(by_rarity.begin(), by_rarity.end(),
                   [](const auto* a, const auto* b) { return a->size() < b->size(); });
  const bool any_computes = std::find(computes.begin(), computes.end(), 1) != computes.end();
  Period best;
  std::map<std::size_t, double> tried;
  for (const auto* at : by_rarity) {
    std::vector<std::size_t> apart;
    for (std::size_t i = 1; i < at->size(); ++i) apart.push_back((*at)[i] - (*at)[i - 1]);
    const std::size_t period = Median(apart);
    const auto even = static_cast<std::size_t>(
        std::count_if(apart.begin(), apart.end(), [period](std::size_t d) { return d == period; }));
    if (static_cast<double>(even) < min_even * static_cast<double>(apart.size())) continue;
    const std::size_t from = at->front();
    const std::size_t to = std::min(tokens.size(), at->back() + period);
    if (static_cast<double>(to - from) < min_cover * static_cast<double>(tokens.size())) continue;
    if (tried.contains(period)) continue;
    if (any_computes && !Computes(computes, *at, period)) continue;
    const double match = MatchFrom(tokens, *at, period);
    tried[period] = match;
    if (match < min_match) continue;
    // A later (shorter) period wins when it leaves hardly more unexplained than the longer one:
    // layers leave what stands between two passes through them. Or when each period meets the host:
    // then the longer one is several iterations with something extra in the last. Where the extra
    // computes (an evaluation), each must take in data, since layers may hand numbers back, too.
    const double loss = best.match - match;
    const bool as_good =
        match >= exact && loss <= most_loss && loss * static_cast<double>(best.length) < extra;
    const auto iterates = [&] {
      const auto inside = Computing(tokens, computes, (*at)[at->size() / 2], period);
      std::size_t beside = 0;
      for (const std::uint64_t token :
           Computing(tokens, computes, best.starts[best.starts.size() / 2], best.length)) {
        beside += inside.contains(token) ? 0 : 1;
      }
      // Most of what the longer one computes stands beside the shorter one: that is a part of it,
      // such as a train of copies that each feed one kernel.
      return beside <= inside.size() && meets_host(*at, beside > 0);
    };
    if (best.length == 0 || (period < best.length && (as_good || iterates()))) {
      best = {period, *at, match};
    }
    if (tried.size() > 64) break;  // enough distinct candidates
  }
  return best;
}

}  // namespace

namespace {

// Median absolute deviation of the steady lengths over their median: what is usual, whatever stands
// out now and then (a checkpoint every few steps). 0 for fewer than four.
double Spread(const Steps& steps) {
  std::vector<Nanos> lengths;
  for (std::size_t i = steps.first_steady; i < steps.all.size(); ++i)
    lengths.push_back(steps.all[i].Length());
  if (lengths.size() < 4) return 0;
  const Nanos median = Median(lengths);
  for (Nanos& length : lengths) length = std::abs(length - median);
  return median > 0 ? static_cast<double>(Median(std::move(lengths))) / static_cast<double>(median)
                    : 0;
}

bool IsCompute(const OpTable& ops, std::uint32_t op) {
  return ops.kind[op] == OpKind::kKernel || ops.kind[op] == OpKind::kGraph;
}

// The busiest stream of the device with most ops, in time order without communication (whose order
// varies).
std::vector<std::uint32_t> BusiestSequence(const Run& run) {
  const OpTable& ops = run.trace.ops;
  std::uint32_t busiest = kNone;
  for (const std::uint32_t d : run.active_devices) {
    if (busiest == kNone || run.ops_of_device[d].size() > run.ops_of_device[busiest].size())
      busiest = d;
  }
  if (busiest == kNone) return {};
  const std::vector<std::uint32_t>& of_device = run.ops_of_device[busiest];
  const auto computing = [&](std::uint32_t op) { return IsCompute(ops, op); };
  // By what it computes: a stream of copies can have more ops.
  const bool any = std::any_of(of_device.begin(), of_device.end(), computing);
  std::map<std::uint32_t, std::size_t> per_stream;
  for (const std::uint32_t op : of_device) {
    if (!run.IsComm(op) && (computing(op) || !any)) per_stream[ops.stream[op]]++;
  }
  std::uint32_t stream = kNone;
  std::size_t most = 0;
  for (const auto& [s, count] : per_stream) {
    if (s != kNone && count > most) stream = s, most = count;
  }
  std::vector<std::uint32_t> sequence;
  for (const std::uint32_t op : of_device) {
    if (ops.stream[op] == stream && !run.IsComm(op)) sequence.push_back(op);
  }
  return sequence;
}

// A sequence of ops that comes back, cut into iterations.
class Iterations {
 public:
  Iterations(const Run& run, const std::vector<std::uint32_t>& sequence, const Period& period)
      : run_(run), ops_(run.trace.ops), sequence_(sequence), period_(period), cut_(BestCut()) {}

  bool WaitsAtCut() const { return cut_ > 0; }

  std::vector<Step> All() const {
    const std::vector<Nanos> bounds = Bounds();
    std::vector<Step> all;
    for (std::size_t i = 1; i < bounds.size(); ++i) all.push_back({bounds[i - 1], bounds[i]});
    const Nanos usual = (bounds.back() - bounds.front()) /
                        static_cast<Nanos>(std::max<std::size_t>(2, bounds.size()) - 1);
    // The last one is complete when all its ops are there, and the first of the next. Where nothing
    // follows, it ends with its last op, unless each iteration ends with a wait.
    const std::size_t next = period_.starts.back() + Offset() + period_.length;
    const auto min_count = static_cast<std::size_t>(run_.knowledge.Number("step.min_count"));
    const bool is_whole = next < sequence_.size() ||
                          (next == sequence_.size() &&
                           (all.size() < min_count || !StepsEndWithWait(run_, GapsAtCut(), usual)));
    if (!is_whole) return all;
    const Nanos end =
        next < sequence_.size() ? ops_.start[sequence_[next]] : ops_.end[sequence_.back()];
    if (end > bounds.back()) all.push_back({bounds.back(), end});
    return all;
  }

 private:
  std::size_t Offset() const { return cut_ % period_.length; }

  // Where the device usually waits longest: that is where one iteration ends and the next begins.
  // Where no wait stands out, no cut is better than another: the anchor's own place keeps the most
  // whole iterations.
  std::size_t BestCut() const {
    auto longest = static_cast<Nanos>(run_.knowledge.Number("idle.launch_latency"));
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
      waits.push_back(std::max<Nanos>(
          0, ops_.start[sequence_[start + k + 1]] - ops_.end[sequence_[start + k]]));
    }
    if (waits.empty()) return 0;
    const auto middle = waits.begin() + static_cast<std::ptrdiff_t>((waits.size() - 1) / 2);
    std::nth_element(waits.begin(), middle, waits.end());
    return *middle;
  }

  std::vector<Nanos> Bounds() const {
    std::vector<Nanos> bounds;
    const std::vector<std::size_t>& starts = period_.starts;
    const std::size_t first = starts.front() + Offset();
    if (first >= period_.length) {  // an iteration before the first anchor may be whole
      bounds.push_back(ops_.start[sequence_[first - period_.length]]);
    }
    for (const std::size_t start : starts) {
      if (start + Offset() < sequence_.size())
        bounds.push_back(ops_.start[sequence_[start + Offset()]]);
    }
    std::sort(bounds.begin(), bounds.end());
    bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
    return bounds;
  }

  std::vector<Interval> GapsAtCut() const {
    std::vector<Interval> gaps;
    for (const std::size_t start : period_.starts) {
      const std::size_t first = start + Offset();
      if (first == 0 || first >= sequence_.size()) continue;
      gaps.push_back({ops_.end[sequence_[first - 1]], ops_.start[sequence_[first]]});
    }
    return gaps;
  }

  const Run& run_;
  const OpTable& ops_;
  const std::vector<std::uint32_t>& sequence_;
  const Period& period_;
  std::size_t cut_;
};

// What repeats may be a layer, too: an iteration launches graphs as a whole, is the same one or two
// kernels very often, or is longer than any layer.
bool LooksLikeIteration(const Run& run, const std::vector<std::uint32_t>& sequence,
                        const Period& period) {
  const auto first = sequence.begin() + static_cast<std::ptrdiff_t>(period.starts.front());
  const std::size_t last = std::min(sequence.size(), period.starts.front() + period.length);
  const bool graph =
      std::any_of(first, sequence.begin() + static_cast<std::ptrdiff_t>(last),
                  [&](std::uint32_t op) { return run.trace.ops.kind[op] == OpKind::kGraph; });
  const bool uniform = period.length <= 2 && static_cast<double>(period.starts.size()) >=
                                                 run.knowledge.Number("step.uniform_count");
  return graph || uniform ||
         static_cast<double>(period.length) >= run.knowledge.Number("step.layer_most");
}

}  // namespace

Steps StepsFromPeriod(const Run& run) {
  const OpTable& ops = run.trace.ops;
  const std::vector<std::uint32_t> sequence = BusiestSequence(run);
  const auto meets_host = [&](const std::vector<std::size_t>& places, bool data_only) {
    std::vector<std::uint32_t> anchors;
    for (const std::size_t place : places) anchors.push_back(sequence[place]);
    return HostTakesPart(run, anchors, data_only);
  };
  std::vector<std::uint8_t> computes;
  for (const std::uint32_t op : sequence) computes.push_back(IsCompute(ops, op) ? 1 : 0);
  Period period;
  for (const bool with_grid : {true, false}) {
    period = FindPeriod(run.knowledge, Tokens(run, sequence, with_grid), computes, meets_host);
    if (period.length > 0) break;
  }
  if (period.length == 0) return {};
  const Iterations iterations(run, sequence, period);
  Steps steps;
  steps.all = iterations.All();
  if (static_cast<double>(steps.all.size()) < run.knowledge.Number("step.min_count")) return {};
  if (!iterations.WaitsAtCut() && !LooksLikeIteration(run, sequence, period) &&
      !meets_host(period.starts, false))
    return {};
  steps.source = "period";
  const std::uint32_t anchor = sequence[period.starts.front()];
  if (ops.kind[anchor] == OpKind::kKernel) {
    steps.name = run.trace.strings[run.trace.shapes[ops.detail[anchor]].short_name];
  }
  SplitWarmup(run, &steps);
  // Iterations of one loop take about the same time; repeats that do not are something else.
  if (Spread(steps) > run.knowledge.Number("step.period_spread")) return {};
  return steps;
}

}  // namespace advise
