#include "engine/metrics/losses/ranks/comm.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>

#include "engine/metrics/losses/ranks/passes.h"
#include "engine/metrics/losses/ranks/queued_sums.h"
#include "engine/timeline/collective_kind.h"

namespace advise {
namespace {

bool Communicates(const Basis& basis) {
  for (const std::uint32_t op : basis.OpsInWindow()) {
    if (basis.run.IsComm(op)) return true;
  }
  return false;
}

Comm WithoutAny(const Basis& basis) {
  Comm none;
  none.serial = none.no_overlap = none.small = none.queued = LossBuilder(basis).Build();
  none.opening.resize(basis.run.trace.devices.size());
  return none;
}

class CommFinder : Finder {
 public:
  CommFinder(const Basis& basis, const Phases& phases, const Passes& passes)
      : Finder(basis), phases_(phases), passes_(passes), of_device_(trace_.devices.size()) {
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (run_.IsComm(op) && basis_.InWindow(trace_.ops.start[op]))
        of_device_[trace_.ops.device[op]].push_back(op);
    }
  }

  Comm Find() {
    Totals();
    if (result_.count == 0) return WithoutAny(basis_);
    Opening();
    Overlap();
    Small();
    return std::move(result_);
  }

 private:
  // The weights of a step's first layer can be gathered when they were updated, and no earlier.
  // What is gathered behind these without compute in between are weights, too, of later layers.
  void Opening() {
    const ShapeSet updates =
        run_.names.Shapes([](const KernelClass& c) { return c.name == "optimizer"; });
    const std::vector<std::uint32_t> rows = RowsOfCollectives(trace_);
    result_.opening.resize(trace_.devices.size());
    for (const std::uint32_t d : run_.active_devices) {
      std::vector<Interval> opening;
      bool updated = false;   // by the last kernel that computed
      bool gathered = false;  // since then
      for (const std::uint32_t op : run_.ops_of_device[d]) {
        if (trace_.ops.kind[op] != OpKind::kKernel) continue;
        if (!run_.IsComm(op)) {
          updated = updates.Has(trace_.ops.detail[op]);
          gathered = false;
        } else if (updated && basis_.InWindow(trace_.ops.start[op]) &&
                   KindOfCollective(run_, op, rows.empty() ? kNone : rows[op]) == "allgather") {
          const bool first = !std::exchange(gathered, true);
          updated_weights_.insert(op);
          if (!first) continue;
          const IntervalSet exposed =
              basis_.times[d].comm_exposed.Clip(trace_.ops.start[op], trace_.ops.end[op]);
          opening.insert(opening.end(), exposed.intervals().begin(), exposed.intervals().end());
        }
      }
      result_.opening[d] = IntervalSet::Of(std::move(opening));
    }
  }

  Nanos Exposed(std::uint32_t op) const {
    return basis_.times[trace_.ops.device[op]].comm_exposed.OverlapWith(trace_.ops.start[op],
                                                                        trace_.ops.end[op]);
  }
  void Totals() {
    std::map<std::string, CollectiveRow> kinds;
    const std::vector<std::uint32_t> rows = RowsOfCollectives(trace_);
    StepCounter counter(run_);
    std::vector<double> lengths;
    double all = 0;
    double exposed = 0;
    double forward_sums = 0;
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
        const std::string kind = KindOfCollective(run_, op, rows.empty() ? kNone : rows[op]);
        CollectiveRow& row = kinds[kind.empty() ? "unnamed" : kind];
        row.count += 1;
        row.time_ns += static_cast<double>(Length(op));
        row.exposed_ns += static_cast<double>(Exposed(op));
        if (kind == "allreduce" && phases_.OfOp(run_, op) == Phase::kForward)
          forward_sums += static_cast<double>(Exposed(op));
        counter.Count(trace_.ops.start[op]);
        lengths.push_back(static_cast<double>(Length(op)));
        if (trace_.ops.stream[op] != kNone && computes[trace_.ops.stream[op]] != 0) ++shared;
      }
      all += static_cast<double>(basis_.times[d].comm.Total());
      exposed += static_cast<double>(basis_.times[d].comm_exposed.Total());
    }
    if (forward_sums > 0) result_.forward_sums = forward_sums / kinds["allreduce"].exposed_ns;
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
    const double hidden = Number("comm.hidden_share");
    const double little = Number("comm.train_compute");
    const double at_end_most = Number("comm.trains_at_end");
    Nanos in_serial = 0;
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
                     little * static_cast<double>(Length(last) + Length(op)) &&
                 updated_weights_.contains(last) == updated_weights_.contains(op);
        }
        if (!same) trains.emplace_back();
        trains.back().push_back(op);
      }
      const double steps = run_.steps.known() ? static_cast<double>(run_.steps.steady_count()) : 0;
      const double trains_per_step = steps > 0 ? static_cast<double>(trains.size()) / steps
                                               : static_cast<double>(trains.size());
      for (const auto& train : trains) {
        if (updated_weights_.contains(train.front())) continue;  // no gradients
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
                            trains_per_step <= at_end_most && ReducesGradients(run_, train.front());
        LossBuilder& loss = after_backward || at_end ? serial : apart;
        for (const std::uint32_t op : train) {
          // Weights that the optimizer updated are sent when they are there: no switch hides that.
          if (&loss == &apart && phases_.OfOp(run_, op) == Phase::kOptimizer) continue;
          loss.CountOp(op);
          loss.AddExposed(op);
          loss.remedy().detached_ops.push_back(op);
        }
        if (after_backward || at_end) in_serial += length;
      }
    }
    result_.serial = serial.Build();
    // Gradients can hide behind the backward pass only, not behind the whole step.
    const double exposed = static_cast<double>(result_.serial.lost->Total()) / Devices();
    const double hideable = std::min(exposed, BackwardNs());
    result_.serial.remedy->reach_ns = std::max<Nanos>(1, static_cast<Nanos>(hideable));
    result_.serial.remedy->reach_reason = "the backward pass, too short to hide more,";
    result_.no_overlap = apart.Build();
    // By time: values that are logged after the step are many messages and no gradients.
    result_.serial_share = static_cast<double>(in_serial) / (result_.time_ns * Devices());
  }

  // Compute time of the backward pass on a device; its usual share of the step when no ranges tell.
  double BackwardNs() const {
    double all = 0;
    double backward = 0;
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      if (trace_.ops.kind[op] != OpKind::kKernel || run_.IsComm(op)) continue;
      all += static_cast<double>(Length(op));
      if (phases_.OfOp(run_, op) == Phase::kBackward) backward += static_cast<double>(Length(op));
    }
    return (backward > 0 ? backward : Number("comm.backward_share") * all) / Devices();
  }

  // The gradients of a pass whose kernels all ran before.
  bool AfterBackward(std::uint32_t op) const {
    return phases_.known(Phase::kBackward) && ReducesGradients(run_, op) &&
           passes_.BetweenPasses(trace_.ops.device[op], trace_.ops.start[op]);
  }

  // Short collectives in a row, which can be sent together. Where compute of their length or more
  // lies between two of them, the later one carries what that computes from the earlier one's
  // result, or what was not there yet: sums of layers that GPUs share, and of tokens.
  void Small() {
    LossBuilder loss(basis_);
    const auto short_ns = Time("comm.short");
    std::vector<Carries> carries = KnownSizes();
    FindAlike(&carries);
    const auto is_short = [&](std::uint32_t op) {
      return Length(op) <= short_ns || carries[op] == Carries::kLittle;
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
        const bool joins = !row.empty() && Follows(d, row.back(), op);
        if (!joins || !is_short(op)) close();
        if (is_short(op)) row.push_back(op);
      }
      close();
    }
    result_.small_share = static_cast<double>(small) / static_cast<double>(result_.count);
    result_.small = loss.Build();
    result_.small.per_step /= Devices();
  }

  // All the time of what carries little is latency, if not a wait for a late rank.
  enum class Carries : std::uint8_t { kUnknown, kLittle, kMuch };

  // By op, where sizes were recorded and tell.
  std::vector<Carries> KnownSizes() const {
    std::vector<Carries> carries(trace_.ops.size(), Carries::kUnknown);
    const double most = Number("comm.small_bytes");
    const double most_alike = Number("comm.alike_bytes");
    const auto longest = Time("comm.small_longest");
    const CollectiveTable& table = trace_.collectives;
    for (std::size_t row = 0; row < table.size(); ++row) {
      const std::uint32_t op = table.op[row];
      const std::int64_t bytes = std::max(table.in_bytes[row], table.out_bytes[row]);
      if (op == kNone || bytes < 0) continue;
      const bool little = static_cast<double>(bytes) <= most && Length(op) <= longest;
      if (little)
        carries[op] = Carries::kLittle;
      else if (static_cast<double>(bytes) > most_alike || Length(op) > longest)
        carries[op] = Carries::kMuch;
    }
    return carries;
  }

  // Between nodes latency is longer than comm.short. Collectives of tensors of many sizes that take
  // the same time each show it, too. Those of tensor parallelism have one size, and the compute of
  // a layer between them, which ends a row.
  void FindAlike(std::vector<Carries>* carries) const {
    const auto longest = Time("comm.alike_longest");
    const auto many = CountOf("comm.alike_row");
    const double even = Number("comm.alike");
    std::vector<std::uint32_t> row;
    const auto close = [&] {
      if (row.size() >= many) {
        std::vector<Nanos> lengths;
        for (const std::uint32_t op : row) lengths.push_back(Length(op));
        std::sort(lengths.begin(), lengths.end());
        const auto tenth = lengths.size() / 10;
        const auto low = static_cast<double>(lengths[tenth]);
        if (static_cast<double>(lengths[lengths.size() - 1 - tenth]) <= even * low)
          for (const std::uint32_t op : row) (*carries)[op] = Carries::kLittle;
      }
      row.clear();
    };
    for (const std::uint32_t d : run_.active_devices) {
      for (const std::uint32_t op : of_device_[d]) {
        const bool may = Length(op) <= longest && (*carries)[op] != Carries::kMuch;
        if (!may || (!row.empty() && !Follows(d, row.back(), op))) close();
        if (may) row.push_back(op);
      }
      close();
    }
  }

  // Without compute between them that takes as long as one of them.
  bool Follows(std::uint32_t device, std::uint32_t earlier, std::uint32_t later) const {
    return ComputeBetween(device, earlier, later) <= std::max(Length(earlier), Length(later));
  }

  Nanos ComputeBetween(std::uint32_t device, std::uint32_t earlier, std::uint32_t later) const {
    return basis_.times[device].compute.OverlapWith(trace_.ops.end[earlier],
                                                    trace_.ops.start[later]);
  }

  // One message remains of a row, or as many as buckets are filled. It goes when the last one
  // would, and takes its time: a row that shows no more than that beside kernels loses nothing.
  void AddRow(std::uint32_t device, const std::vector<std::uint32_t>& row, Nanos short_ns,
              LossBuilder* loss) const {
    Nanos exposed = 0;
    for (const std::uint32_t op : row) {
      exposed +=
          basis_.times[device].comm_exposed.OverlapWith(trace_.ops.start[op], trace_.ops.end[op]);
    }
    if (exposed <= Length(row.back())) return;
    const auto others = static_cast<double>(row.size() - 1);
    const double remain = static_cast<double>(row.size()) / Number("comm.bucket") - 1;
    const auto factor = static_cast<float>(std::max(0.0, remain / others));
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::uint32_t op = row[i];
      loss->CountOp(op);
      if (op != row.back()) {
        loss->AddExposed(op);
        loss->ScaleOp(op, factor);
      }
      if (i == 0) continue;
      const IntervalSet gap =
          basis_.times[device].idle.Clip(trace_.ops.end[row[i - 1]], trace_.ops.start[op]);
      for (const Interval& g : gap.intervals()) {
        if (g.Length() <= short_ns) loss->AddSpan(device, g.start, g.end);
      }
      loss->RemoveCallOf(op);
    }
  }

  const Phases& phases_;
  const Passes& passes_;
  std::vector<std::vector<std::uint32_t>> of_device_;
  std::unordered_set<std::uint32_t> updated_weights_;  // ops that gather them
  Comm result_;
};

}  // namespace

Comm FindComm(const Basis& basis, const Phases& phases, bool may_train) {
  if (!Communicates(basis)) return WithoutAny(basis);
  const Passes passes(basis.run, phases);
  Comm comm = CommFinder(basis, phases, passes).Find();
  comm.queued = may_train ? FindQueuedSums(basis, phases, passes) : LossBuilder(basis).Build();
  return comm;
}

}  // namespace advise
