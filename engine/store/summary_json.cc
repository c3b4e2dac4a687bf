// Each field that is kept stands here once: the JSON library writes and reads by these lists.
#include "engine/store/summary_json.h"

#include <map>
#include <optional>
#include <tuple>

#include "engine/facts/catalog.h"

namespace nlohmann {

template <>
struct adl_serializer<std::optional<double>> {
  static void to_json(json& json, const std::optional<double>& number) {
    if (number) json = *number;
  }
  static void from_json(const json& json, std::optional<double>& number) {
    if (json.is_number()) number = json.get<double>();
  }
};

template <>
struct adl_serializer<advise::Cell> {
  static void to_json(json& json, const advise::Cell& cell) {
    std::visit([&](const auto& value) { json = value; }, cell);
  }
  static void from_json(const json& json, advise::Cell& cell) {
    if (json.is_number()) {
      cell = json.get<double>();
    } else {
      cell = json.get<std::string>();
    }
  }
};

// Columns once, then the cells row by row.
template <>
struct adl_serializer<advise::Rows> {
  static void to_json(json& json, const advise::Rows& rows) {
    nlohmann::json columns = nlohmann::json::array();
    nlohmann::json cells = nlohmann::json::array();
    if (!rows.empty()) {
      for (const auto& [name, cell] : rows.front()) columns.push_back(name);
    }
    for (const advise::Row& row : rows) {
      for (const auto& [name, cell] : row) cells.push_back(cell);
    }
    json = {{"columns", std::move(columns)}, {"cells", std::move(cells)}};
  }
  static void from_json(const json& json, advise::Rows& rows) {
    const auto columns = json.at("columns").get<std::vector<std::string>>();
    const nlohmann::json& cells = json.at("cells");
    for (std::size_t at = 0; !columns.empty() && at + columns.size() <= cells.size();
         at += columns.size()) {
      advise::Row& row = rows.emplace_back();
      for (std::size_t c = 0; c < columns.size(); ++c) {
        row.emplace_back(columns[c], cells.at(at + c).get<advise::Cell>());
      }
    }
  }
};

}  // namespace nlohmann

namespace advise {

using Json = nlohmann::json;

// ---- Fields by name

NLOHMANN_JSON_SERIALIZE_ENUM(Level, {{Level::kInfo, "info"},
                                     {Level::kWarning, "warning"},
                                     {Level::kError, "error"}})
NLOHMANN_JSON_SERIALIZE_ENUM(Severity, {{Severity::kInfo, "info"},
                                        {Severity::kLow, "low"},
                                        {Severity::kMedium, "medium"},
                                        {Severity::kHigh, "high"},
                                        {Severity::kCritical, "critical"}})
NLOHMANN_JSON_SERIALIZE_ENUM(Outcome, {{Outcome::kBroken, "broken"},
                                       {Outcome::kFired, "fired"},
                                       {Outcome::kFine, "fine"},
                                       {Outcome::kNotApplicable, "not_applicable"},
                                       {Outcome::kCannotTell, "cannot_tell"}})

NLOHMANN_JSON_SERIALIZE_ENUM(Care, {{Care::kOther, "other"},
                                    {Care::kSomeRanks, "some_ranks"},
                                    {Care::kStepsOfWork, "steps_of_work"},
                                    {Care::kNoSteps, "no_steps"},
                                    {Care::kLostCalls, "lost_calls"},
                                    {Care::kNoCalls, "no_calls"},
                                    {Care::kRequestsLikeCode, "requests_like_code"},
                                    {Care::kEarlierWork, "earlier_work"},
                                    {Care::kCountedSavings, "counted_savings"}})

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(UnseenTime, before_capture, in_graphs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(InputInfo, path, kind, producer, rank, host)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(WindowInfo, mode, start_ns, end_ns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(DeviceBudget, rank, device, name, compute_ns,
                                                comm_exposed_ns, copy_exposed_ns, memset_exposed_ns,
                                                idle_ns, window_ns, idle_causes, unseen)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(RanksInfo, ranks, reports, hosts, processes, steps,
                                                parallel, load_balance, communication,
                                                orchestration, waited, transfer)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(NotChecked, rule, needs, reason, how)
inline void to_json(Json& json, const CareNote& note) {
  json = {{"care", note.care}, {"text", note.text}};
}
inline void from_json(const Json& json, CareNote& note) {
  // Format 4 had the text alone.
  note.care = json.is_string() ? Care::kOther : json.value("care", Care::kOther);
  note.text = json.is_string() ? json.get<std::string>() : json.value("text", "");
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Diagnostic, level, text, table, count)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Link, url, programs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Fix, action, snippet, language, links, programs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Evidence, what, value, unit, threshold, start_ns,
                                                end_ns, table, rows, sql, find, source, partly)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Where, ranks, devices, steps, phase)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(StepPart, start, share)
// Rules of findings, verdicts and claims are kept by their id, see WithRule().
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Finding, rank, severity, tentative, confidence,
                                                confidence_from, turn, saving_s, saving_share,
                                                alone_share, touched_share, falls_short, comm_share,
                                                idle_share, batches_ready, step_parts, basis,
                                                bound_alone, where, title, symptom, cause, fixes,
                                                evidence, explains, explained_by, makes_needless,
                                                unlocks, next_bound, changes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ClaimResult, claimed, gain, saving)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(RunInfo, kind, unit, units, framework, languages,
                                                maker)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(EfficiencyInfo, measured_share, mfu, bandwidth,
                                                source)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(PlanStep, rule, after_seconds, unlocks,
                                                makes_needless, next_bound)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Report, tool_version, inputs, window, devices, gpus,
                                                ranks, run, efficiency, plan, next_step,
                                                next_command, next_records_graphs, healthy, verdict,
                                                read_with_care, no_verdict_reason, checked,
                                                not_checked, capture_command, diagnostics,
                                                site_changes, step_count, step_median_ns,
                                                steps_source, work_digest)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(CommGroup, name, description, size, ranks)

// ---- Fields by place: of what there is much of

inline auto Tie(FactRead& r) { return std::tie(r.name, r.shown); }
inline auto Tie(Comparison& c) {
  return std::tie(c.what, c.value, c.threshold, c.upper, c.name, c.unit, c.holds, c.of_saving);
}
inline auto Tie(RankTime& t) {
  return std::tie(t.compute, t.comm_exposed, t.copy_exposed, t.memset_exposed, t.idle,
                  t.loading_beside_comm, t.causes);
}
inline auto Tie(RankStep& s) { return std::tie(s.start, s.end, s.time); }
inline auto Tie(RankKernel& k) { return std::tie(k.name, k.count, k.total, k.median); }

template <typename... Fields>
std::tuple<Fields...> Untied(const std::tuple<Fields&...>& fields) {
  return fields;
}

template <typename T>
auto to_json(Json& json, const T& value) -> decltype(Tie(const_cast<T&>(value)), void()) {
  json = Untied(Tie(const_cast<T&>(value)));  // which only reads
}
template <typename T>
auto from_json(const Json& json, T& value) -> decltype(Tie(value), void()) {
  auto fields = Untied(Tie(value));
  json.get_to(fields);
  Tie(value) = std::move(fields);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Verdict, outcome, reason, missing, evidence, tables,
                                                reads, comparisons)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(RankSummary, rank, rank_source, local_rank,
                                                world_size, host, job, path, clock, pid, device,
                                                device_index, devices_listed, device_name,
                                                device_uuid, utc_origin_ns, switches, work_print,
                                                window_start, window_end, time, steps_source, steps,
                                                host_works, kernels_count, kernels, traits, kinds,
                                                groups, backwards, backwards_synced, memory_peak,
                                                memory_capacity, unseen, supports_verdict)

namespace {

// ---- Facts: names of one kind of value together, which is smaller than a record for each

// Spans are kept as their total, remedies not at all.
Json FactsToJson(const std::vector<NamedFact>& facts) {
  std::map<std::string, Json> by_kind;
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> absent;
  const auto put = [&](const char* kind, const NamedFact& fact, const auto& value) {
    by_kind[kind]["names"].push_back(fact.info.name);
    by_kind[kind]["values"].push_back(value);
  };
  for (const NamedFact& fact : facts) {
    const Value& value = fact.fact.value;
    if (const auto* reason = std::get_if<Absent>(&value)) {
      absent[{reason->reason, reason->needs}].push_back(fact.info.name);
    } else if (const auto* number = std::get_if<double>(&value)) {
      put("number", fact, *number);
    } else if (const auto* flag = std::get_if<bool>(&value)) {
      put("flag", fact, *flag);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      put("text", fact, *text);
    } else if (const auto* rows = std::get_if<Rows>(&value)) {
      put("rows", fact, *rows);
    } else if (const auto* spans = std::get_if<std::shared_ptr<const Spans>>(&value)) {
      put("spans", fact, *spans == nullptr ? Nanos{0} : (*spans)->Total());
    }
  }
  by_kind["absent"] = Json::array();
  for (const auto& [why, names] : absent) {
    by_kind["absent"].push_back({why.first, why.second, names});
  }
  return by_kind;
}

std::shared_ptr<const Spans> SpansOf(Nanos total) {
  auto spans = std::make_shared<Spans>();
  spans->by_device.push_back(IntervalSet::Of({{0, total}}));
  return spans;
}

// In the order of the catalogue; facts that it does not have are of another version and left out.
std::vector<NamedFact> FactsFromJson(const Json& json, const std::vector<FactInfo>& catalog) {
  std::map<std::string, Value, std::less<>> values;
  const auto take = [&](const char* kind, auto value_of) {
    const auto at = json.find(kind);
    if (at == json.end()) return;
    const Json& names = at->at("names");
    const Json& list = at->at("values");
    for (std::size_t i = 0; i < names.size(); ++i) {
      values[names[i].get<std::string>()] = value_of(list.at(i));
    }
  };
  take("number", [](const Json& one) { return Value(one.get<double>()); });
  take("flag", [](const Json& one) { return Value(one.get<bool>()); });
  take("text", [](const Json& one) { return Value(one.get<std::string>()); });
  take("rows", [](const Json& one) { return Value(one.get<Rows>()); });
  take("spans", [](const Json& one) { return Value(SpansOf(one.get<Nanos>())); });
  for (const Json& why : json.value("absent", Json::array())) {
    for (const Json& name : why.at(2)) {
      values[name.get<std::string>()] =
          Absent{why.at(0).get<std::string>(), why.at(1).get<std::string>()};
    }
  }
  std::vector<NamedFact> facts;
  for (const FactInfo& info : catalog) {
    const auto at = values.find(info.name);
    const bool remedy = info.unit == "remedy";
    if (at == values.end() && !remedy) continue;
    NamedFact& fact = facts.emplace_back(NamedFact{info, {}});
    fact.fact.value = at == values.end() ? Value(std::shared_ptr<const Remedy>()) : at->second;
  }
  return facts;
}

// ---- What points to rules

template <typename T>
Json WithRule(const T& value) {
  Json json = value;
  json["rule"] = value.rule == nullptr ? "" : value.rule->id;
  return json;
}

// Those whose rule this version has.
template <typename T>
std::vector<T> OfRules(const Json& list, const Vocabulary& known,
                       std::vector<std::string>* unknown) {
  std::vector<T> values;
  for (const Json& item : list) {
    const auto id = item.value("rule", "");
    const RuleInfo* rule = known.find_rule(id);
    if (rule == nullptr) {
      if (unknown != nullptr) unknown->push_back(id);
      continue;
    }
    values.push_back(item.get<T>());
    values.back().rule = rule;
  }
  return values;
}

}  // namespace

Json SummaryToJson(const SavedReport& saved) {
  const Report& report = saved.report;
  Json json = {{"report", report}, {"ranks", saved.ranks}, {"facts", FactsToJson(report.facts)}};
  for (const char* list : {"findings", "verdicts", "claims"}) json[list] = Json::array();
  for (const Finding& finding : report.findings) json["findings"].push_back(WithRule(finding));
  for (const Verdict& verdict : report.verdicts) json["verdicts"].push_back(WithRule(verdict));
  for (const ClaimResult& result : report.claim_results) {
    Json one = WithRule(result);
    one["taken_by"] = Json::array();
    for (const auto& [rule, time] : result.taken_by) one["taken_by"].push_back({rule->id, time});
    json["claims"].push_back(std::move(one));
  }
  return json;
}

SavedReport SummaryFromJson(const Json& json, const Vocabulary& known,
                            std::vector<std::string>* unknown) {
  SavedReport saved;
  Report& report = saved.report;
  json.at("report").get_to(report);
  json.at("ranks").get_to(saved.ranks);
  report.facts = FactsFromJson(json.at("facts"), known.facts);
  report.findings = OfRules<Finding>(json.at("findings"), known, unknown);
  report.verdicts = OfRules<Verdict>(json.at("verdicts"), known, nullptr);
  for (const Json& item : json.at("claims")) {
    for (ClaimResult& result : OfRules<ClaimResult>(Json::array({item}), known, nullptr)) {
      for (const Json& taken : item.at("taken_by")) {
        const RuleInfo* rule = known.find_rule(taken.at(0).get<std::string>());
        if (rule != nullptr) result.taken_by.emplace_back(rule, taken.at(1).get<Nanos>());
      }
      report.claim_results.push_back(std::move(result));
    }
  }
  return saved;
}

}  // namespace advise
