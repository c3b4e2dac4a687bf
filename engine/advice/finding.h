// What rules conclude and what the report says: verdicts (one a rule and scope) become findings
// (ranked, with savings).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/facts/facts.h"

namespace advise {

enum class Severity : std::uint8_t { kInfo, kLow, kMedium, kHigh, kCritical };
enum class RuleKind : std::uint8_t { kRoot, kSymptom, kInfo };
// What is at stake beside time.
enum class Risk : std::uint8_t { kNothing, kOutOfMemory, kWrongResults, kHardware, kLimit };
// What stands behind the sentence that a rule says, where it claims no time: a conclusion from
// patterns; a quantity that was measured; or what a driver or library wrote down itself (an error
// counter, a warning, a setting). The last two are true whatever else the capture lacks.
enum class Observed : std::uint8_t { kInferred, kMeasured, kRecorded };
enum class Outcome : std::uint8_t { kFired, kFine, kNotApplicable, kCannotTell, kBroken };

const char* SeverityName(Severity severity);
const char* RuleKindName(RuleKind kind);
const char* RiskName(Risk risk);              // "out-of-memory"
const char* ObservedName(Observed observed);  // "measured"
const char* OutcomeName(Outcome outcome);

// Where to read more, and for whom that page is (see Fix::programs).
struct Link {
  std::string url;
  std::vector<std::string> programs = {};

  bool operator==(const Link&) const = default;
};

struct Fix {
  std::string action;
  std::string snippet;
  std::string language;
  std::vector<Link> links;
  // Kinds of programs, frameworks and languages that it is for, in lower case: "pytorch", "c++";
  // empty: all.
  std::vector<std::string> programs = {};
  // The fix is shown when evidence "reason", or that column of a row in the evidence, is this;
  // "!odd-sizes": unless the evidence itself gives that reason; empty: always. Fixes for what only
  // rows give come last.
  std::string reason = {};
  // Where it takes more or less than the other fixes of the rule: "flag", "code" or "design".
  std::string effort = {};
};

// What a rule tells that other parts of the report ask for, or tell themselves.
enum class Topic {
  kNoTopic,
  kHostCode,        // the GPU waits for code of the launching thread
  kHostOperators,   // and for the operators of a framework
  kWaits,           // the host waits for the GPU in each step: its code would run beside it
  kLateRank,        // which rank the others wait for
  kCollectives,     // collectives with nothing beside them
  kLateMessages,    // messages that come late, of ranks that have only their own calls to judge by
  kMessages,        // messages with nothing beside them
  kCopies,          // copies that take longer than computing
  kSingleSteps,     // steps that take far longer than the rest
  kDisplayRate,     // the loop keeps the rate of a display
  kMissingRanks,    // the capture: ranks are missing,
  kUnnamedSteps,    // ranges,
  kTooShort,        // steps,
  kLostLaunches,    // launches,
  kMissingSources,  // whole kinds of data,
  kClosedGraphs,    // the inside of graphs
  kHottestKernel,   // which kernel takes most of the time
  kSwitch,          // a variable of the environment: what it explains is seen once it is changed
};

// The topics as rules write them: "host-code". Of another word: none.
std::vector<std::string> TopicNames();
Topic TopicOf(const std::string& name);

// The static part of a rule, as its file states it.
struct RuleInfo {
  std::string id;  // "transfer/pageable-copy"
  std::string title;
  std::string status;  // experimental | stable | retired
  std::string since;
  RuleKind kind = RuleKind::kRoot;
  std::string effort;  // flag | code | design
  Risk risk = Risk::kNothing;
  Topic topic = Topic::kNoTopic;
  Observed observed = Observed::kInferred;
  bool own_steps = false;  // its texts speak of other steps than those that the run is made of
  int priority =
      50;  // how specific the evidence is, 0..100: of two fixes that make one change, who has it
  std::vector<std::string> explains;
  std::vector<std::string> knowledge;
  std::vector<std::string> needs;     // facts that must be there
  std::vector<std::string> optional;  // facts that may be absent (nil in the rule)
  std::vector<std::string> thresholds;
  std::vector<std::string> references;  // keys of kb/references.toml
  std::string symptom;                  // template
  std::string cause;                    // template
  std::vector<Fix> fixes;
  std::string false_positives;
  std::string replaces;  // a site rule may replace a built-in one
  std::string path;      // where it was read from: "rules/transfer/pageable-copy.lua"
  std::string source;    // the text of the file
};

// One fact read, one comparison made: what `advise why` shows.
struct FactRead {
  std::string name;
  std::string shown;  // formatted with its unit, or the reason of its absence
};
struct Comparison {
  std::string what;  // "at_least" | "at_most" | "between"
  double value = 0;
  double threshold = 0;
  double upper = 0;  // of between
  std::string name;  // the threshold's name when known, else ""
  std::string unit;  // of the threshold when known
  bool holds = false;
  bool of_saving = false;  // made for what the fix saves, of a rule that fires
};

// What a fired rule says could be won.
struct SavingClaim {
  std::shared_ptr<const Spans> claims;  // the time that is lost to this cause; null: claims nothing
  std::vector<std::shared_ptr<const Remedy>> remedies;  // what to replay, together; none: `part` of
                                                        // the claims is the saving
  double part = 1.0;  // share of the claims that the fix can win at most
  double confidence = 0.5;
  std::string confidence_from;  // what makes it so sure, in the rule's words; empty: by its size
  std::string basis;
};

struct Verdict {
  const RuleInfo* rule = nullptr;
  Outcome outcome = Outcome::kFine;
  std::string reason;                    // of not applicable, cannot tell, broken
  std::vector<std::string> missing;      // capture tags, for cannot tell
  std::map<std::string, Cell> evidence;  // what detect() returned: numbers and texts
  std::map<std::string, Rows> tables;    // what detect() returned: small tables
  SavingClaim saving;
  std::vector<FactRead> reads;
  std::vector<Comparison> comparisons;
  std::string source;  // of several reports: the one that it is about
};

struct Evidence {
  std::string what;
  bool partly = false;  // the value is of more than the finding explains
  double value = 0;
  std::string unit;
  std::optional<double> threshold;
  Nanos start_ns = 0;
  Nanos end_ns = 0;
  std::string table;
  std::vector<std::int64_t> rows;
  std::string sql;
  std::string find;  // what to search the file for, where it is text and no database
  std::string source;
};

struct Where {
  std::vector<int> ranks;
  std::vector<int> devices;
  std::vector<int> steps;
  std::string phase;
  std::string figures;       // "rank 2": whose numbers the words hold, where those of others differ
  bool in_turns = false;     // of several ranks, hardly two lose this time in the same step
  bool others_wait = false;  // GPUs of the same process, for those that lose this time
};

// What became of the time that a fired rule claims.
struct ClaimResult {
  const RuleInfo* rule = nullptr;
  Nanos claimed = 0;                                        // device time, summed
  Nanos gain = 0;                                           // of the fix, with all its changes
  Nanos alone = 0;                                          // without those of more specific fixes
  Nanos saving = 0;                                         // what is left of that in the plan
  std::vector<std::pair<const RuleInfo*, Nanos>> taken_by;  // largest first
};

// A step that holds more of what a finding claims than others do.
struct StepPart {
  Nanos start = 0;   // of the step, on the clock of its report
  double share = 0;  // of the window: what is claimed in it
};

struct Finding {
  const RuleInfo* rule = nullptr;
  int rank = 0;  // 1 is the first to do
  Severity severity = Severity::kInfo;
  bool tentative = false;  // the capture holds too little to be sure: Report::run says why
  // Of one without a price the confidence is in what was seen: nothing is promised then.
  Observed observed = Observed::kInferred;
  double confidence = 0;
  std::string confidence_from;  // in words: what it rests on, and what lowered it
  int turn = 0;                 // its place in the plan, from 1; 0 when its fix wins nothing
  double saving_s = 0;          // beyond the fixes that come before it in the plan
  double saving_share = 0;      // of the window
  double alone_share = 0;       // the same if only this were fixed
  // Of that, by changes that no more specific finding makes, too; unknown in old facts files.
  std::optional<double> own_share;
  // In its turn, of a window that nobody profiles; nothing where the profiler changes little.
  std::optional<double> unprofiled_share;
  std::optional<double> unprofiled_alone_share;  // the same if only this were fixed
  double touched_share =
      0;  // of the window: the time that the symptom speaks of; 0 when it claims none
  bool falls_short = false;  // the fix wins back far less than that
  double unlinked = 0;       // of the GPU work: its launching call is missing, so a replay keeps it
  double comm_share = 0;     // of the claimed time, the share in which only communication runs
  bool comm_faster = false;  // the fix makes communication itself shorter; else it hides it
  double comm_fewer = 0;     // the share of the collectives that are sent together with others
  double idle_share = 0;     // of the claimed time, the share in which the GPU is idle
  double host_share = 0;     // of the window: hosts work so much less then
  bool batches_ready = false;        // the fix has all data there when it is needed
  std::vector<StepPart> step_parts;  // what the steps hold of the claim; empty: all alike
  std::string basis;                 // what the saving assumes
  std::string bound_alone;  // what limits the run if only this is fixed: "the launching thread"
  Where where;
  std::optional<std::size_t> part;  // of a run of several: the part that the words are of
  std::string title;  // the rule's, in the terms of the GPU's maker; empty: as the rule has it
  std::string symptom;
  std::string cause;
  std::vector<Fix> fixes;
  std::vector<Evidence> evidence;
  std::vector<std::string> explains;      // findings folded under this one
  std::vector<std::string> explained_by;  // and the other way round
  // Once this fix and those before it in the plan are done:
  std::vector<std::string> makes_needless;  // it is this one that takes most of what these win
  std::vector<std::string> unlocks;         // it is this one that makes these worthwhile
  std::string next_bound;                   // what limits the run after its turn in the plan
  // What its fix wins in its turn, when nobody profiles where that is known.
  double InTurn() const { return unprofiled_share.value_or(saving_share); }
  // Listed under the finding that explains it, and not beside it; unless its fix still wins much,
  // or half of the time that it speaks of: then the cause explains the smaller part.
  bool UnderCause() const {
    if (explained_by.empty()) return false;
    if (severity == Severity::kInfo || InTurn() <= 0) return true;
    if (!unlocks.empty()) return false;  // other fixes of the list wait for it
    return severity < Severity::kHigh && 2 * InTurn() < touched_share;
  }
  // What its fix changes, where that was replayed: "launches", "waits", "kernels", "copies",
  // "host-code", "data".
  std::vector<std::string> changes;

  // By itself the fix wins notably less or more than in its turn: both are shown. Nothing stands
  // above the first of the plan.
  bool DiffersAlone() const;
  // Without the profiler it wins notably less or more than in the recording: both are shown.
  bool DiffersUnprofiled() const;
  // The recording shows little of what is won without the profiler, in its turn and alone.
  bool HiddenByProfiler() const;
  // What a reader sees that it wins: the saving in its turn, where the two are not shown apart.
  double ShownShare() const;

  // The fix wins more than the time that the symptom speaks of: it closes gaps of other causes.
  bool GoesBeyond() const;

  // The symptom, without sentences that name a share of which the fix wins next to nothing: their
  // reader would take the share for what the finding costs. The first sentence always stays.
  std::string ShownSymptom() const;
  // " This fix would save 2 % of the time …", where that is far less or more than what is measured;
  // "".
  std::string Won() const;
  // Both: what a cause touches and what its fix wins are kept apart wherever a person reads of it.
  std::string Seen() const { return ShownSymptom() + Won(); }

  // What the finding is called; its symptom where no rule stands behind it.
  std::string Title() const;

  // The larger of both savings: what a reader who fixes it gets, now or in its turn.
  double AtStake() const { return std::max(saving_share, alone_share); }
};

}  // namespace advise
