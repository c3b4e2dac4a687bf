// What fixes take off the ranks of a job, by rank and step, and what the job wins by it.
#pragma once

#include <set>
#include <vector>

#include "engine/advice/finding.h"
#include "engine/cluster/cluster.h"

namespace advise {

struct Cuts {
  RankCuts comm;   // communication
  RankCuts data;   // waits for data; several fixes that have batches ready take the same ones
  RankCuts other;  // the rest
  // By rank: the part of its hosts' work that goes: as much as the fixes take off them, and no less
  // than the part that goes of the rank's own time.
  std::vector<double> eased;
  double fewer = 0;  // the share of the collectives that are sent together with others
};

// Each function is O(ranks x steps), unless it says otherwise.
class CutsOfJob {
 public:
  explicit CutsOfJob(const Cluster& cluster) : cluster_(cluster) {}

  void Size(Cuts* cuts) const;  // an entry per rank, empty where nothing is taken
  void Join(RankCuts* cuts, const RankCuts& more) const;  // the sum

  // A finding of one report shortens the steps of its rank, by this share of them in all: first
  // those in which it claims time. What the rank waits for others, in collectives or idle, is not
  // its to win, nor is what shared layers need at once. O(steps log steps).
  void Add(const Finding& finding, std::size_t rank, double share, Cuts* cuts) const;

  // Of that the communication alone. Cost as above.
  void AddCommunication(const Finding& finding, std::size_t rank, double share, Cuts* cuts) const;

  // The work that the fix takes off the hosts of a rank whose GPU shows nothing of it.
  void EaseHosts(const Finding& finding, std::size_t rank, Cuts* cuts) const;

  // Waits for data that end, also of the host.
  void AddData(const RankCuts& waits, Cuts* cuts) const;

  // What ranks wait for their data beside the collectives, in which others make them wait.
  RankCuts WaitsForData() const;

  // Cuts that go together: of communication no more than a rank has, of all no more than is its
  // own.
  void Bound(Cuts* cuts) const;

  // What both take: within the bounds, and of waits for data the longer of the two.
  Cuts Joined(const Cuts& a, const Cuts& b) const;

  // Of each rank, whichever takes more in all.
  Cuts Larger(const Cuts& a, const Cuts& b) const;

  // What the job wins by cuts within these bounds.
  Nanos GainOf(const Cuts& cuts) const;

  // Time that both would take off the same rank and step.
  static Nanos Shared(const Cuts& a, const Cuts& b);

  // The part of them that is on these ranks.
  static Cuts Of(const std::set<std::size_t>& ranks, const Cuts& cuts);

  // Whether most of what a rank transfers while nothing hides it is needed by the kernels that
  // follow at once, so that a fix by which it overlaps with compute wins little of it. O(steps).
  bool IsNeededAtOnce(const Finding& finding, std::size_t rank) const;

  // What they take off one rank. O(steps).
  static Nanos Taken(const Cuts& cuts, std::size_t rank);

 private:
  std::vector<Nanos> Spread(const Finding& finding, double part, double idle, std::size_t r) const;
  double PartOf(const std::vector<Nanos>& cuts, std::size_t r) const;
  double PartOfHost(const Finding& finding, std::size_t r) const;
  Nanos NeededAtOnce(const Finding& finding, std::size_t rank, std::size_t step) const;

  const Cluster& cluster_;
};

}  // namespace advise
