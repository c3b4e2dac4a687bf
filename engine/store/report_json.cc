#include "engine/store/report_json.h"

#include <algorithm>
#include <map>

#include "engine/facts/catalog.h"

namespace advise {
namespace {

using Json = nlohmann::json;

template <typename T>
T Get(const Json& json, const char* name, T otherwise = T{}) {
  const auto at = json.find(name);
  return at == json.end() || at->is_null() ? otherwise : at->get<T>();
}

const FactInfo* CatalogueFact(const std::string& name) {
  static const std::map<std::string, const FactInfo*> kByName = [] {
    std::map<std::string, const FactInfo*> by_name;
    for (const FactInfo& info : FactList()) by_name[info.name] = &info;
    return by_name;
  }();
  const auto at = kByName.find(name);
  return at == kByName.end() ? nullptr : at->second;
}

Json CellJson(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  return std::get<std::string>(cell);
}
Cell CellOf(const Json& json) {
  if (json.is_number()) return json.get<double>();
  return json.is_string() ? json.get<std::string>() : std::string();
}

// Columns once, then rows.
Json RowsJson(const Rows& rows) {
  Json columns = Json::array();
  Json cells = Json::array();
  if (!rows.empty()) {
    for (const auto& [name, cell] : rows.front()) columns.push_back(name);
  }
  for (const Row& row : rows) {
    for (const auto& [name, cell] : row) cells.push_back(CellJson(cell));
  }
  return {{"columns", columns}, {"cells", cells}};
}
Rows RowsOf(const Json& json) {
  Rows rows;
  const auto columns = Get<std::vector<std::string>>(json, "columns");
  const Json cells = Get<Json>(json, "cells", Json::array());
  for (std::size_t at = 0; !columns.empty() && at + columns.size() <= cells.size();
       at += columns.size()) {
    Row row;
    for (std::size_t c = 0; c < columns.size(); ++c)
      row.emplace_back(columns[c], CellOf(cells[at + c]));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json ValueJson(const Value& value) {
  if (const auto* absent = std::get_if<Absent>(&value)) {
    return {{"absent", absent->reason}, {"needs", absent->needs}};
  }
  if (const auto* number = std::get_if<double>(&value)) return {{"number", *number}};
  if (const auto* flag = std::get_if<bool>(&value)) return {{"flag", *flag}};
  if (const auto* text = std::get_if<std::string>(&value)) return {{"text", *text}};
  if (const auto* rows = std::get_if<Rows>(&value)) return {{"rows", RowsJson(*rows)}};
  if (const auto* spans = std::get_if<std::shared_ptr<const Spans>>(&value)) {
    return {{"spans", *spans == nullptr ? Nanos{0} : (*spans)->Total()}};
  }
  return {{"remedy", true}};
}
Value ValueOf(const Json& json) {
  if (json.contains("number")) {
    return json["number"].is_number() ? json["number"].get<double>() : 0.0;
  }
  if (json.contains("flag")) return json["flag"].get<bool>();
  if (json.contains("text")) return json["text"].get<std::string>();
  if (json.contains("rows")) return RowsOf(json["rows"]);
  if (json.contains("spans")) {
    auto spans = std::make_shared<Spans>();
    spans->by_device.push_back(IntervalSet::Of({{0, json["spans"].get<Nanos>()}}));
    return std::shared_ptr<const Spans>(std::move(spans));
  }
  if (json.contains("absent")) {
    return Absent{json["absent"].get<std::string>(), Get<std::string>(json, "needs")};
  }
  return std::shared_ptr<const Remedy>();
}

Json FindingJson(const Finding& f) {
  Json fixes = Json::array();
  for (const Fix& fix : f.fixes) {
    fixes.push_back({{"action", fix.action},
                     {"snippet", fix.snippet},
                     {"language", fix.language},
                     {"links", fix.links}});
  }
  Json evidence = Json::array();
  for (const Evidence& e : f.evidence) {
    Json item = {{"what", e.what},      {"value", e.value}, {"unit", e.unit},
                 {"start", e.start_ns}, {"end", e.end_ns},  {"table", e.table},
                 {"rows", e.rows},      {"sql", e.sql},     {"source", e.source}};
    if (e.threshold) item["threshold"] = *e.threshold;
    if (!e.find.empty()) item["find"] = e.find;
    evidence.push_back(std::move(item));
  }
  return {{"rule", f.rule == nullptr ? "" : f.rule->id},
          {"rank", f.rank},
          {"severity", static_cast<int>(f.severity)},
          {"confidence", f.confidence},
          {"confidence_from", f.confidence_from},
          {"saving_s", f.saving_s},
          {"saving_share", f.saving_share},
          {"basis", f.basis},
          {"ranks", f.where.ranks},
          {"devices", f.where.devices},
          {"steps", f.where.steps},
          {"phase", f.where.phase},
          {"symptom", f.symptom},
          {"cause", f.cause},
          {"fixes", fixes},
          {"evidence", evidence},
          {"explains", f.explains},
          {"explained_by", f.explained_by}};
}

Finding FindingOf(const Json& json) {
  Finding f;
  f.rank = Get<int>(json, "rank");
  f.severity = static_cast<Severity>(std::clamp(Get<int>(json, "severity"), 0, 4));
  f.confidence = Get<double>(json, "confidence");
  f.confidence_from = Get<std::string>(json, "confidence_from");
  f.saving_s = Get<double>(json, "saving_s");
  f.saving_share = Get<double>(json, "saving_share");
  f.basis = Get<std::string>(json, "basis");
  f.where.ranks = Get<std::vector<int>>(json, "ranks");
  f.where.devices = Get<std::vector<int>>(json, "devices");
  f.where.steps = Get<std::vector<int>>(json, "steps");
  f.where.phase = Get<std::string>(json, "phase");
  f.symptom = Get<std::string>(json, "symptom");
  f.cause = Get<std::string>(json, "cause");
  for (const Json& item : Get<Json>(json, "fixes", Json::array())) {
    f.fixes.push_back({Get<std::string>(item, "action"), Get<std::string>(item, "snippet"),
                       Get<std::string>(item, "language"),
                       Get<std::vector<std::string>>(item, "links")});
  }
  for (const Json& item : Get<Json>(json, "evidence", Json::array())) {
    Evidence e;
    e.what = Get<std::string>(item, "what");
    e.value = Get<double>(item, "value");
    e.unit = Get<std::string>(item, "unit");
    if (item.contains("threshold")) e.threshold = Get<double>(item, "threshold");
    e.start_ns = Get<Nanos>(item, "start");
    e.end_ns = Get<Nanos>(item, "end");
    e.table = Get<std::string>(item, "table");
    e.rows = Get<std::vector<std::int64_t>>(item, "rows");
    e.sql = Get<std::string>(item, "sql");
    e.source = Get<std::string>(item, "source");
    e.find = Get<std::string>(item, "find");
    f.evidence.push_back(std::move(e));
  }
  f.explains = Get<std::vector<std::string>>(json, "explains");
  f.explained_by = Get<std::vector<std::string>>(json, "explained_by");
  return f;
}

Json TimeJson(const RankTime& time) {
  Json json = {time.compute, time.comm_exposed, time.copy_exposed, time.memset_exposed, time.idle};
  for (const Nanos cause : time.causes) json.push_back(cause);
  return json;
}
RankTime TimeOf(const Json& json, std::size_t from = 0) {
  RankTime time;
  if (!json.is_array() || json.size() < from + 5) return time;
  time.compute = json[from].get<Nanos>();
  time.comm_exposed = json[from + 1].get<Nanos>();
  time.copy_exposed = json[from + 2].get<Nanos>();
  time.memset_exposed = json[from + 3].get<Nanos>();
  time.idle = json[from + 4].get<Nanos>();
  for (std::size_t c = 0; c < kIdleCauseCount && from + 5 + c < json.size(); ++c) {
    time.causes[c] = json[from + 5 + c].get<Nanos>();
  }
  return time;
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
  return r;
}

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

Json RanksToJson(const std::vector<RankSummary>& ranks) {
  Json list = Json::array();
  for (const RankSummary& r : ranks) {
    Json steps = Json::array();
    for (const RankStep& step : r.steps) {
      Json one = TimeJson(step.time);
      one.push_back(step.start);
      one.push_back(step.end);
      steps.push_back(std::move(one));
    }
    Json kernels = Json::array();
    for (const RankKernel& k : r.kernels) kernels.push_back({k.name, k.count, k.total, k.median});
    Json groups = Json::array();
    for (const CommGroup& g : r.groups) {
      groups.push_back(
          {{"name", g.name}, {"description", g.description}, {"size", g.size}, {"ranks", g.ranks}});
    }
    Json switches = Json::array();
    for (const auto& [name, value] : r.switches) switches.push_back({name, value});
    list.push_back({{"rank", r.rank},
                    {"rank_source", r.rank_source},
                    {"local_rank", r.local_rank},
                    {"world_size", r.world_size},
                    {"host", r.host},
                    {"job", r.job},
                    {"path", r.path},
                    {"clock", r.clock},
                    {"pid", r.pid},
                    {"device", r.device},
                    {"device_index", r.device_index},
                    {"devices_listed", r.devices_listed},
                    {"device_name", r.device_name},
                    {"device_uuid", r.device_uuid},
                    {"utc_origin", r.utc_origin_ns},
                    {"switches", switches},
                    {"window", {r.window_start, r.window_end}},
                    {"time", TimeJson(r.time)},
                    {"steps_source", r.steps_source},
                    {"steps", steps},
                    {"kernels_count", r.kernels_count},
                    {"kernels", kernels},
                    {"traits", r.traits},
                    {"kinds", r.kinds},
                    {"groups", groups},
                    {"memory_peak", r.memory_peak},
                    {"memory_capacity", r.memory_capacity},
                    {"supports_verdict", r.supports_verdict}});
  }
  return list;
}

std::vector<RankSummary> RanksFromJson(const Json& json) {
  std::vector<RankSummary> ranks;
  for (const Json& item : json) {
    RankSummary r;
    r.rank = Get<int>(item, "rank", -1);
    r.rank_source = Get<std::string>(item, "rank_source");
    r.local_rank = Get<int>(item, "local_rank", -1);
    r.world_size = Get<int>(item, "world_size");
    r.host = Get<std::string>(item, "host");
    r.job = Get<std::string>(item, "job");
    r.path = Get<std::string>(item, "path");
    r.clock = Get<std::uint32_t>(item, "clock");
    r.pid = Get<std::int64_t>(item, "pid");
    r.device = Get<int>(item, "device");
    r.device_index = Get<std::uint32_t>(item, "device_index");
    r.devices_listed = Get<int>(item, "devices_listed");
    r.device_name = Get<std::string>(item, "device_name");
    r.device_uuid = Get<std::string>(item, "device_uuid");
    r.utc_origin_ns = Get<std::int64_t>(item, "utc_origin");
    for (const Json& s : Get<Json>(item, "switches", Json::array())) {
      r.switches.emplace_back(s.at(0).get<std::string>(), s.at(1).get<std::string>());
    }
    const auto window = Get<std::vector<Nanos>>(item, "window", {0, 0});
    r.window_start = window.at(0);
    r.window_end = window.at(1);
    r.time = TimeOf(Get<Json>(item, "time", Json::array()));
    r.steps_source = Get<std::string>(item, "steps_source");
    for (const Json& s : Get<Json>(item, "steps", Json::array())) {
      RankStep step;
      step.time = TimeOf(s);
      step.start = s.at(s.size() - 2).get<Nanos>();
      step.end = s.at(s.size() - 1).get<Nanos>();
      r.steps.push_back(step);
    }
    r.kernels_count = Get<std::int64_t>(item, "kernels_count");
    for (const Json& k : Get<Json>(item, "kernels", Json::array())) {
      r.kernels.push_back({k.at(0).get<std::string>(), k.at(1).get<std::int64_t>(),
                           k.at(2).get<Nanos>(), k.at(3).get<Nanos>()});
    }
    r.traits = Get<std::vector<std::string>>(item, "traits");
    r.kinds = Get<std::vector<std::string>>(item, "kinds");
    for (const Json& g : Get<Json>(item, "groups", Json::array())) {
      r.groups.push_back({Get<std::string>(g, "name"), Get<std::string>(g, "description"),
                          Get<int>(g, "size"), Get<std::vector<int>>(g, "ranks")});
    }
    r.memory_peak = Get<double>(item, "memory_peak", -1);
    r.memory_capacity = Get<double>(item, "memory_capacity");
    r.supports_verdict = Get<bool>(item, "supports_verdict", true);
    ranks.push_back(std::move(r));
  }
  return ranks;
}

}  // namespace advise
