#include "engine/timeline/lost_work.h"

#include <algorithm>

namespace advise {
namespace {

// Counts the calls of one thread that give the GPU work. One may be recorded as two, the inner one
// that of the driver.
class CallsOfThread {
 public:
  explicit CallsOfThread(LostWork* all) : all_(all) {}

  void Add(std::uint32_t call, Nanos start, Nanos end, bool ran) {
    if (start >= end_) {
      Close();
      call_ = call;
      end_ = end;
    }
    ran_ = ran_ || ran;
  }

  // What follows the last one that ran is left out.
  void Close() {
    if (call_ == kNone) return;
    ++calls_;
    if (ran_) {
      all_->calls += calls_;
      all_->without.insert(all_->without.end(), lost_.begin(), lost_.end());
      calls_ = 0;
      lost_.clear();
    } else {
      lost_.push_back(call_);
    }
    call_ = kNone;
    ran_ = false;
  }

 private:
  LostWork* all_;
  std::uint32_t call_ = kNone;  // the outer one
  Nanos end_ = 0;
  bool ran_ = false;
  std::size_t calls_ = 0;            // since the last one that ran, which they include
  std::vector<std::uint32_t> lost_;  // since then
};

// Which calls begin and end the capture of a graph. Each name is looked up once.
class CaptureCalls {
 public:
  enum What : std::uint8_t { kUnasked, kNeither, kBegin, kEnd };

  explicit CaptureCalls(const Run& run) : run_(run), of_name_(run.trace.strings.size(), kUnasked) {}

  What Of(std::uint32_t call) {
    const StringId name = run_.trace.calls.name[call];
    What& what = of_name_[name];
    if (what == kUnasked) {
      const auto is = [&](const char* family) {
        return run_.knowledge.IsOfFamily(FamilyKind::kCall, family, run_.trace.strings[name]);
      };
      what = !is("graph_capture") ? kNeither : is("graph_capture_begin") ? kBegin : kEnd;
    }
    return what;
  }

 private:
  const Run& run_;
  std::vector<What> of_name_;
};

}  // namespace

LostWork FindLostWork(const Run& run) {
  const Trace& trace = run.trace;
  LostWork all;
  if (trace.part_device >= 0) return all;
  CaptureCalls captures(run);
  bool any_copy = false;
  std::size_t unclaimed = 0;
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    const bool copy = trace.ops.kind[op] == OpKind::kCopy && trace.ops.stream[op] != kNone;
    any_copy = any_copy || copy;
    unclaimed += trace.ops.kind[op] == OpKind::kKernel && trace.ops.call[op] == kNone ? 1 : 0;
  }
  for (const std::uint32_t thread : run.launching_threads) {
    CallsOfThread calls(&all);
    bool capturing = false;
    for (const std::uint32_t call : run.calls_of_thread[thread]) {
      const CallClass of = run.ClassOfCall(call);
      const CaptureCalls::What what =
          of == CallClass::kOther ? captures.Of(call) : CaptureCalls::kNeither;
      if (what != CaptureCalls::kNeither) capturing = what == CaptureCalls::kBegin;
      const bool copies = of == CallClass::kCopy || of == CallClass::kCopyAsync;
      const bool works = of == CallClass::kLaunch || (copies && !any_copy);
      if (!works || capturing) continue;
      calls.Add(call, trace.calls.start[call], trace.calls.end[call],
                run.first_op_of_call[call] != kNone);
    }
    calls.Close();
  }
  all.lost = all.without.size() - std::min(all.without.size(), unclaimed);
  all.much = all.Share() >= run.knowledge.Number("care.lost_work");
  return all;
}

bool LostWork::IsBetween(const Run& run, std::uint32_t before, std::uint32_t call) const {
  if (!much || before == kNone || call == kNone) return false;
  const auto first = std::upper_bound(without.begin(), without.end(), before);
  const std::vector<std::uint32_t>& thread = run.trace.calls.thread;
  return first != without.end() && *first < call && thread[before] == thread[call];
}

}  // namespace advise
