// The collectives of all ranks counted by kind, phase of the step, and the group that takes part.
#pragma once

#include <string>
#include <vector>

#include "engine/cluster/joint.h"

namespace advise {

// Collectives of one kind in one part of the step.
struct PatternRow {
  std::string kind;
  std::string phase;    // "forward", "backward", "" unknown
  double per_step = 0;  // on a rank that takes part
  double group = 0;     // ranks that take part
  int stride = 0;       // between the numbers of neighbours in the group; 0 when they differ
  bool across_nodes = false;
  double bytes = 0;        // a step on a rank that takes part, 0 unknown
  double transfer_ns = 0;  // summed over collectives
  double exposed_ns = 0;   // exposed transfer, mean over ranks, whole window
};

// What all rows of a kind in a phase ("*": any) add up to.
struct PatternSum {
  double per_step = 0;
  double group = 1;  // of the row with most transfer time
  int stride = 0;
  double bytes = 0;
  double transfer_ns = 0;
  bool across = false;
};

// The phases that a step is made of; "" for the others.
const char* PartOfStep(std::uint8_t of_op);

// How far apart the numbers of neighbours in the collective are; 0 when they differ. Ranks that
// share layers are neighbours, and those that hold copies are as far apart as the groups are large:
// groups of one size are told apart by it.
int StrideOf(const std::vector<RankSummary>& ranks, const JointCollective& collective);

// By transfer time, most first. O(collectives x members).
std::vector<PatternRow> FindPatterns(const std::vector<RankSummary>& ranks, const Joint& joint);

// The row that stands for all of them: that with most transfer time, unless groups of a part of its
// size are there as well, at least `part_often` times as often (cluster.part_often). Two groups
// that end together by chance look like one of twice the size. Null when there are none.
const PatternRow* MainRow(const std::vector<const PatternRow*>& rows, double part_often);
PatternSum SumOf(const std::vector<const PatternRow*>& rows, double part_often);
// Of the rows of a kind, in a phase or in any ("*").
PatternSum PartOf(const std::vector<PatternRow>& rows, const std::string& kind,
                  const std::string& phase, double part_often);

// "among 4 ranks", and where the ranks given are more, "in groups of 4 ranks".
std::string AmongRanks(double group, std::size_t ranks);

}  // namespace advise
