// The whole answer to "what is slow and how do I fix it", ready to be laid out. Renderers only
// format what stands here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/advice/finding.h"
#include "engine/metrics/losses/unseen_time.h"
#include "engine/trace/diagnostics.h"

namespace advise {

struct ReportViews;  // report_views.h

struct InputInfo {
  std::string path;
  std::string kind;      // "nsys-sqlite", …
  std::string producer;  // "nsys 2026.2.1"
  int rank = 0;
  std::string host;
};

struct WindowInfo {
  std::string mode;  // "all" | "steady" | "given"
  Nanos start_ns = 0;
  Nanos end_ns = 0;
  double Seconds() const { return static_cast<double>(end_ns - start_ns) / kNanosPerSecond; }
};

// Whole nanoseconds; the first five add up to window_ns exactly, the idle causes to idle_ns
// exactly.
struct DeviceBudget {
  int rank = 0;
  int device = 0;
  std::string name;
  Nanos compute_ns = 0;
  Nanos comm_exposed_ns = 0;
  Nanos copy_exposed_ns = 0;
  Nanos memset_exposed_ns = 0;
  Nanos idle_ns = 0;
  Nanos window_ns = 0;
  std::vector<std::pair<std::string, Nanos>>
      idle_causes;    // every cause of the contract, in its order
  UnseenTime unseen;  // of the idle time without a cause
};

// What kind of program was captured, and how much of it.
struct RunInfo {
  std::string kind;  // training | inference | one-pass | solver | kernels | start-up | no-gpu
  std::string unit;  // step | token | request | iteration | pass | launch
  std::size_t units = 0;
  double sequences = 0;   // that get a token in a step of a model server; 0 unknown
  std::string framework;  // "" unknown
  std::vector<std::string> languages;
  std::string maker;       // of the GPUs: "nvidia" | "amd"; "" without GPUs
  bool all_ranks = false;  // every rank of a job of several is in the report
};

// How well kernels run, where that was measured.
struct EfficiencyInfo {
  double measured_share = 0;    // of the kernel time
  double mfu = 0;               // share of the peak arithmetic rate, 0 unknown
  double bandwidth = 0;         // share of the peak memory bandwidth, 0 unknown
  std::string source = "none";  // shapes | counters | samples | none
};

// One fix after the other: what is left of the window once this one and those before it are done.
struct PlanStep {
  std::string rule;
  double after_seconds = 0;
  std::vector<std::string> unlocks;         // fixes that become worthwhile by this one
  std::vector<std::string> makes_needless;  // fixes of which this one leaves little or nothing
  std::string next_bound;                   // what limits the run then; "" unknown
};

// What makes figures less certain than they look; other parts of the report ask which notes there
// are.
enum class Care {
  kOther,
  kSomeRanks,         // ranks are missing
  kStepsOfWork,       // steps come from what repeats, not from ranges
  kNoSteps,           // none were found: start-up is in the window
  kLostCalls,         // of some work, the launching call was not recorded
  kNoCalls,           // of all work
  kRequestsLikeCode,  // waits for requests look like code
  kEarlierWork,       // the GPU waits for work from before the recording
  kCountedSavings,    // savings are shares of the time under the kernel profiler
  kProfilerMessage,   // an error in the words of the profiler, often long
  kProfilerCost,      // what the profiler costs the host
  kMostlyProfiler,    // the same, where GPUs would be idle half as long without it
};

struct CareNote {
  Care care = Care::kOther;
  std::string text;
};

struct NotChecked {
  std::string rule;
  std::vector<std::string> needs;  // capture tags
  std::string reason;              // "no OS-runtime calls were recorded"
  std::string how;                 // how to capture it
};

struct NamedFact {
  const FactInfo* info = nullptr;  // of the session's list: ranks of a run share it
  Fact fact;
};

// Several ranks together; how they share the work (cluster/cluster.h has the formulas).
struct RanksInfo {
  int ranks = 0;  // 0: one rank only
  int reports = 0;
  int hosts = 0;        // 0 unknown
  int processes = 0;    // 0 unknown
  int steps = 0;        // that all ranks have, 0 unknown
  double parallel = 0;  // this and its factors: 0 of ranks that do not wait for each other
  double load_balance = 0;
  double communication = 0;
  double orchestration = 0;
  double waited = 0;    // share of the time, mean over ranks: waiting for late ranks
  double transfer = 0;  // and exposed transfer
};

struct Report {
  std::string tool_version;
  std::vector<InputInfo> inputs;
  WindowInfo window;
  std::vector<DeviceBudget> devices;
  std::vector<std::string> gpus;  // names of all GPUs when there is no budget to show them by
  RanksInfo ranks;
  std::vector<std::string> unreadable;  // inputs that were left out, as lines of error
  RunInfo run;
  EfficiencyInfo efficiency;
  std::vector<PlanStep> plan;
  std::string next_step;               // the best next thing to do, in one sentence
  std::string next_command;            // and the command that does it, may be empty
  bool next_records_graphs = false;    // it records the kernels inside graphs
  bool next_measures_hottest = false;  // it measures the kernel that takes most of the time
  std::vector<NamedFact> facts;
  std::vector<Finding> findings;  // ranked: the first is the first to do
  // No finding above info, no risk, and kernels that were measured and run well.
  bool healthy = false;
  std::string verdict;  // the first sentence of the report
  std::vector<CareNote> read_with_care;
  // Why findings are tentative, when they are: "one pass was recorded".
  std::string no_verdict_reason;
  int checked = 0;  // rules that reached a verdict (fired, fine, or do not apply)
  std::vector<NotChecked> not_checked;
  std::string
      capture_command;  // one profiler command that would let all of them speak; may be empty
  std::vector<Diagnostic> diagnostics;
  std::vector<std::string> site_changes;
  int step_count = 0;  // steps inside the window, 0 unknown
  Nanos step_median_ns = 0;
  std::string steps_source;  // "annotation" | "range" | "period" | ""
  // Of the times of all GPU work as captured, whatever names, clocks and windows say; reports of
  // one capture share it. 0 without GPU work.
  std::uint64_t work_digest = 0;
  std::vector<Verdict> verdicts;           // of every rule and scope, for `advise why`
  std::vector<ClaimResult> claim_results;  // of every fired rule that claims time, for `advise why`
  std::shared_ptr<const ReportViews> views;  // for formats that draw; null for the others
};

// Whether the report says so.
bool HasCare(const Report& report, Care care);

// The finding of that rule; null: it is not listed.
const Finding* FindingOf(const Report& report, const std::string& rule);

// The fact of that name; null: the report has none.
const NamedFact* FindFact(const Report& report, std::string_view name);

// A fact of the report by name: a number, a flag as 0 or 1, spans as their total; nullopt when it
// is absent or of another kind.
std::optional<double> FactNumber(const Report& report, std::string_view name);
std::string FactWord(const Report& report, std::string_view name, std::string_view otherwise);
const Rows* FactRows(const Report& report, std::string_view name);

}  // namespace advise
