#include "engine/metrics/losses/copies/copy.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/metrics/losses/copies/later_reads.h"
#include "engine/metrics/losses/copies/migrations.h"
#include "engine/metrics/losses/copies/round_trips.h"
#include "engine/metrics/losses/steps/step_copies.h"
#include "engine/timeline/blocking_calls.h"

namespace advise {
namespace {

class CopyFinder : Finder {
 public:
  CopyFinder(const Basis& basis, const Phases& phases, const CopyContext& context)
      : Finder(basis),
        phases_(phases),
        link_(context.link_bytes_per_s),
        of_tokens_(context.of_tokens),
        tiny_bytes_(Number("copy.tiny_bytes")),
        small_bytes_(Number("copy.small_bytes")),
        quick_bytes_(link_ * Number("copy.small_ns") / kNanosPerSecond),
        large_bytes_(Number("copy.large_bytes")),
        train_(CountOf("copy.train_length")),
        read_later_(run_) {
    // Who names a window asks for all that is in it.
    const bool loop = context.repeats && !run_.steps.known() && run_.window.mode != "given";
    for (std::uint32_t d = 0; loop && d < basis.times.size(); ++d)
      loop_from_.push_back(FirstKernel(run_, d));
    if (run_.steps.outliers.empty()) return;
    for (const auto& [op, step] : ExtraCopies(run_)) {
      if (run_.steps.IsOutlier(step)) of_outliers_.insert(op);
    }
  }

  Copies Find() {
    Collect();
    TieSyncs();
    Classify();
    result_.groups = GroupCopies(basis_);
    result_.pageable = Held(CopyKind::kPageable);
    result_.blocking = Held(CopyKind::kBlocking);
    Small();
    Slow();
    std::vector<std::uint8_t> in_series(trace_.ops.size(), 0);
    for (const auto& train : trains_)
      for (const std::uint32_t op : train) in_series[op] = 1;
    RepeatedUploads repeated =
        FindRepeatedUploads(basis_, phases_, copies_, in_series, sync_of_copy_, link_, of_tokens_);
    result_.repeated = std::move(repeated.loss);
    result_.repeated_memory = std::move(repeated.memory);
    result_.repeated_looks = repeated.looks;
    result_.repeated_answered = repeated.answered;
    RoundTrips trips = FindRoundTrips(basis_, phases_, copies_, sync_of_copy_);
    result_.roundtrip = std::move(trips.trip);
    result_.through_host = std::move(trips.through_host);
    result_.roundtrip_directive = std::move(trips.directive);
    result_.roundtrip_by_directives = trips.by_directives;
    result_.roundtrip_activations = trips.activations;
    result_.calls_to_exchange = std::move(trips.calls_to_exchange);
    result_.offload = FindOptimizerOffload(basis_, phases_, copies_);
    result_.migration = FindMigrations(basis_, link_);
    Asynchronous(trips.ops_through_host);
    return std::move(result_);
  }

 private:
  bool Touches(std::uint32_t op, MemoryKind kind) const {
    const std::uint32_t copy = trace_.ops.detail[op];
    return trace_.DirectionOfCopy(op) == CopyDirection::kHostToDevice
               ? trace_.copies.source[copy] == kind
               : trace_.copies.target[copy] == kind;
  }
  float ToLinkRate(std::uint32_t op) const { return ToRate(op, link_); }

  void Collect() {
    result_.kind_of_op.assign(trace_.ops.size(), CopyKind::kPlain);
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] == OpKind::kCopy && basis_.InWindow(trace_.ops.start[op]))
        copies_.push_back(op);
    }
  }

  // A synchronize right after an asynchronous host-device copy waits for that copy, unless it
  // returns before the copy is done: then it was for an older one, such as the result of the step
  // before.
  void TieSyncs() {
    const auto latency = Time("idle.launch_latency");
    for (const std::uint32_t thread : run_.launching_threads) {
      std::uint32_t last_copy = kNone;
      for (const std::uint32_t c : run_.calls_of_thread[thread]) {
        const CallClass call_class = run_.ClassOfCall(c);
        const std::uint32_t op = run_.first_op_of_call[c];
        if (op != kNone) {
          const bool copies = IsOfHost(op);
          last_copy = copies ? c : kNone;
        } else if (IsSync(call_class)) {
          if (last_copy == kNone) continue;
          if (trace_.ops.end[run_.first_op_of_call[last_copy]] > trace_.calls.end[c] + latency)
            continue;
          result_.copy_of_sync[c] = last_copy;
          sync_of_copy_[last_copy] = c;
          last_copy = kNone;
        }
      }
    }
  }
  // The synchronize that waits for the copy of this call, kNone.
  std::uint32_t SyncOf(std::uint32_t call) const {
    const auto found = sync_of_copy_.find(call);
    return found == sync_of_copy_.end() ? kNone : found->second;
  }

  // A copy of unknown size may carry anything: then its time tells.
  bool IsTiny(std::uint32_t op) const {
    return Bytes(op) > 0 ? Bytes(op) <= tiny_bytes_ : Length(op) <= Time("copy.tiny_time");
  }

  void Classify() {
    for (const std::uint32_t op : copies_) {
      CopyKind& kind = result_.kind_of_op[op];
      const CopyDirection direction = trace_.DirectionOfCopy(op);
      const std::uint32_t call = trace_.ops.call[op];
      if (IsMigration(direction)) kind = CopyKind::kMigration;
      // A table of GPU work alone has no calls: the memory is all that tells.
      if (IsHostDevice(direction) && trace_.calls.size() == 0 && !IsTiny(op) &&
          Touches(op, MemoryKind::kPageable))
        kind = CopyKind::kPageable;
      if (!IsHostDevice(direction) || call == kNone) continue;
      const bool held = BlocksHost(run_, call) || SyncOf(call) != kNone;
      const bool by_name = run_.ClassOfCall(call) == CallClass::kCopy;
      if (IsTiny(op) && held) {
        kind = CopyKind::kTiny;
      } else if (by_name) {
        kind = CopyKind::kBlocking;
      } else if (Touches(op, MemoryKind::kPageable)) {
        kind = CopyKind::kPageable;
      }
    }
    // Trains: several small copies of a step and direction on one stream with no kernel in between,
    // since what comes once a step cannot be joined with the next one. Values
    // that the host reads one by one, and waits for each, are none: it could do without the waits.
    std::map<std::uint32_t, std::vector<std::uint32_t>> open;
    const auto close = [&](std::vector<std::uint32_t>* train) {
      if (train->size() >= train_) {
        for (const std::uint32_t op : *train) result_.kind_of_op[op] = CopyKind::kSmall;
        trains_.push_back(*train);
      }
      train->clear();
    };
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      if (trace_.ops.stream[op] == kNone) continue;
      std::vector<std::uint32_t>& train = open[trace_.ops.stream[op]];
      // A fast link takes more bytes in the time that a call costs, where nothing else slows them.
      const bool plain = result_.kind_of_op[op] == CopyKind::kPlain;
      const double most = plain ? std::max(small_bytes_, quick_bytes_) : small_bytes_;
      const bool small = IsOfHost(op) && Bytes(op) <= most && trace_.ops.in_graph[op] == 0 &&
                         !(result_.kind_of_op[op] == CopyKind::kTiny &&
                           trace_.DirectionOfCopy(op) == CopyDirection::kDeviceToHost);
      const bool goes_on =
          small && !train.empty() &&
          trace_.DirectionOfCopy(train.back()) == trace_.DirectionOfCopy(op) &&
          run_.steps.At(trace_.ops.start[train.back()]) == run_.steps.At(trace_.ops.start[op]);
      if (!goes_on) close(&train);
      if (small) train.push_back(op);
    }
    for (auto& [stream, train] : open) close(&train);
  }

  // Copies of one kind that hold the host: exposed time and recovery; the fix is pinned and
  // asynchronous. What only steps that stand out copy is theirs.
  Loss Held(CopyKind kind) {
    LossBuilder loss(basis_);
    std::vector<std::uint8_t> blamed(trace_.calls.size(), 0);
    double pageable_bytes = 0;
    double unknown_bytes = 0;  // some profilers do not record what memory it is
    for (const std::uint32_t op : copies_) {
      if (result_.kind_of_op[op] != kind || of_outliers_.contains(op)) continue;
      if (IsMadeOnce(op)) continue;
      const std::uint32_t call = trace_.ops.call[op];
      loss.CountOp(op, Bytes(op));
      if (call == kNone) {
        loss.AddExposed(op);
        loss.ScaleOp(op, ToLinkRate(op));
        continue;
      }
      // The time that a staged upload takes before the copy engine starts is the copy's, too: the
      // gap that the copy ends, not those between the kernels that the call waited for.
      const std::uint32_t device = trace_.ops.device[op];
      const Nanos start = trace_.ops.start[op];
      const IntervalList& idle = basis_.times[device].idle.intervals();
      const auto gap = std::lower_bound(idle.begin(), idle.end(), start,
                                        [](const Interval& i, Nanos t) { return i.end < t; });
      if (gap != idle.end() && gap->end == start && trace_.calls.start[call] < start)
        loss.AddSpan(device, std::max(gap->start, trace_.calls.start[call]), start);
      loss.AddExposed(op);
      if (Touches(op, MemoryKind::kPageable)) pageable_bytes += Bytes(op);
      if (Touches(op, MemoryKind::kUnknown)) unknown_bytes += Bytes(op);
      loss.ScaleOp(op, ToLinkRate(op));
      Release(call, &blamed, &loss);
      // An upload that need not be waited for can run on a stream of its own, one batch ahead.
      if (kind == CopyKind::kBlocking && run_.steps.known() &&
          trace_.DirectionOfCopy(op) == CopyDirection::kHostToDevice)
        loss.remedy().detached_ops.push_back(op);
    }
    loss.AddBlamed(blamed);
    Loss built = loss.Build();
    if (kind == CopyKind::kBlocking && built.bytes > 0)
      result_.blocking_pageable_share = unknown_bytes > 0 ? -1 : pageable_bytes / built.bytes;
    return built;
  }

  // Before the loop: memory that is pinned for such a copy wins nothing.
  bool IsMadeOnce(std::uint32_t op) const {
    const Nanos start = trace_.ops.start[op];
    const std::uint32_t device = trace_.ops.device[op];
    return basis_.BeforeSteps(start) || (!loop_from_.empty() && start < loop_from_[device]);
  }

  // An upload need not hold the host; a download must where the host asked for the data.
  void Release(std::uint32_t call, std::vector<std::uint8_t>* blamed, LossBuilder* loss) {
    const std::uint32_t sync = SyncOf(call);
    (*blamed)[call] = 1;
    if (sync != kNone) (*blamed)[sync] = 1;
    const std::uint32_t op = run_.first_op_of_call[call];
    if (result_.kind_of_op[op] == CopyKind::kPageable && read_later_.IsReadLater(op)) {
      loss->remedy().unblocked_calls.push_back(call);
      return;
    }
    if (trace_.DirectionOfCopy(op) != CopyDirection::kHostToDevice) return;
    loss->remedy().unblocked_calls.push_back(call);
    if (sync != kNone) loss->remedy().unblocked_calls.push_back(sync);
  }

  void Small() {
    LossBuilder loss(basis_);
    std::vector<double> sizes;
    std::vector<std::uint8_t> blamed(trace_.calls.size(), 0);
    const auto left = static_cast<float>(Number("copy.joined_left"));
    for (const auto& train : trains_) {
      for (std::size_t i = 0; i < train.size(); ++i) {
        const std::uint32_t op = train[i];
        sizes.push_back(Bytes(op));
        loss.CountOp(op, Bytes(op));
        loss.AddExposed(op);
        if (trace_.ops.call[op] != kNone) Release(trace_.ops.call[op], &blamed, &loss);
        if (i == 0) continue;
        // The gap between two copies of the train, and the copy itself beyond its share of the
        // link.
        const std::uint32_t device = trace_.ops.device[op];
        loss.AddSpans(device, basis_.times[device].idle.Clip(trace_.ops.end[train[i - 1]],
                                                             trace_.ops.start[op]));
        loss.ScaleOp(op, std::min(ToLinkRate(op), left));
        loss.RemoveCallOf(op);
      }
    }
    loss.AddBlamed(blamed);
    result_.small = loss.Build();
    result_.small_median_bytes = Median(sizes);
  }

  void Slow() {
    LossBuilder loss(basis_);
    const double enough = Number("copy.slow_share");
    const auto long_enough = Time("copy.slow_time");
    for (const std::uint32_t op : copies_) {
      if (!IsHostDevice(trace_.DirectionOfCopy(op)) || !Touches(op, MemoryKind::kPinned) ||
          (Bytes(op) < large_bytes_ && Length(op) < long_enough))
        continue;
      if (link_ <= 0 || Length(op) <= 0) continue;
      if (Bytes(op) / static_cast<double>(Length(op)) * kNanosPerSecond >= enough * link_) continue;
      loss.CountOp(op, Bytes(op));
      loss.AddExposed(op);
      loss.ScaleOp(op, ToLinkRate(op));
    }
    result_.slow = loss.Build();
  }

  // Asynchronous copies: on a stream that also runs kernels they cannot hide behind them. On
  // streams of their own they do, as far as there is compute to hide behind: what then remains goes
  // only with the copies themselves. Pageable ones hide only once they are pinned. What another GPU
  // waits for (`exchanged`) has no compute to hide behind.
  void Asynchronous(const std::unordered_set<std::uint32_t>& exchanged) {
    LossBuilder serial(basis_);
    LossBuilder separate(basis_);
    const double read_rate = Number("copy.read_rate");
    const std::vector<std::uint8_t> computes = StreamsThatCompute(run_);
    for (const std::uint32_t op : copies_) {
      const std::uint32_t stream = trace_.ops.stream[op];
      if (!IsHostDevice(trace_.DirectionOfCopy(op)) || stream == kNone) continue;
      if (exchanged.contains(op)) continue;
      const bool on_stream = computes[stream] != 0;
      if (!(IsPinned(op) || (on_stream && MayBePinned(op)))) continue;
      LossBuilder& loss = on_stream ? serial : separate;
      loss.CountOp(op, Bytes(op));
      loss.AddExposed(op);
      if (on_stream) {
        loss.remedy().detached_ops.push_back(op);
        if (!IsPinned(op)) loss.remedy().detached_if_unblocked.push_back(op);
        // With several buffers, nobody waits for this one before the next is filled.
        const std::uint32_t wait = read_later_.WaitWithoutRead(op, read_rate);
        if (wait != kNone) loss.remedy().unblocked_calls.push_back(wait);
      } else {
        loss.ScaleOp(op, 0);
      }
    }
    result_.serial = serial.Build();
    result_.separate = separate.Build();
  }
  bool IsPinned(std::uint32_t op) const {
    return result_.kind_of_op[op] == CopyKind::kPlain && Touches(op, MemoryKind::kPinned);
  }
  // A pageable copy of the loop that nothing but its memory holds.
  bool MayBePinned(std::uint32_t op) {
    if (result_.kind_of_op[op] != CopyKind::kPageable || Bytes(op) < large_bytes_) return false;
    if (!run_.steps.known() || of_outliers_.contains(op) || !basis_.InLoop(trace_.ops.start[op]))
      return false;
    return trace_.DirectionOfCopy(op) == CopyDirection::kHostToDevice ||
           read_later_.IsReadLater(op);
  }

  const Phases& phases_;
  double link_;
  bool of_tokens_;
  double tiny_bytes_, small_bytes_, quick_bytes_, large_bytes_;
  std::size_t train_;
  LaterReads read_later_;
  std::set<std::uint32_t> of_outliers_;  // ops
  std::vector<Nanos> loop_from_;         // by device: where no steps are known, its first kernel
  std::vector<std::uint32_t> copies_;    // ops
  std::unordered_map<std::uint32_t, std::uint32_t> sync_of_copy_;  // by the copy's call
  std::vector<std::vector<std::uint32_t>> trains_;
  Copies result_;
};

}  // namespace

Copies FindCopies(const Basis& basis, const Phases& phases, const CopyContext& context) {
  return CopyFinder(basis, phases, context).Find();
}

}  // namespace advise
