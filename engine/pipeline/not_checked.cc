#include "engine/pipeline/not_checked.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "engine/base/is_in.h"
#include "engine/facts/rows.h"
#include "engine/pipeline/measure_command.h"
#include "engine/pipeline/next_without_timeline.h"

namespace advise {
namespace {

NotChecked EntryOf(const Verdict& verdict, const Knowledge& knowledge, bool torch) {
  NotChecked entry;
  entry.rule = verdict.rule->id;
  entry.needs = verdict.missing;
  entry.reason = verdict.reason;
  for (const CaptureHint& hint : knowledge.capture_hints()) {
    if (!IsIn(hint.tag, entry.needs)) continue;
    entry.how += (entry.how.empty() ? "" : " ") + hint.text;
    if (torch && !hint.torch.empty()) {
      entry.how += " With torch.profiler: " + hint.torch + ".";
    } else if (torch && !hint.option.empty()) {
      entry.how += " PyTorch's profiler cannot: nsys profile " + hint.option + ".";
    }
  }
  if (entry.how.empty()) entry.how = verdict.reason;
  return entry;
}

// What PyTorch's profiler must be asked for; what it cannot record is left to nsys.
// `ranges`: the program must name its phases.
std::string TorchCommand(const std::vector<std::string>& options, bool ranges) {
  return fmt::format(
      "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], "
      "schedule=schedule(wait=1, warmup=2, active=5){}{})   # and prof.step() after each step{}",
      options.empty() ? "" : ", ", fmt::join(options, ", "),
      ranges ? "; around each phase: with record_function(\"data_loading\"):" : "");
}

// `tags`: what captures must hold that these did not.
std::string CaptureCommand(std::set<std::string> tags, const Knowledge& knowledge, bool torch,
                           const Report& report) {
  if (IsOfAmdTool(report)) {
    const bool has_calls = FactNumber(report, "capture.has_calls").value_or(0) > 0;
    return has_calls ? "" : kRocprofCommand;
  }
  // Options of one name are joined: --trace=cuda and --trace=osrt are --trace=cuda,osrt.
  std::vector<std::string> traced = {"cuda", "nvtx", "osrt"};
  std::vector<std::string> others;
  const auto add = [](std::vector<std::string>* list, const std::string& item) {
    if (!IsIn(item, *list)) list->push_back(item);
  };
  std::vector<std::string> torch_options;
  bool by_torch = false;  // what was recorded need not be recorded again
  const bool ranges = tags.contains("nvtx");
  const bool any = !tags.empty();
  for (const CaptureHint& hint : knowledge.capture_hints()) {
    if (!tags.contains(hint.tag)) continue;
    if (torch && !hint.torch.empty()) {
      const std::string name = hint.torch.substr(0, hint.torch.find('='));
      if (name == "profile_memory" || name == "with_stack" || name == "record_shapes") {
        add(&torch_options, hint.torch);
      }
      by_torch = true;
      tags.erase(hint.tag);
      continue;
    }
    if (hint.option.empty()) continue;
    const std::string trace = "--trace=";
    if (hint.option.starts_with(trace)) {
      add(&traced, hint.option.substr(trace.size()));
    } else {
      add(&others, hint.option);
    }
  }
  const std::string nsys =
      fmt::format("nsys profile --trace={}{}{} -o run -- COMMAND", fmt::join(traced, ","),
                  others.empty() ? "" : " ", fmt::join(others, " "));
  if (!torch) return any ? nsys : "";
  const bool has_rest =
      !IsAmd(report) && (traced.size() > 3 || !others.empty() || tags.contains("osrt"));
  std::string rest = has_rest ? nsys : "";
  if (!by_torch) return rest;
  const std::string server = knowledge.HowToRecord(report.run.framework);
  return (server.empty() ? TorchCommand(torch_options, ranges) : server) + (has_rest ? "\n" : "") +
         rest;
}

}  // namespace

void FillNotChecked(const Knowledge& knowledge, Report* report) {
  const bool torch = IsForTorch(knowledge, *report);
  std::set<std::string> missing;
  for (const Verdict& verdict : report->verdicts) {
    if (verdict.outcome == Outcome::kBroken) {
      report->diagnostics.push_back({Level::kError, verdict.reason, "", 1});
    } else if (verdict.outcome != Outcome::kCannotTell) {
      ++report->checked;
    } else {
      report->not_checked.push_back(EntryOf(verdict, knowledge, torch));
      missing.insert(verdict.missing.begin(), verdict.missing.end());
    }
  }
  if (report->not_checked.empty()) return;
  std::set<std::string> tags;  // that a profiler's option provides
  for (const CaptureHint& hint : knowledge.capture_hints()) {
    const bool provided = !hint.option.empty() || !hint.torch.empty();
    if (provided && missing.contains(hint.tag)) tags.insert(hint.tag);
  }
  report->capture_command = CaptureCommand(std::move(tags), knowledge, torch, *report);
}

}  // namespace advise
