#include "engine/compare/match_levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "engine/base/ascii.h"
#include "engine/base/text.h"
#include "engine/facts/rows.h"

namespace advise {
namespace {

using Key = std::function<std::string(const WorkRow&)>;  // "" : the row has none

struct WorkLevel {
  const char* name;
  bool sure;   // two programs seldom share it
  bool tells;  // it is no common word, as "forward" is
  Key key;
};

std::vector<WorkLevel> LevelsOf(const Knowledge& knowledge) {
  const auto range = [&knowledge](bool common) {
    return [&knowledge, common](const WorkRow& row) {
      const bool is_common = !knowledge.RangePhase(row.range).empty();
      return is_common == common ? WithoutNumbers(row.range) : "";
    };
  };
  return {
      {"kernel", true, true,
       [](const WorkRow& row) {
         return row.kernel.empty() ? ""
                                   : fmt::format("{} {} {}", row.kernel, row.blocks, row.threads);
       }},
      {"name", true, true, [](const WorkRow& row) { return WithoutNumbers(row.kernel); }},
      {"shapes", true, true,
       [](const WorkRow& row) {
         return row.op.empty() || row.sizes.empty() ? "" : row.op + " " + row.sizes;
       }},
      {"operator", false, true, [](const WorkRow& row) { return WithoutNumbers(row.op); }},
      {"range", false, true, range(false)},
      {"range", false, false, range(true)},
  };
}

// Rows of one run, and which of them are still to be matched.
struct Side {
  const std::vector<WorkRow>& rows;
  std::vector<bool> open;
  double all = 0;

  explicit Side(const std::vector<WorkRow>& given) : rows(given), open(given.size(), true) {
    for (const WorkRow& row : rows) all += row.time;
  }
  std::set<std::string> OpenKeys(const Key& key) const {
    std::set<std::string> keys;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (open[i]) keys.insert(key(rows[i]));
    }
    return keys;
  }
  // Closes the rows; their share of the time.
  double Close(const std::function<bool(const WorkRow&)>& matched) {
    double time = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!open[i] || !matched(rows[i])) continue;
      open[i] = false;
      time += rows[i].time;
    }
    return all > 0 ? time / all : 0;
  }
  std::vector<const WorkRow*> OpenRows() const {
    std::vector<const WorkRow*> list;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (open[i]) list.push_back(&rows[i]);
    }
    return list;
  }
};

MatchedPart MatchByKey(const WorkLevel& level, Side* a, Side* b) {
  const std::set<std::string> of_a = a->OpenKeys(level.key);
  const std::set<std::string> of_b = b->OpenKeys(level.key);
  const auto in_both = [&](const WorkRow& row) {
    const std::string key = level.key(row);
    return !key.empty() && of_a.contains(key) && of_b.contains(key);
  };
  const double share = a->Close(in_both);
  return {level.name, share, b->Close(in_both)};
}

// "_add_mul_0" of "triton_poi_fused_add_mul_0", as TorchInductor names what it fuses; "" of others.
std::string FusedIn(const std::string& kernel) {
  static constexpr std::string_view kFused = "_fused";
  const std::size_t at = kernel.find(kFused);
  const bool inductor = at != std::string::npos && kernel.starts_with("triton_");
  return inductor ? kernel.substr(at + kFused.size()) : "";
}

// "_mul_" of "aten::mul_".
std::string NameInFused(const std::string& op) {
  const std::size_t colon = op.rfind(':');
  if (op.empty() || colon == std::string::npos) return "";
  std::string name = op.substr(colon + 1);
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name.empty() ? "" : "_" + name + "_";
}

// Closes what a compiler fused on one side, by the operators that its kernels name, and what
// these operators launched on the other side. Shares of the time: fused and apart.
std::pair<double, double> CloseFused(double least, Side* fused, Side* apart) {
  const std::set<std::string> names =
      apart->OpenKeys([](const WorkRow& row) { return NameInFused(row.op); });
  std::set<std::string> found;
  const double share = fused->Close([&](const WorkRow& row) {
    const std::string holds = FusedIn(row.kernel);
    std::vector<std::string> inside;
    for (const std::string& name : names)
      if (!name.empty() && holds.find(name) != std::string::npos) inside.push_back(name);
    if (static_cast<double>(inside.size()) < least) return false;
    found.insert(inside.begin(), inside.end());
    return true;
  });
  return {share,
          apart->Close([&](const WorkRow& row) { return found.contains(NameInFused(row.op)); })};
}

MatchedPart MatchByFused(double least, Side* a, Side* b) {
  const auto [fused_after, apart_before] = CloseFused(least, b, a);
  const auto [fused_before, apart_after] = CloseFused(least, a, b);
  return {"fused", fused_before + apart_before, fused_after + apart_after};
}

// Kernels of one class at about the same place of the step.
MatchedPart MatchByPlace(double near, Side* a, Side* b) {
  const auto has_partner = [near](std::vector<const WorkRow*> others) {
    return [near, others = std::move(others)](const WorkRow& row) {
      return row.place >= 0 && std::any_of(others.begin(), others.end(), [&](const WorkRow* other) {
               return other->place >= 0 && other->kernel_class == row.kernel_class &&
                      std::abs(other->place - row.place) <= near;
             });
    };
  };
  const auto of_b = has_partner(b->OpenRows());
  const auto of_a = has_partner(a->OpenRows());
  const double share = a->Close(of_b);
  return {"place", share, b->Close(of_a)};
}

bool IsGraph(const WorkRow& row) { return row.kernel.empty() && row.kernel_class == "graph"; }

bool HoldsGraphs(const std::vector<WorkRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), IsGraph);
}

// What one run has inside graphs of which no kernel was traced, the other launches one by one.
MatchedPart MatchByGraph(Side* a, Side* b) {
  const auto any = [](const WorkRow&) { return true; };
  const bool graphs_before = HoldsGraphs(a->rows);
  if (graphs_before == HoldsGraphs(b->rows)) return {"graph", 0, 0};
  Side* const with = graphs_before ? a : b;
  Side* const without = graphs_before ? b : a;
  const double inside = with->Close(IsGraph);
  const double launched = inside > 0 ? without->Close(any) : 0;
  return {"graph", graphs_before ? inside : launched, graphs_before ? launched : inside};
}

}  // namespace

std::vector<WorkRow> WorkRowsOf(const Report& report) {
  std::vector<WorkRow> list;
  const Rows* rows = FactRows(report, "work.origins");
  if (rows == nullptr || rows->empty()) rows = FactRows(report, "work.kernels");
  if (rows == nullptr) return list;
  for (const Row& row : *rows) {
    const auto* place = CellOf<double>(row, "place");
    list.push_back({TextIn(row, "name"), TextIn(row, "class"), NumberIn(row, "blocks"),
                    NumberIn(row, "threads"), TextIn(row, "op"), TextIn(row, "sizes"),
                    TextIn(row, "range"), place == nullptr ? -1 : *place, NumberIn(row, "time")});
  }
  return list;
}

LevelMatch MatchLevels(const std::vector<WorkRow>& before, const std::vector<WorkRow>& after,
                       const Knowledge& knowledge) {
  Side a(before);
  Side b(after);
  LevelMatch match;
  match.graphs = HoldsGraphs(before) || HoldsGraphs(after);
  const auto add = [&](const MatchedPart& part, bool sure, bool tells) {
    if (part.before <= 0 && part.after <= 0) return;
    match.tells = match.tells || tells;
    if (match.parts.empty() || match.parts.back().by != part.by) {
      match.parts.push_back(part);
    } else {
      match.parts.back().before += part.before;
      match.parts.back().after += part.after;
    }
    match.all_before += part.before;
    match.all_after += part.after;
    if (!sure) return;
    match.sure_before += part.before;
    match.sure_after += part.after;
  };
  for (const WorkLevel& level : LevelsOf(knowledge)) {
    if (level.name == std::string_view("range") && level.tells)
      add(MatchByFused(knowledge.Number("compare.least_fused"), &a, &b), false, true);
    add(MatchByKey(level, &a, &b), level.sure, level.tells);
  }
  add(MatchByPlace(knowledge.Number("compare.near_place"), &a, &b), false, false);
  add(MatchByGraph(&a, &b), false, false);
  return match;
}

}  // namespace advise
