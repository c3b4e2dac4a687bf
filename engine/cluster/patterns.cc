#include "engine/cluster/patterns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "engine/cluster/transfer.h"
#include "engine/timeline/names.h"

namespace advise {

const char* PartOfStep(std::uint8_t of_op) {
  const auto phase = static_cast<Phase>(of_op);
  const bool part =
      phase == Phase::kForward || phase == Phase::kBackward || phase == Phase::kOptimizer;
  return part ? PhaseName(phase) : "";
}

namespace {

double SummarySteps(const RankSummary& rank) {
  return static_cast<double>(std::max<std::size_t>(1, rank.steps.size()));
}

}  // namespace

int StrideOf(const std::vector<RankSummary>& ranks, const JointCollective& collective) {
  const auto number = [&](std::size_t i) {
    const std::uint32_t r = collective.members[i].rank;
    return ranks[r].rank >= 0 ? ranks[r].rank : static_cast<int>(r);
  };
  const int stride = number(1) - number(0);
  for (std::size_t i = 2; i < collective.members.size(); ++i) {
    if (number(i) - number(i - 1) != stride) return 0;
  }
  return stride;
}

std::vector<PatternRow> FindPatterns(const std::vector<RankSummary>& ranks, const Joint& joint) {
  using Key = std::tuple<std::string, std::string, std::size_t, int>;  // kind, phase, ranks, stride
  struct Tally {
    std::map<std::uint32_t, double> per_rank;
    double bytes = 0;
    double transfer = 0;
    double exposed = 0;
    bool across = false;
  };
  std::map<Key, Tally> tallies;
  for (const JointCollective& collective : joint.all) {
    Tally& tally = tallies[{joint.Kind(collective), PartOfStep(collective.phase),
                            collective.members.size(), StrideOf(ranks, collective)}];
    for (const JointMember& member : collective.members) {
      const RankSummary& rank = ranks[member.rank];
      tally.per_rank[member.rank] += 1 / SummarySteps(rank);
      tally.exposed += static_cast<double>(rank.collectives.exposed[member.row] -
                                           WaitedExposed(rank, member, collective));
    }
    tally.transfer += static_cast<double>(collective.Moving());
    for (const JointMember& member : collective.members) {
      if (collective.bytes < 0) break;
      tally.bytes += static_cast<double>(collective.bytes) / SummarySteps(ranks[member.rank]);
    }
    tally.across = tally.across || AcrossNodes(ranks, collective);
  }
  std::vector<PatternRow> rows;
  for (auto& [key, tally] : tallies) {
    PatternRow row;
    row.kind = std::get<0>(key);
    row.phase = std::get<1>(key);
    row.group = static_cast<double>(std::get<2>(key));
    row.stride = std::get<3>(key);
    for (const auto& [rank, count] : tally.per_rank) row.per_step += count;
    row.per_step /= static_cast<double>(tally.per_rank.size());
    row.across_nodes = tally.across;
    row.bytes = tally.bytes / static_cast<double>(tally.per_rank.size());
    row.transfer_ns = tally.transfer;
    row.exposed_ns = tally.exposed / static_cast<double>(ranks.size());
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const PatternRow& a, const PatternRow& b) {
    return a.transfer_ns > b.transfer_ns;
  });
  return rows;
}

const PatternRow* MainRow(const std::vector<const PatternRow*>& rows, double part_often) {
  if (rows.empty()) return nullptr;
  const PatternRow* main = rows.front();
  for (const PatternRow* row : rows) {
    if (row->transfer_ns > main->transfer_ns) main = row;
  }
  const PatternRow* smaller = main;
  for (const PatternRow* row : rows) {
    const bool part = row->group < smaller->group && std::fmod(main->group, row->group) == 0;
    if (part && row->per_step >= part_often * main->per_step) smaller = row;
  }
  return smaller;
}

PatternSum SumOf(const std::vector<const PatternRow*>& rows, double part_often) {
  PatternSum part;
  for (const PatternRow* row : rows) {
    part.per_step += row->per_step;
    part.bytes += row->bytes;
    part.transfer_ns += row->transfer_ns;
  }
  if (const PatternRow* main = MainRow(rows, part_often)) {
    part.group = main->group;
    part.stride = main->stride;
    part.across = main->across_nodes;
  }
  return part;
}

PatternSum PartOf(const std::vector<PatternRow>& rows, const std::string& kind,
                  const std::string& phase, double part_often) {
  std::vector<const PatternRow*> of_kind;
  for (const PatternRow& row : rows) {
    if (row.kind == kind && (phase == "*" || row.phase == phase)) of_kind.push_back(&row);
  }
  return SumOf(of_kind, part_often);
}

std::string AmongRanks(double group, std::size_t ranks) {
  const bool all = group + 0.5 > static_cast<double>(ranks);
  return fmt::format("{} {:.0f} ranks", all ? "among" : "in groups of", group);
}

}  // namespace advise
