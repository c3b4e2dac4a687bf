#include "engine/facts/declare.h"

#include <algorithm>

#include "engine/facts/of_ranks.h"

namespace advise::facts {

const Absent& NoTimeline() {
  static const Absent kNoTimeline = {"no timeline of the run was given", "cuda"};
  return kNoTimeline;
}

const Absent& OfOneReport() {
  static const Absent kOfOneReport = {"known of each report by itself, not of all ranks together",
                                      ""};
  return kOfOneReport;
}

std::vector<IntervalSet> LostOf(const RankLoss& loss, const Known& known) {
  const std::vector<RankSummary>& ranks = known.ranks.ranks;
  std::vector<IntervalSet> by_rank = loss.lost.by_device;
  by_rank.resize(ranks.size());
  if (known.report == nullptr) return by_rank;
  std::vector<IntervalSet> by_device;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const std::size_t device = ranks[r].device_index;
    if (by_device.size() <= device) by_device.resize(device + 1);
    by_device[device] = std::move(by_rank[r]);
  }
  return by_device;
}

Value RemedyOf(const RankLoss& loss, const Known& known) {
  if (known.report != nullptr) return Absent{"ranks of one report are replayed together", ""};
  auto remedy = std::make_shared<Remedy>();
  remedy->rank_cuts = loss.cuts;
  remedy->rank_comm_cuts = loss.comm_cuts;
  remedy->rank_gain = loss.gain;
  return std::shared_ptr<const Remedy>(std::move(remedy));
}

void Subject::AddFact(std::string_view name, std::string_view unit, std::string_view definition,
                      Getter getter) {
  list_.push_back({std::string(name), std::string(unit), std::string(definition)});
  getters_.push_back(std::move(getter));
}

void Subject::ReadAll(const void* source, const void* from, FactMap* facts) const {
  for (std::size_t i = 0; i < getters_.size(); ++i) {
    (*facts)[list_[i].name].value = getters_[i].Read(source, from);
  }
}

void Subject::ReadOfRanks(const Cluster& ranks, FactMap* facts) const {
  for (const auto& [fact, getter] : of_ranks_) {
    (*facts)[list_[fact].name].value = getter.Read(&ranks, nullptr);
  }
}

const Absent* Subject::WhyAbsent(const Known& known) const {
  // Zeros would read like measurements.
  if (of_timeline_ && known.report != nullptr && !known.report->run.trace.HasTimeline())
    return &NoTimeline();
  for (const Requirement& requirement : requirements_) {
    if (!requirement.holds(known)) return &requirement.otherwise;
  }
  return nullptr;
}

bool Subject::IsAsked(const Known& known) const {
  return known.asked == nullptr ||
         std::any_of(list_.begin(), list_.end(),
                     [&](const FactInfo& info) { return known.asked->contains(info.name); });
}

void Subject::SetAbsent(const Absent& absent, FactMap* facts) const {
  for (const FactInfo& info : list_) (*facts)[info.name].value = absent;
}

}  // namespace advise::facts
