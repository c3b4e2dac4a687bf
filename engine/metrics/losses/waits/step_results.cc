#include "engine/metrics/losses/waits/step_results.h"

#include <unordered_map>

#include "engine/timeline/blocking_calls.h"

namespace advise {
namespace {

class ResultsFinder : Finder {
 public:
  ResultsFinder(const Basis& basis, const Copies& copies)
      : Finder(basis),
        copies_(copies),
        loss_(basis),
        blamed_(trace_.calls.size(), 0),
        more_(Number("copy.input_factor")) {
    for (const auto& [sync, copy] : copies.copy_of_sync) sync_of_copy_[copy] = sync;
  }

  Loss Find() {
    for (const std::uint32_t thread : run_.launching_threads) OfThread(thread);
    if (2 * static_cast<std::size_t>(loss_.count()) < run_.steps.steady_count())
      return LossBuilder(basis_).Build();
    loss_.AddBlamed(blamed_);
    return loss_.Build();
  }

 private:
  void OfThread(std::uint32_t thread) {
    std::vector<std::uint32_t> fetched;  // calls, since the thread launched anything else
    double bytes = 0;
    for (const std::uint32_t call : run_.calls_of_thread[thread]) {
      const std::uint32_t op = run_.first_op_of_call[call];
      if (op == kNone) continue;
      const bool copies = IsOfHost(op);
      if (copies && trace_.DirectionOfCopy(op) == CopyDirection::kDeviceToHost) {
        bytes += Bytes(op);
        if (IsAwaited(call)) fetched.push_back(call);
        continue;
      }
      if (copies && Bytes(op) >= more_ * bytes) {
        for (const std::uint32_t fetch : fetched) Blame(fetch);
      }
      fetched.clear();
      bytes = 0;
    }
  }

  // The host needs the content. Of a number, another finding speaks.
  bool IsAwaited(std::uint32_t call) const {
    const std::uint32_t op = run_.first_op_of_call[call];
    return basis_.InLoop(trace_.calls.start[call]) && copies_.kind_of_op[op] != CopyKind::kTiny &&
           (BlocksHost(run_, call) || sync_of_copy_.contains(call));
  }

  void Blame(std::uint32_t call) {
    const std::uint32_t op = run_.first_op_of_call[call];
    loss_.CountOp(op, Bytes(op));
    loss_.AddExposed(op);
    blamed_[call] = 1;
    loss_.remedy().unblocked_calls.push_back(call);
    const auto sync = sync_of_copy_.find(call);
    if (sync == sync_of_copy_.end()) return;
    blamed_[sync->second] = 1;
    loss_.remedy().unblocked_calls.push_back(sync->second);
  }

  const Copies& copies_;
  std::unordered_map<std::uint32_t, std::uint32_t> sync_of_copy_;
  LossBuilder loss_;
  std::vector<std::uint8_t> blamed_;
  double more_;
};

}  // namespace

StepResults FindStepResults(const Basis& basis, const Copies& copies, bool fed) {
  if (!fed || !basis.run.steps.known()) return {LossBuilder(basis).Build()};
  return {ResultsFinder(basis, copies).Find()};
}

}  // namespace advise
