#include "engine/advice/rank_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "engine/advice/describe.h"
#include "engine/advice/fix_list.h"
#include "engine/advice/job_items.h"
#include "engine/base/is_in.h"

namespace advise {
namespace {

// What several fixes take off the ranks.
struct Taken {
  Cuts planned;  // each as much as in the plan of its rank
  Cuts largest;  // of each rank, what the one of them takes that takes most by itself
};

void AddNew(const std::vector<std::string>& more, std::vector<std::string>* list) {
  for (const std::string& one : more) {
    if (!IsIn(one, *list)) list->push_back(one);
  }
}

// Fixes take time off the steps of a job.
class JobFixes : public FixList {
 public:
  JobFixes(const std::vector<Verdict>& together, const std::vector<ReportFindings>& reports,
           const Cluster& cluster, const Knowledge& knowledge)
      : FixList(cluster.job.Window(), knowledge),
        cluster_(cluster),
        cuts_(cluster),
        items_(JobItemsOf(together, reports, cluster, cuts_, knowledge)) {
    for (JobItem& item : items_) {
      if (item.verdict == nullptr) LeaveOutUndelayed(&item);
      Candidate& candidate = Add(item.rule);
      candidate.effort =
          FirstEffort(*item.rule, item.verdict != nullptr ? FilledFixes(*item.verdict, knowledge)
                                                          : item.words.first->fixes);
      for (const auto& [finding, report] : item.found) {
        if (finding->rule != item.rule) continue;
        AddNew(finding->explains, &candidate.explains);
        AddNew(finding->makes_needless, &candidate.makes_needless);
        AddNew(finding->unlocks, &candidate.unlocks);
      }
      const Nanos alone = item.fixed ? item.limit : std::min(item.limit, GainOf(With({}, item)));
      candidate.alone = std::clamp<Nanos>(alone, 0, window());
      candidate.priced = candidate.alone > 0;
    }
  }

 private:
  // A finding is about the ranks for whose sake the job takes longer: others may have a little of
  // the same, which delays nobody.
  void LeaveOutUndelayed(JobItem* item) const {
    Nanos most = 0;
    for (const std::size_t r : item->ranks) most = std::max(most, CutsOfJob::Taken(item->cuts, r));
    std::set<std::size_t> kept;
    for (const std::size_t r : item->ranks) {
      if (2 * CutsOfJob::Taken(item->cuts, r) >= most) kept.insert(r);
    }
    if (kept.size() == item->ranks.size()) return;
    const auto won = static_cast<double>(cuts_.GainOf(item->cuts));
    const auto won_so = static_cast<double>(cuts_.GainOf(CutsOfJob::Of(kept, item->cuts)));
    if (won > 0 && won_so * knowledge().Number("ranking.clear_lead") >= won)
      item->ranks = std::move(kept);
  }

  // Which kernels a fix is about, the reports of the ranks know.
  bool MayExplain(const Candidate& cause, const Candidate& effect) const override {
    return effect.rule->topic != Topic::kHottestKernel || IsIn(effect.rule->id, cause.explains);
  }

  const JobItem& ItemOf(const Candidate& candidate) const { return items_[candidate.id]; }

  // Ranks may plan the same fixes in another order, in which the first of them wins what both
  // would: of two fixes a rank wins as much as in its plan, and no less than by one of them that
  // some rank plans first.
  Taken With(const Taken& taken, const JobItem& item) const {
    return {cuts_.Joined(taken.planned, item.cuts),
            item.first ? cuts_.Larger(taken.largest, item.by_itself) : taken.largest};
  }
  Nanos GainOf(const Taken& taken) const {
    return cuts_.GainOf(cuts_.Larger(taken.planned, taken.largest));
  }

  // Reports know which of their fixes change the same. Of verdicts about several ranks it is not
  // known what they change of that: the less specific one has what is left.
  Nanos Own(const Candidate& candidate) override {
    const JobItem& item = ItemOf(candidate);
    if (item.fixed) return item.limit;
    const bool of_parts = item.verdict == nullptr;
    const Cuts& specific = of_parts ? specific_verdicts_ : specific_;
    const Nanos won = cuts_.GainOf(specific);
    const Nanos own = std::clamp<Nanos>(GainOf(With({specific, {}}, item)) - won, 0, item.limit);
    const Nanos with = of_parts ? cuts_.GainOf(cuts_.Joined(specific, item.by_itself)) - won
                                : cuts_.GainOf(item.by_itself);
    by_itself_[candidate.id] = std::clamp<Nanos>(with, 0, item.limit);
    specific_ = With({specific_, {}}, item).planned;
    if (!of_parts) {
      specific_verdicts_ = With({specific_verdicts_, {}}, item).planned;
      return own;
    }
    const double by_reports = item.own_part * static_cast<double>(candidate.alone);
    return std::min(own, static_cast<Nanos>(by_reports));
  }

  // By how much the job gets shorter beyond what came before it.
  Nanos Worth(const Candidate& candidate, Nanos left) override {
    const JobItem& item = ItemOf(candidate);
    if (item.fixed) return std::min(item.limit, left);
    if (IsLocked(candidate)) left = std::min(left, ByItself(candidate));
    return Remaining(candidate, std::min(candidate.own, left));
  }

  // Once a rank is as fast as the others, nothing that makes it late is left.
  Nanos Settled(const Candidate& candidate, Nanos left) override {
    const JobItem& item = ItemOf(candidate);
    return item.verdict != nullptr && !item.fixed ? Remaining(candidate, left) : 0;
  }

  Nanos Unprofiled(const Candidate& candidate, Nanos worth) override {
    if (ItemOf(candidate).found.empty()) return worth;
    const Finding& part = *ItemOf(candidate).words.first;
    const auto share = PartUnprofiled(part.unprofiled_share, part.saving_share, Share(worth));
    return share ? static_cast<Nanos>(*share * static_cast<double>(window())) : worth;
  }

  Nanos WorthAfter(const Candidate& first, const Candidate& candidate) override {
    const JobItem& before = ItemOf(first);
    const JobItem& item = ItemOf(candidate);
    if (before.fixed || item.fixed) return Worth(candidate, window());
    const Taken with = With(taken_, before);
    return GainOf(With(with, item)) - GainOf(with);
  }

  // In the plan of its report it wins more than by itself, since another fix stands before it that
  // this plan has not taken yet, and that still wins something.
  bool IsLocked(const Candidate& candidate) {
    return std::any_of(candidates().begin(), candidates().end(), [&](const Candidate& other) {
      const auto& unlocks = other.unlocks;
      return IsIn(candidate.rule->id, unlocks) && !taken_ids_.contains(other.id) &&
             Matters(Remaining(other, window()));
    });
  }

  void Take(const Candidate& candidate, Nanos) override {
    const JobItem& item = ItemOf(candidate);
    taken_ids_.insert(candidate.id);
    if (item.fixed) return;
    taken_ = With(taken_, item);
    won_ = GainOf(taken_);
  }

  void Restart() override {
    taken_ = {};
    taken_ids_.clear();
    won_ = 0;
  }

  Nanos Remaining(const Candidate& candidate, Nanos left) override {
    const JobItem& item = ItemOf(candidate);
    if (item.fixed) return std::min(item.limit, left);
    const Nanos more = GainOf(With(taken_, item)) - won_;
    return std::clamp<Nanos>(more, 0, std::min(item.limit, left));
  }

  Nanos ByItself(const Candidate& candidate) const override {
    const auto known = by_itself_.find(candidate.id);
    return known == by_itself_.end() ? candidate.own : known->second;
  }

  // What the late ranks suffer from is no matter of these ranks where others suffer from it, too,
  // and it wins as much to be rid of it. Nor where it is what their host does or waits for that
  // makes them late, and it says what that is. A symptom, or what only they suffer from because
  // their GPU, their node or their data is not like those of the others, has to win more.
  bool IsRootOf(const Candidate& cause, const Candidate& effect) const override {
    const JobItem& found = ItemOf(cause);
    const JobItem& late = ItemOf(effect);
    if (IsOfVaryingCode(cause, effect)) return true;
    if (IsOfLongerCode(found, late)) return true;
    if (IsOfLongerCode(late, found)) return false;
    if (cause.rule->kind == RuleKind::kInfo || found.verdict != nullptr) return false;
    if (late.verdict == nullptr || late.ranks.empty()) return false;
    if (late.ranks.size() == cluster_.ranks.size()) return false;
    if (!std::includes(found.ranks.begin(), found.ranks.end(), late.ranks.begin(),
                       late.ranks.end()))
      return false;
    const bool elsewhere = found.ranks.size() > late.ranks.size();
    const LateCause::Kind why = cluster_.lateness.straggler.cause.kind;
    // No report shows what that was.
    if (why == LateCause::Kind::kUncaptured) return false;
    const bool does = why == LateCause::Kind::kHostCode || why == LateCause::Kind::kOther;
    const bool as_much = cause.rule->kind == RuleKind::kRoot && (elsewhere || does);
    const double lead = knowledge().Number("ranking.clear_lead");
    return static_cast<double>(cause.alone) * (as_much ? lead : 1 / lead) >=
           static_cast<double>(effect.alone);
  }

  // The late rank runs what the others run, but more slowly. Faster kernels lose less by that, and
  // are no reason for it.
  bool IsSlowGpu(const JobItem& item) const {
    const LateRank& late = cluster_.lateness.straggler;
    return item.verdict != nullptr && late.rank != kNone &&
           late.cause.kind == LateCause::Kind::kSlowGpu &&
           item.ranks == std::set<std::size_t>{late.rank};
  }

  // All ranks run code of their host that the cause takes off them, and wins more by that than the
  // effect: the code takes longer on one rank now, on another then.
  bool IsOfVaryingCode(const Candidate& cause, const Candidate& effect) const {
    const JobItem& found = ItemOf(cause);
    const JobItem& late = ItemOf(effect);
    const std::size_t all = cluster_.ranks.size();
    return found.verdict == nullptr && late.verdict != nullptr && found.ranks.size() == all &&
           late.ranks.size() == all && found.words.first->host_share > 0 &&
           IsIn(effect.rule->id, cause.rule->explains) && cause.alone > effect.alone;
  }

  // Ranks run one program. Where code of its host keeps one of them longer than the others, and the
  // same finding costs each of these less than half as much, then what makes the difference is that
  // code: a call that all of them make, or code that all of them run, does not explain it.
  bool IsOfLongerCode(const JobItem& late, const JobItem& found) const {
    const LateRank& straggler = cluster_.lateness.straggler;
    const bool host = straggler.cause.kind == LateCause::Kind::kHostCode ||
                      straggler.cause.kind == LateCause::Kind::kSlowHost;
    if (late.verdict == nullptr || found.verdict != nullptr || straggler.rank == kNone || !host ||
        found.words.first->batches_ready || late.ranks != std::set<std::size_t>{straggler.rank})
      return false;
    std::set<std::size_t> seen;
    for (const auto& [finding, report] : found.found) {
      if (finding->rule == found.rule) seen.insert(report->ranks.begin(), report->ranks.end());
    }
    if (seen.size() < cluster_.ranks.size()) return false;
    Nanos others = 0;
    for (std::size_t r = 0; r < cluster_.ranks.size(); ++r) {
      if (r != straggler.rank) others = std::max(others, CutsOfJob::Taken(found.by_itself, r));
    }
    return 2 * others < CutsOfJob::Taken(found.by_itself, straggler.rank);
  }

  // What the second of two fixes wins once the first is done, and nothing else.
  Nanos LeftAfter(const JobItem& first, const JobItem& second) const {
    if (first.fixed || second.fixed) return 0;
    const Taken before = With({}, first);
    return GainOf(With(before, second)) - GainOf(before);
  }

  // Nothing is left of it, because the cause, settled before it, took the same time. What is as
  // late as before once a large cause is fixed did not come of it.
  bool LostTo(const Candidate& effect, const Candidate& cause) const override {
    const JobItem& lost = ItemOf(effect);
    if (IsSlowGpu(lost) && ItemOf(cause).verdict == nullptr) return false;
    return effect.alone > 0 && 2 * effect.saving < effect.alone &&
           2 * CutsOfJob::Shared(ItemOf(cause).cuts, lost.cuts) >
               CutsOfJob::Shared(lost.cuts, lost.cuts) &&
           2 * LeftAfter(ItemOf(cause), lost) < effect.alone && &cause < &effect;
  }

  Footing FootingOf(const Candidate& candidate) const override {
    const JobItem& item = ItemOf(candidate);
    const auto ranks = [](const RankSummary& rank) { return rank.supports_verdict; };
    const auto parts = [](const auto& found) { return found.second->supports_verdict; };
    return {item.verdict != nullptr
                ? std::any_of(cluster_.ranks.begin(), cluster_.ranks.end(), ranks)
                : std::any_of(item.found.begin(), item.found.end(), parts),
            true};
  }

  Finding Describe(const Candidate& candidate) const override {
    Finding finding =
        ItemOf(candidate).verdict != nullptr ? OfVerdict(candidate) : OfParts(candidate);
    Place(ItemOf(candidate), &finding);
    return finding;
  }

  // Whether ranks lose this time one after the other: hardly two of them in the same step, and none
  // of them most of it. Each of them then makes all others wait.
  bool IsInTurns(const JobItem& item) const {
    const Job& job = cluster_.job;
    if (!job.has_steps) return false;
    std::vector<double> of_rank(cluster_.ranks.size(), 0);
    std::vector<double> of_step(job.steps, 0);
    double largest = 0;
    double all = 0;
    std::vector<double> most(job.steps, 0);
    for (const auto& [finding, report] : item.found) {
      if (finding->rule != item.rule || report->ranks.size() != 1) continue;
      const std::size_t r = report->ranks.front();
      for (const StepPart& part : finding->step_parts) {
        const std::size_t s = job.StepAt(cluster_.ranks, r, part.start);
        if (s >= job.steps) continue;
        of_rank[r] += part.share;
        of_step[s] += part.share;
        most[s] = std::max(most[s], part.share);
      }
    }
    for (std::size_t s = 0; s < job.steps; ++s) all += of_step[s], largest += most[s];
    return all > 0 && 2 * *std::max_element(of_rank.begin(), of_rank.end()) <= all &&
           largest >= knowledge().Number("ranking.in_turns") * all;
  }

  void Place(const JobItem& item, Finding* finding) const {
    std::set<int> numbers;
    std::set<int> devices;
    for (const std::size_t r : item.ranks) {
      numbers.insert(cluster_.Number(r));
      devices.insert(cluster_.ranks[r].device);
    }
    finding->where.ranks.assign(numbers.begin(), numbers.end());
    finding->where.devices.assign(devices.begin(), devices.end());
  }

  double ConfidenceOf(const Candidate& candidate) const override {
    const JobItem& item = ItemOf(candidate);
    double confidence = 0;
    for (const auto& [one, report] : item.found) confidence = std::max(confidence, one->confidence);
    if (item.verdict == nullptr) return confidence;
    const SavingClaim& saving = item.verdict->saving;
    confidence = saving.claims ? saving.confidence : UnclaimedConfidence(*candidate.rule);
    if (IsTentative(candidate)) confidence *= knowledge().Number("ranking.tentative");
    return std::round(100 * confidence) / 100;
  }

  Finding OfVerdict(const Candidate& candidate) const {
    const Verdict& verdict = *ItemOf(candidate).verdict;
    Finding finding;
    if (verdict.saving.claims && window() > 0) {
      finding.touched_share = static_cast<double>(verdict.saving.claims->Total()) /
                              static_cast<double>(window()) /
                              static_cast<double>(cluster_.ranks.size());
    }
    if (candidate.rule->kind == RuleKind::kInfo) finding.touched_share = ToldShare(verdict);
    finding.confidence = ConfidenceOf(candidate);
    finding.confidence_from = verdict.saving.confidence_from;
    finding.basis = verdict.saving.basis;
    finding.symptom = FilledTemplate(candidate.rule->symptom, verdict);
    finding.cause = FilledTemplate(candidate.rule->cause, verdict);
    finding.fixes = FilledFixes(verdict, knowledge());
    if (verdict.saving.claims) {
      // The longest wait, to be looked up in the report of the rank that waits.
      Interval longest;
      std::size_t where = 0;
      for (std::size_t r = 0; r < verdict.saving.claims->by_device.size(); ++r) {
        for (const Interval& i : verdict.saving.claims->by_device[r].intervals()) {
          if (i.Length() > longest.Length()) longest = i, where = r;
        }
      }
      if (longest.Length() > 0) {
        Evidence evidence;
        evidence.what = fmt::format("the longest such time on {}", cluster_.Label(where));
        evidence.value = static_cast<double>(longest.Length());
        evidence.unit = "ns";
        evidence.start_ns = longest.start;
        evidence.end_ns = longest.end;
        evidence.source = cluster_.ranks[where].path;
        finding.evidence.push_back(std::move(evidence));
      }
    }
    return finding;
  }

  // Without the profiler the job wins as much less as the part does, or more; not more than the
  // part, where that wins hardly anything with it.
  static std::optional<double> PartUnprofiled(std::optional<double> unprofiled, double of_part,
                                              double of_job) {
    if (!unprofiled || of_part <= 0) return std::nullopt;
    const double scaled = *unprofiled * of_job / of_part;
    return std::min(scaled, std::max(of_job, *unprofiled));
  }

  // Whose numbers the words hold: a part of one rank that loses clearly more than others.
  std::string FiguresOf(const Candidate& candidate, const Finding& worst) const {
    const double alike_share = knowledge().Number("ranking.alike");
    std::size_t alike = 0;
    const ReportFindings* own = nullptr;
    for (const auto& [finding, report] : ItemOf(candidate).found) {
      if (finding == &worst) own = report;
      const bool same = finding->rule == worst.rule;
      if (same && finding->touched_share >= alike_share * worst.touched_share)
        alike += report->ranks.size();
    }
    const bool only = ItemOf(candidate).ranks.size() == 1;  // which is its place
    if (only || own == nullptr || own->ranks.size() != 1 || alike == cluster_.ranks.size())
      return "";
    return cluster_.Label(own->ranks.front());
  }

  // With the words and the evidence of one part.
  Finding OfParts(const Candidate& candidate) const {
    const JobItem& item = ItemOf(candidate);
    const auto& [worst, report] = item.words;
    Finding finding = *worst;
    finding.part = report->part;
    finding.where.figures = FiguresOf(candidate, *worst);
    finding.where.in_turns = IsInTurns(item);
    if (finding.where.in_turns) {
      finding.where.steps.clear();
      finding.where.figures = cluster_.Label(report->ranks.front());
    }
    finding.confidence = ConfidenceOf(candidate);
    finding.unprofiled_share =
        PartUnprofiled(finding.unprofiled_share, finding.saving_share, Share(candidate.saving));
    finding.unprofiled_alone_share = PartUnprofiled(
        finding.unprofiled_alone_share, finding.alone_share, Share(ByItself(candidate)));
    const double lead = knowledge().Number("ranking.clear_lead");
    const bool wins_less = worst->alone_share > lead * Share(ByItself(candidate));
    if (wins_less && cuts_.IsNeededAtOnce(*worst, *item.ranks.begin())) {
      finding.bound_alone = "communication that the next kernels need at once";
      return finding;
    }
    if (item.ranks.size() == cluster_.ranks.size()) return finding;
    if (candidate.alone > 0 && 2 * candidate.saving < candidate.alone) {
      finding.basis += finding.basis.empty() ? "" : "; ";
      finding.basis += "beyond what the findings above save";
    } else if (candidate.saving > 0 && wins_less) {  // its rank wins more
      finding.bound_alone = "the next-slowest rank";
    }
    return finding;
  }

  const Cluster& cluster_;
  const CutsOfJob cuts_;
  std::vector<JobItem> items_;  // by candidate
  // By candidate: what it wins if only it is fixed, beyond the more specific verdicts.
  std::map<std::size_t, Nanos> by_itself_;
  Cuts specific_;           // by the more specific candidates
  Cuts specific_verdicts_;  // by those of them that are verdicts
  Taken taken_;             // by the fixes in the plan so far
  std::set<std::size_t> taken_ids_;
  Nanos won_ = 0;  // by all of these
};

}  // namespace

std::vector<Finding> RankRun(const std::vector<Verdict>& together,
                             const std::vector<ReportFindings>& reports, const Cluster& cluster,
                             const Knowledge& knowledge, const std::vector<std::string>& only) {
  return JobFixes(together, reports, cluster, knowledge).Rank(only);
}

}  // namespace advise
