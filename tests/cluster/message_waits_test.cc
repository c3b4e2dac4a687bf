// Whether messages are late or in transit, by who enters its call of MPI last.
#include "engine/cluster/message_waits.h"

#include "tests/cluster/ranks.h"

namespace advise {
namespace {

// Two ranks of one host meet in 10 calls that end together. The second enters later by `later`.
// Either takes 400 us of each call for a wait.
std::vector<double> SharesOf(Nanos later, const std::string& other_host = "node1",
                             bool in_calls = true) {
  std::vector<RankSummary> ranks(2);
  Clocks clocks;
  clocks.offset = {0, -5'000'000};  // the second clock is ahead by 5 ms
  clocks.source = {ClockSource::kOne, ClockSource::kUtc};
  for (std::uint32_t r = 0; r < 2; ++r) {
    ranks[r].host = r == 0 ? "node1" : other_host;
    ranks[r].path = "rank " + std::to_string(r);
    ranks[r].clock = r;
    for (Nanos at = 0; at < 10'000'000; at += 1'000'000) {
      if (r == 1 && !in_calls) continue;
      const Nanos ahead = r == 0 ? 0 : 5'000'000;
      const Nanos start = at + (r == 0 ? 0 : later);
      ranks[r].messages.push_back(
          {start + ahead, at + 600'000 + ahead, std::max<Nanos>(0, 400'000 - (start - at))});
    }
  }
  return LateShareOfMessages(ranks, clocks);
}

TEST_CASE("messages of ranks that enter their calls together are in transit, and not late") {
  CHECK(SharesOf(0) == std::vector<double>{0, 0});
}

TEST_CASE("a rank waits until the last one enters its call") {
  CHECK(SharesOf(400'000).front() == 1);
  CHECK(SharesOf(500'000).front() == 1);
  CHECK(SharesOf(100'000).front() == Approx(0.25));
  CHECK(SharesOf(100'000).back() == 0);  // it enters last
}

TEST_CASE("where nothing tells who enters last, messages are as late as each report says") {
  CHECK(SharesOf(0, "node2").front() == 1);
  CHECK(SharesOf(0, "node1", false).front() == 1);  // the other rank does something else
}

}  // namespace
}  // namespace advise
