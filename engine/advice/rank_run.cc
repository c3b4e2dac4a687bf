#include "engine/advice/rank_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "engine/advice/describe.h"
#include "engine/advice/fix_list.h"
#include "engine/replay/remedy.h"

namespace advise {
namespace {

// What fixes take off ranks.
struct Cuts {
  RankCuts comm;   // communication
  RankCuts data;   // waits for data; several fixes that have batches ready take the same ones
  RankCuts other;  // the rest
};

// Where a candidate comes from, and what its fix takes off the ranks.
struct Item {
  const Verdict* verdict = nullptr;  // of a rule about several ranks
  std::vector<std::pair<const Finding*, const ReportFindings*>> found;  // of single parts
  Cuts cuts;
  Cuts by_itself;      // if only this were fixed: of single parts
  Nanos limit = 0;     // the job wins no more than this
  bool fixed = false;  // no cuts: `limit` is what the job wins
  std::set<std::size_t> ranks;
};

// Fixes take time off the steps of a job.
class JobFixes : public FixList {
 public:
  JobFixes(const std::vector<Verdict>& together, const std::vector<ReportFindings>& reports,
           const Cluster& cluster, const Knowledge& knowledge)
      : FixList(cluster.job.Window(), knowledge), cluster_(cluster) {
    for (const Verdict& verdict : together) {
      if (verdict.outcome != Outcome::kFired) continue;
      Add(verdict.rule);
      items_.push_back(OfRanks(verdict));
    }
    std::map<std::string, std::size_t> of_rule;
    for (const ReportFindings& report : reports) {
      for (const Finding& finding : report.findings) {
        const auto [at, added] = of_rule.try_emplace(finding.rule->id, items_.size());
        if (added) {
          Add(finding.rule);
          items_.emplace_back();
        }
        items_[at->second].found.emplace_back(&finding, &report);
        Candidate& candidate = candidates()[at->second];
        for (const std::string& id : finding.explains) {
          auto& known = candidate.explains;
          if (std::find(known.begin(), known.end(), id) == known.end()) known.push_back(id);
        }
      }
    }
    for (const Candidate& candidate : candidates()) JoinEffects(candidate);
    for (Candidate& candidate : candidates()) {
      Item& item = items_[candidate.id];
      if (item.verdict == nullptr) AddCuts(&item);
      Bound(&item.cuts);
      Bound(&item.by_itself);
      const Nanos alone = item.fixed ? item.limit : std::min(item.limit, GainOf(item.cuts));
      candidate.alone = std::clamp<Nanos>(alone, 0, window());
      candidate.priced = candidate.alone > 0;
    }
  }

 private:
  const Item& ItemOf(const Candidate& candidate) const { return items_[candidate.id]; }

  Item OfRanks(const Verdict& verdict) const {
    Item item;
    item.verdict = &verdict;
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
        Join(&item.cuts.other, remedy->rank_cuts);
        Join(&item.cuts.comm, remedy->rank_comm_cuts);
        gain += remedy->rank_gain;
      }
      item.limit = std::min(item.limit, gain);
    } else {
      item.limit = static_cast<Nanos>(saving.part * static_cast<double>(item.limit));
    }
    NameRanks(&item);
    return item;
  }

  // The ranks that are to change, where the rule's fix says which. Cuts of nothing only name them.
  static void NameRanks(Item* item) {
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

  void Join(RankCuts* cuts, const RankCuts& more) const {
    if (more.empty()) return;
    cuts->resize(cluster_.ranks.size());
    for (std::size_t r = 0; r < std::min(more.size(), cuts->size()); ++r) {
      if (more[r].empty()) continue;
      if ((*cuts)[r].empty()) (*cuts)[r].assign(cluster_.job.steps, 0);
      for (std::size_t s = 0; s < cluster_.job.steps; ++s) (*cuts)[r][s] += more[r][s];
    }
  }

  static bool BatchesReady(const Item& item) {
    return std::any_of(item.found.begin(), item.found.end(),
                       [](const auto& found) { return found.first->batches_ready; });
  }

  // Ranks run one program. What keeps batches from being ready on one rank does so on others, even
  // where too little of it was seen to name more than the effect.
  void JoinEffects(const Candidate& cause) {
    Item& item = items_[cause.id];
    if (!BatchesReady(item)) return;
    std::set<const ReportFindings*> named;
    for (const auto& [finding, report] : item.found) named.insert(report);
    const std::vector<std::string>& effects = cause.rule->explains;
    for (const Candidate& candidate : candidates()) {
      const bool is_effect =
          std::find(effects.begin(), effects.end(), candidate.rule->id) != effects.end();
      if (&candidate == &cause || !is_effect) continue;
      for (const auto& [finding, report] : items_[candidate.id].found) {
        if (finding->batches_ready && named.insert(report).second) {
          item.found.emplace_back(finding, report);
        }
      }
    }
  }

  // A finding of one report shortens the steps of its ranks in which it claims time. What its rank
  // waits for others inside collectives is not its to win, nor is what shared layers need at once.
  void AddCuts(Item* item) const {
    item->limit = window();
    for (Cuts* cuts : {&item->cuts, &item->by_itself}) {
      for (RankCuts* part : {&cuts->comm, &cuts->data, &cuts->other}) {
        part->resize(cluster_.ranks.size());
      }
    }
    for (const auto& [finding, report] : item->found) {
      for (const std::size_t r : report->ranks) {
        if (r >= cluster_.ranks.size() || !Concerns(*finding, *report, r)) continue;
        item->ranks.insert(r);
        CutRank(*finding, r, finding->saving_share, &item->cuts);
        CutRank(*finding, r, finding->alone_share, &item->by_itself);
      }
    }
    if (BatchesReady(*item)) CutWaitsForData(item);
  }

  // Ranks run one program: batches that are ready on one rank are ready on all. Then none waits for
  // its data beside the collectives, in which others make it wait.
  void CutWaitsForData(Item* item) const {
    const Job& job = cluster_.job;
    for (std::size_t r = 0; r < cluster_.ranks.size(); ++r) {
      std::vector<Nanos> beside(job.steps);
      for (std::size_t s = 0; s < job.steps; ++s) {
        beside[s] = job.waited_for_data[r * job.steps + s];
      }
      if (std::all_of(beside.begin(), beside.end(), [](Nanos n) { return n == 0; })) continue;
      item->ranks.insert(r);
      RankCuts more(cluster_.ranks.size());
      more[r] = std::move(beside);
      Join(&item->cuts.data, more);
      Join(&item->by_itself.data, more);
    }
  }

  void CutRank(const Finding& finding, std::size_t r, double share, Cuts* cuts) const {
    if (share <= 0) return;
    const RuleInfo& rule = *finding.rule;
    const Job& job = cluster_.job;
    double communication = share * finding.comm_share;
    const double other = std::max(0.0, share - communication - WaitedIn(rule, r));
    if (communication > 0) {
      double exposed = 0;
      double length = 0;
      for (std::size_t s = 0; s < job.steps; ++s) {
        exposed +=
            static_cast<double>(job.Transfer(cluster_.ranks, r, s) - NeededAtOnce(rule, r, s));
        length += static_cast<double>(job.length[r * job.steps + s]);
      }
      const double most = length > 0 ? std::max(0.0, exposed / length) : 0;
      communication = std::min(communication, most);
    }
    const double claimed = ClaimedInSteps(finding);
    for (const auto& [part, of_rank] :
         {std::pair(communication, &cuts->comm),
          std::pair(other, finding.batches_ready ? &cuts->data : &cuts->other)}) {
      if (part <= 0) continue;
      const double placed = std::min(part, claimed);
      (*of_rank)[r] = Spread(finding, placed, part - placed, r);
    }
  }

  static double ClaimedInSteps(const Finding& finding) {
    double claimed = 0;
    for (const StepPart& step : finding.step_parts) claimed += step.share;
    return claimed;
  }

  // Shares of the rank's window, laid on its steps: `placed` where the finding claims time, `rest`
  // on all alike, and so what does not fit into a step.
  std::vector<Nanos> Spread(const Finding& finding, double placed, double rest,
                            std::size_t r) const {
    const Job& job = cluster_.job;
    const auto window = static_cast<double>(std::max<Nanos>(1, cluster_.ranks[r].Window()));
    std::vector<Nanos> cuts(job.steps);
    double length = 0;
    for (std::size_t s = 0; s < job.steps; ++s) {
      length += static_cast<double>(job.length[r * job.steps + s]);
    }
    double over = rest * length;
    if (placed > 0) {
      const double scale = placed / ClaimedInSteps(finding) * window;
      std::map<Nanos, double> known;
      for (const StepPart& step : finding.step_parts) known[step.start] = scale * step.share;
      for (std::size_t s = 0; s < job.steps && job.has_steps; ++s) {
        const auto wanted = known.find(job.SpanOf(cluster_.ranks, r, s).start);
        if (wanted == known.end()) continue;
        const double fits = std::min(wanted->second, static_cast<double>(job.Own(r, s)));
        cuts[s] = static_cast<Nanos>(fits);
        over += wanted->second - fits;
      }
    }
    for (std::size_t s = 0; s < job.steps && length > 0; ++s) {
      cuts[s] +=
          static_cast<Nanos>(over * static_cast<double>(job.length[r * job.steps + s]) / length);
    }
    return cuts;
  }

  // The share of its steps that a rank waits for others in MPI: theirs to win, not its own.
  double WaitedIn(const RuleInfo& rule, std::size_t rank) const {
    if (rule.id != "comm/mpi-late-rank" && rule.id != "comm/mpi-imbalance") return 0;
    const Job& job = cluster_.job;
    double waited = 0, length = 0;
    for (std::size_t s = 0; s < job.steps; ++s) {
      waited += static_cast<double>(job.waited[rank * job.steps + s]);
      length += static_cast<double>(job.length[rank * job.steps + s]);
    }
    return length > 0 ? waited / length : 0;
  }

  // A report that holds several ranks says of which it found something.
  bool Concerns(const Finding& finding, const ReportFindings& report, std::size_t rank) const {
    const std::vector<int>& named = finding.where.ranks;
    if (report.ranks.size() < 2 || named.empty() || !cluster_.numbered) return true;
    return std::find(named.begin(), named.end(), cluster_.Number(rank)) != named.end();
  }

  // What shared layers and stages wait for: there is nothing to hide it behind. Exchanges can be
  // hidden, but not by other buckets of gradients.
  Nanos NeededAtOnce(const RuleInfo& rule, std::size_t rank, std::size_t step) const {
    const auto at = [&](const RankCuts& cuts) {
      return rank < cuts.size() && step < cuts[rank].size() ? cuts[rank][step] : Nanos{0};
    };
    const Strategy& strategy = cluster_.strategy;
    return at(strategy.needed) + (rule.id == "comm/exposed" ? 0 : at(strategy.exchanged));
  }

  // Cuts that go together: of communication no more than a rank has, of all no more than is its
  // own.
  void Bound(Cuts* cuts) const {
    const Job& job = cluster_.job;
    for (RankCuts* part : {&cuts->comm, &cuts->data, &cuts->other}) {
      part->resize(cluster_.ranks.size());
    }
    const auto at = [](const RankCuts& part, std::size_t r, std::size_t s) {
      return part[r].empty() ? Nanos{0} : part[r][s];
    };
    for (std::size_t r = 0; r < cluster_.ranks.size(); ++r) {
      for (std::size_t s = 0; s < job.steps; ++s) {
        if (!cuts->comm[r].empty()) {
          cuts->comm[r][s] = std::min(cuts->comm[r][s], job.Transfer(cluster_.ranks, r, s));
        }
        const Nanos left = job.Own(r, s) - at(cuts->comm, r, s);
        if (!cuts->data[r].empty()) cuts->data[r][s] = std::min(cuts->data[r][s], left);
        if (cuts->other[r].empty()) continue;
        cuts->other[r][s] = std::min(cuts->other[r][s], left - at(cuts->data, r, s));
      }
    }
  }
  // What the job wins by cuts within these bounds.
  Nanos GainOf(const Cuts& cuts) const {
    RankCuts all = cuts.other;
    Join(&all, cuts.data);
    Join(&all, cuts.comm);
    return cluster_.job.Gain(all);
  }

  // What of several fixes changes the same is not known: a less specific one has what is left.
  Nanos Own(const Candidate& candidate) override {
    const Item& item = ItemOf(candidate);
    if (item.fixed) return item.limit;
    const Cuts with = Joined(specific_, item.cuts);
    const Nanos together = GainOf(with);
    const Nanos own = std::clamp<Nanos>(together - won_by_specific_, 0, item.limit);
    specific_ = with;
    won_by_specific_ = together;
    return own;
  }

  // By how much the job gets shorter beyond what came before it.
  Nanos Worth(const Candidate& candidate, Nanos left) override {
    const Item& item = ItemOf(candidate);
    if (item.fixed) return std::min(item.limit, left);
    const Nanos more = GainOf(Joined(taken_, item.cuts)) - won_;
    return std::clamp<Nanos>(more, 0, std::min(candidate.own, left));
  }

  void Take(const Candidate& candidate, Nanos) override {
    const Item& item = ItemOf(candidate);
    if (item.fixed) return;
    taken_ = Joined(taken_, item.cuts);
    won_ = GainOf(taken_);
  }

  Nanos ByItself(const Candidate& candidate) const override {
    const Item& item = ItemOf(candidate);
    if (item.verdict != nullptr) return candidate.own;
    return std::min(item.limit, GainOf(item.by_itself));
  }

  Cuts Joined(const Cuts& a, const Cuts& b) const {
    Cuts both = a;
    Join(&both.comm, b.comm);
    Join(&both.other, b.other);
    both.data.resize(cluster_.ranks.size());
    for (std::size_t r = 0; r < b.data.size(); ++r) {
      std::vector<Nanos>& data = both.data[r];
      if (data.empty()) data.assign(b.data[r].size(), 0);
      for (std::size_t s = 0; s < b.data[r].size(); ++s) data[s] = std::max(data[s], b.data[r][s]);
    }
    Bound(&both);
    return both;
  }

  // Time that both would take off the same rank and step.
  static Nanos Shared(const RankCuts& a, const RankCuts& b) {
    Nanos shared = 0;
    for (std::size_t r = 0; r < std::min(a.size(), b.size()); ++r) {
      for (std::size_t s = 0; s < std::min(a[r].size(), b[r].size()); ++s) {
        shared += std::min(a[r][s], b[r][s]);
      }
    }
    return shared;
  }
  static Nanos Shared(const Item& a, const Item& b) {
    return Shared(a.cuts.comm, b.cuts.comm) + Shared(a.cuts.data, b.cuts.data) +
           Shared(a.cuts.other, b.cuts.other);
  }

  // Nothing is left of it, because the cause, settled before it, took the same time.
  bool LostTo(const Candidate& effect, const Candidate& cause) const override {
    const Item& lost = ItemOf(effect);
    return effect.alone > 0 && 2 * effect.saving < effect.alone &&
           2 * Shared(ItemOf(cause), lost) > Shared(lost, lost) && &cause < &effect;
  }

  Footing FootingOf(const Candidate& candidate) const override {
    const Item& item = ItemOf(candidate);
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

  void Place(const Item& item, Finding* finding) const {
    std::set<int> numbers;
    std::set<int> devices;
    for (const std::size_t r : item.ranks) {
      numbers.insert(cluster_.Number(r));
      devices.insert(cluster_.ranks[r].device);
    }
    finding->where.ranks.assign(numbers.begin(), numbers.end());
    finding->where.devices.assign(devices.begin(), devices.end());
  }

  Finding OfVerdict(const Candidate& candidate) const {
    const Verdict& verdict = *ItemOf(candidate).verdict;
    const bool supported = FootingOf(candidate).supports_verdict;
    Finding finding;
    if (verdict.saving.claims && window() > 0) {
      finding.touched_share = static_cast<double>(verdict.saving.claims->Total()) /
                              static_cast<double>(window()) /
                              static_cast<double>(cluster_.ranks.size());
    }
    finding.confidence =
        std::round(100 *
                   (verdict.saving.claims ? verdict.saving.confidence
                                          : knowledge().Number("ranking.unclaimed_confidence")) *
                   (supported ? 1 : knowledge().Number("ranking.tentative"))) /
        100;
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

  // Words and evidence are those of the part where it costs most.
  Finding OfParts(const Candidate& candidate) const {
    const Item& item = ItemOf(candidate);
    // Effects on other ranks add to what the cause costs, and have words of their own.
    const auto rank = [&](const auto& found) {
      return std::pair(found.first->rule == candidate.rule, found.first->saving_share);
    };
    const auto worst =
        std::max_element(item.found.begin(), item.found.end(),
                         [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    Finding finding = *worst->first;
    finding.confidence = 0;
    for (const auto& [one, report] : item.found) {
      finding.confidence = std::max(finding.confidence, one->confidence);
    }
    if (item.ranks.size() == cluster_.ranks.size()) return finding;
    if (candidate.alone > 0 && 2 * candidate.saving < candidate.alone) {
      finding.basis += finding.basis.empty() ? "" : "; ";
      finding.basis += "beyond what the findings above save";
    } else if (candidate.saving > 0) {
      finding.basis += "; then the next-slowest rank is the limit";
    }
    return finding;
  }

  const Cluster& cluster_;
  std::vector<Item> items_;  // by candidate
  Cuts specific_;            // by the more specific candidates
  Nanos won_by_specific_ = 0;
  Cuts taken_;     // by the fixes in the plan so far
  Nanos won_ = 0;  // by all of these
};

}  // namespace

std::vector<Finding> RankRun(const std::vector<Verdict>& together,
                             const std::vector<ReportFindings>& reports, const Cluster& cluster,
                             const Knowledge& knowledge) {
  return JobFixes(together, reports, cluster, knowledge).Rank();
}

}  // namespace advise
