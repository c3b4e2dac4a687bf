#include "engine/report/text_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/advice/audience.h"
#include "engine/base/text.h"
#include "engine/facts/rows.h"
#include "engine/report/budget_text.h"
#include "engine/report/care_text.h"
#include "engine/report/finding_text.h"
#include "engine/report/kernels_text.h"
#include "engine/report/layout.h"
#include "engine/report/not_checked_text.h"
#include "engine/report/notes_text.h"
#include "engine/report/plan_text.h"
#include "engine/report/write_finding.h"

namespace advise {
namespace {

constexpr int kColumn = 22;                    // where the words after "Where the time went" begin
constexpr double kIdleWorthSaying = 0.02;      // layout only: below this the idle line is noise
constexpr double kIdleWorthARow = 0.1;         // layout only: the same where rows are few
constexpr int kRowsBesideFindings = 24;        // a small terminal
constexpr std::size_t kFindingsPerScreen = 3;  // after the first, which shares its screen
constexpr int kFewestRows = 6;                 // of a finding
constexpr int kAllRows = std::numeric_limits<int>::max();
constexpr std::size_t kCausesShown = 3;
constexpr std::size_t kMoreCauses = 4;  // what is asked for
constexpr std::size_t kPlanShown = 5;

constexpr int kRowsOfTiny = 20;
constexpr int kNoCare = -1;         // not even how many remarks there are
constexpr Nanos kTiny = 2'000'000;  // layout only: of a capture that supports no verdict

// What each part of a report gets of the screen.
struct Room {
  FindingRoom finding;
  int full = 1;  // findings that take more than one line
  int care_rows = 3;
  MissingRoom missing;
  bool hints = true;            // where more is said
  bool notes = true;            // at least how many there are
  bool end_in_one_row = false;  // where more is said of findings, and of what was not checked
  bool plan = true;
  bool terse = false;  // nothing that the verdict says, too, and remarks in one line
  bool without_timeline = false;
};

void WriteHeader(Page& page, const Report& report, bool terse) {
  std::vector<std::string> parts;
  if (!report.inputs.empty()) {
    const std::size_t more = report.inputs.size() - 1;
    parts.push_back(report.inputs.front().path +
                    (more == 0 ? "" : fmt::format(" and {} more", more)));
  }
  for (std::string& gpus : GpuModels(report)) parts.push_back(std::move(gpus));
  const double seconds =
      static_cast<double>(report.window.end_ns - report.window.start_ns) / kNanosPerSecond;
  if (seconds > 0) parts.push_back(SecondsText(seconds));
  if (!report.inputs.empty() && !report.inputs.front().producer.empty()) {
    parts.push_back(report.inputs.front().producer);
  }
  const std::string run = RunText(report);
  if (!run.empty()) parts.push_back(run);
  const std::string efficiency = EfficiencyText(report.efficiency, !terse);
  if (!efficiency.empty()) parts.push_back(efficiency);
  page.Parts("", 0, parts, "   ");
}

void WriteDeviceTable(Page& page, const Report& report) {
  const bool ranks = std::any_of(
      report.devices.begin(), report.devices.end(),
      [&](const DeviceBudget& device) { return device.rank != report.devices.front().rank; });
  std::vector<std::vector<std::string>> rows;
  for (const DeviceBudget& device : report.devices) {
    const std::vector<int> percent = Percentages(BudgetParts({device}));
    std::vector<std::string> row = {ranks
                                        ? fmt::format("rank {} GPU {}", device.rank, device.device)
                                        : fmt::format("GPU {}", device.device)};
    for (const int value : percent) row.push_back(fmt::format("{} %", value));
    row.push_back(fmt::format("{}", fmt::join(IdleParts(report, {device}, 1), "")));
    rows.push_back(row);
  }
  page.Blank();
  WriteTable(page, {"", "compute>", "comm.>", "copies>", "memsets>", "idle>", "idle mainly from"},
             rows, 2);
}

void WriteBudget(Page& page, const Report& report, const TextOptions& options, bool terse) {
  const std::vector<BudgetPart> parts = BudgetParts(report.devices);
  const Nanos total =
      std::accumulate(parts.begin(), parts.end(), Nanos{0},
                      [](Nanos sum, const BudgetPart& part) { return sum + part.ns; });
  if (total <= 0) return;
  const std::vector<int> percent = Percentages(parts);
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool always = i == 0 || i + 1 == parts.size();
    if (always || percent[i] > 0)
      shown.push_back(fmt::format("{} {} %", parts[i].name, percent[i]));
  }
  page.Parts("Where the time went", kColumn, shown, " | ");
  const double least = terse ? kIdleWorthARow : kIdleWorthSaying;
  if (static_cast<double>(parts.back().ns) >= least * static_cast<double>(total)) {
    const std::vector<std::string> idle =
        IdleParts(report, report.devices, options.verbose ? kMoreCauses : kCausesShown);
    if (!idle.empty()) page.Parts("Idle because of", kColumn, idle, " | ");
  }
  if (!options.devices && !terse && report.devices.size() > 1) {
    page.Labelled("", 0, kColumn, "(average of the GPUs; for each GPU: --devices)", Ink::kDim);
  }
}

// What GPUs do beside computing, as far as it lowers their efficiency.
const char* WhatElseRuns(const Report& report) {
  Nanos comm = 0;
  Nanos copies = 0;
  for (const DeviceBudget& device : report.devices) {
    comm += device.comm_exposed_ns;
    copies += device.copy_exposed_ns;
  }
  return comm >= copies ? "communication" : comm == 0 ? "copies" : "copies and communication";
}

// ", mostly for rank 7": what the rule of late ranks found, whatever explains its time; "" nothing.
std::string MostlyFor(const Report& report) {
  for (const Verdict& verdict : report.verdicts) {
    if (verdict.outcome != Outcome::kFired || verdict.rule == nullptr ||
        verdict.rule->topic != Topic::kLateRank)
      continue;
    const auto device = verdict.evidence.find("device");
    const auto who = verdict.evidence.find("who");
    if (device == verdict.evidence.end() || who == verdict.evidence.end()) continue;
    const auto* number = std::get_if<double>(&device->second);
    const auto* word = std::get_if<std::string>(&who->second);
    if (number != nullptr && word != nullptr)
      return fmt::format(", mostly for {} {:.0f}", *word, *number);
  }
  return "";
}

// How many ranks, and how well they work together.
void WriteRanks(Page& page, const Report& report) {
  const RanksInfo& ranks = report.ranks;
  if (ranks.ranks < 2 || report.run.kind == "no-gpu") return;
  const bool one_process = ranks.processes == 1;
  std::string who = FormatQuantity(static_cast<double>(ranks.ranks), "count");
  if (one_process)
    who += " of one process";
  else if (ranks.hosts > 0)
    who += fmt::format(" on {} node{}", ranks.hosts, ranks.hosts == 1 ? "" : "s");
  std::vector<std::string> parts = {who};
  if (ranks.steps > 0)
    parts.push_back(fmt::format("{} {} in common",
                                FormatQuantity(static_cast<double>(ranks.steps), "count"),
                                StepsInWords(report.run)));
  const auto pct = [](double share) { return FormatQuantity(share, "share"); };
  // Where no collective was found on two ranks, nobody knows which part of it was waiting.
  if (ranks.waited > 0 && ranks.waited + ranks.transfer >= kIdleWorthSaying) {
    parts.push_back(
        fmt::format("waiting for late ranks {}{}", pct(ranks.waited), MostlyFor(report)));
    parts.push_back(fmt::format("moving data {}", pct(ranks.transfer)));
  }
  const bool communicate =
      ranks.waited + ranks.transfer > 0;  // ranks that only do so compute nothing
  if (ranks.parallel <= 0 && !communicate) parts.emplace_back("independent of each other");
  page.Parts(one_process ? "GPUs" : "Ranks", kColumn, parts, " | ");
  if (ranks.parallel <= 0) return;
  page.Parts("Parallel efficiency", kColumn,
             {fmt::format("{} = load balance {}", pct(ranks.parallel), pct(ranks.load_balance)),
              fmt::format("× {} {}", WhatElseRuns(report), pct(ranks.communication)),
              fmt::format("× host keeping up {}", pct(ranks.orchestration))},
             " ");
}

// A capture that holds little is answered in few lines.
bool HoldsLittle(const Report& report) {
  const bool advice =
      std::any_of(report.findings.begin(), report.findings.end(), [](const Finding& finding) {
        return finding.severity != Severity::kInfo && !finding.UnderCause();
      });
  return !advice && (!report.no_verdict_reason.empty() || report.run.kind == "kernels" ||
                     report.run.kind == "no-gpu");
}

// "117 ms per step → 96 ms → 61 ms; then the data loader is the limit": what is left once each
// finding and those before it are fixed; then what that does to others.
void WritePlan(Page& page, const Report& report) {
  const std::vector<std::string> stages = PlanStages(report, kPlanShown);
  if (stages.empty()) return;
  page.Parts("Fixed in this order", kColumn, stages, " ");
  for (const std::string& effect : PlanEffects(report)) page.Labelled("", 0, kColumn, effect);
}

void WriteNext(Page& page, const Report& report, bool terse) {
  if (report.next_command.empty()) return;
  if (terse && report.next_command.find('\n') == std::string::npos) {
    page.Line(PadRight("Next", kColumn) + page.Paint(report.next_command, Ink::kGreen));
    return;
  }
  // The verdict has said it in full.
  std::string step = report.next_step.substr(0, report.next_step.find_last_not_of('.') + 1);
  step.resize(std::min(step.find(": "), step.size()));
  page.Labelled("Next", 0, kColumn, step + ":");
  page.Verbatim(report.next_command, 2, Ink::kGreen);
}

// What is worth doing: a symptom stands under the cause that explains it.
std::vector<const Finding*> Advice(const Report& report) {
  std::vector<const Finding*> advice;
  for (const Finding& finding : report.findings) {
    if (!finding.UnderCause() && finding.severity != Severity::kInfo) advice.push_back(&finding);
  }
  return advice;
}

// What to do first is to capture a timeline, with the command that does it.
bool FixIsToCapture(const Report& report, const std::vector<const Finding*>& advice) {
  const std::string tool = report.capture_command.substr(0, report.capture_command.find(' ') + 1);
  if (advice.empty() || tool.empty()) return false;
  const std::vector<Fix> fixes = FixesFor(report.run, advice.front()->fixes);
  return !fixes.empty() && fixes.front().snippet.starts_with(tool);
}

// How many findings take more than one line.
std::size_t InFull(const TextOptions& options, int room) {
  return options.quiet ? 0 : static_cast<std::size_t>(std::clamp(options.top, 0, room));
}

// A few kernels, a part of a step, the little that is left of a file, or what another tool says
// of a run without its timeline.
bool IsTiny(const Report& report) {
  if (report.devices.empty()) return true;
  const bool damaged = std::any_of(report.diagnostics.begin(), report.diagnostics.end(),
                                   [](const Diagnostic& d) { return d.level == Level::kError; });
  const Nanos length = report.window.end_ns - report.window.start_ns;
  return report.run.kind == "kernels" ||
         (!report.no_verdict_reason.empty() && (damaged || length < kTiny));
}

// Returns how many lines they take, without those between them.
int WriteFindings(Page& page, const Report& report, const TextOptions& options, const Room& room) {
  int rows = 0;
  const std::vector<const Finding*> advice = Advice(report);
  const std::size_t full = InFull(options, room.full);
  bool brief = false;
  for (std::size_t i = 0; i < advice.size(); ++i) {
    const bool after_brief = brief;
    // What other fixes leave nothing of is no advice of its own.
    brief = i >= full || (!options.verbose && !options.all_fixes && IsMostlyTaken(*advice[i]));
    if (!brief || !after_brief) page.Blank();
    const int before = page.rows();
    if (brief) {
      WriteFindingLine(page, report, *advice[i]);
    } else {
      WriteFinding(page, report, *advice[i], options, room.finding);
    }
    rows += page.rows() - before;
  }
  return rows;
}

// One screen for one finding, two for four, and for the table of GPUs what it takes.
int ScreenRows(const Report& report, const TextOptions& options) {
  if (IsTiny(report) && !options.devices) return kRowsOfTiny;
  const std::size_t findings = std::min(Advice(report).size(), InFull(options, kAllRows));
  const std::size_t more = findings > 1 ? findings - 1 : 0;
  const std::size_t screens = 1 + (more + kFindingsPerScreen - 1) / kFindingsPerScreen;
  const std::size_t table = options.devices ? report.devices.size() + 2 : 0;
  return options.rows * static_cast<int>(screens) + static_cast<int>(table);
}

// "With -v   other fixes, links, and why 40 rules were not checked".
void WriteEndInOneRow(Page& page, const Report& report, std::size_t notes) {
  std::string more = notes == 0
                         ? "other fixes, links"
                         : fmt::format("fixes, links, {} note{}", notes, notes == 1 ? "" : "s");
  if (!report.not_checked.empty())
    more += fmt::format(", and why {} were not checked", RulesNotChecked(report));
  page.Labelled("With -v", 0, kColumn, more, Ink::kDim);
}

// What follows the findings, which take so many rows: where more is said, notes, and what could not
// be checked.
Page EndOf(const Page& page, const Report& report, const TextOptions& options, const Room& room,
           int of_findings) {
  Page missing = page.Another();
  if (room.missing.rows > 0 && !room.end_in_one_row)
    WriteNotChecked(missing, report, kColumn, options.verbose, room.missing);
  Page end = page.Another();
  const TextNotes notes = NotesOf(report, options.verbose);
  const bool hints = of_findings > 0 && room.hints && !options.verbose;
  const int most = std::min(kRowsBesideFindings + of_findings, ScreenRows(report, options));
  const int left = most - page.rows() - 1 - (hints ? 1 : 0) - missing.rows();
  const bool noted = options.verbose || notes.is_next || left > 0 || (room.notes && !hints);
  const std::size_t unsaid = noted ? 0 : notes.all;
  if (hints && room.end_in_one_row) {
    WriteEndInOneRow(end, report, unsaid);
  } else if (hints) {
    const std::string more =
        unsaid == 0 ? "other fixes and links"
                    : fmt::format("fixes, links, {} {}", unsaid, unsaid == 1 ? "note" : "notes");
    end.Labelled("More on each finding", 0, kColumn, more + ": -v; why: advise why RULE REPORT",
                 Ink::kDim);
  }
  if (noted) WriteNotes(end, notes, kColumn, options.verbose, left);
  end.Append(missing);
  return end;
}

Page Compose(const Report& report, const TextOptions& options, const Room& room) {
  Page page(options.width, options.color);
  if (!options.quiet) {
    WriteHeader(page, report, room.terse);
    page.Blank();
  }
  if (!report.verdict.empty()) page.Wrapped(report.verdict, 0, Ink::kBold);
  const std::string doubt = DoubtText(report);
  if (!doubt.empty()) page.Wrapped(doubt, 0, Ink::kYellow);
  if (report.healthy) {
    page.Wrapped(fmt::format("Healthy: {} rules were checked and none found anything to fix.",
                             report.checked),
                 0, Ink::kGreen);
  }
  const bool little = HoldsLittle(report) && !options.verbose;
  if (!options.quiet) {
    page.Blank();
    const std::string why = FactWord(report, "run.kind_why", "");
    if (options.verbose && !why.empty()) page.Labelled("Kind of run", 0, kColumn, why);
    WriteRanks(page, report);
    WriteBudget(page, report, options, room.terse);
    if (room.plan) WritePlan(page, report);
    if (little) WriteKernels(page, report, kColumn);
    WriteCare(page, report, kColumn, options.verbose ? kAllRows : little ? 1 : room.care_rows);
    if (options.devices) WriteDeviceTable(page, report);
    WriteNext(page, report, room.terse);
    if (little && report.next_step.empty() && !report.capture_command.empty()) {
      page.Labelled("Next", 0, kColumn, "Capture a timeline:");
      page.Verbatim(report.capture_command, 2, Ink::kGreen);
    }
  }
  if (little) {
    // Without a timeline, notes are all that was found; and one may be what to do next.
    const int left = kRowsOfTiny - page.rows();
    const TextNotes notes = NotesOf(report, false);
    if ((report.devices.empty() || notes.is_next) && !options.quiet && left > 0)
      WriteNotes(page, notes, kColumn, false, left);
    return page;
  }
  const int of_findings = WriteFindings(page, report, options, room);
  if (options.quiet) return page;
  const Page end = EndOf(page, report, options, room, of_findings);
  if (end.rows() > 0) page.Blank();
  page.Append(end);
  return page;
}

// Gives up what matters least; false where nothing is left to give up.
bool Tighten(Room* room) {
  if (room->finding.commands) {
    room->finding.commands = false;
  } else if (room->missing.capture) {
    room->missing.capture = false;
  } else if (room->missing.rows > 1) {
    --room->missing.rows;
  } else if (room->care_rows > 1) {
    --room->care_rows;
  } else if (room->hints && !room->end_in_one_row) {
    room->end_in_one_row = true;
  } else if (!room->terse) {
    room->terse = room->finding.terse = true;
  } else {
    return --room->finding.rows >= kFewestRows;
  }
  return true;
}

// The same of what holds little: whatever else could be recorded goes before what to do does, but
// for the command that captures the timeline where there is none.
bool TightenTiny(Room* room) {
  const bool keeps_capture = room->without_timeline && room->missing.capture;
  if (room->finding.commands || (room->missing.capture && !keeps_capture)) {
    room->finding.commands = false;
    room->missing.capture = keeps_capture;
  } else if (room->missing.rows > (keeps_capture ? 1 : 0)) {
    --room->missing.rows;
  } else if (room->care_rows > 1) {
    room->care_rows = 1;
  } else if (room->notes) {
    room->notes = false;
  } else if (room->full > 1) {
    --room->full;
  } else if (room->plan) {
    room->plan = false;
  } else if (room->hints || room->finding.cause) {
    room->hints = room->finding.cause = false;
  } else if (!room->terse) {
    room->terse = room->finding.terse = true;
    room->care_rows = 0;
  } else if (room->without_timeline && room->care_rows == 0) {
    room->care_rows = kNoCare;
  } else {
    return --room->finding.rows >= kFewestRows;
  }
  return true;
}

}  // namespace

std::string RenderText(const Report& report, const TextOptions& options) {
  Room room;
  const std::vector<const Finding*> advice = Advice(report);
  room.full = static_cast<int>(advice.size());
  room.without_timeline = report.devices.empty();
  room.missing.capture = !(room.without_timeline && FixIsToCapture(report, advice));
  Page page = Compose(report, options, room);
  const bool fits = options.verbose || options.all_fixes || options.quiet;
  const int most = ScreenRows(report, options);
  const auto tighten = most == kRowsOfTiny ? TightenTiny : Tighten;
  while (!fits && page.rows() > most && tighten(&room)) page = Compose(report, options, room);
  return page.text();
}

}  // namespace advise
