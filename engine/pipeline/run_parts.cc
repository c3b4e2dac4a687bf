#include "engine/pipeline/run_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "engine/base/side_by_side.h"
#include "engine/import/importer.h"
#include "engine/pipeline/processes.h"
#include "engine/pipeline/run_views.h"
#include "engine/pipeline/side_inputs.h"
#include "engine/store/facts_file.h"

namespace advise {
namespace {

FindRuleInfo RuleFinder(const Session& session) {
  return [&session](const std::string& id) { return session.rules.Find(id); };
}

// Reads and judges one file.
void ReadPart(const Session& session, const DiagnoseOptions& options, const WindowRequest& window,
              const SideInputs& sides, bool is_first, Part* part) {
  if (part->kind == FileKind::kFacts) {
    Result<SavedReport> saved = ReadFactsFile(part->path, RuleFinder(session));
    if (!saved) {
      part->error = saved.error();
      return;
    }
    Report& report = saved->report;
    const InputInfo first = report.inputs.empty() ? InputInfo() : report.inputs.front();
    report.inputs = {{part->path, "facts", first.producer, first.rank, first.host}};
    std::erase_if(report.findings, [&](const Finding& f) { return !Chosen(*f.rule, options); });
    std::erase_if(report.verdicts, [&](const Verdict& v) { return !Chosen(*v.rule, options); });
    for (std::size_t i = 0; i < report.findings.size(); ++i) {
      report.findings[i].rank = static_cast<int>(i + 1);
    }
    part->saved = std::move(*saved);
    return;
  }
  const int readers = options.reports.size() > 1 ? 1 : options.jobs;
  Result<Trace> trace = ImportReport(part->path, ImportOptions{readers});
  if (!trace) {
    part->error = trace.error();
    return;
  }
  std::vector<InputFile> inputs = {
      {trace->path, trace->kind, trace->producer, trace->host, trace->rank}};
  part->took = sides.Join(is_first, &*trace);
  if (is_first) inputs.insert(inputs.end(), sides.inputs().begin(), sides.inputs().end());
  Result<SavedReport> saved = JudgeTrace(session, options, window, *trace, inputs);
  if (!saved) {
    part->error = saved.error();
    return;
  }
  part->saved = std::move(*saved);
}

// Parts are dealt to processes in turn. Those other than 0 hand in what they have and end.
void Collect(const Session& session, std::vector<Part>* parts) {
  const Processes& processes = Processes::All();
  Sections own;
  for (std::size_t i = 0; i < parts->size(); ++i) {
    const Part& part = (*parts)[i];
    const std::string number = std::to_string(i);
    if (part.error) {
      own.emplace_back("what " + number, part.error->what);
      own.emplace_back("where " + number, part.error->where);
      own.emplace_back("hint " + number, part.error->hint);
    } else if (part.saved) {
      own.emplace_back("saved " + number, Pack(Encode(*part.saved)));
    }
    for (const std::string& gpu : part.took) own.emplace_back("took " + number, gpu);
  }
  const std::vector<std::string> all = processes.Gather(Pack(own));
  if (processes.number() > 0) throw PartHandedIn();
  for (std::size_t process = 1; process < all.size(); ++process) {
    const Result<Sections> sections = Unpack(all[process]);
    if (!sections) continue;
    for (const auto& [name, bytes] : *sections) {
      const std::size_t space = name.find(' ');
      Part& part = (*parts)[std::stoul(name.substr(space + 1))];
      const std::string what = name.substr(0, space);
      if (what == "took") {
        part.took.insert(bytes);
        continue;
      }
      if (what != "saved" && !part.error) part.error = Error();
      if (what == "what") part.error->what = bytes;
      if (what == "where") part.error->where = bytes;
      if (what == "hint") part.error->hint = bytes;
      if (what != "saved") continue;
      Result<Sections> inner = Unpack(bytes);
      if (!inner) {
        part.error = inner.error();
        continue;
      }
      Result<SavedReport> saved = Decode(*inner, RuleFinder(session), part.path);
      if (saved) {
        part.saved = std::move(*saved);
      } else {
        part.error = saved.error();
      }
    }
  }
  for (Part& part : *parts) {
    if (!part.saved && !part.error) part.error = Error{"another process lost it", part.path, ""};
  }
}

void ReadAll(const Session& session, const DiagnoseOptions& options, const WindowRequest& window,
             const SideInputs& sides, std::vector<Part>* parts) {
  const auto first = std::find_if(parts->begin(), parts->end(), [](const Part& part) {
    return part.kind == FileKind::kTimeline;
  });
  std::atomic<std::size_t> done{0};
  std::mutex progress;
  DiagnoseOptions quiet = options;
  quiet.progress = nullptr;
  const auto jobs = static_cast<std::size_t>(std::max(1, options.jobs));
  SideBySide(parts->size(), jobs, [&](std::size_t i) {
    if (static_cast<int>(i) % Processes::All().count() != Processes::All().number()) return;
    Part& part = (*parts)[i];
    const bool is_first = first != parts->end() && &part == &*first;
    ReadPart(session, quiet, window, sides, is_first, &part);
    if (i > 0 && part.saved) TrimViews(&part.saved->report);
    const std::size_t ready = ++done;
    if (!options.progress) return;
    const std::lock_guard<std::mutex> lock(progress);
    options.progress(fmt::format("{} of {} reports", ready, parts->size()));
  });
}

}  // namespace

FileKind KindOf(const std::string& path) {
  if (IsFactsFileAt(path)) return FileKind::kFacts;
  const std::string_view importer = ImporterNameOf(path);
  // What no importer knows is read like a report: the reader says what is wrong with it.
  const bool timeline =
      importer.empty() || importer.starts_with("nsys") || importer.starts_with("kineto");
  return timeline ? FileKind::kTimeline : FileKind::kSide;
}

Result<void> ReadParts(const Session& session, const DiagnoseOptions& options,
                       const WindowRequest& window, const std::vector<std::string>& side_files,
                       std::vector<Part>* parts) {
  const Result<SideInputs> sides = SideInputs::Read(side_files);
  if (!sides) return tl::unexpected(sides.error());
  ReadAll(session, options, window, *sides, parts);
  if (Processes::All().many()) Collect(session, parts);
  bool any_timeline = false;
  std::set<std::string> taken;
  for (const Part& part : *parts) {
    any_timeline = any_timeline || part.kind == FileKind::kTimeline;
    taken.insert(part.took.begin(), part.took.end());
  }
  // The first report says what no report took.
  for (Part& part : *parts) {
    if (!part.saved) continue;
    for (Diagnostic& left : sides->LeftOut(any_timeline, taken)) {
      part.saved->report.diagnostics.push_back(std::move(left));
    }
    break;
  }
  return {};
}

}  // namespace advise
