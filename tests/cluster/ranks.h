// Rank summaries told by hand: what each rank does step by step, and its collectives.
#pragma once

#include <string>
#include <vector>

#include "engine/cluster/cluster.h"
#include "tests/support/analyzed.h"

namespace advise {

// The same value in every step.
inline std::vector<Nanos> Each(int steps, Nanos value) {
  return std::vector<Nanos>(static_cast<std::size_t>(steps), value);
}

// A job of ranks that compute, then meet in one all-reduce a step. Each rank's report has a clock
// of its own: `clock_offset` is what its times are behind those of rank 0.
struct JobStory {
  int ranks = 4;
  int steps = 10;
  Nanos compute = 8'000'000;                      // of each rank and step
  Nanos transfer = 1'000'000;                     // of the all-reduce
  std::vector<Nanos> extra_transfer;              // [step], may be empty
  std::vector<std::vector<Nanos>> extra_compute;  // [rank][step], may be empty
  std::vector<std::vector<Nanos>> extra_loading;
  std::vector<Nanos> clock_offset;
  std::vector<std::string> host;
  bool numbered = true;

  static Nanos Extra(const std::vector<std::vector<Nanos>>& of, int rank, int step) {
    const auto r = static_cast<std::size_t>(rank);
    if (r >= of.size() || of[r].empty()) return 0;
    return of[r][static_cast<std::size_t>(step)];
  }

  std::vector<RankSummary> Tell() const {
    std::vector<RankSummary> all(static_cast<std::size_t>(ranks));
    Nanos now = 1'000'000'000;
    for (int r = 0; r < ranks; ++r) {
      RankSummary& rank = all[static_cast<std::size_t>(r)];
      rank.rank = numbered ? r : -1;
      rank.clock = static_cast<std::uint32_t>(r);
      rank.path = "rank_" + std::to_string(r) + ".sqlite";
      rank.host = host.empty() ? "node1" : host[static_cast<std::size_t>(r)];
      rank.kinds = {"allreduce"};
      rank.kernels = {{"matmul", steps, steps * compute, compute}};
      rank.kernels_count = steps;
    }
    for (int s = 0; s < steps; ++s) {
      Nanos last = 0;
      for (int r = 0; r < ranks; ++r) {
        last =
            std::max(last, now + Extra(extra_loading, r, s) + compute + Extra(extra_compute, r, s));
      }
      const Nanos end = last + transfer +
                        (extra_transfer.empty() ? 0 : extra_transfer[static_cast<std::size_t>(s)]);
      for (int r = 0; r < ranks; ++r) {
        RankSummary& rank = all[static_cast<std::size_t>(r)];
        const Nanos shift = clock_offset.empty() ? 0 : clock_offset[static_cast<std::size_t>(r)];
        const Nanos loading = Extra(extra_loading, r, s);
        const Nanos computing = compute + Extra(extra_compute, r, s);
        RankStep step;
        step.start = now - shift;
        step.end = end - shift;
        step.time.idle = loading;
        step.time.causes[static_cast<std::size_t>(IdleCause::kDataLoading)] = loading;
        step.time.compute = computing;
        step.time.comm_exposed = end - now - loading - computing;
        rank.steps.push_back(step);
        RankCollectives& list = rank.collectives;
        list.start.push_back(now + loading + computing - shift);
        list.end.push_back(end - shift);
        list.exposed.push_back(end - now - loading - computing);
        list.kind.push_back(0);
        list.phase.push_back(static_cast<std::uint8_t>(Phase::kBackward));
        list.lane.push_back(0);
        list.group.push_back(-1);
        list.bytes.push_back(-1);
        list.peer.push_back(-1);
      }
      // Steps of uneven length: otherwise any shift of the sequence fits as well as the true one.
      now = end + 10'000 * (s % 3);
    }
    for (RankSummary& rank : all) {
      rank.window_start = rank.steps.front().start;
      rank.window_end = rank.steps.back().end;
      for (const RankStep& step : rank.steps) {
        rank.time.compute += step.time.compute;
        rank.time.comm_exposed += step.time.comm_exposed;
        rank.time.idle += step.time.idle;
        for (std::size_t c = 0; c < kIdleCauseCount; ++c) {
          rank.time.causes[c] += step.time.causes[c];
        }
      }
    }
    return all;
  }
};

}  // namespace advise
