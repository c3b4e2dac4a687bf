#include "engine/metrics/losses/steps/step_copies.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace advise {
namespace {

class CopiesOfRun {
 public:
  explicit CopiesOfRun(const Run& run) : run_(run), trace_(run.trace), copies_(CopiesOfSteps()) {}

  std::vector<CopyOfStep> Extra() const {
    const UsualCopies usual = FindUsualCopies();
    struct OfStep {
      std::vector<CopyOfStep> copies;
      double down = 0;
      double up = 0;
    };
    std::map<std::size_t, OfStep> steps;
    for (const auto& [op, step] : copies_) {
      const CopyClass kind = ClassOfCopy(trace_, op);
      if (usual.in_steps.contains(kind)) continue;
      OfStep& of = steps[step];
      if (!usual.in_bursts.contains(kind)) of.copies.push_back({op, step});
      const std::uint32_t row = trace_.ops.detail[op];
      const auto bytes = static_cast<double>(std::max<std::int64_t>(0, trace_.copies.bytes[row]));
      if (trace_.copies.direction[row] == CopyDirection::kDeviceToHost) of.down += bytes;
      if (trace_.copies.direction[row] == CopyDirection::kHostToDevice) of.up += bytes;
    }
    const double back = run_.knowledge.Number("step.sent_back");
    std::vector<CopyOfStep> extra;
    for (const auto& [step, of] : steps) {
      if (std::min(of.down, of.up) >= back * std::max(of.down, of.up) && of.up > 0) continue;
      extra.insert(extra.end(), of.copies.begin(), of.copies.end());
    }
    return extra;
  }

 private:
  const std::vector<Step>& Steps() const { return run_.steps.all; }

  struct UsualCopies {
    std::set<CopyClass> in_steps;  // that at least half of the steady steps make
    // Uploads that are half as many as the steps: a host that ran ahead sends the batches of many
    // steps in one go.
    std::set<CopyClass> in_bursts;
  };
  UsualCopies FindUsualCopies() const {
    std::map<CopyClass, std::set<std::size_t>> steps_with;
    std::map<CopyClass, std::size_t> uploads;
    for (const auto& [op, step] : copies_) {
      const CopyClass kind = ClassOfCopy(trace_, op);
      steps_with[kind].insert(step);
      if (kind.first == CopyDirection::kHostToDevice) ++uploads[kind];
    }
    UsualCopies usual;
    for (const auto& [kind, steps] : steps_with) {
      if (2 * steps.size() >= run_.steps.steady_count()) usual.in_steps.insert(kind);
    }
    for (const auto& [kind, count] : uploads) {
      if (2 * count >= run_.steps.steady_count()) usual.in_bursts.insert(kind);
    }
    return usual;
  }

  // Those inside steady steps.
  std::vector<CopyOfStep> CopiesOfSteps() const {
    std::vector<CopyOfStep> copies;
    std::vector<std::size_t> run_of;              // by copy
    std::vector<std::size_t> last_step;           // by run of copies
    std::map<std::uint32_t, std::size_t> latest;  // copy of a device, if no kernel came since
    std::size_t step = run_.steps.first_steady;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      while (step < Steps().size() && trace_.ops.start[op] >= Steps()[step].end) ++step;
      if (step == Steps().size()) break;
      const OpKind kind = trace_.ops.kind[op];
      const std::uint32_t device = trace_.ops.device[op];
      if (kind == OpKind::kKernel || kind == OpKind::kGraph) latest.erase(device);
      if (kind != OpKind::kCopy || trace_.ops.start[op] < Steps()[step].start) continue;
      const auto before = latest.find(device);
      const bool goes_on =
          before != latest.end() &&
          ClassOfCopy(trace_, copies[before->second].op) == ClassOfCopy(trace_, op);
      run_of.push_back(goes_on ? run_of[before->second] : last_step.size());
      if (!goes_on) last_step.push_back(step);
      last_step[run_of.back()] = step;
      latest[device] = copies.size();
      copies.push_back({op, step});
    }
    for (std::size_t i = 0; i < copies.size(); ++i) copies[i].step = last_step[run_of[i]];
    return copies;
  }

  const Run& run_;
  const Trace& trace_;
  const std::vector<CopyOfStep> copies_;
};

}  // namespace

CopyClass ClassOfCopy(const Trace& trace, std::uint32_t op) {
  const std::uint32_t row = trace.ops.detail[op];
  const auto bytes = static_cast<double>(std::max<std::int64_t>(0, trace.copies.bytes[row]));
  return {trace.copies.direction[row], static_cast<int>(std::lround(std::log2(1.0 + bytes)))};
}

std::vector<CopyOfStep> ExtraCopies(const Run& run) {
  if (!run.steps.known()) return {};
  return CopiesOfRun(run).Extra();
}

}  // namespace advise
