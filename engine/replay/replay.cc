#include "engine/replay/replay.h"

#include <algorithm>
#include <map>

namespace advise {

void Remedy::Join(const Remedy& other) {
  const bool was_empty = unblocked_calls.empty() && vanished_calls.empty() && scaled_ops.empty() &&
                         detached_ops.empty() && freed_ops.empty() && host_cuts.empty() &&
                         !data_ready;
  if (was_empty || (reach_ns > 0 && other.reach_ns > 0)) {
    reach_ns += other.reach_ns;
    if (other.reach_ns > 0) reach_reason = other.reach_reason;
  } else {
    reach_ns = 0;
  }
  const auto append = [](auto* to, const auto& from) {
    to->insert(to->end(), from.begin(), from.end());
  };
  append(&unblocked_calls, other.unblocked_calls);
  append(&vanished_calls, other.vanished_calls);
  append(&scaled_ops, other.scaled_ops);
  append(&detached_ops, other.detached_ops);
  append(&freed_ops, other.freed_ops);
  append(&host_cuts, other.host_cuts);
  data_ready = data_ready || other.data_ready;
  if (other.floor_ns > floor_ns) {
    floor_ns = other.floor_ns;
    floor_reason = other.floor_reason;
  }
}

namespace {

// Per-call and per-op flags of one remedy, dense for the replay's own indices.
struct Changes {
  std::vector<std::uint8_t> unblocked, vanished, detached, freed;
  std::vector<float> factor;
  std::map<std::uint32_t, IntervalSet> cuts;

  Nanos CutWithin(std::uint32_t thread, Nanos from, Nanos to) const {
    if (cuts.empty()) return 0;
    const auto found = cuts.find(thread);
    return found == cuts.end() ? 0 : found->second.OverlapWith(from, to);
  }
};

Changes Spread(const Remedy& remedy, const RowIndex& call_index, const RowIndex& op_index,
               std::size_t calls, std::size_t ops) {
  Changes changes;
  changes.unblocked.assign(calls, 0);
  changes.vanished.assign(calls, 0);
  changes.detached.assign(ops, 0);
  changes.freed.assign(ops, 0);
  changes.factor.assign(ops, 1.0F);
  const auto set = [](const std::vector<std::uint32_t>& rows, const RowIndex& index, auto* flags) {
    for (const std::uint32_t row : rows) {
      if (At(index, row) != kNone) (*flags)[index[row]] = 1;
    }
  };
  set(remedy.unblocked_calls, call_index, &changes.unblocked);
  set(remedy.vanished_calls, call_index, &changes.vanished);
  set(remedy.detached_ops, op_index, &changes.detached);
  set(remedy.freed_ops, op_index, &changes.freed);
  for (const auto& [row, factor] : remedy.scaled_ops) {
    if (At(op_index, row) != kNone) changes.factor[op_index[row]] *= factor;
  }
  for (const Remedy::HostCut& cut : remedy.host_cuts) {
    IntervalSet& known = changes.cuts[cut.thread];
    known = known.Union(cut.when);
  }
  return changes;
}

}  // namespace

Replay::Result Replay::With(const Remedy& remedy) const {
  const Changes changes = Spread(remedy, call_index_, op_index_, calls_.size(), ops_.size());
  std::vector<Nanos> call_start(calls_.size());
  std::vector<Nanos> call_end(calls_.size());
  std::vector<Nanos> op_start(ops_.size());
  std::vector<Nanos> op_end(ops_.size());
  std::vector<Nanos> chain_end(ops_.size());  // when the op's stream is free after it
  std::vector<Nanos> arrival(arrivals_.size());
  std::vector<Nanos> reached(device_count_,
                             from_);  // end of what has run so far, less what runs aside
  std::vector<Nanos> device_busy(device_count_, 0);
  std::vector<Nanos> link_busy(device_count_, 0);
  std::vector<double> wide_busy(device_count_, 0);
  Nanos waited_for_data = 0;
  Nanos end = from_;

  const auto duration = [&](std::uint32_t i) {
    return static_cast<Nanos>(static_cast<double>(ops_[i].end - ops_[i].start) *
                              static_cast<double>(changes.factor[i]));
  };
  const auto start_call = [&](std::uint32_t i) {
    const HostCall& call = calls_[i];
    const bool released = call.released_by != kNone;
    const Nanos since = released                 ? calls_[call.released_by].end
                        : call.previous == kNone ? from_
                                                 : calls_[call.previous].end;
    const Nanos ready = released                 ? call_end[call.released_by]
                        : call.previous == kNone ? from_
                                                 : call_end[call.previous];
    Nanos code = call.start - since - changes.CutWithin(call.thread, since, call.start);
    if (call.waited_for != kNone) code -= changes.CutWithin(call.waited_for, since, call.start);
    if (changes.vanished[i] != 0) code = 0;
    Nanos begin = ready + std::max<Nanos>(code, 0);
    if (call.arrival != kNone && changes.vanished[i] == 0) {
      // The code splits at the arrival of the batch: only what follows it comes after it.
      const std::uint32_t k = call.arrival;
      const Nanos after =
          call.start - arrivals_[k] - changes.CutWithin(call.thread, arrivals_[k], call.start);
      const bool own_wait = arrivals_[k] > since;
      if (own_wait) {
        arrival[k] = k == 0 ? arrivals_[k] : arrival[k - 1] + (arrivals_[k] - arrivals_[k - 1]);
        if (!remedy.data_ready) {
          const Nanos at = arrival[k] + std::max<Nanos>(after, 0);
          begin = ready + std::max<Nanos>(after, 0);
          if (at > begin) waited_for_data += at - begin;
          begin = std::max(begin, at);
        } else {
          begin = ready + std::max<Nanos>(after, 0);
        }
      }
    }
    if (released && call.previous != kNone) begin = std::max(begin, call_end[call.previous]);
    call_start[i] = begin;
  };
  const auto end_call = [&](std::uint32_t i) {
    const HostCall& call = calls_[i];
    Nanos own = call.own - changes.CutWithin(call.thread, call.start, call.end);
    if (changes.vanished[i] != 0) own = 0;
    if (changes.unblocked[i] != 0) own = std::min(own, nominal_call_ns_);
    Nanos done = call_start[i] + std::max<Nanos>(own, 0);
    if (call.awaited_op != kNone && changes.unblocked[i] == 0 && changes.vanished[i] == 0) {
      const GpuOp& awaited = ops_[call.awaited_op];
      const Nanos tail = std::max<Nanos>(0, call.end - awaited.end);
      // An op that now runs beside the others is done by the time that those are.
      const bool aside = changes.detached[call.awaited_op] != 0;
      done = std::max(done, (aside ? reached[awaited.device] : op_end[call.awaited_op]) + tail);
    }
    call_end[i] = done;
  };
  const auto start_op = [&](std::uint32_t i) {
    const GpuOp& op = ops_[i];
    Nanos begin = op.start;
    if (op.call != kNone) {
      // What staging a pageable copy took before it reached the copy engine goes with the wait for
      // it.
      const bool staged = changes.unblocked[op.call] != 0;
      begin = call_start[op.call] + (staged ? std::min(op.latency, usual_latency_ns_) : op.latency);
    } else if (op.early && (op.previous != kNone || op.awaited != kNone)) {
      begin = from_;
      // What held it, when nothing visible did, holds it still.
      if (op.awaited == kNone)
        begin = chain_end[op.previous] + std::max<Nanos>(0, op.start - ops_[op.previous].end);
    } else if (op.previous != kNone) {
      begin = chain_end[op.previous] + std::max<Nanos>(0, op.start - ops_[op.previous].end);
    }
    if (op.previous != kNone) begin = std::max(begin, chain_end[op.previous] + op.spacing);
    if (op.awaited != kNone && changes.detached[op.awaited] == 0 && changes.freed[i] == 0) {
      begin = std::max(begin, op_end[op.awaited] + (op.start - ops_[op.awaited].end));
    }
    if (op.event != kNone && changes.detached[op.event] == 0 && changes.freed[i] == 0)
      begin = std::max(begin, op_end[op.event]);
    op_start[i] = begin;
    op_end[i] = begin + duration(i);
    const bool aside = changes.detached[i] != 0 || changes.factor[i] == 0.0F;
    chain_end[i] = aside ? (op.previous == kNone ? from_ : chain_end[op.previous]) : op_end[i];
    if (changes.detached[i] != 0) {
      link_busy[op.device] += duration(i);
    } else {
      device_busy[op.device] += duration(i);
      if (op.wide) wide_busy[op.device] += static_cast<double>(duration(i));
      reached[op.device] = std::max(reached[op.device], op_end[i]);
      if (op.group == kNone && changes.factor[i] > 0.0F) end = std::max(end, op_end[i]);
    }
  };
  const auto end_group = [&](std::uint32_t g) {
    Nanos last_start = 0;
    Nanos transfer = std::numeric_limits<Nanos>::max();
    for (const std::uint32_t i : groups_[g]) {
      last_start = std::max(last_start, op_start[i]);
      transfer = std::min(transfer, duration(i));
    }
    for (const std::uint32_t i : groups_[g]) {
      if (changes.detached[i] != 0) continue;
      op_end[i] = last_start + transfer;
      chain_end[i] = op_end[i];
      end = std::max(end, op_end[i]);
    }
  };
  for (const Node& node : order_) {
    switch (node.event) {
      case Event::kGroupEnd:
        end_group(node.index);
        break;
      case Event::kCallEnd:
        end_call(node.index);
        break;
      case Event::kCallStart:
        start_call(node.index);
        break;
      case Event::kOpStart:
        start_op(node.index);
        break;
    }
  }
  Nanos host_end = from_;
  for (const std::uint32_t i : last_calls_) {
    const Nanos tail =
        to_ - calls_[i].end - changes.CutWithin(calls_[i].thread, calls_[i].end, to_);
    host_end = std::max(host_end, call_end[i] + std::max<Nanos>(0, tail));
  }
  Result result;
  result.length_ns = std::max(end, host_end) - from_;
  // Kernels that fill the device cannot run side by side, whatever the order allows.
  for (std::size_t d = 0; d < device_count_; ++d) {
    result.length_ns =
        std::max(result.length_ns, static_cast<Nanos>(wide_busy[d] * wide_union_[d]));
  }
  const Nanos link = *std::max_element(link_busy.begin(), link_busy.end());
  const auto floor = static_cast<Nanos>(static_cast<double>(remedy.floor_ns) / scale_);
  const Nanos busiest = *std::max_element(device_busy.begin(), device_busy.end());
  const double length = static_cast<double>(std::max<Nanos>(1, result.length_ns));
  if (link > result.length_ns) {
    result.length_ns = link;
    result.next_bound = "the link that the copies use";
  } else if (floor > result.length_ns) {
    result.length_ns = floor;
    result.next_bound = remedy.floor_reason;
  } else if (static_cast<double>(busiest) > busy_share_ * length) {
    result.next_bound = "the GPU's own work";
  } else if (static_cast<double>(waited_for_data) > input_share_ * length) {
    result.next_bound = "the data loader";
  } else {
    result.next_bound = "the launching thread";
  }
  return result;
}

Nanos Replay::Gain(const Remedy& remedy, std::string* next_bound) const {
  if (ops_.empty()) return 0;
  const Result result = With(remedy);
  if (next_bound != nullptr) *next_bound = result.next_bound;
  const auto gain = static_cast<Nanos>(
      scale_ * static_cast<double>(std::max<Nanos>(0, baseline_ns_ - result.length_ns)));
  if (remedy.reach_ns == 0 || gain <= remedy.reach_ns) return gain;
  if (next_bound != nullptr) *next_bound = remedy.reach_reason;
  return remedy.reach_ns;
}

}  // namespace advise
