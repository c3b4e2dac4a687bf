#include "engine/advice/rank_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/is_in.h"
#include "engine/base/text.h"

namespace advise {
namespace {

constexpr std::size_t kRanks = 8;    // rows: more are no picture
constexpr std::size_t kEvents = 80;  // collectives of a row, the longest
constexpr int kLanes = 3;            // rows of collectives of a rank

class TimelineBuilder {
 public:
  TimelineBuilder(const Cluster& cluster, const Finding& finding)
      : cluster_(cluster), ranks_(cluster.ranks), job_(cluster.job), finding_(finding) {}

  std::optional<FindingTimeline> Build() {
    if (ranks_.size() < 2) return std::nullopt;
    FindExample();
    if (job_.has_steps && job_.steps > 0) {
      step_ = StepOfExample();
    } else if (Known()) {
      step_ = kNone;
    } else {
      return std::nullopt;
    }
    ChooseRanks();
    FindTransfers();
    Excerpt& excerpt = timeline_.excerpt;
    excerpt.start = Start(shown_.front());
    excerpt.end = End(shown_.front());
    for (const std::size_t r : shown_) {
      excerpt.start = std::min(excerpt.start, Start(r));
      excerpt.end = std::max(excerpt.end, End(r));
    }
    for (const std::size_t r : shown_) excerpt.rows.push_back(RowOf(r));
    Words();
    return std::move(timeline_);
  }

 private:
  bool Known() const { return example_.Length() > 0; }

  // The longest time that the finding claims, on the clock of the rank that it was on.
  void FindExample() {
    for (const Evidence& item : finding_.evidence) {
      if (item.end_ns <= item.start_ns) continue;
      for (std::size_t r = 0; r < ranks_.size(); ++r) {
        if (ranks_[r].path != item.source) continue;
        const bool named = item.what.ends_with(" " + cluster_.Label(r));
        if (Known() && !named) continue;
        example_ = {item.start_ns, item.end_ns};
        example_rank_ = r;
        if (named) return;
      }
      if (Known()) return;
    }
  }

  // Without an example: the step in which the ranks together wait most, communicate most.
  std::size_t StepOfExample() {
    if (Known()) {
      const std::size_t step = job_.StepAt(ranks_, example_rank_, example_.start);
      if (step < job_.steps) return step;
      example_ = {};
    }
    std::size_t worst = 0;
    std::pair<Nanos, Nanos> most{-1, -1};
    for (std::size_t s = 0; s < job_.steps; ++s) {
      std::pair<Nanos, Nanos> sum{0, 0};
      for (std::size_t r = 0; r < ranks_.size(); ++r) {
        sum.first += job_.waited[r * job_.steps + s];
        sum.second += job_.TimeOf(ranks_, r, s).comm_exposed;
      }
      if (sum > most) most = sum, worst = s;
    }
    return worst;
  }

  Nanos WaitedIn(std::size_t r) const {
    return step_ == kNone ? 0 : job_.waited[r * job_.steps + step_];
  }

  void ChooseRanks() {
    std::set<std::size_t> chosen;
    const std::size_t n = ranks_.size();
    if (Known()) chosen.insert(example_rank_);
    for (std::size_t r = 0; r < n && chosen.size() < kRanks / 2; ++r) {
      const std::vector<int>& named = finding_.where.ranks;
      if (named.size() == n) break;  // names nobody
      if (IsIn(cluster_.Number(r), named)) {
        chosen.insert(r);
      }
    }
    std::size_t most = 0;
    for (std::size_t r = 1; r < n; ++r) {
      if (WaitedIn(r) > WaitedIn(most)) most = r;
    }
    chosen.insert(most);
    // The rest evenly: neighbors tend to behave alike.
    const std::size_t wanted = std::min(n, kRanks);
    const std::size_t rest = wanted - std::min(wanted, chosen.size());
    for (std::size_t i = 0; i < rest; ++i) chosen.insert(i * n / rest);
    for (std::size_t r = 0; r < n && chosen.size() < wanted; ++r) chosen.insert(r);
    shown_.assign(chosen.begin(), chosen.end());
  }

  // How long each collective's transfer took, where its members are known.
  void FindTransfers() {
    for (const JointCollective& joint : cluster_.joint.all) {
      for (const JointMember& member : joint.members) {
        if (!std::binary_search(shown_.begin(), shown_.end(), member.rank)) continue;
        transfer_[{member.rank, member.row}] = joint.transfer;
      }
    }
  }

  // From the clock of a rank to that of the first; of clocks that were not brought together, so
  // that all rows begin alike.
  Nanos Shift(std::size_t r) const {
    const std::uint32_t clock = ranks_[r].clock;
    if (cluster_.clocks.Known(clock)) return cluster_.clocks.offset[clock];
    const std::size_t first = shown_.front();
    return r == first ? 0 : OwnStart(first) + Shift(first) - OwnStart(r);
  }
  const RankStep& StepOf(std::size_t r) const {
    return ranks_[r].steps[job_.index[r * job_.steps + step_]];
  }
  Nanos OwnStart(std::size_t r) const {
    if (step_ != kNone) return StepOf(r).start;
    return example_.start - example_.Length() / 2;
  }
  Nanos OwnEnd(std::size_t r) const {
    return step_ != kNone ? StepOf(r).end : example_.end + example_.Length() / 2;
  }
  // Without steps the times are those of the example: other ranks are cut at the same ones.
  Nanos Start(std::size_t r) const {
    return OwnStart(r) + Shift(step_ == kNone ? example_rank_ : r);
  }
  Nanos End(std::size_t r) const { return OwnEnd(r) + Shift(step_ == kNone ? example_rank_ : r); }

  ExcerptRow RowOf(std::size_t r) {
    ExcerptRow row;
    row.kind = ExcerptRow::Kind::kRank;
    row.number = cluster_.Number(r);
    row.device = ranks_[r].device_index;
    row.name = cluster_.Label(r);
    if (step_ != kNone) AddSums(r, &row);
    AddCollectives(r, &row);
    std::stable_sort(row.events.begin(), row.events.end(),
                     [](const ExcerptEvent& a, const ExcerptEvent& b) {
                       return a.start != b.start ? a.start < b.start : a.depth < b.depth;
                     });
    return row;
  }

  void AddSums(std::size_t r, ExcerptRow* row) const {
    const RankTime& time = job_.TimeOf(ranks_, r, step_);
    const Nanos waited = std::min(WaitedIn(r), time.comm_exposed);
    Nanos at = Start(r);
    std::vector<std::pair<Nanos, std::string>> words;
    const auto add = [&](Nanos length, ExcerptKind kind, const std::string& name) {
      if (length <= 0) return;
      if (length >= time.Total() / 100) words.emplace_back(-length, name);
      ExcerptEvent event;
      event.start = at;
      event.end = at + length;
      event.kind = kind;
      event.name = name;
      event.detail = "in sum over the step";
      row->events.push_back(std::move(event));
      at += length;
    };
    // As a step goes, roughly: what comes before the work, the work, what comes after.
    add(time.Loading(), ExcerptKind::kGap, "loading");
    add(time.idle - time.Loading(), ExcerptKind::kGap, "idle");
    add(time.copy_exposed + time.memset_exposed, ExcerptKind::kCopy, "copies");
    add(time.compute, ExcerptKind::kKernel, "compute");
    add(waited, ExcerptKind::kWait, "waiting");
    add(time.comm_exposed - waited, ExcerptKind::kCommunication, "communication");
    // The longest first: a narrow screen shows the beginning.
    std::stable_sort(words.begin(), words.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < words.size(); ++i) {
      row->name += fmt::format("{} {} {}", i == 0 ? ":" : ",", words[i].second,
                               FormatQuantity(static_cast<double>(-words[i].first), "ns"));
    }
  }

  void AddCollectives(std::size_t r, ExcerptRow* row) {
    const RankSummary& rank = ranks_[r];
    const RankCollectives& list = rank.collectives;
    const Nanos shift = Shift(r);
    std::vector<std::size_t> inside;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list.end[i] + shift > Start(r) && list.start[i] + shift < End(r)) inside.push_back(i);
    }
    if (inside.size() > kEvents) {
      std::stable_sort(inside.begin(), inside.end(), [&](std::size_t a, std::size_t b) {
        return list.end[a] - list.start[a] > list.end[b] - list.start[b];
      });
      timeline_.excerpt.left_out += inside.size() - kEvents;
      inside.resize(kEvents);
      std::sort(inside.begin(), inside.end());
    }
    const int top = row->depth - (row->events.empty() ? 1 : 0);  // below the sums
    std::map<std::uint16_t, int> lane_of;
    for (const std::size_t i : inside) {
      const int next = std::min(static_cast<int>(lane_of.size()), kLanes - 1);
      const int lane = lane_of.try_emplace(list.lane[i], next).first->second;
      const auto transfer = transfer_.find({r, i});
      const std::string& kind = rank.kinds[list.kind[i]];
      ExcerptEvent event;
      event.start = list.start[i] + shift;
      event.end = list.end[i] + shift;
      event.kind = ExcerptKind::kCommunication;
      event.name = kind.empty() ? "communication" : kind;
      event.depth = top + lane;
      event.bytes = list.bytes[i];
      row->depth = std::max(row->depth, event.depth + 1);
      if (transfer != transfer_.end()) {
        ExcerptEvent wait = event;
        wait.kind = ExcerptKind::kWait;
        wait.name = "waiting in " + event.name;
        wait.bytes = -1;
        wait.end = std::max(event.start, event.end - transfer->second);
        event.start = wait.end;
        if (wait.end > wait.start) row->events.push_back(std::move(wait));
      }
      row->events.push_back(std::move(event));
    }
  }

  void Words() {
    timeline_.finding = finding_.rank;
    if (finding_.rule != nullptr) timeline_.rule = finding_.rule->id;
    const Excerpt& excerpt = timeline_.excerpt;
    if (Known()) {
      timeline_.start_ns = example_.start + Shift(example_rank_);
      timeline_.end_ns = example_.end + Shift(example_rank_);
      timeline_.what = "the longest such time, on " + cluster_.Label(example_rank_);
    } else {
      timeline_.start_ns = excerpt.start;
      timeline_.end_ns = excerpt.end;
      timeline_.what = "the step in which the ranks wait most";
    }
    if (step_ != kNone) {
      timeline_.note = fmt::format(
          "Step {} of {}. For each rank, the first row sums up what its GPU did in this step, not "
          "in order of time. The row below shows its collectives when they ran.",
          step_, job_.steps);
    } else {
      timeline_.note = "No steps were found: these are the collectives around this time.";
    }
    if (shown_.size() < ranks_.size()) {
      timeline_.note += fmt::format(" {} of {} ranks are shown.", shown_.size(), ranks_.size());
    }
    if (std::any_of(shown_.begin(), shown_.end(),
                    [this](std::size_t r) { return !cluster_.clocks.Known(ranks_[r].clock); })) {
      timeline_.note +=
          " The clocks of the reports could not be aligned: rows without a common clock begin "
          "where the first row begins.";
    }
  }

  const Cluster& cluster_;
  const std::vector<RankSummary>& ranks_;
  const Job& job_;
  const Finding& finding_;
  Interval example_;  // on the clock of its rank
  std::size_t example_rank_ = 0;
  std::size_t step_ = 0;  // kNone: no steps
  std::vector<std::size_t> shown_;
  std::map<std::pair<std::size_t, std::size_t>, Nanos> transfer_;  // (rank, row of its collectives)
  FindingTimeline timeline_;
};

}  // namespace

std::optional<FindingTimeline> RankTimeline(const Cluster& cluster, const Finding& finding) {
  return TimelineBuilder(cluster, finding).Build();
}

}  // namespace advise
