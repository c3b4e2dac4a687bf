// Steps of a program that generates tokens, from what it hands to the host: each step ends with the
// tokens that were chosen, whatever prompts it read and however many sequences it went on with.
#include <algorithm>
#include <map>

#include "engine/timeline/step.h"

namespace advise {
namespace {

// Kernels say that it generates tokens or serves, and none that it trains.
bool Generates(const Run& run) {
  bool generates = false;
  for (const KernelShape& shape : run.trace.shapes) {
    for (const std::size_t i : run.knowledge.RunSignsOf("kernel", run.trace.strings[shape.name])) {
      const RunSign& sign = run.knowledge.run_signs()[i];
      if (sign.about != RunSign::About::kKind) continue;
      if (sign.rule.value == "training") return false;
      generates = generates || sign.rule.value == "decode" || sign.rule.value == "serving";
    }
  }
  return generates;
}

// What one thread queues for one device: work, then a copy of its result to the host.
struct Answer {
  StringId by = 0;         // the kernel that was queued last before the copy
  std::uint32_t next = 0;  // what is queued first behind it: an op
};

class AnswerFinder {
 public:
  explicit AnswerFinder(const Run& run) : run_(run), ops_(run.trace.ops) {}

  // By the thread and the device with most of them.
  std::vector<Answer> Find() const {
    std::vector<Answer> most;
    for (const std::uint32_t device : run_.active_devices) {
      std::map<std::uint32_t, std::vector<std::uint32_t>> queued;  // ops, by launching thread
      for (const std::uint32_t op : run_.ops_of_device[device]) {
        if (ops_.call[op] != kNone) queued[run_.trace.calls.thread[ops_.call[op]]].push_back(op);
      }
      for (auto& [thread, list] : queued) {
        std::stable_sort(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) {
          return ops_.call[a] < ops_.call[b];
        });
        std::vector<Answer> found = Of(list);
        if (found.size() > most.size()) most = std::move(found);
      }
    }
    return most;
  }

 private:
  std::vector<Answer> Of(const std::vector<std::uint32_t>& queued) const {
    std::vector<Answer> found;
    StringId last = 0;
    bool computed = false;  // since the last answer
    bool answered = false;
    for (const std::uint32_t op : queued) {
      const bool kernel = ops_.kind[op] == OpKind::kKernel;
      const bool copy = ops_.kind[op] == OpKind::kCopy;
      if (copy && run_.trace.copies.direction[ops_.detail[op]] == CopyDirection::kDeviceToHost) {
        answered = answered || computed;
        continue;
      }
      if (answered) found.push_back({last, op});
      if (answered) computed = answered = false;
      if (kernel) last = run_.trace.shapes[ops_.detail[op]].name;
      computed = computed || kernel;
    }
    return found;
  }

  const Run& run_;
  const OpTable& ops_;
};

}  // namespace

Steps StepsFromAnswers(const Run& run) {
  if (!Generates(run)) return {};
  const std::vector<Answer> answers = AnswerFinder(run).Find();
  std::map<StringId, std::size_t> count;
  for (const Answer& answer : answers) ++count[answer.by];
  const auto key = std::max_element(
      count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto least = run.knowledge.CountOf("step.uneven_count");
  if (key == count.end() || key->second <= least) return {};
  Steps steps;
  Nanos before = -1;
  for (const Answer& answer : answers) {
    const Nanos start = run.trace.ops.start[answer.next];
    if (answer.by != key->first || start <= before) continue;
    if (before >= 0) steps.all.push_back({before, start});
    before = start;
  }
  steps.source = "period";
  steps.name = run.trace.strings[key->first];
  steps.of_device = true;
  steps.uneven = true;
  SplitWarmup(run, {}, &steps);
  return steps;
}

}  // namespace advise
