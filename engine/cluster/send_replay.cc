#include "engine/cluster/send_replay.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace advise {
namespace {

class SendReplay {
 public:
  SendReplay(const std::vector<RankSummary>& ranks, const Clocks& clocks, const Joint& joint,
             Nanos latency)
      : ranks_(ranks), clocks_(clocks), joint_(joint), latency_(latency) {
    FindSends();
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) FindStretches(r);
    std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
      return std::tuple(a.at, a.begins, a.rank, a.index) <
             std::tuple(b.at, b.begins, b.rank, b.index);
    });
  }

  std::vector<std::vector<Nanos>> Owed() {
    std::vector<std::vector<Nanos>> owed;
    for (const RankSummary& rank : ranks_) owed.emplace_back(rank.collectives.size(), 0);
    if (stretches_.empty()) return owed;
    const std::vector<Nanos> now = Idle(true);
    const std::vector<Nanos> then = Idle(false);
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      const Stretch& one = stretches_[i];
      owed[one.rank][one.row] = std::clamp<Nanos>(now[i] - then[i], 0, one.span.Length());
    }
    return owed;
  }

 private:
  static constexpr std::size_t kNoSend = static_cast<std::size_t>(-1);

  // All times are on the first clock.
  struct Stretch {
    Interval span;  // nothing is computed
    std::uint32_t rank = 0;
    std::uint32_t row = 0;  // whose end ends it
  };
  struct Event {
    Nanos at = 0;
    bool begins = false;  // a kernel begins; else a stretch ends, or a kernel behind no stretch
    std::uint32_t rank = 0;
    std::size_t index = 0;  // row of a kernel, or place in stretches_
  };
  // What is known of a rank while it plays.
  struct Playing {
    Nanos later = 0;                            // than it was
    std::size_t next = 0;                       // of its stretches
    std::map<std::uint16_t, std::size_t> last;  // by stream: the send that began last
  };

  void FindSends() {
    sends_.resize(ranks_.size());
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      sends_[r].assign(ranks_[r].collectives.size(), kNoSend);
    for (std::size_t c = 0; c < joint_.all.size(); ++c) {
      if (!joint_.all[c].of_two) continue;
      for (const JointMember& member : joint_.all[c].members) {
        sends_[member.rank][member.row] = c;
        events_.push_back({StartOf(member.rank, member.row), true, member.rank, member.row});
      }
    }
  }

  Nanos Offset(std::uint32_t rank) const { return clocks_.offset[ranks_[rank].clock]; }
  Nanos StartOf(std::uint32_t rank, std::size_t row) const {
    return ranks_[rank].collectives.start[row] + Offset(rank);
  }

  // From the last one back: kernels that end within a stretch end none.
  void FindStretches(std::uint32_t r) {
    const RankCollectives& list = ranks_[r].collectives;
    std::vector<Stretch> found;
    for (std::uint32_t row = 0; row < list.size(); ++row) {
      if (sends_[r][row] == kNoSend) continue;
      // Facts of older versions do not tell what of a send is exposed at its end.
      const Nanos known = list.BareEnd(row);
      const Nanos length = known >= 0 ? known : list.exposed[row];
      const Nanos end = list.end[row] + Offset(r);
      if (length > 0) found.push_back({{end - length, end}, r, row});
    }
    std::sort(found.begin(), found.end(),
              [](const Stretch& a, const Stretch& b) { return a.span.end > b.span.end; });
    std::vector<Stretch> whole;
    for (const Stretch& one : found) {
      if (whole.empty() || one.span.end <= whole.back().span.start) {
        whole.push_back(one);
      } else {
        whole.back().span.start = std::min(whole.back().span.start, one.span.start);
      }
    }
    std::reverse(whole.begin(), whole.end());
    first_.push_back(stretches_.size());
    for (const Stretch& one : whole) {
      events_.push_back({one.span.end, false, r, stretches_.size()});
      stretches_.push_back(one);
    }
  }

  // How long each stretch is: with the transfers that were seen, or with their latency alone.
  std::vector<Nanos> Idle(bool transfers) const {
    std::vector<Nanos> idle(stretches_.size(), 0);
    std::vector<Nanos> begins(joint_.all.size(), 0);  // when the last side has come
    std::vector<Playing> playing(ranks_.size());
    for (std::size_t r = 0; r < ranks_.size(); ++r) playing[r].next = first_[r];
    const auto end_of = [&](std::size_t send) {
      return begins[send] + (transfers ? joint_.all[send].transfer
                                       : std::min(joint_.all[send].transfer, latency_));
    };
    for (const Event& event : events_) {
      Playing& rank = playing[event.rank];
      if (!event.begins) {
        const Stretch& stretch = stretches_[event.index];
        const Nanos from = stretch.span.start + rank.later;
        const Nanos until = std::max(from, end_of(sends_[event.rank][stretch.row]));
        idle[event.index] = until - from;
        rank.later = until - stretch.span.end;
        rank.next = event.index + 1;
        continue;
      }
      const std::size_t send = sends_[event.rank][event.index];
      Nanos start = event.at;
      if (rank.next < stretches_.size() && stretches_[rank.next].rank == event.rank)
        start = std::min(start, stretches_[rank.next].span.start);
      start += rank.later;
      const std::uint16_t lane = ranks_[event.rank].collectives.lane[event.index];
      const auto [before, first] = rank.last.try_emplace(lane, send);
      if (!first) {
        start = std::max(start, end_of(before->second));
        before->second = send;
      }
      begins[send] = std::max(begins[send], start);
    }
    return idle;
  }

  const std::vector<RankSummary>& ranks_;
  const Clocks& clocks_;
  const Joint& joint_;
  const Nanos latency_;
  std::vector<std::vector<std::size_t>> sends_;  // by rank and row: place in joint_.all
  std::vector<Stretch> stretches_;               // of the ranks in turn, each in time order
  std::vector<std::size_t> first_;               // by rank: place of its first stretch
  std::vector<Event> events_;
};

}  // namespace

std::vector<std::vector<Nanos>> OwedToTransfers(const std::vector<RankSummary>& ranks,
                                                const Clocks& clocks, const Joint& joint,
                                                Nanos latency) {
  return SendReplay(ranks, clocks, joint, latency).Owed();
}

}  // namespace advise
