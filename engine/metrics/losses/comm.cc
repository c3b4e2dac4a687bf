#include "engine/metrics/losses/comm.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "engine/base/ascii.h"
#include "engine/timeline/collective_match.h"

namespace advise {
namespace {

class CommFinder {
 public:
  CommFinder(const Basis& basis, const Phases& phases)
      : basis_(basis),
        run_(basis.run),
        trace_(basis.run.trace),
        phases_(phases),
        of_device_(trace_.devices.size()) {
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (run_.IsComm(op) && basis_.InWindow(trace_.ops.start[op]))
        of_device_[trace_.ops.device[op]].push_back(op);
    }
  }

  Comm Find() {
    Totals();
    if (result_.count == 0) {
      result_.serial = result_.no_overlap = result_.small = result_.late =
          LossBuilder(basis_).Build();
      return std::move(result_);
    }
    Overlap();
    Small();
    Late();
    return std::move(result_);
  }

 private:
  Nanos Length(std::uint32_t op) const { return trace_.ops.end[op] - trace_.ops.start[op]; }
  Nanos Exposed(std::uint32_t op) const {
    return basis_.times[trace_.ops.device[op]].comm_exposed.OverlapWith(trace_.ops.start[op],
                                                                        trace_.ops.end[op]);
  }
  double Devices() const {
    return static_cast<double>(std::max<std::size_t>(1, run_.active_devices.size()));
  }

  // By op: what the report itself calls its collective. Kernels of NCCL that exchange blocks among
  // all ranks are called as those that send to one.
  std::vector<std::string> NamedKinds() const {
    const CollectiveTable& table = trace_.collectives;
    std::vector<std::string> named(table.size() > 0 ? trace_.ops.size() : 0);
    for (std::size_t row = 0; row < table.size(); ++row) {
      if (table.op[row] == kNone) continue;
      std::string& kind = named[table.op[row]];
      kind = Lower(trace_.strings[table.kind[row]]);
      if (kind == "send" || kind == "recv") kind = "sendrecv";
    }
    return named;
  }

  void Totals() {
    std::map<std::string, CollectiveRow> kinds;
    const std::vector<std::string> named = NamedKinds();
    StepCounter counter(run_);
    std::vector<double> lengths;
    double all = 0;
    double exposed = 0;
    std::vector<std::uint8_t> computes(trace_.streams.size(), 0);
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] == OpKind::kKernel && trace_.ops.stream[op] != kNone &&
          !run_.IsComm(op)) {
        computes[trace_.ops.stream[op]] = 1;
      }
    }
    std::size_t shared = 0;
    for (const std::uint32_t d : run_.active_devices) {
      for (const std::uint32_t op : of_device_[d]) {
        const KernelClass& kernel = run_.names.Kernel(trace_.ops.detail[op]);
        std::string kind = named.empty() ? "" : named[op];
        if (kind.empty()) kind = kernel.collective.empty() ? "unnamed" : kernel.collective;
        CollectiveRow& row = kinds[kind];
        row.count += 1;
        row.time_ns += static_cast<double>(Length(op));
        row.exposed_ns += static_cast<double>(Exposed(op));
        counter.Count(trace_.ops.start[op]);
        lengths.push_back(static_cast<double>(Length(op)));
        if (trace_.ops.stream[op] != kNone && computes[trace_.ops.stream[op]] != 0) ++shared;
      }
      all += static_cast<double>(basis_.times[d].comm.Total());
      exposed += static_cast<double>(basis_.times[d].comm_exposed.Total());
    }
    for (auto& [kind, row] : kinds) {
      row.kind = kind;
      result_.kinds.push_back(row);
    }
    std::stable_sort(
        result_.kinds.begin(), result_.kinds.end(),
        [](const CollectiveRow& a, const CollectiveRow& b) { return a.time_ns > b.time_ns; });
    result_.count = static_cast<std::int64_t>(counter.all());
    result_.per_step = counter.PerStep() / Devices();
    result_.time_ns = all / Devices();
    result_.overlap = all > 0 ? 1 - exposed / all : 0;
    result_.median_ns = Median(lengths);
    result_.same_stream = 2 * shared > counter.all();
  }

  // Trains of exposed collectives: one or two a step after the backward pass are gradients that
  // waited for its end; many trains all over the step mean that communication and compute never run
  // side by side.
  void Overlap() {
    LossBuilder serial(basis_);
    LossBuilder apart(basis_);
    const double hidden = run_.knowledge.Number("comm.hidden_share");
    const double little = run_.knowledge.Number("comm.train_compute");
    const double at_end_most = run_.knowledge.Number("comm.trains_at_end");
    std::int64_t in_serial = 0;
    for (const std::uint32_t d : run_.active_devices) {
      const std::vector<std::uint32_t>& comm = of_device_[d];
      if (comm.empty()) continue;
      // A train: consecutive collectives with little compute between them.
      std::vector<std::vector<std::uint32_t>> trains;
      for (const std::uint32_t op : comm) {
        bool same = false;
        if (!trains.empty()) {
          const std::uint32_t last = trains.back().back();
          const Nanos compute =
              basis_.times[d].compute.OverlapWith(trace_.ops.end[last], trace_.ops.start[op]);
          same = static_cast<double>(compute) <=
                 little * static_cast<double>(Length(last) + Length(op));
        }
        if (!same) trains.emplace_back();
        trains.back().push_back(op);
      }
      const double steps = run_.steps.known() ? static_cast<double>(run_.steps.steady_count()) : 0;
      const double trains_per_step = steps > 0 ? static_cast<double>(trains.size()) / steps
                                               : static_cast<double>(trains.size());
      for (const auto& train : trains) {
        Nanos length = 0;
        Nanos exposed = 0;
        for (const std::uint32_t op : train) length += Length(op), exposed += Exposed(op);
        // Collectives that already run beside compute for a fair part are as good as it gets from
        // here.
        if (length <= 0 ||
            static_cast<double>(length - exposed) > hidden * static_cast<double>(length))
          continue;
        // Begun while compute ran: as early as it could be, and slow for another reason.
        const bool begun_alone = !basis_.times[d].compute.Contains(trace_.ops.start[train.front()]);
        if (!begun_alone) continue;
        const bool after_backward = AfterBackward(train.front());
        const bool at_end = !phases_.known(Phase::kBackward) && steps > 0 &&
                            trains_per_step <= at_end_most && Reduces(train.front());
        LossBuilder& loss = after_backward || at_end ? serial : apart;
        for (const std::uint32_t op : train) {
          // Weights that the optimizer updated are sent when they are there: no switch hides that.
          if (&loss == &apart && phases_.OfOp(run_, op) == Phase::kOptimizer) continue;
          loss.Count(trace_.ops.start[op], 0, Length(op));
          loss.AddExposed(op);
          loss.remedy().detached_ops.push_back(op);
        }
        if (after_backward || at_end) in_serial += static_cast<std::int64_t>(train.size());
      }
    }
    result_.serial = serial.Build();
    // Gradients can hide behind the backward pass only, not behind the whole step.
    const double exposed = static_cast<double>(result_.serial.lost->Total()) / Devices();
    const double hideable = std::min(exposed, BackwardNs());
    result_.serial.remedy->reach_ns = std::max<Nanos>(1, static_cast<Nanos>(hideable));
    result_.serial.remedy->reach_reason = "the backward pass, too short to hide more,";
    result_.no_overlap = apart.Build();
    result_.serial_share = static_cast<double>(in_serial) / static_cast<double>(result_.count);
  }

  // Compute time of the backward pass on a device; its usual share of the step when no ranges tell.
  double BackwardNs() const {
    double all = 0;
    double backward = 0;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] != OpKind::kKernel || run_.IsComm(op) ||
          !basis_.InWindow(trace_.ops.start[op]))
        continue;
      all += static_cast<double>(Length(op));
      if (phases_.OfOp(run_, op) == Phase::kBackward) backward += static_cast<double>(Length(op));
    }
    return (backward > 0 ? backward : run_.knowledge.Number("comm.backward_share") * all) /
           Devices();
  }

  // Gradients: sums over ranks, or a name that hides the kind.
  bool Reduces(std::uint32_t op) const {
    const std::string& kind = run_.names.Kernel(trace_.ops.detail[op]).collective;
    return kind.empty() || kind == "allreduce" || kind == "reducescatter" || kind == "reduce";
  }

  // Started when all kernels that backward ranges launched before it had ended, and before the next
  // forward pass.
  bool AfterBackward(std::uint32_t op) {
    if (!phases_.known(Phase::kBackward) || !Reduces(op)) return false;
    if (backward_ends_.empty()) {
      backward_ends_.resize(trace_.devices.size());
      for (std::uint32_t k = 0; k < trace_.ops.size(); ++k) {
        if (trace_.ops.kind[k] != OpKind::kKernel || run_.IsComm(k)) continue;
        const Phase phase = phases_.OfOp(run_, k);
        if (phase == Phase::kBackward || phase == Phase::kForward) {
          backward_ends_[trace_.ops.device[k]].push_back(
              {trace_.ops.start[k], phase == Phase::kBackward ? 1 : 0});
        }
      }
    }
    const auto& marks = backward_ends_[trace_.ops.device[op]];
    const auto after = std::lower_bound(marks.begin(), marks.end(),
                                        std::pair<Nanos, int>{trace_.ops.start[op], -1});
    if (after == marks.begin()) return false;
    const bool last_was_backward = std::prev(after)->second == 1;
    const bool more_backward = after != marks.end() && after->second == 1;
    return last_was_backward && !more_backward;
  }

  // Short collectives in a row, which can be sent together. Where compute of their length or more
  // lies between two of them, the later one carries what that computes from the earlier one's
  // result, or what was not there yet: sums of layers that GPUs share, and of tokens.
  void Small() {
    LossBuilder loss(basis_);
    const auto short_ns = static_cast<Nanos>(run_.knowledge.Number("comm.short"));
    const std::vector<std::uint8_t> few_bytes = FewBytes();
    const auto is_short = [&](std::uint32_t op) {
      return Length(op) <= short_ns || few_bytes[op] != 0;
    };
    std::int64_t small = 0;
    for (const std::uint32_t d : run_.active_devices) {
      std::vector<std::uint32_t> row;
      const auto close = [&] {
        if (row.size() > 1) AddRow(d, row, short_ns, &loss);
        small += row.size() > 1 ? static_cast<std::int64_t>(row.size()) : 0;
        row.clear();
      };
      for (const std::uint32_t op : of_device_[d]) {
        const bool joins = !row.empty() && ComputeBetween(d, row.back(), op) <=
                                               std::max(Length(row.back()), Length(op));
        if (!joins || !is_short(op)) close();
        if (is_short(op)) row.push_back(op);
      }
      close();
    }
    result_.small_share = static_cast<double>(small) / static_cast<double>(result_.count);
    result_.small = loss.Build();
    result_.small.per_step /= Devices();
  }

  // By op: what is known to carry so little that all its time is latency, if not a wait for a late
  // rank.
  std::vector<std::uint8_t> FewBytes() const {
    std::vector<std::uint8_t> few(trace_.ops.size(), 0);
    const double most = run_.knowledge.Number("comm.small_bytes");
    const auto longest = static_cast<Nanos>(run_.knowledge.Number("comm.small_longest"));
    const CollectiveTable& table = trace_.collectives;
    for (std::size_t row = 0; row < table.size(); ++row) {
      const std::uint32_t op = table.op[row];
      const std::int64_t bytes = std::max(table.in_bytes[row], table.out_bytes[row]);
      if (op != kNone && bytes >= 0 && static_cast<double>(bytes) <= most && Length(op) <= longest)
        few[op] = 1;
    }
    return few;
  }

  Nanos ComputeBetween(std::uint32_t device, std::uint32_t earlier, std::uint32_t later) const {
    return basis_.times[device].compute.OverlapWith(trace_.ops.end[earlier],
                                                    trace_.ops.start[later]);
  }

  void AddRow(std::uint32_t device, const std::vector<std::uint32_t>& row, Nanos short_ns,
              LossBuilder* loss) const {
    const auto factor = static_cast<float>(1 / run_.knowledge.Number("comm.bucket"));
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::uint32_t op = row[i];
      loss->Count(trace_.ops.start[op], 0, Length(op));
      loss->AddExposed(op);
      loss->remedy().scaled_ops.emplace_back(op, factor);
      if (i == 0) continue;
      const IntervalSet gap =
          basis_.times[device].idle.Clip(trace_.ops.end[row[i - 1]], trace_.ops.start[op]);
      for (const Interval& g : gap.intervals()) {
        if (g.Length() <= short_ns) loss->AddSpan(device, g.start, g.end);
      }
      if (trace_.ops.call[op] != kNone)
        loss->remedy().vanished_calls.push_back(trace_.ops.call[op]);
    }
  }

  // In a collective the rank with the shortest kernel came last: the others had been waiting for
  // it.
  void Late() {
    LossBuilder loss(basis_);
    std::vector<std::uint32_t> devices;
    for (const std::uint32_t d : run_.active_devices) {
      if (!of_device_[d].empty()) devices.push_back(d);
    }
    std::vector<std::vector<std::uint32_t>> collectives = MatchCollectives(run_);
    std::erase_if(collectives, [&](const auto& group) {
      return !basis_.InWindow(trace_.ops.start[group.front()]);
    });
    std::map<std::uint32_t, std::size_t> last_at;
    std::map<std::uint32_t, double> lateness;
    std::map<std::uint32_t, double> waited_for;
    double waited_for_any = 0;
    const double together = run_.knowledge.Number("comm.together_share");
    for (const auto& group : collectives) {
      std::vector<std::pair<Nanos, std::uint32_t>> starts;
      Nanos shortest = std::numeric_limits<Nanos>::max();
      for (const std::uint32_t op : group) {
        starts.emplace_back(trace_.ops.start[op], trace_.ops.device[op]);
        shortest = std::min(shortest, Length(op));
      }
      std::sort(starts.begin(), starts.end());
      const Nanos median = starts[(starts.size() - 1) / 2].first;
      if (starts.back().first - median <=
          static_cast<Nanos>(together * static_cast<double>(shortest)))
        continue;  // together, as far as it matters
      ++last_at[starts.back().second];
      for (const std::uint32_t op : group) {
        const auto waited =
            static_cast<double>(basis_.times[trace_.ops.device[op]].comm_exposed.OverlapWith(
                trace_.ops.start[op], std::min(starts.back().first, trace_.ops.end[op])));
        waited_for[starts.back().second] += waited;
        waited_for_any += waited;
      }
      lateness[starts.back().second] += static_cast<double>(starts.back().first - median);
    }
    for (const auto& [d, times] : last_at) {
      const auto weight = [&](std::uint32_t device) {
        return std::pair(waited_for[device], lateness[device]);
      };
      if (result_.late_device == kNone || weight(d) > weight(result_.late_device))
        result_.late_device = d;
    }
    if (result_.late_device != kNone) {
      const std::size_t times = last_at[result_.late_device];
      result_.late_share =
          waited_for_any > 0 ? waited_for[result_.late_device] / waited_for_any : 0;
      result_.lateness_ns = lateness[result_.late_device] / static_cast<double>(times);
      const double waited = Waiting(collectives, &loss);
      Cause(devices, waited / static_cast<double>(devices.size() - 1), &loss);
    }
    result_.late = loss.Build();
  }

  // What the others spend inside collectives before the late one arrives; the sum over them.
  double Waiting(const std::vector<std::vector<std::uint32_t>>& collectives, LossBuilder* loss) {
    double sum = 0;
    for (const auto& group : collectives) {
      Nanos arrives = 0;
      for (const std::uint32_t op : group) {
        if (trace_.ops.device[op] == result_.late_device) arrives = trace_.ops.start[op];
      }
      for (const std::uint32_t op : group) {
        const std::uint32_t d = trace_.ops.device[op];
        if (d == result_.late_device || trace_.ops.start[op] >= arrives) continue;
        const IntervalSet waits = basis_.times[d].comm_exposed.Clip(
            trace_.ops.start[op], std::min(arrives, trace_.ops.end[op]));
        for (const Interval& i : waits.intervals()) loss->AddSpan(d, i.start, i.end);
        sum += static_cast<double>(waits.Total());
        loss->Count(trace_.ops.start[op], 0, arrives - trace_.ops.start[op]);
      }
    }
    return sum;
  }

  // What the late device does more of than the median one; the fix brings that down to the
  // next-latest.
  void Cause(const std::vector<std::uint32_t>& devices, double waited_ns, LossBuilder* loss) {
    const std::uint32_t late = result_.late_device;
    const auto excess = [&](auto value_of) {
      std::vector<double> others;
      for (const std::uint32_t d : devices) {
        if (d != late) others.push_back(value_of(d));
      }
      return std::pair<double, double>{value_of(late) - Median(others), value_of(late)};
    };
    const auto compute =
        excess([&](std::uint32_t d) { return static_cast<double>(basis_.times[d].ComputeNs()); });
    if (compute.first >= run_.knowledge.Number("comm.late_share") * waited_ns &&
        compute.second > 0) {
      const bool same_work = SameKernels(devices);
      result_.late_cause =
          same_work ? "the same kernels run more slowly there" : "it has more work on the GPU";
      const auto factor = static_cast<float>(std::max(0.0, 1 - compute.first / compute.second));
      for (const std::uint32_t op : run_.ops_of_device[late]) {
        if (trace_.ops.kind[op] == OpKind::kKernel && !run_.IsComm(op) &&
            basis_.InWindow(trace_.ops.start[op])) {
          loss->remedy().scaled_ops.emplace_back(op, factor);
        }
      }
      return;
    }
    std::size_t worst = 0;
    std::pair<double, double> most{0, 0};
    for (std::size_t c = 0; c < kIdleCauseCount; ++c) {
      const auto more =
          excess([&](std::uint32_t d) { return static_cast<double>(basis_.idle.by_device[d][c]); });
      if (more.first > most.first) most = more, worst = c;
    }
    const auto cause = static_cast<IdleCause>(worst);
    result_.late_cause = WordsOf(cause).late;
    if (cause == IdleCause::kDataLoading || cause == IdleCause::kFileIo)
      loss->remedy().data_ready = true;
    if (most.second <= 0) return;
    const double part = most.first / most.second;
    for (const GapPiece piece : basis_.idle.pieces) {
      if (piece.device != late || piece.cause != cause || basis_.idle.ThreadOf(piece) == kNone)
        continue;
      const auto length = static_cast<Nanos>(part * static_cast<double>(piece.Length()));
      loss->CutHost(basis_.idle.ThreadOf(piece), piece.end - length, piece.end);
    }
  }

  // As many compute kernels on the late device as on the others.
  bool SameKernels(const std::vector<std::uint32_t>& devices) const {
    std::vector<double> counts;
    double late = 0;
    for (const std::uint32_t d : devices) {
      double count = 0;
      for (const std::uint32_t op : run_.ops_of_device[d]) {
        if (trace_.ops.kind[op] == OpKind::kKernel && basis_.InWindow(trace_.ops.start[op]))
          ++count;
      }
      if (d == result_.late_device) {
        late = count;
      } else {
        counts.push_back(count);
      }
    }
    return late <= run_.knowledge.Number("rank.more_kernels") * Median(counts);
  }

  const Basis& basis_;
  const Run& run_;
  const Trace& trace_;
  const Phases& phases_;
  std::vector<std::vector<std::uint32_t>> of_device_;
  std::vector<std::vector<std::pair<Nanos, int>>> backward_ends_;
  Comm result_;
};

}  // namespace

Comm FindComm(const Basis& basis, const Phases& phases) { return CommFinder(basis, phases).Find(); }

}  // namespace advise
