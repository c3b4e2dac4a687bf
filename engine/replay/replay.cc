#include "engine/replay/replay.h"

#include <algorithm>
#include <utility>

#include "engine/replay/replay_pass.h"

namespace advise {

Replay::Pass::Pass(const Replay& graph, const Remedy& remedy)
    : graph_(graph),
      remedy_(remedy),
      changes_(Spread(remedy, graph.call_index_, graph.op_index_, graph.calls_.size(),
                      graph.ops_.size())),
      call_start_(graph.calls_.size()),
      call_end_(graph.calls_.size()),
      op_start_(graph.ops_.size()),
      op_end_(graph.ops_.size()),
      chain_end_(graph.ops_.size()),
      arrival_(graph.arrivals_.size()),
      turns_later_(graph.turns_.size()),
      reached_(graph.device_count_, graph.from_),
      device_busy_(graph.device_count_, 0),
      link_busy_(2 * graph.device_count_, 0),
      talk_busy_(2 * graph.device_count_, 0),
      launches_(graph.queue_depth_.size(), 0),
      begun_(graph.queue_depth_.size()),
      wide_busy_(graph.device_count_, 0),
      last_wide_(graph.device_count_, kNone),
      end_(graph.from_) {
  for (const std::uint32_t row : remedy.detached_if_unblocked) {
    const std::uint32_t op = At(graph.op_index_, row);
    if (op == kNone) continue;
    const std::uint32_t call = graph.ops_[op].call;
    if (call != kNone && changes_.unblocked[call] == 0) changes_.detached[op] = 0;
  }
}

Replay::Result Replay::Pass::Run() {
  for (const Node& node : graph_.order_) {
    switch (node.event) {
      case Event::kGroupEnd:
        EndGroup(node.index);
        break;
      case Event::kCallEnd:
        EndCall(node.index);
        break;
      case Event::kCallStart:
        StartCall(node.index);
        break;
      case Event::kOpStart:
        StartOp(node.index);
        break;
    }
  }
  Result result;
  result.length_ns = std::max(end_, HostEnd()) - graph_.from_;
  // Kernels that fill the device cannot run side by side, whatever the order allows.
  for (std::size_t d = 0; d < graph_.device_count_; ++d) {
    result.length_ns =
        std::max(result.length_ns, static_cast<Nanos>(wide_busy_[d] * graph_.wide_union_[d]));
  }
  Bound(&result);
  return result;
}

Nanos Replay::Pass::OpStart(std::uint32_t i) const {
  const GpuOp& op = graph_.ops_[i];
  const auto since_end_of = [&](std::uint32_t other) { return op.start - graph_.ops_[other].end; };
  Nanos begin = op.start;
  if (op.call != kNone) {
    // What staging a pageable copy took before it reached the copy engine goes with the wait for
    // it; what an op waited for other streams, when it no longer does.
    const bool at_once = changes_.unblocked[op.call] != 0 || changes_.freed[i] != 0;
    // A call that takes less time hands the op over sooner.
    const HostCall& call = graph_.calls_[op.call];
    const Nanos cut = changes_.CutWithin(call.thread, call.start, std::min(call.end, op.start));
    const Nanos latency = std::max<Nanos>(0, op.latency - cut);
    begin =
        call_start_[op.call] + (at_once ? std::min(latency, graph_.usual_latency_ns_) : latency);
  } else if (op.early && op.awaited != kNone) {
    begin = graph_.from_;
  } else if (op.previous != kNone) {
    // What held it, when nothing visible did, holds it still.
    const Nanos held = since_end_of(op.previous) - (changes_.freed[i] != 0 ? op.function : 0);
    begin = chain_end_[op.previous] + std::max<Nanos>(0, held);
  } else if (op.within != kNone) {
    begin = std::min(op_start_[op.within] + op.start - graph_.ops_[op.within].start,
                     op_end_[op.within]);
  }
  const Nanos function = changes_.freed[i] != 0 ? 0 : op.function;
  const Nanos spacing = SpacingOf(i) + function;
  if (op.previous != kNone) begin = std::max(begin, chain_end_[op.previous] + spacing);
  // Beside a kernel that fills the GPU it would win nothing.
  if (changes_.freed[i] != 0) {
    const std::uint32_t wide = last_wide_[op.device];
    const bool behind = wide != kNone && graph_.ops_[wide].end <= op.start;
    return behind ? std::max(begin, op_end_[wide]) : begin;
  }
  // Of one that runs beside its stream, what the stream did before it is still waited for.
  const auto behind = [&](std::uint32_t other, Nanos distance) {
    return changes_.detached[other] == 0 ? op_end_[other] + distance : chain_end_[other];
  };
  if (op.awaited != kNone) begin = std::max(begin, behind(op.awaited, since_end_of(op.awaited)));
  if (op.event != kNone) begin = std::max(begin, behind(op.event, function > 0 ? spacing : 0));
  return begin;
}

Nanos Replay::Pass::SpacingOf(std::uint32_t i) const {
  const GpuOp& op = graph_.ops_[i];
  if (op.spacing <= 0 || op.call == kNone || !Vanishes(op.call)) return op.spacing;
  // What becomes a part of the kernel before it has no start of its own.
  if (changes_.factor[i] < 1.0F) return 0;
  const double part = remedy_.in_graph ? graph_.graph_spacing_ : 1;
  return static_cast<Nanos>(part * static_cast<double>(op.spacing));
}

void Replay::Pass::StartOp(std::uint32_t i) {
  const GpuOp& op = graph_.ops_[i];
  op_start_[i] = OpStart(i);
  if (op.submitted && !Vanishes(op.call)) begun_[op.stream].push_back(i);
  op_end_[i] = op_start_[i] + DurationOf(i);
  const bool gone = changes_.factor[i] == 0.0F;
  const bool aside = changes_.detached[i] != 0 || gone;
  chain_end_[i] = aside ? ChainEndBefore(op) : op_end_[i];
  // Its stream still waits for the other streams for which it was made to wait.
  if (aside && changes_.freed[i] == 0) {
    for (const std::uint32_t other : {op.awaited, op.event}) {
      if (other != kNone && changes_.detached[other] == 0)
        chain_end_[i] = std::max(chain_end_[i], op_end_[other]);
    }
  }
  if (changes_.detached[i] != 0) {
    for (const std::uint32_t way : {2 * op.device, 2 * op.device + 1}) {
      if (way % 2 == 0 ? !op.to_device : !op.from_device) continue;
      link_busy_[way] += DurationOf(i);
      if (op.talks) talk_busy_[way] += DurationOf(i);
    }
    return;
  }
  device_busy_[op.device] += DurationOf(i);
  if (op.wide) {
    wide_busy_[op.device] += static_cast<double>(DurationOf(i));
    last_wide_[op.device] = i;
  }
  reached_[op.device] = std::max(reached_[op.device], op_end_[i]);
  if (op.group == kNone && changes_.factor[i] > 0.0F) end_ = std::max(end_, op_end_[i]);
}

void Replay::Pass::EndGroup(std::uint32_t g) {
  Nanos last_start = 0;
  Nanos transfer = std::numeric_limits<Nanos>::max();
  for (const std::uint32_t i : graph_.groups_[g]) {
    last_start = std::max(last_start, op_start_[i]);
    transfer = std::min(transfer, DurationOf(i));
  }
  for (const std::uint32_t i : graph_.groups_[g]) {
    if (changes_.detached[i] != 0) continue;
    op_end_[i] = last_start + transfer;
    chain_end_[i] = op_end_[i];
    end_ = std::max(end_, op_end_[i]);
  }
}

Nanos Replay::Pass::HostEnd() const {
  Nanos host_end = graph_.from_;
  for (const std::uint32_t i : graph_.last_calls_) {
    const HostCall& call = graph_.calls_[i];
    const Nanos tail =
        graph_.to_ - call.end - changes_.CutWithin(call.thread, call.end, graph_.to_);
    host_end = std::max(host_end, call_end_[i] + std::max<Nanos>(0, tail));
  }
  return host_end;
}

void Replay::Pass::Bound(Result* result) const {
  const auto busiest_link = std::max_element(link_busy_.begin(), link_busy_.end());
  const Nanos link = *busiest_link;
  const bool talks =
      2 * talk_busy_[static_cast<std::size_t>(busiest_link - link_busy_.begin())] > link;
  const auto in_part = [&](Nanos time) {
    return static_cast<Nanos>(static_cast<double>(time) / graph_.scale_);
  };
  const Nanos floor = in_part(remedy_.floor_ns);
  const LoaderPace& loader = graph_.loader_;
  const auto behind =
      static_cast<Nanos>(loader.left_share * static_cast<double>(result->length_ns));
  const Nanos loading =
      remedy_.data_ready || loader.needs_ns == 0 ? 0 : in_part(loader.needs_ns) + behind;
  const Nanos busiest = *std::max_element(device_busy_.begin(), device_busy_.end());
  const double length = static_cast<double>(std::max<Nanos>(1, result->length_ns));
  if (link > std::max({result->length_ns, floor, loading})) {
    result->length_ns = link;
    result->next_bound = talks ? "communication" : "the link that the copies use";
  } else if (floor > std::max(result->length_ns, loading)) {
    result->length_ns = floor;
    result->next_bound = remedy_.floor_reason;
  } else if (loading > result->length_ns) {
    result->length_ns = loading;
    result->next_bound = kBoundByLoader;
  } else if (static_cast<double>(busiest) > graph_.busy_share_ * length) {
    result->next_bound = kBoundByGpu;
  } else if (static_cast<double>(waited_for_data_) > graph_.input_share_ * length) {
    result->next_bound = kBoundByLoader;
  } else {
    result->next_bound = graph_.bound_by_host_;
  }
}

Replay::Result Replay::With(const Remedy& remedy) const { return Pass(*this, remedy).Run(); }

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
