#include "engine/advice/job_items.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/base/is_in.h"
#include "engine/cluster/pace.h"
#include "engine/replay/remedy.h"

namespace advise {
namespace {

class ItemFinder {
 public:
  ItemFinder(const Cluster& cluster, const CutsOfJob& cuts, const Knowledge& knowledge)
      : cluster_(cluster), cuts_(cuts), knowledge_(knowledge) {}

  std::vector<JobItem> Find(const std::vector<Verdict>& together,
                            const std::vector<ReportFindings>& reports) {
    for (const Verdict& verdict : together) {
      if (verdict.outcome == Outcome::kFired) items_.push_back(OfRanks(verdict));
    }
    std::map<std::string, std::size_t> of_rule;
    for (const ReportFindings& report : reports) {
      for (const Finding& finding : report.findings) {
        const auto [at, added] = of_rule.try_emplace(finding.rule->id, items_.size());
        if (added) items_.emplace_back().rule = finding.rule;
        items_[at->second].found.emplace_back(&finding, &report);
      }
    }
    for (JobItem& item : items_) JoinEffects(&item);
    for (JobItem& item : items_) JoinAlike(&item);
    for (JobItem& item : items_) {
      if (item.verdict == nullptr) AddCuts(&item);
    }
    return std::move(items_);
  }

 private:
  JobItem OfRanks(const Verdict& verdict) const {
    JobItem item;
    item.rule = verdict.rule;
    item.verdict = &verdict;
    item.first = true;
    const SavingClaim& saving = verdict.saving;
    Nanos longest = 0;
    if (saving.claims) {
      for (std::size_t r = 0; r < saving.claims->by_device.size(); ++r) {
        const Nanos claimed = saving.claims->by_device[r].Total();
        if (claimed > 0) item.ranks.insert(r);
        longest = std::max(longest, claimed);
      }
    }
    item.limit = verdict.rule->kind == RuleKind::kInfo ? 0 : longest;
    if (!saving.remedies.empty()) {
      Nanos gain = 0;
      for (const auto& remedy : saving.remedies) {
        cuts_.Join(&item.cuts.other, remedy->rank_cuts);
        cuts_.Join(&item.cuts.comm, remedy->rank_comm_cuts);
        gain += remedy->rank_gain;
      }
      item.limit = std::min(item.limit, gain);
    } else {
      item.limit = static_cast<Nanos>(saving.part * static_cast<double>(item.limit));
    }
    NameRanks(&item);
    cuts_.Bound(&item.cuts);
    item.by_itself = item.cuts;
    return item;
  }

  // The ranks that are to change, where the rule's fix says which. Cuts of nothing only name them.
  static void NameRanks(JobItem* item) {
    std::set<std::size_t> changed;
    std::set<std::size_t> named;
    for (const RankCuts* cuts : {&item->cuts.comm, &item->cuts.other}) {
      for (std::size_t r = 0; r < cuts->size(); ++r) {
        const std::vector<Nanos>& of_rank = (*cuts)[r];
        if (std::any_of(of_rank.begin(), of_rank.end(), [](Nanos n) { return n > 0; })) {
          changed.insert(r);
        }
        if (!of_rank.empty()) named.insert(r);
      }
    }
    item->fixed = changed.empty();
    if (changed.empty()) changed = named;
    if (!changed.empty()) item->ranks = changed;
  }

  static bool BatchesReady(const JobItem& item) {
    return std::any_of(item.found.begin(), item.found.end(),
                       [](const auto& found) { return found.first->batches_ready; });
  }

  // Ranks run one program. What keeps batches from being ready on one rank does so on others, even
  // where too little of it was seen to name more than the effect.
  void JoinEffects(JobItem* cause) const {
    if (!BatchesReady(*cause)) return;
    std::set<const ReportFindings*> named;
    for (const auto& [finding, report] : cause->found) named.insert(report);
    const std::vector<std::string>& effects = cause->rule->explains;
    for (const JobItem& item : items_) {
      const bool is_effect = IsIn(item.rule->id, effects);
      if (&item == cause || !is_effect) continue;
      for (const auto& [finding, report] : item.found) {
        if (finding->batches_ready && named.insert(report).second) {
          cause->found.emplace_back(finding, report);
        }
      }
    }
  }

  // A finding that wins what it would alone: it lost nothing to others of its report, or to nothing
  // but what its ranks wait for others.
  bool Leads(const Finding& finding, const ReportFindings& report) const {
    if (finding.saving_share > 0 && 2 * finding.saving_share >= finding.alone_share) return true;
    if (finding.alone_share <= 0) return false;
    bool any = false;
    for (const Finding& other : report.findings) {
      const bool before = other.turn > 0 && (finding.turn == 0 || other.turn < finding.turn);
      if (!before || other.saving_share <= 0) continue;
      if (!IsOfOthers(other, report)) return false;
      any = true;
    }
    return any;
  }

  // One report alone takes what its ranks wait for others in collectives for communication, which
  // the job does not win: most of what the finding would save.
  bool IsOfOthers(const Finding& finding, const ReportFindings& report) const {
    if (finding.comm_share <= 0) return false;
    Cuts cuts;
    cuts_.Size(&cuts);
    double hoped = 0;
    for (const std::size_t r : report.ranks) {
      if (r >= cluster_.ranks.size() || !Concerns(finding, report, r)) continue;
      cuts_.Add(finding, r, finding.saving_share, &cuts);
      for (std::size_t s = 0; s < cluster_.job.steps; ++s) {
        hoped += finding.saving_share * static_cast<double>(cluster_.job.Captured(r, s));
      }
    }
    cuts_.Bound(&cuts);
    return 2 * static_cast<double>(CutsOfJob::Shared(cuts, cuts)) < hoped;
  }

  // Ranks run one program, and what costs them the same time may be named by its cause on one rank
  // and by its effect on another, where that wins a little more. It is the cause everywhere, or
  // neither wins anything: the job waits for the ranks where it is named otherwise.
  void JoinAlike(JobItem* cause) const {
    std::vector<std::pair<const Finding*, const ReportFindings*>>& named = cause->found;
    const double lead = knowledge_.Number("ranking.clear_lead");
    for (const JobItem& item : items_) {
      const std::string& effect = item.rule->id;
      double least = 0;
      double most = 0;
      for (const auto& [finding, report] : named) {
        const std::vector<std::string>& explains = finding->explains;
        if (!Leads(*finding, *report) || !IsIn(effect, explains)) continue;
        least = least == 0 ? finding->saving_share : std::min(least, finding->saving_share);
        most = std::max(most, finding->saving_share);
      }
      if (most == 0 || &item == cause) continue;
      for (const auto& [finding, report] : item.found) {
        const auto own =
            std::find_if(named.begin(), named.end(), [&, of = report](const auto& one) {
              return one.second == of && Leads(*one.first, *one.second);
            });
        const double share = finding->saving_share;
        if (own == named.end() && Leads(*finding, *report) && share <= lead * most &&
            lead * share >= least)
          named.emplace_back(finding, report);
      }
    }
  }

  // A finding of one report shortens the steps of its ranks in which it claims time. What its rank
  // waits for others inside collectives is not its to win, nor is what shared layers need at once.
  void AddCuts(JobItem* item) const {
    item->limit = cluster_.job.Window();
    item->first = std::any_of(item->found.begin(), item->found.end(), [&](const auto& found) {
      return Leads(*found.first, *found.second);
    });
    cuts_.Size(&item->cuts);
    cuts_.Size(&item->by_itself);
    double alone = 0;
    double own = 0;
    for (const auto& [finding, report] : item->found) {
      for (const std::size_t r : report->ranks) {
        if (r >= cluster_.ranks.size() || !Concerns(*finding, *report, r)) continue;
        item->ranks.insert(r);
        cuts_.Add(*finding, r, finding->saving_share, &item->cuts);
        cuts_.Add(*finding, r, finding->alone_share, &item->by_itself);
        alone += finding->alone_share;
        own += finding->own_share.value_or(finding->alone_share);
      }
    }
    item->own_part = alone > 0 ? std::min(1.0, own / alone) : 1;
    AddSharedCollectives(item);
    EaseOtherHosts(item);
    if (BatchesReady(*item)) AddWaitsForData(item);
    cuts_.Bound(&item->cuts);
    cuts_.Bound(&item->by_itself);
    const auto weight = [&](const auto& found) {
      Nanos won = 0;
      for (const std::size_t r : found.second->ranks) won += CutsOfJob::Taken(item->cuts, r);
      return std::tuple(found.first->rule == item->rule, won, found.first->saving_share);
    };
    item->words =
        *std::max_element(item->found.begin(), item->found.end(),
                          [&](const auto& a, const auto& b) { return weight(a) < weight(b); });
  }

  // Ranks run one program: batches that are ready on one rank are ready on all.
  void AddWaitsForData(JobItem* item) const {
    const RankCuts waits = cuts_.WaitsForData();
    for (std::size_t r = 0; r < waits.size(); ++r) {
      if (!waits[r].empty()) item->ranks.insert(r);
    }
    cuts_.AddData(waits, &item->cuts);
    cuts_.AddData(waits, &item->by_itself);
  }

  // A collective is one operation of all its ranks. One that waits in it for the others sees it
  // take longer than it does, and finds nothing; what shortens it on another rank shortens it here.
  void AddSharedCollectives(JobItem* item) const {
    const Finding* most = nullptr;
    for (const auto& [finding, report] : item->found) {
      const bool shortens = finding->rule->topic != Topic::kCollectives && finding->comm_share > 0;
      if (shortens && (most == nullptr || most->saving_share < finding->saving_share))
        most = finding;
    }
    if (most == nullptr) return;
    Finding shared = *most;
    shared.step_parts.clear();  // which tell steps by the clock of their rank
    for (std::size_t r = 0; r < cluster_.ranks.size(); ++r) {
      if (item->ranks.contains(r)) continue;
      cuts_.AddCommunication(shared, r, shared.saving_share, &item->cuts);
      cuts_.AddCommunication(shared, r, shared.alone_share, &item->by_itself);
    }
  }

  // Ranks run one program. One that waits in collectives for the others loses nothing to what slows
  // its host as well, and finds nothing; without that, its host is done sooner, too.
  void EaseOtherHosts(JobItem* item) const {
    const std::vector<Nanos>& works = cluster_.job.host_works;
    const double alike = knowledge_.Number("ranking.host_alike");
    const Finding* most = nullptr;
    std::size_t there = 0;
    for (const auto& [finding, report] : item->found) {
      if (report->ranks.size() != 1 || (most && finding->host_share <= most->host_share)) continue;
      most = finding;
      there = report->ranks.front();
    }
    if (most == nullptr || most->host_share <= 0) return;
    const std::vector<Nanos> usual = UsualHostWork(cluster_.ranks, cluster_.job);
    const auto as_long = [&](const std::vector<Nanos>& work, std::size_t r) {
      return work[r] > 0 &&
             static_cast<double>(work[r]) >= alike * static_cast<double>(work[there]);
    };
    for (std::size_t r = 0; r < cluster_.ranks.size(); ++r) {
      if (item->ranks.contains(r)) continue;
      if (!as_long(works, r) && !as_long(usual, r)) continue;
      cuts_.EaseHosts(*most, r, &item->cuts);
      cuts_.EaseHosts(*most, r, &item->by_itself);
    }
  }

  // A report that holds several ranks says of which it found something.
  bool Concerns(const Finding& finding, const ReportFindings& report, std::size_t rank) const {
    const std::vector<int>& named = finding.where.ranks;
    if (report.ranks.size() < 2 || named.empty() || !cluster_.numbered) return true;
    return IsIn(cluster_.Number(rank), named);
  }

  const Cluster& cluster_;
  const CutsOfJob& cuts_;
  const Knowledge& knowledge_;
  std::vector<JobItem> items_;
};

}  // namespace

std::vector<JobItem> JobItemsOf(const std::vector<Verdict>& together,
                                const std::vector<ReportFindings>& reports, const Cluster& cluster,
                                const CutsOfJob& cuts, const Knowledge& knowledge) {
  return ItemFinder(cluster, cuts, knowledge).Find(together, reports);
}

}  // namespace advise
