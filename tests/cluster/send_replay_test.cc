// Sends played again as if links were as fast as can be.
#include "engine/cluster/send_replay.h"

#include "tests/cluster/ranks.h"

namespace advise {
namespace {

// Ranks that send to each other, told kernel by kernel.
struct SendStory {
  std::vector<RankSummary> ranks;
  Clocks clocks;
  Joint joint;

  explicit SendStory(std::size_t count) : ranks(count) {
    clocks.offset.assign(count, 0);
    for (std::size_t r = 0; r < count; ++r) ranks[r].clock = static_cast<std::uint32_t>(r);
  }

  // One side: its kernel, and for how long nothing is computed at its end.
  JointMember Side(std::uint32_t rank, Nanos start, Nanos end, Nanos bare, std::uint16_t lane) {
    RankCollectives& list = ranks[rank].collectives;
    list.start.push_back(start * 1_ms - clocks.offset[rank]);
    list.end.push_back(end * 1_ms - clocks.offset[rank]);
    list.exposed.push_back(bare * 1_ms);
    list.bare_end.push_back(bare * 1_ms);
    list.lane.push_back(lane);
    return {rank, static_cast<std::uint32_t>(list.size() - 1)};
  }

  void Send(const JointMember& a, const JointMember& b, Nanos transfer) {
    JointCollective one;
    one.of_two = true;
    one.transfer = transfer * 1_ms;
    one.members = {a, b};
    joint.all.push_back(one);
  }

  Nanos Owed(std::size_t rank, std::size_t row) const {
    return OwedToTransfers(ranks, clocks, joint, 0)[rank][row] / 1_ms;
  }
};

// Rank 0 has asked for data of ranks 1 and 2, and has nothing to compute until that of rank 2 is
// there. Rank 2 sends in the 15th millisecond, because it computed until then, or waited.
SendStory TwoPending(bool waited, Nanos apart) {
  SendStory story(4);
  story.clocks.offset[2] = apart;
  story.Send(story.Side(0, 0, 10, 10, 0), story.Side(1, 5, 10, 0, 0), 5);
  if (waited) story.Send(story.Side(2, 5, 15, 10, 1), story.Side(3, 5, 15, 0, 0), 10);
  story.Send(story.Side(0, 0, 20, 20, 1), story.Side(2, 15, 20, 0, 0), 5);
  return story;
}

TEST_CASE("idle time beside several receives belongs to the one whose end ends it") {
  const SendStory story = TwoPending(false, 0);
  CHECK(story.Owed(0, 0) == 0);
  CHECK(story.Owed(0, 1) == 5);  // its own transfer, and not the time in which rank 2 computes
}

TEST_CASE("who waits for a rank that waits for a transfer waits for this transfer, too") {
  for (const Nanos apart : {Nanos{0}, 70_ms}) {
    const SendStory story = TwoPending(true, apart);
    CHECK(story.Owed(2, 0) == 10);
    CHECK(story.Owed(0, 1) == 15);
  }
}

TEST_CASE("a receive behind another one in its stream begins when that one has ended") {
  SendStory story(2);
  story.Send(story.Side(0, 0, 6, 6, 0), story.Side(1, 0, 6, 0, 0), 6);
  story.Send(story.Side(0, 6, 12, 12, 0), story.Side(1, 0, 12, 0, 1), 6);
  CHECK(story.Owed(0, 0) == 0);
  CHECK(story.Owed(0, 1) == 12);
}

}  // namespace
}  // namespace advise
