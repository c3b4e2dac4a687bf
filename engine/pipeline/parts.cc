#include "engine/pipeline/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <span>
#include <tuple>
#include <utility>

#include "engine/base/side_by_side.h"
#include "engine/cluster/same_program.h"
#include "engine/cluster/same_start.h"
#include "engine/import/importer.h"
#include "engine/pipeline/merge_work.h"
#include "engine/pipeline/processes.h"
#include "engine/pipeline/run_rules.h"
#include "engine/pipeline/run_views.h"
#include "engine/pipeline/side_inputs.h"
#include "engine/store/facts_file.h"
#include "engine/trace/together.h"

namespace advise {
namespace {

Vocabulary VocabularyOf(const Session& session) {
  return {[&session](const std::string& id) { return session.rules.Find(id); }, session.facts};
}

Result<SavedReport> ReadFacts(const Session& session, const DiagnoseOptions& options,
                              const std::string& path) {
  Result<SavedReport> saved = ReadFactsFile(path, VocabularyOf(session));
  if (!saved) return saved;
  Report& report = saved->report;
  const InputInfo first = report.inputs.empty() ? InputInfo() : report.inputs.front();
  report.inputs = {{path, "facts", first.producer, first.rank, first.host}};
  std::erase_if(report.findings, [&](const Finding& f) { return !Chosen(*f.rule, options); });
  std::erase_if(report.verdicts, [&](const Verdict& v) { return !Chosen(*v.rule, options); });
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    report.findings[i].rank = static_cast<int>(i + 1);
  }
  if (options.window != "auto" || !options.gpu.empty()) {
    report.diagnostics.push_back({Level::kWarning,
                                  "a facts file keeps the window and the GPU that it was written "
                                  "with: --window and --gpu have no effect",
                                  "", 1});
  }
  return saved;
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
      Result<SavedReport> saved = Decode(*inner, VocabularyOf(session), part.path);
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

class PartsReader {
 public:
  PartsReader(const Session& session, const DiagnoseOptions& options, const JudgeTrace& judge)
      : session_(session), options_(options), judge_(judge), processes_(Processes::All()) {}

  Result<std::vector<Part>> Read() {
    Result<SideInputs> sides = Sort();
    if (!sides) return tl::unexpected(sides.error());
    const bool one = parts_.size() == 1;
    const bool divided = !options_.by_itself && processes_.many();
    if (one && divided && processes_.number() > 0) throw PartHandedIn();
    if (one) {
      ReadPart(options_, *sides, &parts_.front());
    } else {
      ReadAll(*sides, divided);
      if (divided) Collect(session_, &parts_);
      if (!options_.by_itself) BeginTogether(*sides);
      if (!options_.by_itself) PutTogether(*sides);
    }
    SayWhatIsLeft(*sides);
    return std::move(parts_);
  }

 private:
  // What is a part of the run, and what stands beside one.
  Result<SideInputs> Sort() {
    std::vector<std::string> beside;
    for (const std::string& path : options_.reports) {
      const bool is_facts = IsFactsFileAt(path);
      if (is_facts || MayHaveTimeline(path)) {
        parts_.push_back({path, is_facts, std::nullopt, std::nullopt, {}, {}});
      } else {
        beside.push_back(path);
      }
    }
    if (parts_.empty() && !beside.empty()) {
      parts_.push_back({beside.front(), false, std::nullopt, std::nullopt, {}, {}});
      beside.erase(beside.begin());
    }
    return SideInputs::Read(beside, options_.jobs, *session_.knowledge);
  }

  void ReadPart(const DiagnoseOptions& options, const SideInputs& sides, Part* part) const {
    Result<SavedReport> saved = part->is_facts ? ReadFacts(session_, options, part->path)
                                               : ReadReport(options, sides, part);
    if (saved) {
      part->saved = std::move(*saved);
    } else {
      part->error = saved.error();
    }
  }

  bool IsFirstReport(const Part& part) const {
    return std::none_of(static_cast<const Part*>(parts_.data()), &part,
                        [](const Part& before) { return !before.is_facts; });
  }

  SideInputs::Of PlaceOf(const Part& part, bool is_only_one) const {
    return is_only_one           ? SideInputs::Of::kOnlyReport
           : IsFirstReport(part) ? SideInputs::Of::kFirstReport
                                 : SideInputs::Of::kOtherReport;
  }

  Result<SavedReport> ReadReport(const DiagnoseOptions& options, const SideInputs& sides,
                                 Part* part) const {
    if (options.progress) options.progress("reading");
    const bool one = parts_.size() == 1;
    Result<Trace> trace = ImportReport(part->path, ImportOptions{options.jobs, options.how_far});
    if (!trace) return tl::unexpected(trace.error());
    std::vector<InputInfo> inputs = {InputOf(*trace)};
    part->took = sides.Join(PlaceOf(*part, one), &*trace);
    if (IsFirstReport(*part))
      inputs.insert(inputs.end(), sides.inputs().begin(), sides.inputs().end());
    Result<SavedReport> saved = judge_(options, *trace, inputs);
    if (options.keep) options.keep(std::move(*trace), inputs);
    return saved;
  }

  void ReadAll(const SideInputs& sides, bool divided) {
    std::atomic<std::size_t> done{0};
    std::mutex progress;
    DiagnoseOptions quiet = options_;
    quiet.progress = nullptr;
    quiet.how_far = nullptr;
    if (options_.how_far != nullptr) {
      if (options_.progress) options_.progress("reading");
      options_.how_far->Begin(HowFar::Unit::kReports, parts_.size());
    }
    const auto jobs = static_cast<std::size_t>(std::max(1, options_.jobs));
    // Each report has its own thread; where there are fewer than threads, each has more.
    quiet.jobs =
        static_cast<int>(std::max<std::size_t>(1, jobs / std::max<std::size_t>(1, parts_.size())));
    SideBySide(parts_.size(), jobs, [&](std::size_t i) {
      const bool ours = static_cast<int>(i) % processes_.count() == processes_.number();
      if (divided && !ours) return;
      ReadPart(quiet, sides, &parts_[i]);
      if (i > 0 && parts_[i].saved) TrimViews(&parts_[i].saved->report);
      if (parts_[i].saved) KeepWhatCounts(i);
      const std::size_t ready = ++done;
      if (options_.how_far != nullptr) {
        options_.how_far->Did(1);
        return;
      }
      if (!options_.progress) return;
      const std::lock_guard<std::mutex> lock(progress);
      options_.progress(fmt::format("{} of {} reports", ready, parts_.size()));
    });
  }

  // Reports whose steady steps begin later than those of other ranks are read once more, and begin
  // with them.
  void BeginTogether(const SideInputs& sides) {
    const auto keeps = [](const Part& part) {
      return part.saved && std::any_of(part.saved->ranks.begin(), part.saved->ranks.end(),
                                       [](const RankSummary& rank) { return rank.keeps_waits; });
    };
    const bool steady = options_.window == "auto" || options_.window == "steady";
    if (!steady || std::none_of(parts_.begin(), parts_.end(), keeps)) return;
    std::vector<RankSummary> ranks;
    std::vector<std::size_t> part_of;
    std::uint32_t clock = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (!parts_[i].saved) continue;
      for (RankSummary rank : parts_[i].saved->ranks) {
        rank.clock = clock;
        ranks.push_back(std::move(rank));
        part_of.push_back(i);
      }
      ++clock;
    }
    const std::vector<std::optional<Nanos>> since = SteadySince(ranks, *session_.knowledge);
    std::map<std::size_t, Nanos> by_part;
    for (std::size_t r = 0; r < since.size(); ++r) {
      if (!since[r] || parts_[part_of[r]].is_facts) continue;
      const auto [at, is_new] = by_part.try_emplace(part_of[r], *since[r]);
      at->second = std::min(at->second, *since[r]);
    }
    std::vector<std::pair<std::size_t, Nanos>> again;
    for (const auto& part : by_part) again.emplace_back(part);
    DiagnoseOptions quiet = options_;
    quiet.progress = nullptr;
    quiet.how_far = nullptr;
    const auto jobs = static_cast<std::size_t>(std::max(1, options_.jobs));
    SideBySide(again.size(), jobs, [&](std::size_t at) {
      const auto [i, from] = again[at];
      DiagnoseOptions own = quiet;
      own.steady_since = from;
      ReadPart(own, sides, &parts_[i]);
      parts_[i].error.reset();  // where it can no longer be read, it stays as it was
      if (i > 0) TrimViews(&parts_[i].saved->report);
      KeepWhatCounts(i);
    });
  }

  // Reports of processes that share a GPU are read once more, as one: only together they show what
  // the GPU does. Nothing changes where one of them can no longer be read.
  void PutTogether(const SideInputs& sides) {
    std::vector<std::vector<RankSummary>> ranks(parts_.size());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].saved && !parts_[i].is_facts) ranks[i] = parts_[i].saved->ranks;
    }
    std::vector<std::uint8_t> gone(parts_.size(), 0);
    for (const std::vector<std::size_t>& reports : ReportsOfOneGpu(ranks, *session_.knowledge)) {
      if (!ReadAsOne(reports, sides)) continue;
      for (const std::size_t i : std::span(reports).subspan(1)) gone[i] = 1;
    }
    std::vector<Part> kept;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (gone[i] == 0) kept.push_back(std::move(parts_[i]));
    }
    parts_ = std::move(kept);
  }

  bool ReadAsOne(const std::vector<std::size_t>& reports, const SideInputs& sides) {
    std::vector<Trace> traces;
    std::vector<InputInfo> inputs;
    std::vector<int> others;  // ranks
    for (const std::size_t i : reports) {
      Result<Trace> trace = ImportReport(parts_[i].path, ImportOptions{options_.jobs, nullptr});
      if (!trace) return false;
      inputs.push_back(InputOf(*trace));
      traces.push_back(std::move(*trace));
      const std::vector<RankSummary>& ranks = parts_[i].saved->ranks;
      if (i != reports.front()) others.push_back(ranks.size() == 1 ? ranks.front().rank : -1);
    }
    Part& part = parts_[reports.front()];
    Trace trace = Together(std::move(traces));
    std::set<std::string> took = sides.Join(PlaceOf(part, reports.size() == parts_.size()), &trace);
    if (IsFirstReport(part))
      inputs.insert(inputs.end(), sides.inputs().begin(), sides.inputs().end());
    DiagnoseOptions quiet = options_;
    quiet.progress = nullptr;
    Result<SavedReport> saved = judge_(quiet, trace, inputs);
    if (!saved) return false;
    if (saved->ranks.size() == 1) saved->ranks.front().shares_gpu_with = std::move(others);
    part.saved = std::move(*saved);
    part.took = std::move(took);
    return true;
  }

  // What the run does not need of a part goes as it comes: that of a thousand ranks weighs more
  // than all else of them. One part alone is the report, and stays whole.
  void KeepWhatCounts(std::size_t i) {
    const std::lock_guard<std::mutex> lock(kept_);
    if (!whole_) {
      whole_ = i;
    } else {
      for (const std::size_t part : {*whole_, i}) {
        std::vector<NamedFact>& facts = parts_[part].saved->report.facts;
        std::erase_if(facts, [](const NamedFact& fact) { return !IsMerged(fact.info->name); });
        facts.shrink_to_fit();
      }
    }
    KeepBestVerdicts(i);
  }

  // Of each rule about single ranks, all parts together need one verdict (JoinParts): that of the
  // part whose finding wins most. Of the rule that is asked for all are kept, since the run may
  // have its words from another part, where the job wins more (RankRun).
  void KeepBestVerdicts(std::size_t i) {
    std::vector<Verdict>& own = parts_[i].saved->report.verdicts;
    std::map<const RuleInfo*, double> wins;
    for (const Finding& finding : parts_[i].saved->report.findings) {
      double& most = wins[finding.rule];
      most = std::max(most, finding.saving_share);
    }
    std::map<const RuleInfo*, int> weights;
    for (const Verdict& verdict : own) {
      if (AboutRanks(*verdict.rule) || verdict.rule->id == options_.why) continue;
      int& weight = weights[verdict.rule];
      weight = std::max(weight, Weight(verdict.outcome));
    }
    const auto drop = [](std::vector<Verdict>* verdicts, const RuleInfo* rule) {
      std::erase_if(*verdicts, [rule](const Verdict& verdict) { return verdict.rule == rule; });
    };
    std::set<const RuleInfo*> lost;
    for (const auto& [rule, weight] : weights) {
      const BestVerdict mine{weight, wins[rule], i};
      const auto [best, first] = best_.try_emplace(rule, mine);
      if (first) continue;
      if (best->second.part == i) {  // read once more
        best->second = mine;
        continue;
      }
      if (mine.Order() > best->second.Order()) {
        lost.insert(rule);
      } else {
        drop(&parts_[best->second.part].saved->report.verdicts, rule);
        best->second = mine;
      }
    }
    std::erase_if(own, [&](const Verdict& verdict) { return lost.contains(verdict.rule); });
    own.shrink_to_fit();
  }

  // The first report says what no report took.
  void SayWhatIsLeft(const SideInputs& sides) {
    bool any_report = false;
    std::set<std::string> taken;
    for (const Part& part : parts_) {
      any_report = any_report || !part.is_facts;
      taken.insert(part.took.begin(), part.took.end());
    }
    for (Part& part : parts_) {
      if (!part.saved) continue;
      for (Diagnostic& left : sides.LeftOut(any_report, taken)) {
        part.saved->report.diagnostics.push_back(std::move(left));
      }
      break;
    }
  }

  const Session& session_;
  const DiagnoseOptions& options_;
  const JudgeTrace& judge_;
  const Processes& processes_;
  std::vector<Part> parts_;

  struct BestVerdict {
    int weight = 0;
    double wins = 0;
    std::size_t part = 0;  // the first of those that say as much
    // The least is the best.
    std::tuple<int, double, std::size_t> Order() const { return {-weight, -wins, part}; }
  };
  std::mutex kept_;                   // of what follows, and of what other parts keep
  std::optional<std::size_t> whole_;  // the first part that came
  std::map<const RuleInfo*, BestVerdict> best_;
};

}  // namespace

bool AreOneTrace(const std::vector<std::string>& files) {
  return std::none_of(files.begin(), files.end(), IsFactsFileAt) &&
         std::count_if(files.begin(), files.end(), MayHaveTimeline) < 2;
}

Result<std::vector<Part>> ReadParts(const Session& session, const DiagnoseOptions& options,
                                    const JudgeTrace& judge) {
  return PartsReader(session, options, judge).Read();
}

}  // namespace advise
