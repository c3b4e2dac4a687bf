#include "engine/metrics/sync.h"

#include <algorithm>
#include <map>

namespace advise {
namespace {

class SyncFinder {
 public:
  SyncFinder(const Basis& basis, const Copies& copies, const Phases& phases)
      : basis_(basis), run_(basis.run), trace_(basis.run.trace), copies_(copies), phases_(phases) {}

  Syncs Find() {
    Loops();
    Items();
    Memsets();
    Streams();
    BusyWait();
    return std::move(result_);
  }

 private:
  Nanos CallLength(std::uint32_t call) const {
    return trace_.calls.end[call] - trace_.calls.start[call];
  }
  bool InForward(std::uint32_t call) const {
    return phases_.At(run_.ProcessOfCall(call), trace_.calls.start[call]) == Phase::kForward;
  }

  void Loops() {
    LossBuilder loss(basis_);
    forward_calls_.assign(trace_.calls.size(), 0);
    std::vector<std::uint8_t> blamed(trace_.calls.size(), 0);
    std::map<StringId, double> by_name;
    for (std::uint32_t c = 0; c < trace_.calls.size(); ++c) {
      if (!IsSync(run_.ClassOfCall(c)) || !basis_.InWindow(trace_.calls.start[c])) continue;
      result_.count += 1;
      result_.time_ns += static_cast<double>(CallLength(c));
      if (copies_.copy_of_sync[c] != kNone) {
        const std::uint32_t op = run_.first_op_of_call[copies_.copy_of_sync[c]];
        const CopyKind kind = copies_.kind_of_op[op];
        if (kind == CopyKind::kTiny || kind == CopyKind::kPageable || kind == CopyKind::kSmall)
          continue;
      }
      loss.Count(trace_.calls.start[c], 0, CallLength(c));
      blamed[c] = 1;
      loss.remedy().unblocked_calls.push_back(c);
      by_name[trace_.calls.name[c]] += static_cast<double>(CallLength(c));
      if (InForward(c)) forward_calls_[c] = 1;
    }
    loss.AddBlamed(blamed);
    double most = -1;
    for (const auto& [name, time] : by_name) {
      if (time > most) most = time, result_.loop_name = trace_.strings[name];
    }
    result_.loop = loss.Build();
  }

  void Items() {
    LossBuilder loss(basis_);
    std::vector<std::uint8_t> blamed(trace_.calls.size(), 0);
    std::vector<double> sizes;
    bool up = false;
    bool down = false;
    std::map<std::uint32_t, std::uint32_t> sync_of_copy;
    for (std::uint32_t c = 0; c < trace_.calls.size(); ++c) {
      if (copies_.copy_of_sync[c] != kNone) sync_of_copy[copies_.copy_of_sync[c]] = c;
    }
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] != OpKind::kCopy || copies_.kind_of_op[op] != CopyKind::kTiny)
        continue;
      const std::uint32_t call = trace_.ops.call[op];
      const auto bytes = static_cast<double>(trace_.copies.bytes[trace_.ops.detail[op]]);
      sizes.push_back(bytes);
      (trace_.copies.direction[trace_.ops.detail[op]] == CopyDirection::kHostToDevice ? up : down) =
          true;
      loss.Count(trace_.ops.start[op], bytes, trace_.ops.end[op] - trace_.ops.start[op]);
      loss.AddExposed(op);
      std::vector<std::uint32_t> calls = {call};
      if (const auto sync = sync_of_copy.find(call); sync != sync_of_copy.end())
        calls.push_back(sync->second);
      for (const std::uint32_t c : calls) {
        blamed[c] = 1;
        loss.remedy().unblocked_calls.push_back(c);
        if (InForward(call)) forward_calls_[c] = 1;
      }
    }
    loss.AddBlamed(blamed);
    result_.item = loss.Build();
    result_.item_median_bytes = Median(sizes);
    result_.item_direction = up && down ? "both ways" : up ? "host to device" : "device to host";

    LossBuilder forward(basis_);
    for (std::uint32_t c = 0; c < trace_.calls.size(); ++c) {
      if (forward_calls_[c] == 0) continue;
      forward.Count(trace_.calls.start[c], 0, CallLength(c));
      forward.remedy().unblocked_calls.push_back(c);
    }
    forward.AddBlamed(forward_calls_);
    result_.forward = forward.Build();
  }

  void Memsets() {
    LossBuilder loss(basis_);
    std::vector<std::uint8_t> blamed(trace_.calls.size(), 0);
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      const std::uint32_t call = trace_.ops.call[op];
      if (trace_.ops.kind[op] != OpKind::kMemset || call == kNone ||
          !basis_.InWindow(trace_.ops.start[op]))
        continue;
      if (run_.ClassOfCall(call) != CallClass::kMemset ||
          trace_.calls.end[call] < trace_.ops.end[op])
        continue;
      loss.Count(trace_.ops.start[op],
                 static_cast<double>(trace_.memsets.bytes[trace_.ops.detail[op]]),
                 trace_.ops.end[op] - trace_.ops.start[op]);
      loss.AddExposed(op);
      blamed[call] = 1;
      loss.remedy().unblocked_calls.push_back(call);
    }
    loss.AddBlamed(blamed);
    result_.memset = loss.Build();
  }

  // Streams of one process and device that take turns though their kernels leave room for each
  // other.
  void Streams() {
    std::map<std::pair<std::uint32_t, std::uint32_t>,
             std::map<std::uint32_t, std::vector<std::uint32_t>>>
        by_place;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] != OpKind::kKernel || trace_.ops.stream[op] == kNone ||
          run_.IsComm(op))
        continue;
      if (!basis_.InWindow(trace_.ops.start[op])) continue;
      const Stream& stream = trace_.streams[trace_.ops.stream[op]];
      by_place[{stream.process, trace_.ops.device[op]}][trace_.ops.stream[op]].push_back(op);
    }
    std::vector<Nanos> waits;
    for (std::uint32_t c = 0; c < trace_.calls.size(); ++c) {
      if (run_.ClassOfCall(c) == CallClass::kStreamWaitEvent &&
          basis_.InWindow(trace_.calls.start[c])) {
        waits.push_back(trace_.calls.start[c]);
      }
    }
    LossBuilder by_default(basis_);
    LossBuilder chain(basis_);
    double default_time = 0;
    double all_time = 0;
    for (const auto& [place, streams] : by_place) {
      std::map<std::uint32_t, IntervalSet> busy;
      IntervalSet all;
      Nanos sum = 0;
      std::uint32_t longest = kNone;
      std::uint32_t null_stream = kNone;
      for (const auto& [stream, ops] : streams) {
        IntervalSet& set = busy[stream];
        for (const std::uint32_t op : ops) set.Append(trace_.ops.start[op], trace_.ops.end[op]);
        all = all.Union(set);
        sum += set.Total();
        if (longest == kNone || set.Total() > busy[longest].Total()) longest = stream;
        if (trace_.streams[stream].is_default) null_stream = stream;
      }
      all_time += static_cast<double>(all.Total());
      if (null_stream != kNone) default_time += static_cast<double>(busy[null_stream].Total());
      if (streams.size() < 2) continue;
      // Taking turns: side by side for next to nothing of the shorter streams' time.
      const Nanos shorter = sum - busy[longest].Total();
      const Nanos together = sum - all.Total();
      if (shorter <= 0 ||
          static_cast<double>(together) >
              run_.knowledge.Number("sync.together_share") * static_cast<double>(shorter))
        continue;
      const bool by_null = null_stream != kNone;
      if (!by_null && waits.empty()) continue;
      LossBuilder& loss = by_null ? by_default : chain;
      if (by_null) {
        result_.other_streams = std::max(result_.other_streams, streams.size() - 1);
      } else {
        result_.chain_streams = std::max(result_.chain_streams, streams.size());
      }
      for (const auto& [stream, ops] : streams) {
        for (const std::uint32_t op : ops) {
          if (by_null && stream == null_stream)
            loss.Count(trace_.ops.start[op], 0, trace_.ops.end[op] - trace_.ops.start[op]);
          if (stream == longest || !LeavesRoom(op)) continue;
          loss.AddOp(op);
          loss.remedy().detached_ops.push_back(op);
        }
      }
      if (!by_null) {
        for (const Nanos when : waits) loss.Count(when, 0, 0);
      }
    }
    result_.default_share = all_time > 0 ? default_time / all_time : 0;
    result_.default_stream = by_default.Build();
    result_.event_chain = chain.Build();
  }

  // A kernel that fills the GPU by itself gains nothing from company.
  bool LeavesRoom(std::uint32_t op) const {
    const int sms = trace_.devices[trace_.ops.device[op]].sm_count;
    const auto blocks = static_cast<double>(trace_.shapes[trace_.ops.detail[op]].Blocks());
    return sms > 0 && blocks <= run_.knowledge.Number("kernel.room_share") * sms;
  }

  void BusyWait() {
    for (const std::uint32_t thread : run_.launching_threads) {
      for (std::uint32_t c = run_.calls_of_thread[thread].first;
           c < run_.calls_of_thread[thread].last; ++c) {
        if (!IsSync(run_.ClassOfCall(c)) || !basis_.InWindow(trace_.calls.start[c])) continue;
        Nanos least = CallLength(c);
        for (const std::uint32_t d : run_.active_devices) {
          const Nanos computing =
              basis_.times[d].compute.OverlapWith(trace_.calls.start[c], trace_.calls.end[c]);
          least = std::min(least, CallLength(c) - computing);
        }
        result_.busy_wait_ns += static_cast<double>(least);
      }
    }
    result_.busy_wait_ns /=
        static_cast<double>(std::max<std::size_t>(1, run_.active_devices.size()));
  }

  const Basis& basis_;
  const Run& run_;
  const Trace& trace_;
  const Copies& copies_;
  const Phases& phases_;
  std::vector<std::uint8_t> forward_calls_;
  Syncs result_;
};

}  // namespace

Syncs FindSyncs(const Basis& basis, const Copies& copies, const Phases& phases) {
  return SyncFinder(basis, copies, phases).Find();
}

}  // namespace advise
