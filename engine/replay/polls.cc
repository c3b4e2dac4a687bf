#include "engine/replay/polls.h"

#include <algorithm>
#include <map>

namespace advise {
namespace {

class PollFinder {
 public:
  explicit PollFinder(const Run& run)
      : run_(run), shortest_(run.knowledge.Time("replay.hand_over.pause")) {
    polls_.asks_again.assign(run.trace.calls.size(), 0);
    polls_.awaited.assign(run.trace.calls.size(), kNone);
    const OpTable& ops = run.trace.ops;
    for (std::uint32_t op = 0; op < ops.size(); ++op) {
      if (ops.call[op] != kNone) by_end_[run.ProcessOfCall(ops.call[op])].push_back(op);
    }
    for (auto& [process, list] : by_end_) {
      std::stable_sort(list.begin(), list.end(),
                       [&](auto a, auto b) { return ops.end[a] < ops.end[b]; });
    }
  }

  Polls Find() {
    for (const std::uint32_t thread : run_.launching_threads) {
      std::vector<std::uint32_t> questions;
      for (const std::uint32_t call : run_.calls_of_thread[thread]) {
        if (run_.ClassOfCall(call) == CallClass::kQuery) {
          questions.push_back(call);
        } else {
          Close(&questions);
        }
      }
      Close(&questions);
    }
    return std::move(polls_);
  }

 private:
  // The wait ends with the last question before which some work ended; what is asked behind it,
  // such as for another event, finds all done. An allocator asks for many events at once, and waits
  // for none: so short a series is no wait.
  void Close(std::vector<std::uint32_t>* questions) {
    const std::vector<Nanos>& start = run_.trace.calls.start;
    for (std::size_t last = questions->size(); last-- > 1;) {
      if (start[(*questions)[last]] - start[questions->front()] < shortest_) break;
      const std::uint32_t op = EndedBefore(*questions, last);
      if (op == kNone) continue;
      polls_.awaited[(*questions)[last]] = op;
      for (std::size_t i = 1; i < last; ++i) polls_.asks_again[(*questions)[i]] = 1;
      break;
    }
    questions->clear();
  }

  // The last op to end between this question and the one before, of those launched before the
  // first.
  std::uint32_t EndedBefore(const std::vector<std::uint32_t>& questions, std::size_t last) const {
    const CallTable& calls = run_.trace.calls;
    const OpTable& ops = run_.trace.ops;
    const auto of_process = by_end_.find(run_.ProcessOfCall(questions.front()));
    if (of_process == by_end_.end()) return kNone;
    const std::vector<std::uint32_t>& list = of_process->second;
    const Nanos after = calls.start[questions[last - 1]];
    auto at = std::upper_bound(list.begin(), list.end(), calls.start[questions[last]],
                               [&](Nanos time, std::uint32_t op) { return time < ops.end[op]; });
    while (at != list.begin() && ops.end[*--at] > after) {
      if (calls.start[ops.call[*at]] < calls.start[questions.front()]) return *at;
    }
    return kNone;
  }

  const Run& run_;
  Nanos shortest_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_end_;  // ops of a process, by end
  Polls polls_;
};

}  // namespace

Polls FindPolls(const Run& run) { return PollFinder(run).Find(); }

}  // namespace advise
