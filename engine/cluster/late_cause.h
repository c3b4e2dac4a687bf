// Why ranks are late: what they have more of than the others.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/cluster/job.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

struct LateCause {
  enum class Kind : std::uint8_t {
    kOther,
    kMoreWork,     // its time is not gone when it is fixed: other ranks take the work
    kMoreAtTimes,  // the same, most of it in a few steps
    kLessData,     // it waits for data that the others get sooner
    kHostCode,     // its host takes longer, and neither data nor files nor copies are the reason
    kSlowHost,     // the same, and it is slower in what all hosts do alike
    kUncaptured,   // it began later: what it did before that was not captured
    kSlowGpu,      // nothing in the program explains it: the others run the same, or on other GPUs
  };
  std::string words;  // "it copies longer"
  Kind kind = Kind::kOther;
};

// What the slow ranks (indices) have more of than the median of the others, the largest named.
// `now_and_then`: where ranks have no steps in common, that they are late at a few collectives
// only.
LateCause FindLateCause(const std::vector<RankSummary>& ranks, const Job& job,
                        const Knowledge& knowledge, const std::set<std::uint32_t>& slow,
                        bool now_and_then = false);

// Whether kernel launches take far longer on each of these ranks (by index) than on every other
// rank. Launching is the same code everywhere, so the processors of these ranks are slower, or they
// share their cores. False where the length of launches is unknown.
bool LaunchMoreSlowly(const std::vector<RankSummary>& ranks, const Knowledge& knowledge,
                      const std::set<std::uint32_t>& slow);

// Whether a few of these waits hold nearly all of them: in no more than some of the steps that the
// rank with fewest steps has. False where no rank has steps.
bool NowAndThen(const std::vector<RankSummary>& ranks, const Knowledge& knowledge,
                std::vector<double> waits);

// The largest of these waits, of all of them together; 0 where there were fewer than four occasions
// for one.
double LargestPart(const std::vector<double>& waits, std::size_t occasions);

}  // namespace advise
