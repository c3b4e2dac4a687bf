#include "engine/metrics/losses/waits/sync.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/metrics/losses/directives.h"
#include "engine/metrics/losses/ranks/mpi_waits.h"
#include "engine/metrics/losses/waits/function_waits.h"
#include "engine/metrics/losses/waits/results_home.h"
#include "engine/metrics/losses/waits/sized_reads.h"
#include "engine/replay/stream_waits.h"
#include "engine/timeline/blocking_calls.h"

namespace advise {
namespace {

class SyncFinder : Finder {
 public:
  SyncFinder(const Basis& basis, const Copies& copies, const Phases& phases, bool requests_as_code)
      : Finder(basis), copies_(copies), phases_(phases) {
    FindPausesThatStandOut(requests_as_code);
    FindRequestWaits();
    for (const LateCopy& late : basis.idle.late_copies)
      late_copies_[{late.blocked_by, late.op}] = &late;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op)
      if (IsPageBack(op)) pages_back_.push_back(trace_.ops.start[op]);
  }

  Syncs Find() {
    Loops();
    Items();
    Memsets();
    static_cast<StreamTies&>(result_) = FindStreamTies(basis_);
    result_.host_function = FindFunctionWaits(basis_);
    BusyWait();
    result_.optimizer = WaitsIn(Phase::kOptimizer);
    result_.backward = WaitsIn(Phase::kBackward);
    return std::move(result_);
  }

 private:
  // When the thread makes its next call; the end of the window behind its last one.
  Nanos NextStart(std::uint32_t call) const {
    const bool last = call + 1 == run_.calls_of_thread[trace_.calls.thread[call]].last;
    return last ? run_.window.end : trace_.calls.start[call + 1];
  }
  Nanos PauseBehind(std::uint32_t call) const { return NextStart(call) - trace_.calls.end[call]; }
  // The host's page fault moves memory back from the GPU, as far as the capture says why it moves.
  bool IsPageBack(std::uint32_t op) const {
    if (trace_.ops.kind[op] != OpKind::kCopy ||
        trace_.DirectionOfCopy(op) != CopyDirection::kMigrationToHost)
      return false;
    const MigrationCause cause = trace_.copies.cause[trace_.ops.detail[op]];
    return cause == MigrationCause::kFault || cause == MigrationCause::kUnknown;
  }
  bool InForward(std::uint32_t call) const { return phases_.OfCall(call) == Phase::kForward; }

  // MPI knows no streams: what a message carries must be done before the call that sends it.
  bool IsForMessage(std::uint32_t call) const {
    const std::uint32_t thread = trace_.calls.thread[call];
    return UsesMpi(run_, thread, trace_.calls.end[call], NextStart(call));
  }

  // Threads that meet exchange what their GPUs have computed: it must be done before.
  bool IsForMeeting(std::uint32_t call) const {
    const std::vector<std::uint8_t>& before = basis_.idle.syncs_before_meetings;
    return call < before.size() && before[call] != 0;
  }

  // Behind which calls the thread shows nothing for far longer than behind most calls of that name.
  // What comes so in most steps is code of the step: where each has many such waits, none of them
  // is why the code runs. What comes in fewer may be a wait for the next request.
  void FindPausesThatStandOut(bool requests_as_code) {
    std::map<StringId, std::vector<std::uint32_t>> by_name;
    for (std::uint32_t c = 0; c < trace_.calls.size(); ++c) {
      if (BlocksHost(run_, c) && run_.InWindow(trace_.calls.start[c]))
        by_name[trace_.calls.name[c]].push_back(c);
    }
    const std::size_t steps = run_.steps.known() ? run_.steps.steady_count() : 0;
    for (const auto& [name, calls] : by_name) {
      std::vector<Nanos> pauses;
      for (const std::uint32_t c : calls) pauses.push_back(PauseBehind(c));
      const double least =
          std::max(Number("sync.long_code"),
                   Number("launch.pause_factor") * static_cast<double>(Median(std::move(pauses))));
      std::vector<std::uint32_t> found;
      for (const std::uint32_t c : calls)
        if (static_cast<double>(PauseBehind(c)) > least) found.push_back(c);
      const bool of_steps = steps > 0 && 2 * found.size() >= steps;
      if (!of_steps && requests_as_code) stand_out_.insert(found.begin(), found.end());
      if (of_steps && calls.size() >= CountOf("sync.waits_per_code") * found.size())
        before_code_.insert(found.begin(), found.end());
    }
  }

  // Threads that wait in the OS for requests which other threads hand them, time after time.
  void FindRequestWaits() {
    std::map<std::uint32_t, std::size_t> waits;
    for (const GapPiece piece : basis_.idle.pieces) {
      if (piece.cause == IdleCause::kNoWorkQueued && piece.activity == Activity::kOsWait)
        ++waits[basis_.idle.ThreadOf(piece)];
    }
    for (const auto& [thread, count] : waits)
      if (thread != kNone && count >= CountOf("sync.least_request_waits"))
        waits_for_requests_.insert(thread);
  }

  // A server sends the result and waits for the next request before it launches again, in an event
  // loop or for another thread: the host must have the result for that.
  bool IsForAnswer(std::uint32_t call) const {
    if (stand_out_.contains(call) || before_code_.contains(call)) return true;
    if (!basis_.idle.serves) return false;
    const std::uint32_t thread = trace_.calls.thread[call];
    const bool is_handed = waits_for_requests_.contains(thread);
    const Nanos until = NextStart(call);
    const RowRange rows = run_.os_of_thread[thread];
    const auto end = trace_.os_calls.start.begin() + rows.last;
    for (auto at = std::lower_bound(trace_.os_calls.start.begin() + rows.first, end,
                                    trace_.calls.end[call]);
         at != end && *at < until; ++at) {
      const auto row = static_cast<std::size_t>(at - trace_.os_calls.start.begin());
      const OsClass what = run_.names.Os(trace_.os_calls.name[row]);
      if (what == OsClass::kNetwork || (is_handed && what == OsClass::kWait)) return true;
    }
    return false;
  }

  // The host goes on to touch managed memory that the GPU has: it must not before the kernels are
  // done.
  bool IsForPages(std::uint32_t call) const {
    const auto next =
        std::lower_bound(pages_back_.begin(), pages_back_.end(), trace_.calls.end[call]);
    return next != pages_back_.end() && *next < NextStart(call);
  }

  // The host is about to read what this copies: without the wait behind it, it would read too
  // early.
  bool IsDownload(std::uint32_t op) const {
    return trace_.ops.kind[op] == OpKind::kCopy &&
           trace_.DirectionOfCopy(op) == CopyDirection::kDeviceToHost;
  }

  // The streams take turns, and the next one is free: what this call waits for could be read while
  // that one computes. Other processes may launch in between. O(log n).
  bool HoldsBackOtherStream(std::uint32_t call, std::uint32_t op) const {
    const auto at = late_copies_.lower_bound({call, op});
    return at != late_copies_.end() && at->first.first == call && at->second->stream_computes &&
           trace_.ops.stream[at->second->op] != trace_.ops.stream[op];
  }

  // By call: the program waits one iteration late, with all work of the last one still queued, as
  // it should. Whoever comes late then was held up by something else.
  std::vector<std::uint8_t> LateWaits(const std::vector<std::uint32_t>& awaited) const {
    std::vector<std::uint8_t> late(trace_.calls.size(), 0);
    for (const std::uint32_t thread : run_.launching_threads) {
      std::uint32_t before = kNone;  // the wait before
      std::uint32_t last = kNone;    // op of this thread
      bool left_work = false;        // when the wait before ended
      for (const std::uint32_t c : run_.calls_of_thread[thread]) {
        if (run_.first_op_of_call[c] != kNone) last = run_.first_op_of_call[c];
        if (!IsSync(run_.ClassOfCall(c))) continue;
        const bool leaves_work = last != kNone && trace_.ops.end[last] > trace_.calls.end[c];
        const std::uint32_t by = awaited[c] == kNone ? kNone : trace_.ops.call[awaited[c]];
        const bool of_before = by != kNone && before != kNone && by < before &&
                               trace_.calls.thread[by] == thread && trace_.ops.call[last] > before;
        if (of_before && left_work && leaves_work) late[c] = 1;
        left_work = leaves_work;
        before = c;
      }
    }
    return late;
  }

  // By op: the last wait for its stream, or for an event behind it; kNone.
  std::vector<std::uint32_t> LastWaits(const std::vector<std::uint32_t>& awaited) const {
    std::vector<std::uint32_t> last(trace_.ops.size(), kNone);
    for (std::uint32_t c = 0; c < awaited.size(); ++c) {
      const CallClass of = run_.ClassOfCall(c);
      if (awaited[c] == kNone || (of != CallClass::kSyncStream && of != CallClass::kSyncEvent))
        continue;
      std::uint32_t& before = last[awaited[c]];
      if (before == kNone || trace_.calls.start[before] < trace_.calls.start[c]) before = c;
    }
    return last;
  }

  void Loops() {
    LossBuilder loss(basis_);
    const std::vector<std::uint32_t> awaited = AwaitedBySyncs(run_);
    const std::vector<std::uint8_t> late = LateWaits(awaited);
    const std::vector<std::uint32_t> last_waits = LastWaits(awaited);
    // Who waits for the download itself later reads it there, and not behind this call.
    const auto waits_again = [&](std::uint32_t c, std::uint32_t op) {
      const std::uint32_t again = last_waits[op];
      return again != kNone && trace_.calls.start[again] >= trace_.calls.end[c];
    };
    forward_calls_.assign(trace_.calls.size(), 0);
    std::vector<std::uint8_t> blamed(trace_.calls.size(), 0);
    std::map<StringId, double> by_name;
    WeighedCalls waits;
    for (std::uint32_t c = 0; c < trace_.calls.size(); ++c) {
      if (!IsSync(run_.ClassOfCall(c)) || !basis_.InLoop(trace_.calls.start[c])) continue;
      result_.count += 1;
      result_.time_ns += static_cast<double>(CallLength(c));
      if (late[c] != 0 || copies_.calls_to_exchange.contains(c) || IsForMessage(c) ||
          IsForMeeting(c) || IsForAnswer(c) || IsForPages(c))
        continue;
      const auto copy = copies_.copy_of_sync.find(c);
      if (copy != copies_.copy_of_sync.end()) {
        const std::uint32_t op = run_.first_op_of_call[copy->second];
        const CopyKind kind = copies_.kind_of_op[op];
        if (kind == CopyKind::kTiny || kind == CopyKind::kPageable || kind == CopyKind::kSmall ||
            (IsDownload(op) && !HoldsBackOtherStream(c, op) && !waits_again(c, op)))
          continue;
      }
      loss.Count(trace_.calls.start[c], 0, CallLength(c));
      blamed[c] = 1;
      loss.remedy().unblocked_calls.push_back(c);
      by_name[trace_.calls.name[c]] += static_cast<double>(CallLength(c));
      waits.emplace_back(c, static_cast<double>(CallLength(c)));
      if (InForward(c)) forward_calls_[c] = kWaits;
    }
    loss.AddBlamed(blamed);
    const double all_code = LongCodeBehind(blamed).ns;
    const ResultsHome home(basis_);
    std::vector<std::uint8_t> with_results = blamed;
    for (std::uint32_t c = 0; c < trace_.calls.size(); ++c)
      if (blamed[c] != 0 && !home.MayCome(c)) with_results[c] = 0;
    const CodeBehind code = LongCodeBehind(with_results);
    result_.loop_code_ns = code.ns;
    result_.loop_free_code_ns = all_code - code.ns;
    const auto all = static_cast<double>(std::count(blamed.begin(), blamed.end(), 1));
    if (all > 0) result_.loop_with_code = code.calls / all;
    double most = -1;
    for (const auto& [name, time] : by_name) {
      if (time > most) most = time, result_.loop_name = trace_.strings[name];
    }
    result_.loop_directive = DirectiveOf(trace_, waits);
    result_.loop = loss.Build();
  }

  struct CodeBehind {
    double ns = 0;
    double calls = 0;  // with such code behind them
  };
  // Idle time behind these calls in which the launching thread runs its own code for longer than
  // compiled code takes from one launch to the next; and behind how many of the calls.
  CodeBehind LongCodeBehind(const std::vector<std::uint8_t>& calls) const {
    const auto least = Time("sync.long_code");
    Nanos code = 0;
    std::set<std::uint32_t> before;
    for (const GapPiece piece : basis_.idle.pieces) {
      const std::uint32_t by = basis_.idle.gaps[piece.gap].blocked_by;
      if (by == kNone || calls[by] == 0 || piece.Length() < least) continue;
      if (piece.cause == IdleCause::kHostCompute && piece.activity == Activity::kCode)
        code += piece.Length(), before.insert(by);
    }
    return {static_cast<double>(code), static_cast<double>(before.size())};
  }

  void Items() {
    LossBuilder loss(basis_);
    std::vector<std::uint8_t> blamed(trace_.calls.size(), 0);
    std::vector<double> sizes;
    std::vector<std::uint32_t> tiny;
    std::vector<StringId> last_kernel(trace_.devices.size(), kNone);
    std::map<StringId, std::size_t> read_behind;
    bool up = false;
    bool down = false;
    std::unordered_map<std::uint32_t, std::uint32_t> sync_of_copy;
    for (const auto& [sync, copy] : copies_.copy_of_sync) sync_of_copy[copy] = sync;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] == OpKind::kKernel)
        last_kernel[trace_.ops.device[op]] = trace_.shapes[trace_.ops.detail[op]].name;
      if (trace_.ops.kind[op] != OpKind::kCopy || copies_.kind_of_op[op] != CopyKind::kTiny)
        continue;
      const std::uint32_t call = trace_.ops.call[op];
      const auto sync = sync_of_copy.find(call);
      const std::uint32_t waits = sync == sync_of_copy.end() ? call : sync->second;
      if (IsForAnswer(waits) || (IsDownload(op) && IsForMessage(waits))) continue;
      const auto bytes = static_cast<double>(trace_.BytesOfCopy(op));
      sizes.push_back(bytes);
      tiny.push_back(op);
      (trace_.DirectionOfCopy(op) == CopyDirection::kHostToDevice ? up : down) = true;
      if (IsDownload(op)) ++read_behind[last_kernel[trace_.ops.device[op]]];
      loss.CountOp(op, bytes);
      loss.AddExposed(op);
      std::vector<std::uint32_t> calls = {call};
      if (sync != sync_of_copy.end()) calls.push_back(sync->second);
      for (const std::uint32_t c : calls) {
        blamed[c] = 1;
        loss.remedy().unblocked_calls.push_back(c);
        if (InForward(call)) forward_calls_[c] = c == waits ? kReads : kCopies;
      }
    }
    loss.AddBlamed(blamed);
    result_.item = loss.Build();
    result_.item_code_ns = LongCodeBehind(blamed).ns;
    result_.item_median_bytes = Median(sizes);
    const auto most =
        std::max_element(read_behind.begin(), read_behind.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != read_behind.end() && most->first != kNone)
      result_.item_kernel = trace_.strings[most->first];
    if (!sizes.empty()) result_.item_most_bytes = *std::max_element(sizes.begin(), sizes.end());
    result_.item_sized = CountSizedReads(basis_, tiny);
    result_.item_direction = up && down ? "both ways" : up ? "host to device" : "device to host";

    LossBuilder forward(basis_);
    std::int64_t reads = 0;
    for (std::uint32_t c = 0; c < trace_.calls.size(); ++c) {
      if (forward_calls_[c] == kNoWait) continue;
      forward.remedy().unblocked_calls.push_back(c);
      if (forward_calls_[c] == kCopies) continue;
      forward.Count(trace_.calls.start[c], 0, CallLength(c));
      reads += forward_calls_[c] == kReads ? 1 : 0;
    }
    forward.AddBlamed(forward_calls_);
    const auto waits = static_cast<double>(std::max<std::int64_t>(1, forward.count()));
    result_.forward_reads = static_cast<double>(reads) / waits;
    result_.forward = forward.Build();
  }

  void Memsets() {
    LossBuilder loss(basis_);
    std::vector<std::uint8_t> blamed(trace_.calls.size(), 0);
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      const std::uint32_t call = trace_.ops.call[op];
      if (trace_.ops.kind[op] != OpKind::kMemset || call == kNone) continue;
      if (run_.ClassOfCall(call) != CallClass::kMemset ||
          trace_.calls.end[call] < trace_.ops.end[op])
        continue;
      loss.Count(trace_.ops.start[op],
                 static_cast<double>(trace_.memsets.bytes[trace_.ops.detail[op]]), Length(op));
      loss.AddExposed(op);
      blamed[call] = 1;
      loss.remedy().unblocked_calls.push_back(call);
    }
    loss.AddBlamed(blamed);
    result_.memset = loss.Build();
  }

  void BusyWait() {
    for (const std::uint32_t thread : run_.launching_threads) {
      for (const std::uint32_t c : run_.calls_of_thread[thread]) {
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
    result_.busy_wait_ns /= Devices();
  }

  // Synchronizing calls and blocking copies that the host makes inside a phase of the loop.
  Loss WaitsIn(Phase phase) {
    LossBuilder loss(basis_);
    std::vector<std::uint8_t> blamed(trace_.calls.size(), 0);
    for (std::uint32_t c = 0; c < trace_.calls.size(); ++c) {
      if (phases_.OfCall(c) != phase || !basis_.InLoop(trace_.calls.start[c]) ||
          !BlocksHost(run_, c) || IsAllocation(run_.ClassOfCall(c)))
        continue;
      loss.Count(trace_.calls.start[c], 0, CallLength(c));
      blamed[c] = 1;
      loss.remedy().unblocked_calls.push_back(c);
    }
    loss.AddBlamed(blamed);
    return loss.Build();
  }

  const Copies& copies_;
  const Phases& phases_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, const LateCopy*> late_copies_;  // (call, op)
  // Calls behind which the thread may wait for the next request, where nothing that was recorded
  // tells that from code.
  std::set<std::uint32_t> stand_out_;
  std::set<std::uint32_t> before_code_;         // the code of a step, one of many waits in it
  std::set<std::uint32_t> waits_for_requests_;  // threads
  std::vector<Nanos> pages_back_;               // when the host faults on memory that the GPU has
  // Calls in forward ranges that hold the host: those that only wait, and those that read or send a
  // value, or copy one for the call behind it that waits.
  enum InForwardPass : std::uint8_t { kNoWait, kWaits, kReads, kCopies };
  std::vector<std::uint8_t> forward_calls_;  // InForwardPass, by call
  Syncs result_;
};

}  // namespace

Syncs FindSyncs(const Basis& basis, const Copies& copies, const Phases& phases,
                bool requests_as_code) {
  return SyncFinder(basis, copies, phases, requests_as_code).Find();
}

}  // namespace advise
