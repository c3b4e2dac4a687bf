#include "engine/timeline/host_cause.h"

#include <algorithm>

#include "engine/base/median.h"
#include "engine/timeline/compiling.h"
#include "engine/timeline/phase_messages.h"

namespace advise {
namespace {

// Where more is written than read, opening and closing files is part of the writing.
void MarkOutput(std::vector<HostPiece>* pieces) {
  Nanos balance = 0;
  for (const HostPiece& piece : *pieces) {
    if (piece.activity == Activity::kFileWrite) balance += piece.end - piece.start;
    if (piece.activity == Activity::kFileIo) balance -= piece.end - piece.start;
  }
  if (balance <= 0) return;
  for (HostPiece& piece : *pieces) {
    if (piece.activity == Activity::kFileIo) piece.activity = Activity::kFileWrite;
  }
}

bool LoadsCode(const HostPiece& piece) {
  return piece.activity == Activity::kModuleLoad || piece.activity == Activity::kJit;
}

bool IsCode(IdleCause cause, Activity activity) {
  return cause == IdleCause::kHostCompute && activity == Activity::kCode;
}

bool WaitsForOthers(Activity activity) {
  return activity == Activity::kLock || activity == Activity::kNetwork ||
         activity == Activity::kOsWait || activity == Activity::kSleep;
}

}  // namespace

IdleCause CauseOf(const HostPiece& piece) {
  switch (piece.activity) {
    case Activity::kProfiler:
      return IdleCause::kProfilerOverhead;
    case Activity::kJit:
    case Activity::kModuleLoad:
      return IdleCause::kJitOrModuleLoad;
    case Activity::kAllocation:
      return IdleCause::kAllocation;
    case Activity::kSync:
    case Activity::kBlockingCopy:
      return IdleCause::kHostSync;
    case Activity::kMpi:
      return IdleCause::kPeerWait;
    default:
      break;
  }
  if (piece.phase == Phase::kDataLoading) return IdleCause::kDataLoading;
  if (piece.phase == Phase::kCompilation) return IdleCause::kJitOrModuleLoad;
  // Inside a range named after a communication library the thread waits for its peer.
  if (piece.phase == Phase::kCommunication && piece.activity == Activity::kCode)
    return IdleCause::kPeerWait;
  switch (piece.activity) {
    case Activity::kFileIo:
    case Activity::kFileWrite:
      return IdleCause::kFileIo;
    case Activity::kLock:
    case Activity::kNetwork:
    case Activity::kOsWait:
    case Activity::kChildWait:
    case Activity::kDeviceWait:
    case Activity::kSleep:
      return IdleCause::kHostWait;
    case Activity::kLaunch:
    case Activity::kGraphLaunch:
    case Activity::kCopyCall:
    case Activity::kOtherCall:
      return IdleCause::kLaunch;
    default:
      return IdleCause::kHostCompute;
  }
}

HostCauses::HostCauses(const Run& run, const HandOvers& hand_overs)
    : run_(run),
      hand_overs_(hand_overs),
      devices_(run),
      awaited_(run),
      loading_(run),
      sources_(WaitsForSources(run, hand_overs)),
      compiling_(CompilingPauses(run)),
      exchanging_(ExchangesOfMessages(run)),
      hosts_(run.trace.threads.size()) {}

void HostCauses::Rewind() {
  for (std::optional<HostActivity>& host : hosts_) host.reset();
}

HostActivity& HostCauses::ActivityOf(std::uint32_t thread) {
  std::optional<HostActivity>& host = hosts_[thread];
  if (!host) host.emplace(run_, thread);
  return *host;
}

bool HostCauses::Serves() const {
  if (awaited_.Serves()) return true;
  const auto as_people = run_.knowledge.Time("input.as_people");
  const auto least = run_.knowledge.CountOf("replay.hand_over.least");
  return request_waits_.size() >= least && Median(request_waits_) < as_people &&
         !SaysTraining(run_);
}

std::vector<std::uint8_t> HostCauses::SyncsBeforeMeetings() const {
  const CallTable& calls = run_.trace.calls;
  std::vector<std::uint8_t> before;
  std::vector<std::uint32_t> last_sync;  // by call: itself, or the one before it on its thread
  const auto mark = [&](std::uint32_t thread, Nanos time) {
    const RowRange rows = run_.calls_of_thread[thread];
    const auto first = calls.start.begin() + rows.first;
    const auto at = std::lower_bound(first, calls.start.begin() + rows.last, time);
    if (at == first) return;
    const std::uint32_t sync = last_sync[static_cast<std::size_t>(at - calls.start.begin()) - 1];
    if (sync != kNone) before[sync] = 1;
  };
  for (const std::uint32_t thread : run_.launching_threads) {
    for (const HandOver& meeting : hand_overs_.Of(thread)) {
      if (devices_.Share(thread, meeting.from)) continue;
      if (before.empty()) {
        before.resize(calls.size(), 0);
        last_sync = LastSyncs();
      }
      mark(thread, meeting.end);
      mark(meeting.from, meeting.end);
    }
  }
  return before;
}

std::vector<std::uint32_t> HostCauses::LastSyncs() const {
  std::vector<std::uint32_t> syncs(run_.trace.calls.size(), kNone);
  for (const std::uint32_t thread : run_.launching_threads) {
    std::uint32_t last = kNone;
    for (const std::uint32_t call : run_.calls_of_thread[thread]) {
      if (IsSync(run_.ClassOfCall(call))) last = call;
      syncs[call] = last;
    }
  }
  return syncs;
}

std::vector<HostCauses::Piece> HostCauses::Explain(std::uint32_t thread, Nanos start, Nanos end) {
  asked_ = thread;
  pieces_.clear();
  Tell(thread, start, end, 0);
  return pieces_;
}

// What the thread did; and where it waited for another thread, what that one did.
void HostCauses::Tell(std::uint32_t thread, Nanos start, Nanos end, int depth) {
  constexpr int kDeepest = 3;
  std::vector<HostPiece> pieces = ActivityOf(thread).Pieces(start, end);
  MarkOutput(&pieces);
  // Who polls sleeps again and again; one sleep waits for nothing but its own end.
  const bool polls = std::count_if(pieces.begin(), pieces.end(), [](const HostPiece& piece) {
                       return piece.activity == Activity::kSleep;
                     }) > 1;
  for (auto at = pieces.begin(); at != pieces.end(); ++at) {
    const HostPiece& piece = *at;
    if (loading_.InSlowFree(thread, piece)) {
      pieces_.push_back(
          {piece.end, IdleCause::kJitOrModuleLoad, Activity::kModuleLoad, piece.phase, thread});
      continue;
    }
    // Who waits in the middle of compiling waits for the compiler's threads and processes.
    if (WaitsForOthers(piece.activity) &&
        compiling_[thread].OverlapWith(piece.start, piece.end) > 0) {
      Piece made{piece.end, CauseOf(piece), piece.activity, piece.phase, thread};
      SplitOffCompiling(thread, piece, made);
      continue;
    }
    if ((piece.activity == Activity::kOsWait || piece.activity == Activity::kNetwork) &&
        awaited_.IsForInput(thread, piece.start, piece.end)) {
      pieces_.push_back({piece.end, IdleCause::kNoWorkQueued, piece.activity, piece.phase, thread});
      continue;
    }
    const IdleCause alone = CauseOf(piece);
    if (alone == IdleCause::kHostWait || alone == IdleCause::kHostCompute) {
      const std::uint32_t other =
          depth < kDeepest ? hand_overs_.AwaitedAt(thread, piece.start) : kNone;
      if (other != kNone && !devices_.Share(asked_, other)) {
        pieces_.push_back({piece.end, IdleCause::kPeerWait, piece.activity, piece.phase, thread});
        continue;
      }
      if (other != kNone && other != asked_) {
        Tell(other, piece.start, piece.end, depth + 1);
        continue;
      }
    }
    Piece made = CauseOfWait(thread, piece, polls);
    CauseOfCode(thread, piece, &made);
    // What a child process made is loaded next: it was a compiler.
    if (made.activity == Activity::kChildWait &&
        (awaited_.CompilerSeen() || std::any_of(at, pieces.end(), LoadsCode)))
      made.cause = IdleCause::kJitOrModuleLoad;
    SplitOffCompiling(thread, piece, made);
  }
}

// For whom the thread waits in the piece, if it does.
HostCauses::Piece HostCauses::CauseOfWait(std::uint32_t thread, const HostPiece& piece,
                                          bool polls) {
  Piece made{piece.end, CauseOf(piece), piece.activity, piece.phase, thread};
  const bool for_answer =
      made.cause == IdleCause::kHostWait &&
      (piece.activity == Activity::kOsWait || piece.activity == Activity::kNetwork) &&
      awaited_.IsForAnswer(thread, piece.start, piece.end);
  if (for_answer) {
    made.activity = Activity::kNetwork;
    return made;
  }
  // A queue is waited for by condition, semaphore, pipe or polling; a mutex is no queue.
  const bool for_source = !sources_[thread].silent && sources_[thread].waits.Contains(piece.start);
  const bool waits = piece.activity == Activity::kOsWait || piece.activity == Activity::kFileIo ||
                     piece.activity == Activity::kNetwork ||
                     piece.activity == Activity::kDeviceWait ||
                     (piece.activity == Activity::kSleep && (polls || for_source));
  if (!waits) return made;
  const bool may_be_loader = made.cause == IdleCause::kHostWait || made.cause == IdleCause::kFileIo;
  if (may_be_loader && piece.activity != Activity::kDeviceWait &&
      awaited_.IsLoader(thread, piece.start, piece.end)) {
    made.cause = IdleCause::kDataLoading;
  } else if (for_source) {
    made.cause = IdleCause::kNoWorkQueued;  // the next piece comes when its time has come
  } else if (made.cause == IdleCause::kHostWait &&
             (awaited_.IsForRequest(thread, piece.start, piece.end) ||
              (piece.activity == Activity::kSleep && awaited_.IsEngine()))) {
    made.cause = IdleCause::kNoWorkQueued;
    request_waits_.push_back(piece.end - piece.start);
  }
  return made;
}

// What the thread does where nothing of it was recorded: it may exchange data, wait, or load some.
void HostCauses::CauseOfCode(std::uint32_t thread, const HostPiece& piece, Piece* made) const {
  if (!IsCode(made->cause, made->activity)) return;
  if (exchanging_[thread].OverlapWith(piece.start, piece.end) > 0) {
    made->cause = IdleCause::kPeerWait;
    made->phase = Phase::kCommunication;
  } else if (awaited_.IsSilentLoader(thread, piece.start, piece.end)) {
    made->cause = IdleCause::kDataLoading;
    made->activity = Activity::kSilentWait;
  } else if (awaited_.IsSilentForRequest(thread, piece.start, piece.end) ||
             (sources_[thread].silent && sources_[thread].waits.Contains(piece.start))) {
    made->cause = IdleCause::kNoWorkQueued;
    made->activity = Activity::kSilentWait;
  } else if (run_.loads[thread] != 0) {
    // It was waited for, does nothing but upload data, and computed that before.
    made->cause = IdleCause::kDataLoading;
  }
}

// The piece, in parts where the thread compiled meanwhile.
void HostCauses::SplitOffCompiling(std::uint32_t thread, const HostPiece& piece,
                                   const Piece& made) {
  if (IsCode(made.cause, made.activity) || WaitsForOthers(made.activity)) {
    const IntervalSet compiling = compiling_[thread].Clip(piece.start, piece.end);
    for (const Interval& part : compiling.intervals()) {
      pieces_.push_back({part.start, made.cause, made.activity, piece.phase, thread});
      pieces_.push_back(
          {part.end, IdleCause::kJitOrModuleLoad, Activity::kCode, piece.phase, thread});
    }
  }
  pieces_.push_back(made);
}

}  // namespace advise
