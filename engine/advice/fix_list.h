// From what fixes could win to a ranked list whose savings never overlap. One trace and a run of
// several parts are ranked alike; they differ in what a fix takes: time on the devices of the trace
// (ranking.cc), or time off the steps of the job (rank_run.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/advice/finding.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

// What may become a finding.
struct Candidate {
  std::size_t id = 0;  // in the order in which candidates were added
  const RuleInfo* rule = nullptr;
  std::string effort;   // of its first fix: flag | code | design
  bool priced = false;  // it claims time that its fix may win, perhaps only after other fixes
  Nanos alone = 0;      // what the fix alone would win
  // Most of that is no time that it claims, or time that something else loses: the host gets ahead,
  // for example.
  bool indirect = false;
  Nanos own = 0;           // the same, of what no more specific fix changes as well
  Nanos saving = 0;        // what it wins beyond the fixes that come before it in the plan
  Nanos unprofiled = 0;    // the same of a run that nobody profiles, in parts of the same window
  int turn = 0;            // its place in the plan, from 1; 0 when it wins nothing
  std::string next_bound;  // what limits the run after its turn; "" unknown
  std::vector<std::string> explains, explained_by;
  std::vector<std::string> makes_needless, unlocks;  // rules, as single parts know it
};

// What the captures in which a candidate was found allow to say of it.
struct Footing {
  bool supports_verdict = true;
  bool has_timeline = true;  // without one most has no price, and is still worth a look
};

// What the fixes before a fix do to it.
enum class Effect : std::uint8_t { kNothing, kNeedless, kUnlocked };

// A fix of the plan that is a finding.
struct PlannedFix {
  const Candidate* candidate = nullptr;
  Finding* finding = nullptr;
};

// A fix that is made needless or worthwhile, and by which.
struct AffectedFix {
  const Candidate* candidate = nullptr;
  Effect effect = Effect::kNothing;
  Finding* by = nullptr;             // null: unknown
  Effect before = Effect::kNothing;  // of the fixes so far, while the plan is walked
};

class FixList {
 public:
  FixList(Nanos window, const Knowledge& knowledge) : window_(window), knowledge_(knowledge) {}
  virtual ~FixList() = default;

  // Where two fixes make the same change, it belongs to the one with the more specific evidence
  // (RuleInfo::priority), unless the other is at its root. Then the fixes are put in the order of a
  // plan: each next one is the one that wins most beyond those before it, and that is its saving,
  // so savings never overlap. Of those that win the same, one comes first that wins the time it was
  // seen to lose; a setting comes before a change of code that wins little more and is no surer, a
  // switch of the environment also before what its rule explains and wins little more after it.
  // What a cause alone makes needless is listed under that cause only, and is no finding. Each fix
  // of the plan names what it makes needless or worthwhile. What wins only while a profiler slows
  // the host is a note. `only`, when not empty: the rules to plan; what more specific fixes change
  // is not theirs, whether these are planned or not. O(candidates^2).
  std::vector<Finding> Rank(const std::vector<std::string>& only);

 protected:
  Candidate& Add(const RuleInfo* rule);
  const std::vector<Candidate>& candidates() const { return candidates_; }
  std::vector<Candidate>& candidates() { return candidates_; }
  const Knowledge& knowledge() const { return knowledge_; }
  Nanos window() const { return window_; }

  // Called once for each candidate with a price, from the most to the least specific:
  // what it would win alone by those of its changes that none of the earlier ones makes.
  virtual Nanos Own(const Candidate& candidate) = 0;
  // After the last of these calls.
  virtual void OnSpecified() {}
  // What the fix would win beyond those taken so far, `left` at most.
  virtual Nanos Worth(const Candidate& candidate, Nanos left) = 0;
  // Where it would win `worth` so: as large a part of the window as it would win of a run that
  // nobody profiles.
  virtual Nanos Unprofiled(const Candidate& /*candidate*/, Nanos worth) { return worth; }
  // What it would win beyond those taken so far and this one.
  virtual Nanos WorthAfter(const Candidate& first, const Candidate& candidate) = 0;
  // What the next fix of the plan wins where it does more than it was seen to do: by that, those
  // that come after it win nothing; 0 where it does no more.
  virtual Nanos Settled(const Candidate& /*candidate*/, Nanos /*left*/) { return 0; }
  // Makes it the next fix of the plan, which wins `saving`.
  virtual void Take(const Candidate& candidate, Nanos saving) = 0;
  // What limits the run when the fixes taken so far are done; "" unknown.
  virtual std::string NextBound() const { return ""; }
  // Nothing is taken: the plan is walked once more.
  virtual void Restart() = 0;
  // As Worth(), whatever more specific fixes come later in the plan.
  virtual Nanos Remaining(const Candidate& candidate, Nanos left) { return Worth(candidate, left); }
  // Whether the cause, less specific, wins what the effect would win, and more than that is known
  // of it.
  virtual bool IsRootOf(const Candidate& /*cause*/, const Candidate& /*effect*/) const {
    return false;
  }
  // What it would win if nothing else were fixed.
  virtual Nanos ByItself(const Candidate& candidate) const { return candidate.own; }
  double Share(Nanos time) const;  // of the window
  // Whether the time is worth a finding.
  bool Matters(Nanos time) const;
  // Whether the cause is about what the effect speaks of, where its rule says that it explains it.
  virtual bool MayExplain(const Candidate& /*cause*/, const Candidate& /*effect*/) const {
    return true;
  }
  // Whether an effect of which nothing is left has no place beside the cause that explains it.
  virtual bool Covers(const Candidate& /*cause*/, const Candidate& /*effect*/) const {
    return true;
  }
  // Whether most of what the effect could have won went to the cause.
  virtual bool LostTo(const Candidate& effect, const Candidate& cause) const = 0;
  // What stands behind it, where nothing is promised.
  static Observed ObservedOf(const Candidate& candidate) {
    return candidate.priced ? Observed::kInferred : candidate.rule->observed;
  }
  // How sure it is where it claims no time: of what was seen, since nothing is promised.
  double UnclaimedConfidence(const RuleInfo& rule) const;
  // Whether the capture holds too little to be sure. What was measured or recorded is seen, however
  // little else there is.
  bool IsTentative(const Candidate& candidate) const {
    return !FootingOf(candidate).supports_verdict && ObservedOf(candidate) == Observed::kInferred;
  }
  // Of the finding, from 0 to 1.
  virtual double ConfidenceOf(const Candidate& candidate) const = 0;
  // The finding but for its price and its place in the list.
  virtual Finding Describe(const Candidate& candidate) const = 0;
  virtual Footing FootingOf(const Candidate& candidate) const = 0;

 private:
  void Specify();
  void RootsFirst();
  // A candidate that has no place in the plan yet.
  struct Open {
    Candidate* candidate;
    Nanos worth;   // of a run that nobody profiles: what the order rests on
    Nanos saving;  // of the recording
  };
  void Plan();
  Open* Next(std::vector<Open>* open);
  Open* Surer(Open* chosen, std::vector<Open>* open) const;
  Open* Easiest(Open* chosen, std::vector<Open>* open);
  void Explain();
  void PartAlternatives();
  void TellEffects(std::vector<Finding>* findings);
  void FindCauses(const std::vector<PlannedFix>& plan, std::vector<AffectedFix>* affected);
  std::vector<std::string> OfNoCandidate(std::vector<std::string> rules) const;
  Effect EffectOn(const Candidate& candidate, Nanos worth) const;
  bool IsFolded(const Candidate& candidate) const;
  void Price(const Candidate& candidate, Finding* finding) const;

  Nanos window_;
  const Knowledge& knowledge_;
  std::vector<Candidate> candidates_;
};

}  // namespace advise
