#include "engine/advice/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "engine/advice/describe.h"
#include "engine/advice/device_times.h"
#include "engine/advice/evidence.h"
#include "engine/advice/finding_places.h"
#include "engine/advice/fix_changes.h"
#include "engine/advice/fix_list.h"
#include "engine/advice/hot_kernel.h"
#include "engine/advice/unprofiled.h"
#include "engine/base/text.h"
#include "engine/facts/catalog.h"
#include "engine/trace/launched.h"

namespace advise {
namespace {

// The time of a verdict, and what became of it.
struct Claim {
  const Verdict* verdict = nullptr;
  Remedy remedy;                           // of all its remedies what no more specific fix changes
  bool replayed = false;                   // else a part of the claimed time is won
  std::string bound;                       // what limits the run after the fix
  std::vector<IntervalSet> spans;          // the claimed time, by device, within the window
  Nanos claimed = 0;                       // summed
  Nanos longest = 0;                       // of one device
  std::optional<double> unprofiled_alone;  // of a run that nobody profiles, if only this is fixed
};

// Fixes take time on the devices of one trace.
class TraceFixes : public FixList {
 public:
  TraceFixes(const std::vector<Verdict>& verdicts, const Analysis& analysis,
             const Knowledge& knowledge)
      : FixList(analysis.run.window.Length(), knowledge),
        analysis_(analysis),
        places_(analysis, knowledge),
        without_profiler_(analysis),
        unlinked_(CountLaunched(analysis.run.trace.ops).UnknownShare()),
        specific_(analysis.times.size()),
        taken_(analysis.times.size()),
        unreplayed_(analysis.times.size()) {
    for (const Verdict& verdict : verdicts) {
      if (verdict.outcome != Outcome::kFired) continue;
      Candidate& candidate = Add(verdict.rule);
      candidate.effort = FirstEffort(*verdict.rule, FilledFixes(verdict, knowledge));
      claims_.emplace_back().verdict = &verdict;
      Estimate(&candidate, &claims_.back());
    }
  }

  // Of ranked candidates, in the order in which they were settled.
  std::vector<ClaimResult> ClaimResults() const {
    std::vector<ClaimResult> claim_results;
    for (const Candidate& candidate : candidates()) {
      const Claim& claim = ClaimOf(candidate);
      if (claim.claimed <= 0) continue;
      ClaimResult result{candidate.rule, claim.claimed,    candidate.alone,
                         candidate.own,  candidate.saving, {}};
      for (const Candidate& other : candidates()) {
        const Nanos took = &other == &candidate ? 0 : TakenBy(other, claim);
        if (took > 0) result.taken_by.emplace_back(other.rule, took);
      }
      std::stable_sort(result.taken_by.begin(), result.taken_by.end(),
                       [](const auto& a, const auto& b) { return a.second > b.second; });
      claim_results.push_back(std::move(result));
    }
    return claim_results;
  }

 private:
  const Claim& ClaimOf(const Candidate& candidate) const { return claims_[candidate.id]; }
  const Replay& replay() const { return analysis_.replay(); }

  // What the fix alone would win: by replay where the rule says what the fix changes, else a part
  // of its claim.
  void Estimate(Candidate* candidate, Claim* claim) {
    const SavingClaim& saving = claim->verdict->saving;
    if (!saving.claims || candidate->rule->kind == RuleKind::kInfo) return;
    const Window& window = analysis_.run.window;
    claim->spans.resize(taken_.size());
    for (std::size_t d = 0; d < std::min(taken_.size(), saving.claims->by_device.size()); ++d)
      claim->spans[d] = saving.claims->by_device[d].Clip(window.start, window.end);
    claim->claimed = Sum(claim->spans);
    claim->longest = Longest(claim->spans);
    if (claim->claimed <= 0) return;
    candidate->priced = true;
    claim->replayed = !saving.remedies.empty();
    for (const auto& part : saving.remedies) claim->remedy.Join(*part);
    candidate->alone = claim->replayed ? replay().Gain(claim->remedy, &claim->bound)
                                       : Part(*claim, claim->longest);
    candidate->indirect = claim->remedy.makes_room || 2 * claim->longest < candidate->alone;
  }

  // Where a timer begins each iteration, a GPU that is done sooner only waits for longer.
  Nanos Part(const Claim& claim, Nanos of) const {
    if (analysis_.run.trace.os_calls.size() > 0 && replay().IsPaced()) return 0;
    return static_cast<Nanos>(claim.verdict->saving.part * static_cast<double>(of));
  }

  Nanos Own(const Candidate& candidate) override {
    Claim& claim = claims_[candidate.id];
    Nanos own = candidate.alone;
    if (claim.replayed) {
      const std::int64_t before = claim.remedy.Extent();
      claim.remedy = Without(claim.remedy, made_specific_, analysis_.run);
      if (claim.remedy.ChangesNothing()) return 0;
      if (claim.remedy.Extent() != before) own = replay().Gain(claim.remedy, &claim.bound);
      made_specific_.Join(claim.remedy);
    } else {
      own = Part(claim, LongestWithout(claim.spans, specific_));
    }
    specific_ = Union(specific_, WonOf(claim, specific_, own));
    return own;
  }

  void OnSpecified() override {
    specific_.clear();
    specific_.shrink_to_fit();
  }

  // A replayed fix wins what the run gets shorter when its changes come on top of those made. Of
  // the time that fixes without a replay have taken it wins nothing, nor of the work that is left
  // for the busiest device then: the replay knows nothing of those.
  Nanos Worth(const Candidate& candidate, Nanos left) override {
    const Claim& claim = ClaimOf(candidate);
    if (!claim.replayed) {
      const Nanos free = LongestWithout(claim.spans, taken_);
      return std::min({candidate.own, Part(claim, free), left});
    }
    Nanos won = ByFixItself(claim, ReplayedWith(claim) - replayed_);
    // Changes that are a more specific fix's may hold up the others: these win no more than all.
    if (made_.ChangesNothing()) won = std::min(won, candidate.own);
    return std::clamp<Nanos>(std::min(won, left - WorkLeft(claim)), 0, left);
  }

  // At least so long the busiest device works once the fix is made after those of the plan; 0 where
  // the replay has seen all of them.
  Nanos WorkLeft(const Claim& claim) const {
    if (Sum(unreplayed_) == 0) return 0;
    std::vector<double> gone(analysis_.times.size(), 0);
    const OpTable& ops = analysis_.run.trace.ops;
    for (const Remedy* remedy : {&made_, &claim.remedy}) {
      const auto shorten = [&](std::uint32_t op, double factor) {
        const auto length = static_cast<double>(ops.end[op] - ops.start[op]);
        gone[ops.device[op]] += std::max(0.0, 1 - factor) * length;
      };
      for (const auto& [op, factor] : remedy->scaled_ops) shorten(op, factor);
      for (const auto& [op, factor] : remedy->lighter_ops) shorten(op, factor);
      for (const std::uint32_t op : remedy->detached_ops) shorten(op, 0);
    }
    Nanos most = 0;
    for (const std::uint32_t d : analysis_.run.active_devices) {
      const IntervalSet& idle = analysis_.times[d].idle;
      const Nanos taken = unreplayed_[d].Total() - LengthShared(unreplayed_[d], idle);
      const Nanos busy = window() - idle.Total() - taken;
      most = std::max(most, busy - static_cast<Nanos>(gone[d]));
    }
    return most;
  }

  // Of what is won once its changes are made.
  Nanos ByFixItself(const Claim& claim, Nanos won) const {
    if (claim.remedy.reach_ns > 0) won = std::min(won, claim.remedy.reach_ns);
    const Nanos free = SumWithout(claim.spans, unreplayed_);
    if (free < claim.claimed) {
      won = static_cast<Nanos>(static_cast<double>(won) * static_cast<double>(free) /
                               static_cast<double>(claim.claimed));
    }
    return won;
  }

  Nanos Unprofiled(const Candidate& candidate, Nanos worth) override {
    Claim& claim = claims_[candidate.id];
    if (!claim.replayed || !without_profiler_.Known()) return worth;
    Remedy made = made_;
    made.Join(claim.remedy);
    const Nanos won = asked_[candidate.id] = without_profiler_.WonBy(made);
    const double share = without_profiler_.Share(ByFixItself(claim, won));
    if (made_.ChangesNothing()) claim.unprofiled_alone = share;
    return static_cast<Nanos>(share * static_cast<double>(window()));
  }

  Nanos WorthAfter(const Candidate& first, const Candidate& candidate) override {
    const Claim& before = ClaimOf(first);
    const Claim& claim = ClaimOf(candidate);
    if (!claim.replayed) {
      return Part(claim, LongestWithout(claim.spans, Union(taken_, before.spans)));
    }
    if (!before.replayed) return Worth(candidate, window());
    Remedy with = made_;
    with.Join(before.remedy);
    return GainOf(with, claim) - ReplayedWith(before);
  }

  Nanos ReplayedWith(const Claim& claim, std::string* bound = nullptr) const {
    return GainOf(made_, claim, bound);
  }

  Nanos GainOf(Remedy together, const Claim& claim, std::string* bound = nullptr) const {
    together.Join(claim.remedy);
    together.reach_ns = 0;  // judged fix by fix
    return replay().Gain(together, bound);
  }

  void Take(const Candidate& candidate, Nanos saving) override {
    const Claim& claim = ClaimOf(candidate);
    next_bound_.clear();
    if (claim.replayed) {
      replayed_ = std::max(replayed_, ReplayedWith(claim, &next_bound_));
      made_.Join(claim.remedy);
      if (!without_profiler_.Took(candidate.id)) {
        const auto asked = asked_.find(candidate.id);
        const Nanos won = asked != asked_.end() ? asked->second : without_profiler_.WonBy(made_);
        without_profiler_.Take(candidate.id, won, ByFixItself(claim, won));
      }
      asked_.clear();
    }
    std::vector<IntervalSet> mine = WonOf(claim, taken_, saving);
    taken_ = Union(taken_, mine);
    if (!claim.replayed) unreplayed_ = Union(unreplayed_, mine);
    owners_.emplace(candidate.id, std::move(mine));
  }

  std::string NextBound() const override { return next_bound_; }

  // Who took which claims is kept.
  void Restart() override {
    made_ = {};
    replayed_ = 0;
    taken_.assign(taken_.size(), {});
    unreplayed_.assign(unreplayed_.size(), {});
  }

  // Of the claimed time that nobody has taken, as much as is won.
  static std::vector<IntervalSet> WonOf(const Claim& claim, const std::vector<IntervalSet>& taken,
                                        Nanos won) {
    std::vector<IntervalSet> free = Subtract(claim.spans, taken);
    const Nanos longest = Longest(free);
    const double part =
        longest <= 0 ? 0 : std::min(1.0, static_cast<double>(won) / static_cast<double>(longest));
    for (IntervalSet& set : free) set = Trim(set, part);
    return free;
  }

  // Of the claimed time, what another fix has taken.
  Nanos TakenBy(const Candidate& other, const Claim& claim) const {
    const auto owner = owners_.find(other.id);
    if (owner == owners_.end()) return 0;
    Nanos shared = 0;
    for (std::size_t d = 0; d < claim.spans.size(); ++d)
      shared += LengthShared(claim.spans[d], owner->second[d]);
    return shared;
  }

  bool MayExplain(const Candidate& cause, const Candidate& effect) const override {
    return effect.rule->topic != Topic::kHottestKernel ||
           !IsOfOtherKernels(*ClaimOf(effect).verdict, ClaimOf(cause).spans, analysis_);
  }

  // What the report of one rank suspects of the others is judged anew where they have reports, too:
  // then its own findings stand without it.
  bool Covers(const Candidate& cause, const Candidate& /*effect*/) const override {
    const std::vector<std::string>& needs = cause.rule->needs;
    return analysis_.run.active_devices.size() > 1 ||
           std::none_of(needs.begin(), needs.end(), IsAboutRanks);
  }

  bool LostTo(const Candidate& effect, const Candidate& cause) const override {
    const Claim& claim = ClaimOf(effect);
    return 2 * effect.own < effect.alone && 2 * TakenBy(cause, claim) > claim.claimed;
  }

  Footing FootingOf(const Candidate&) const override {
    return {analysis_.support.verdict, analysis_.run.trace.HasTimeline()};
  }

  Finding Describe(const Candidate& candidate) const override {
    const Verdict& verdict = *ClaimOf(candidate).verdict;
    const RuleInfo& rule = *candidate.rule;
    Finding finding;
    finding.touched_share = static_cast<double>(ClaimOf(candidate).claimed) /
                            static_cast<double>(std::max<Nanos>(1, analysis_.basis().Device()));
    if (candidate.rule->kind == RuleKind::kInfo) finding.touched_share = ToldShare(verdict);
    finding.comm_share = ShareIn(verdict, &DeviceTime::comm_exposed);
    finding.comm_faster = MakesCommFaster(ClaimOf(candidate).remedy, analysis_.run);
    finding.comm_fewer = CommFewer(ClaimOf(candidate).remedy, analysis_);
    finding.idle_share = ShareIn(verdict, &DeviceTime::idle);
    const Nanos hosts = HostTimeSaved(ClaimOf(candidate).remedy, analysis_.run);
    finding.host_share = static_cast<double>(hosts) /
                         static_cast<double>(std::max<Nanos>(1, analysis_.run.window.Length()));
    Remedy whole;
    for (const auto& part : verdict.saving.remedies) whole.Join(*part);
    finding.changes = ChangesOf(whole, analysis_.run);
    finding.batches_ready = ClaimOf(candidate).remedy.data_ready;
    finding.unlinked = unlinked_;
    finding.confidence = ConfidenceOf(candidate);
    finding.confidence_from = ConfidenceFrom(verdict);
    finding.basis = verdict.saving.basis;
    const Claim& claim = ClaimOf(candidate);
    finding.unprofiled_share = without_profiler_.ShareOf(candidate.id);
    finding.unprofiled_alone_share = claim.unprofiled_alone;
    const std::string& bound = claim.bound;
    if (candidate.saving > 0 && !bound.empty()) {
      finding.bound_alone = bound;
    }
    finding.symptom = FilledTemplate(rule.symptom, verdict);
    finding.cause = FilledTemplate(rule.cause, verdict);
    finding.fixes = FilledFixes(verdict, knowledge());
    finding.evidence = CollectEvidence(verdict, analysis_);
    places_.Locate(verdict, &finding);
    return finding;
  }

  // Of the claimed time, the share in this state.
  double ShareIn(const Verdict& verdict, IntervalSet DeviceTime::*state) const {
    if (!verdict.saving.claims) return 0;
    const std::vector<IntervalSet>& claims = verdict.saving.claims->by_device;
    Nanos shared = 0;
    for (std::size_t d = 0; d < std::min(claims.size(), analysis_.times.size()); ++d) {
      shared += LengthShared(claims[d], analysis_.times[d].*state);
    }
    const Nanos all = verdict.saving.claims->Total();
    return all > 0 ? static_cast<double>(shared) / static_cast<double>(all) : 0;
  }

  double OwnConfidence(const Verdict& verdict) const {
    return verdict.saving.claims ? verdict.saving.confidence : UnclaimedConfidence(*verdict.rule);
  }

  // The rule's own confidence, less what the capture leaves open.
  double ConfidenceOf(const Candidate& candidate) const override {
    double confidence = OwnConfidence(*ClaimOf(candidate).verdict);
    if (ObservedOf(candidate) == Observed::kInferred)
      confidence *= 1 - knowledge().Number("ranking.unlinked_weight") * unlinked_;
    if (IsTentative(candidate)) confidence *= knowledge().Number("ranking.tentative");
    return std::round(confidence * 100) / 100;
  }

  // What the confidence rests on.
  std::string ConfidenceFrom(const Verdict& verdict) const {
    std::string from = verdict.saving.confidence_from;
    if (from.empty()) {
      const double confidence = OwnConfidence(verdict);
      const Observed observed = verdict.rule->observed;
      from = !verdict.saving.claims && observed == Observed::kRecorded
                 ? "the input records it; what a fix saves is unknown"
             : !verdict.saving.claims && observed == Observed::kMeasured
                 ? "it was measured; what a fix saves is unknown"
             : !verdict.saving.claims ? "no time is claimed"
             : confidence >= knowledge().Number("ranking.recorded_confidence")
                 ? "the report records the cause itself"
             : confidence >= knowledge().Number("ranking.inferred_confidence")
                 ? "inferred from times and names in the report"
                 : "other causes are possible";
    }
    const bool seen = !verdict.saving.claims && verdict.rule->observed != Observed::kInferred;
    if (seen || unlinked_ < knowledge().Number("ranking.unlinked_told")) return from;
    return from +
           fmt::format("; lower because the launching calls of {} of the GPU work are missing",
                       FormatQuantity(unlinked_, "share"));
  }

  const Analysis& analysis_;
  const FindingPlaces places_;
  advise::Unprofiled without_profiler_;
  std::map<std::size_t, Nanos> asked_;  // what candidates would win as the next, without it
  const double unlinked_;               // the share of the GPU work whose launching call is missing
  std::vector<Claim> claims_;           // by candidate
  Remedy made_specific_;                // by the candidates that are more specific
  std::vector<IntervalSet> specific_;   // what they claim, by device
  Remedy made_;                         // by the fixes in the plan so far
  Nanos replayed_ = 0;                  // what these win together
  std::string next_bound_;              // what holds the run back after the last of them
  std::vector<IntervalSet> taken_;  // what the fixes in the plan have of their claims, by device
  std::vector<IntervalSet> unreplayed_;                     // of that, what is not replayed
  std::map<std::size_t, std::vector<IntervalSet>> owners_;  // candidate -> its part, by device
};

}  // namespace

std::vector<Finding> Rank(const std::vector<Verdict>& verdicts, const Analysis& analysis,
                          const Knowledge& knowledge, std::vector<ClaimResult>* claim_results,
                          const std::vector<std::string>& only) {
  TraceFixes fixes(verdicts, analysis, knowledge);
  std::vector<Finding> findings = fixes.Rank(only);
  if (claim_results != nullptr) *claim_results = fixes.ClaimResults();
  return findings;
}

}  // namespace advise
