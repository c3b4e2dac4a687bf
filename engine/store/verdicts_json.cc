// What rules concluded, with what they read and compared, as JSON.
#include <algorithm>

#include "engine/store/json_values.h"
#include "engine/store/report_json.h"

namespace advise {

using Json = nlohmann::json;

Json VerdictsToJson(const std::vector<Verdict>& verdicts) {
  Json list = Json::array();
  for (const Verdict& v : verdicts) {
    Json evidence = Json::object();
    for (const auto& [name, cell] : v.evidence) evidence[name] = CellJson(cell);
    Json tables = Json::object();
    for (const auto& [name, rows] : v.tables) tables[name] = RowsJson(rows);
    Json reads = Json::array();
    for (const FactRead& read : v.reads) reads.push_back({read.name, read.shown});
    Json comparisons = Json::array();
    for (const Comparison& c : v.comparisons) {
      comparisons.push_back({c.what, c.value, c.threshold, c.upper, c.name, c.unit, c.holds});
    }
    list.push_back({{"rule", v.rule->id},
                    {"device", v.device},
                    {"outcome", static_cast<int>(v.outcome)},
                    {"reason", v.reason},
                    {"missing", v.missing},
                    {"evidence", evidence},
                    {"tables", tables},
                    {"reads", reads},
                    {"comparisons", comparisons}});
  }
  return list;
}

std::vector<Verdict> VerdictsFromJson(const Json& json, const FindRuleInfo& find_rule) {
  std::vector<Verdict> verdicts;
  for (const Json& item : json) {
    Verdict v;
    v.rule = find_rule(Get<std::string>(item, "rule"));
    if (v.rule == nullptr) continue;
    v.device = Get<std::uint32_t>(item, "device", kNone);
    v.outcome = static_cast<Outcome>(std::clamp(Get<int>(item, "outcome"), 0, 4));
    v.reason = Get<std::string>(item, "reason");
    v.missing = Get<std::vector<std::string>>(item, "missing");
    const Json evidence = Get<Json>(item, "evidence", Json::object());
    for (const auto& [name, cell] : evidence.items()) v.evidence[name] = CellOf(cell);
    const Json tables = Get<Json>(item, "tables", Json::object());
    for (const auto& [name, rows] : tables.items()) v.tables[name] = RowsOf(rows);
    for (const Json& read : Get<Json>(item, "reads", Json::array())) {
      v.reads.push_back({read.at(0).get<std::string>(), read.at(1).get<std::string>()});
    }
    for (const Json& c : Get<Json>(item, "comparisons", Json::array())) {
      const auto number = [&c](std::size_t i) {
        return c.at(i).is_number() ? c.at(i).get<double>() : 0.0;
      };
      v.comparisons.push_back({c.at(0).get<std::string>(), number(1), number(2), number(3),
                               c.at(4).get<std::string>(), c.at(5).get<std::string>(),
                               c.at(6).get<bool>()});
    }
    verdicts.push_back(std::move(v));
  }
  return verdicts;
}

}  // namespace advise
