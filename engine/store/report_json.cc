#include "engine/store/report_json.h"

#include <algorithm>
#include <map>

#include "engine/facts/catalog.h"
#include "engine/store/json_values.h"

namespace advise {
namespace {

using Json = nlohmann::json;

const FactInfo* CatalogueFact(const std::string& name) {
  static const std::map<std::string, const FactInfo*> kByName = [] {
    std::map<std::string, const FactInfo*> by_name;
    for (const FactInfo& info : FactList()) by_name[info.name] = &info;
    return by_name;
  }();
  const auto at = kByName.find(name);
  return at == kByName.end() ? nullptr : at->second;
}

}  // namespace

Json ReportToJson(const Report& r) {
  Json json;
  json["tool_version"] = r.tool_version;
  json["inputs"] = Json::array();
  for (const InputInfo& i : r.inputs) {
    json["inputs"].push_back({{"path", i.path},
                              {"kind", i.kind},
                              {"producer", i.producer},
                              {"rank", i.rank},
                              {"host", i.host}});
  }
  json["window"] = {
      {"mode", r.window.mode}, {"start", r.window.start_ns}, {"end", r.window.end_ns}};
  json["devices"] = Json::array();
  for (const DeviceBudget& d : r.devices) {
    Json causes = Json::array();
    for (const auto& [cause, ns] : d.idle_causes) causes.push_back({cause, ns});
    json["devices"].push_back({{"rank", d.rank},
                               {"device", d.device},
                               {"name", d.name},
                               {"compute", d.compute_ns},
                               {"comm", d.comm_exposed_ns},
                               {"copy", d.copy_exposed_ns},
                               {"memset", d.memset_exposed_ns},
                               {"idle", d.idle_ns},
                               {"window", d.window_ns},
                               {"causes", causes}});
  }
  json["facts"] = Json::array();
  for (const NamedFact& f : r.facts) {
    Json fact = ValueJson(f.fact.value);
    fact["name"] = f.info.name;
    // Those of the catalogue are looked up.
    if (CatalogueFact(f.info.name) == nullptr) {
      fact["unit"] = f.info.unit;
      fact["definition"] = f.info.definition;
    }
    if (f.scope != "run") fact["scope"] = f.scope;
    if (!f.fact.sql.empty()) fact["sql"] = f.fact.sql;
    json["facts"].push_back(std::move(fact));
  }
  json["findings"] = Json::array();
  for (const Finding& f : r.findings) json["findings"].push_back(FindingJson(f));
  json["healthy"] = r.healthy;
  json["gpus"] = r.gpus;
  json["fates"] = Json::array();
  for (const ClaimFate& fate : r.fates) {
    Json taken = Json::array();
    for (const auto& [rule, time] : fate.taken_by) {
      if (rule != nullptr) taken.push_back({rule->id, time});
    }
    json["fates"].push_back({{"rule", fate.rule == nullptr ? "" : fate.rule->id},
                             {"claimed", fate.claimed},
                             {"gain", fate.gain},
                             {"saving", fate.saving},
                             {"taken_by", taken}});
  }
  json["ranks"] = {r.ranks.ranks,         r.ranks.reports,       r.ranks.hosts,
                   r.ranks.steps,         r.ranks.parallel,      r.ranks.load_balance,
                   r.ranks.communication, r.ranks.orchestration, r.ranks.waited,
                   r.ranks.transfer};
  json["verdict"] = r.verdict;
  json["read_with_care"] = r.read_with_care;
  json["no_verdict_reason"] = r.no_verdict_reason;
  json["checked"] = r.checked;
  json["not_checked"] = Json::array();
  for (const NotChecked& n : r.not_checked) {
    json["not_checked"].push_back(
        {{"rule", n.rule}, {"needs", n.needs}, {"reason", n.reason}, {"how", n.how}});
  }
  json["capture_command"] = r.capture_command;
  json["diagnostics"] = Json::array();
  for (const Diagnostic& d : r.diagnostics) {
    json["diagnostics"].push_back({{"level", static_cast<int>(d.level)},
                                   {"text", d.text},
                                   {"table", d.table},
                                   {"count", d.count}});
  }
  json["site_changes"] = r.site_changes;
  json["step_count"] = r.step_count;
  json["step_median"] = r.step_median_ns;
  json["steps_source"] = r.steps_source;
  json["work_digest"] = r.work_digest;
  return json;
}

Report ReportFromJson(const Json& json, const FindRuleInfo& find_rule,
                      std::vector<std::string>* unknown) {
  Report r;
  r.tool_version = Get<std::string>(json, "tool_version");
  for (const Json& i : Get<Json>(json, "inputs", Json::array())) {
    r.inputs.push_back({Get<std::string>(i, "path"), Get<std::string>(i, "kind"),
                        Get<std::string>(i, "producer"), Get<int>(i, "rank"),
                        Get<std::string>(i, "host")});
  }
  const Json window = Get<Json>(json, "window", Json::object());
  r.window = {Get<std::string>(window, "mode"), Get<Nanos>(window, "start"),
              Get<Nanos>(window, "end")};
  for (const Json& d : Get<Json>(json, "devices", Json::array())) {
    DeviceBudget b;
    b.rank = Get<int>(d, "rank");
    b.device = Get<int>(d, "device");
    b.name = Get<std::string>(d, "name");
    b.compute_ns = Get<Nanos>(d, "compute");
    b.comm_exposed_ns = Get<Nanos>(d, "comm");
    b.copy_exposed_ns = Get<Nanos>(d, "copy");
    b.memset_exposed_ns = Get<Nanos>(d, "memset");
    b.idle_ns = Get<Nanos>(d, "idle");
    b.window_ns = Get<Nanos>(d, "window");
    for (const Json& cause : Get<Json>(d, "causes", Json::array())) {
      b.idle_causes.emplace_back(cause.at(0).get<std::string>(), cause.at(1).get<Nanos>());
    }
    r.devices.push_back(std::move(b));
  }
  for (const Json& f : Get<Json>(json, "facts", Json::array())) {
    NamedFact fact;
    fact.info = {Get<std::string>(f, "name"), Get<std::string>(f, "unit"),
                 Get<std::string>(f, "definition")};
    if (const FactInfo* known = CatalogueFact(fact.info.name)) fact.info = *known;
    fact.scope = Get<std::string>(f, "scope", "run");
    fact.fact.sql = Get<std::string>(f, "sql");
    fact.fact.value = ValueOf(f);
    r.facts.push_back(std::move(fact));
  }
  for (const Json& f : Get<Json>(json, "findings", Json::array())) {
    Finding finding = FindingOf(f);
    const auto id = Get<std::string>(f, "rule");
    finding.rule = find_rule(id);
    if (finding.rule == nullptr) {
      unknown->push_back(id);
      continue;
    }
    r.findings.push_back(std::move(finding));
  }
  r.healthy = Get<bool>(json, "healthy");
  r.gpus = Get<std::vector<std::string>>(json, "gpus");
  for (const Json& item : Get<Json>(json, "fates", Json::array())) {
    ClaimFate fate;
    fate.rule = find_rule(Get<std::string>(item, "rule"));
    if (fate.rule == nullptr) continue;
    fate.claimed = Get<Nanos>(item, "claimed");
    fate.gain = Get<Nanos>(item, "gain");
    fate.saving = Get<Nanos>(item, "saving");
    for (const Json& taken : Get<Json>(item, "taken_by", Json::array())) {
      const RuleInfo* rule = find_rule(taken.at(0).get<std::string>());
      if (rule != nullptr) fate.taken_by.emplace_back(rule, taken.at(1).get<Nanos>());
    }
    r.fates.push_back(std::move(fate));
  }
  const auto ranks = Get<std::vector<double>>(json, "ranks");
  if (ranks.size() >= 10) {
    r.ranks = {static_cast<int>(ranks[0]),
               static_cast<int>(ranks[1]),
               static_cast<int>(ranks[2]),
               static_cast<int>(ranks[3]),
               ranks[4],
               ranks[5],
               ranks[6],
               ranks[7],
               ranks[8],
               ranks[9]};
  }
  r.verdict = Get<std::string>(json, "verdict");
  r.read_with_care = Get<std::vector<std::string>>(json, "read_with_care");
  r.no_verdict_reason = Get<std::string>(json, "no_verdict_reason");
  r.checked = Get<int>(json, "checked");
  for (const Json& n : Get<Json>(json, "not_checked", Json::array())) {
    r.not_checked.push_back({Get<std::string>(n, "rule"), Get<std::vector<std::string>>(n, "needs"),
                             Get<std::string>(n, "reason"), Get<std::string>(n, "how")});
  }
  r.capture_command = Get<std::string>(json, "capture_command");
  for (const Json& d : Get<Json>(json, "diagnostics", Json::array())) {
    r.diagnostics.push_back({static_cast<Level>(std::clamp(Get<int>(d, "level"), 0, 2)),
                             Get<std::string>(d, "text"), Get<std::string>(d, "table"),
                             Get<std::int64_t>(d, "count", 1)});
  }
  r.site_changes = Get<std::vector<std::string>>(json, "site_changes");
  r.step_count = Get<int>(json, "step_count");
  r.step_median_ns = Get<Nanos>(json, "step_median");
  r.steps_source = Get<std::string>(json, "steps_source");
  r.work_digest = Get<std::uint64_t>(json, "work_digest");
  return r;
}

}  // namespace advise
