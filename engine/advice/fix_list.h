// From what fixes could win to a ranked list whose savings never overlap. One trace and a run of
// several parts are ranked alike; they differ in what a fix takes: time on the devices of the trace
// (ranking.cc), or time off the steps of the job (rank_run.cc).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/advice/finding.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

// What may become a finding.
struct Candidate {
  std::size_t id = 0;  // in the order in which candidates were added
  const RuleInfo* rule = nullptr;
  Nanos alone = 0;   // what the fix alone would win
  Nanos saving = 0;  // what is left of it beyond those that were served before
  std::vector<std::string> explains, explained_by;
};

// What the captures in which a candidate was found allow to say of it.
struct Footing {
  bool supports_verdict = true;
  bool has_timeline = true;  // without one nothing has a price, and is still worth a look
};

class FixList {
 public:
  FixList(Nanos window, const Knowledge& knowledge) : window_(window), knowledge_(knowledge) {}
  virtual ~FixList() = default;

  // Candidates are served from the most to the least specific evidence (RuleInfo::priority): each
  // takes what its fix wins, and nobody takes it again. What is listed under its cause only, since
  // nothing of its own is left, is no finding. O(candidates^2).
  std::vector<Finding> Rank();

 protected:
  Candidate& Add(const RuleInfo* rule);
  const std::vector<Candidate>& candidates() const { return candidates_; }
  std::vector<Candidate>& candidates() { return candidates_; }
  const Knowledge& knowledge() const { return knowledge_; }
  Nanos window() const { return window_; }

  // Takes what the fix wins beyond those before it, `left` at most. Called once for each candidate
  // that wins anything alone, in the order of serving.
  virtual Nanos Take(const Candidate& candidate, Nanos left) = 0;
  // Whether most of what the effect could have won went to the cause.
  virtual bool LostTo(const Candidate& effect, const Candidate& cause) const = 0;
  // The finding but for its price and its place in the list.
  virtual Finding Describe(const Candidate& candidate) const = 0;
  virtual Footing FootingOf(const Candidate& candidate) const = 0;

 private:
  void Serve();
  void Explain();
  void Price(const Candidate& candidate, Finding* finding) const;
  double Share(const Candidate& candidate) const;
  bool Matters(const Candidate& candidate) const;

  Nanos window_;
  const Knowledge& knowledge_;
  std::vector<Candidate> candidates_;
};

}  // namespace advise
