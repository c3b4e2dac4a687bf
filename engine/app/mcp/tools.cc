#include "engine/app/mcp/tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "engine/advice/report_views.h"
#include "engine/app/command.h"
#include "engine/app/command_answers.h"
#include "engine/app/mcp/arguments.h"
#include "engine/base/glob.h"
#include "engine/base/text.h"
#include "engine/compare/compare.h"
#include "engine/pipeline/session.h"
#include "engine/report/compare_pages.h"
#include "engine/report/json.h"
#include "engine/report/why.h"

namespace advise {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr int kColumns = 100;
constexpr std::size_t kEvidenceShown = 5;
constexpr std::size_t kRowsShown = 5;

std::string OneLine(const McpJson& json) {
  return json.dump(-1, ' ', false, McpJson::error_handler_t::replace);
}

McpAnswer ToolProblem(const Error& error) { return {SafeText(error.Line()), true}; }

// The items from `offset` on that fit into a page, and where the next page begins.
McpJson PageOf(const McpJson& items, std::size_t offset, const std::string& name, McpJson answer) {
  McpJson page = McpJson::array();
  std::size_t bytes = 0;
  std::size_t at = offset;
  for (; at < items.size(); ++at) {
    const std::size_t more = OneLine(items[at]).size();
    if (!page.empty() && bytes + more > kPageBytes) break;
    bytes += more;
    page.push_back(items[at]);
  }
  answer["total"] = items.size();
  answer[name] = std::move(page);
  if (at < items.size()) answer["next_offset"] = at;
  return answer;
}

// A table that is longer than a page, without the rows that have no room.
void CutRows(McpJson* fact) {
  const auto rows = fact->find("rows");
  if (rows == fact->end()) return;
  std::size_t bytes = 0;
  std::size_t shown = 0;
  while (shown < rows->size() && bytes + OneLine((*rows)[shown]).size() <= kPageBytes) {
    bytes += OneLine((*rows)[shown++]).size();
  }
  if (shown == rows->size()) return;
  (*fact)["rows_left_out"] = rows->size() - shown;
  McpJson& list = (*fact)["rows"];
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(shown), list.end());
}

// A page of a text, ending with a whole line.
std::string TextPage(const std::string& text, std::size_t offset) {
  if (offset >= text.size()) return offset == 0 ? text : "(nothing more)";
  if (text.size() - offset <= kPageBytes) return text.substr(offset);
  std::size_t end = text.rfind('\n', offset + kPageBytes);
  if (end == std::string::npos || end <= offset) end = offset + kPageBytes;
  return text.substr(offset, end - offset) +
         fmt::format("\n… {} more bytes: ask again with offset {}\n", text.size() - end, end);
}

class Tools {
 public:
  explicit Tools(OpenRuns* runs) : runs_(*runs) {}

  McpAnswer Open(const Arguments& given, const McpProgress& progress) const {
    const auto run =
        runs_.Open(given.Texts("paths"), given.Text("window"), given.Text("gpu"), progress);
    if (!run) return ToolProblem(run.error());
    const Report& report = (*run)->report;
    McpJson brief = McpJson::parse(RenderBriefJson(report, -1, kBriefBytes));
    McpJson answer = {{"run", (*run)->name}};
    for (auto& [name, value] : brief.items()) {
      if (name == "schema" || name == "tool") continue;
      answer[name == "run" ? "program" : name] = std::move(value);
    }
    for (const CareNote& note : report.read_with_care)
      answer["read_with_care"].push_back(note.text);
    return {OneLine(answer)};
  }

  McpAnswer Diagnose(const Arguments& given, const McpProgress&) const {
    const auto run = runs_.Find(given.Text("run"));
    if (!run) return ToolProblem(run.error());
    const Report& report = (*run)->report;
    const std::optional<std::size_t> number = given.Number("finding");
    if (!number) {
      McpJson brief = McpJson::parse(RenderBriefJson(report, -1, std::string::npos));
      McpJson head = {{"verdict", brief["verdict"]}, {"next", brief["next"]}};
      if (given.Offset() > 0) head = McpJson::object();
      return {OneLine(PageOf(brief["findings"], given.Offset(), "findings", std::move(head)))};
    }
    McpJson full = McpJson::parse(RenderJson(report));
    for (McpJson& finding : full["findings"]) {
      if (finding["rank"] != *number) continue;
      McpJson& evidence = finding["evidence"];
      if (evidence.size() > kEvidenceShown) {
        finding["evidence_left_out"] = evidence.size() - kEvidenceShown;
        evidence.erase(evidence.begin() + kEvidenceShown, evidence.end());
      }
      for (McpJson& item : evidence) {
        McpJson& rows = item["rows"];
        if (rows.size() > kRowsShown) rows.erase(rows.begin() + kRowsShown, rows.end());
      }
      return {OneLine(finding)};
    }
    return ToolProblem(
        {fmt::format("there is no finding {}: the run has {}", *number, report.findings.size()),
         "finding", "diagnose without finding lists them"});
  }

  McpAnswer Why(const Arguments& given, const McpProgress&) const {
    const auto run = runs_.Find(given.Text("run"));
    if (!run) return ToolProblem(run.error());
    const auto rule = FindRule(runs_.session(), given.Text("rule"));
    if (!rule) return ToolProblem(rule.error());
    return {TextPage(RenderWhyText((*run)->report, (*rule)->id, kColumns, /*color=*/false),
                     given.Offset())};
  }

  McpAnswer Facts(const Arguments& given, const McpProgress&) const {
    const auto run = runs_.Find(given.Text("run"));
    if (!run) return ToolProblem(run.error());
    const std::string match = given.Text("match");
    const bool tables = given.Flag("tables");
    const McpJson all = McpJson::parse(RenderFactsJson((*run)->report.facts, tables))["facts"];
    McpJson chosen = McpJson::array();
    std::vector<std::string> names;
    for (const McpJson& fact : all) {
      const std::string name = fact["name"];
      names.push_back(name);
      if (tables && !fact.contains("rows")) continue;
      const bool wanted = match.empty() || MatchesGlob(name, match) ||
                          (match.find('*') == std::string::npos && name.starts_with(match + "."));
      if (!wanted) continue;
      chosen.push_back(fact);
      chosen.back().erase("scope");
      CutRows(&chosen.back());
    }
    if (chosen.empty() && !match.empty()) {
      const std::string near = DidYouMean(match, names);
      return ToolProblem({"no fact matches \"" + match + "\"", "match",
                          near.empty() ? "a name, its first words, or a pattern such as *.share"
                                       : "did you mean " + near + "?"});
    }
    return {OneLine(PageOf(chosen, given.Offset(), "facts", McpJson::object()))};
  }

  McpAnswer WhatIf(const Arguments& given, const McpProgress&) const {
    const auto run = runs_.Find(given.Text("run"));
    if (!run) return ToolProblem(run.error());
    RunOptions options = (*run)->options;
    options.output.format = "json";
    const std::vector<std::string> fixes = given.Texts("fixes");
    if (fixes.empty()) return Compact(PlanAnswer((*run)->report, options.output));
    const HearComplaints complaints;
    const Answer answer = WhatIfAnswer(std::move(options), fixes);
    return answer ? Compact(*answer) : McpAnswer{complaints.text(), true};
  }

  McpAnswer Compare(const Arguments& given, const McpProgress&) const {
    const auto before = runs_.Find(given.Text("before"));
    if (!before) return ToolProblem(before.error());
    const auto after = runs_.Find(given.Text("after"));
    if (!after) return ToolProblem(after.error());
    const RunComparison comparison =
        CompareRuns((*before)->report, (*after)->report, *runs_.session().knowledge);
    return {TextPage(CompareText(comparison, (*before)->name, (*after)->name, kColumns,
                                 /*color=*/false),
                     given.Offset()),
            !comparison.comparable};
  }

  McpAnswer Slice(const Arguments& given, const McpProgress&) const {
    const auto run = runs_.Find(given.Text("run"));
    if (!run) return ToolProblem(run.error());
    OutputOptions output;
    output.path = given.Text("path");
    std::error_code failed;
    if (output.path == "-" || std::filesystem::exists(output.path, failed)) {
      return ToolProblem(
          {"exists already, and is not written over", output.path, "name a new file"});
    }
    const HearComplaints complaints;
    const auto slice =
        SliceAnswer((*run)->options, static_cast<int>(given.Number("finding").value_or(1)));
    if (!slice) return {complaints.text(), true};
    const auto written = WriteOutput(slice->json, output, (*run)->options.diagnose.reports);
    if (!written) return ToolProblem(written.error());
    return {OneLine({{"path", output.path},
                     {"bytes", slice->json.size()},
                     {"events", slice->events},
                     {"left_out", slice->left_out},
                     {"open_with", "https://ui.perfetto.dev or chrome://tracing"}})};
  }

  McpAnswer Sources(const Arguments& given, const McpProgress&) const {
    const auto run = runs_.Find(given.Text("run"));
    if (!run) return ToolProblem(run.error());
    const Report& report = (*run)->report;
    const std::optional<std::size_t> number = given.Number("finding");
    McpJson list = McpJson::array();
    const bool any = report.views != nullptr && !report.views->sources.empty();
    for (const FindingSource& source :
         report.views == nullptr ? std::vector<FindingSource>() : report.views->sources) {
      if (number && source.finding != static_cast<int>(*number)) continue;
      list.push_back({{"finding", source.finding},
                      {"rule", SafeText(source.rule)},
                      {"file", SafeText(source.file)},
                      {"line", source.line},
                      {"function", SafeText(source.function)}});
    }
    McpJson head = McpJson::object();
    if (!any) {
      head["note"] =
          "This capture holds no source lines. PyTorch's profiler records them with "
          "with_stack=True.";
    }
    return {OneLine(PageOf(list, given.Offset(), "sources", std::move(head)))};
  }

 private:
  static McpAnswer Compact(const std::string& json) { return {OneLine(McpJson::parse(json))}; }

  OpenRuns& runs_;
};

using Method = McpAnswer (Tools::*)(const Arguments&, const McpProgress&) const;

}  // namespace

std::vector<McpTool> McpTools(OpenRuns* runs) {
  const auto tools = std::make_shared<const Tools>(runs);
  std::vector<McpTool> list;
  const auto add = [&](const char* name, const char* title, const char* text,
                       std::vector<Parameter> parameters, Method method, bool read_only = true) {
    McpTool tool{name, title, text, SchemaOf(parameters), read_only, {}};
    tool.call = [tools, method, parameters = std::move(parameters)](
                    const McpJson& arguments, const McpProgress& progress) -> McpAnswer {
      const auto given = Arguments::Read(arguments, parameters);
      if (!given) return ToolProblem(given.error());
      return ((*tools).*method)(*given, progress);
    };
    list.push_back(std::move(tool));
  };
  using Kind = Parameter::Kind;
  const Parameter run = {"run", Kind::kText, true, "name of an open run, such as r1"};
  const Parameter offset = {"offset", Kind::kNumber, false, "where the page begins (default 0)"};
  const Parameter finding = {"finding", Kind::kNumber, false, "number of the finding"};
  add("open", "Open a run",
      "Reads the reports of one GPU run (Nsight Systems SQLite or .nsys-rep, PyTorch profiler "
      "JSON, "
      "beside them logs of nvidia-smi, NCCL, Nsight Compute) and diagnoses it. Answers with the "
      "run's name, which the other tools take, and in 4 KB: verdict, time budget, findings with "
      "their best fix, and the next capture.",
      {{"paths", Kind::kTexts, true, "files of one run, or a folder with one report per rank"},
       {"window", Kind::kText, false, "all, steady, or A:B in seconds from the start"},
       {"gpu", Kind::kText, false, "the GPU, if the report does not name it, such as h100-sxm"}},
      &Tools::Open);
  add("diagnose", "List findings, or show one",
      "The findings of an open run, best first, with savings and fixes; with `finding`, all of "
      "one: "
      "cause, every fix, evidence with the SQL that checks it.",
      {run, finding, offset}, &Tools::Diagnose);
  add("why", "Explain a rule's verdict",
      "How a rule reached its verdict on the run, fired or not: facts, comparisons with "
      "thresholds, "
      "margins, and what the capture lacks.",
      {run, {"rule", Kind::kText, true, "id, such as transfer/pageable-copy"}, offset},
      &Tools::Why);
  add("facts", "Look up facts",
      "Measured facts of the run: name, value, unit, definition. There are hundreds: give a name, "
      "its first words, or a pattern.",
      {run,
       {"match", Kind::kText, false, "budget.idle, budget, or *.share"},
       {"tables", Kind::kFlag, false, "small tables (kernels, copies, calls …) in place of values"},
       offset},
      &Tools::Facts);
  add("whatif", "Replay the run with fixes applied",
      "The new step time if the findings of these rules were fixed together, by replaying the run; "
      "without fixes the plan: best order, and the time after each.",
      {run, {"fixes", Kind::kTexts, false, "ids of rules that fired"}}, &Tools::WhatIf);
  add("compare", "Compare two runs",
      "What changed between two open runs of the same program: time per step with its uncertainty, "
      "budget, findings fixed, new and left, predicted against real savings.",
      {{"before", Kind::kText, true, "name of an open run"},
       {"after", Kind::kText, true, "name of an open run"},
       offset},
      &Tools::Compare);
  add("slice", "Write a finding's surroundings",
      "Writes the time around a finding's worst example to a new file, as a trace for Perfetto.",
      {run, finding, {"path", Kind::kText, true, "file to write; it must not exist yet"}},
      &Tools::Slice, /*read_only=*/false);
  add("sources", "Find source lines",
      "File, line and function that findings come from, where the capture recorded call stacks.",
      {run, finding, offset}, &Tools::Sources);
  return list;
}

}  // namespace advise
