// Each field that is kept stands here once: it is written and read by these lists.
#include "engine/store/summary_json.h"

#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "engine/facts/catalog.h"
#include "engine/store/json_in.h"

// to_json() for what is written, Read() for what is read: by the names of the fields.
#define ADVISE_READ_FIELD(field) ReadField(fields, #field, value.field);
#define ADVISE_KEEP(Type, ...)                                                        \
  inline void to_json(nlohmann::json& nlohmann_json_j, const Type& nlohmann_json_t) { \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))          \
  }                                                                                   \
  inline void Read(Kept json, Type& value) {                                          \
    const simdjson::dom::object fields = json.get_object();                           \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(ADVISE_READ_FIELD, __VA_ARGS__))         \
  }

namespace nlohmann {

template <>
struct adl_serializer<std::optional<double>> {
  static void to_json(json& json, const std::optional<double>& number) {
    if (number) json = *number;
  }
};

template <>
struct adl_serializer<advise::Cell> {
  static void to_json(json& json, const advise::Cell& cell) {
    std::visit([&](const auto& value) { json = value; }, cell);
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
};

}  // namespace nlohmann

namespace advise {

using Json = nlohmann::json;

// ---- Names of values, each list with what stands for all others first

inline const auto& NamesOf(Level /*any*/) {
  static constexpr auto kNames = std::to_array<std::pair<Level, std::string_view>>(
      {{Level::kInfo, "info"}, {Level::kWarning, "warning"}, {Level::kError, "error"}});
  return kNames;
}
inline const auto& NamesOf(Severity /*any*/) {
  static constexpr auto kNames =
      std::to_array<std::pair<Severity, std::string_view>>({{Severity::kInfo, "info"},
                                                            {Severity::kLow, "low"},
                                                            {Severity::kMedium, "medium"},
                                                            {Severity::kHigh, "high"},
                                                            {Severity::kCritical, "critical"}});
  return kNames;
}
inline const auto& NamesOf(Observed /*any*/) {
  static constexpr auto kNames =
      std::to_array<std::pair<Observed, std::string_view>>({{Observed::kInferred, "inferred"},
                                                            {Observed::kMeasured, "measured"},
                                                            {Observed::kRecorded, "recorded"}});
  return kNames;
}
inline const auto& NamesOf(Outcome /*any*/) {
  static constexpr auto kNames = std::to_array<std::pair<Outcome, std::string_view>>(
      {{Outcome::kBroken, "broken"},
       {Outcome::kFired, "fired"},
       {Outcome::kFine, "fine"},
       {Outcome::kNotApplicable, "not_applicable"},
       {Outcome::kCannotTell, "cannot_tell"}});
  return kNames;
}

inline const auto& NamesOf(Care /*any*/) {
  static constexpr auto kNames = std::to_array<std::pair<Care, std::string_view>>(
      {{Care::kOther, "other"},
       {Care::kSomeRanks, "some_ranks"},
       {Care::kStepsOfWork, "steps_of_work"},
       {Care::kNoSteps, "no_steps"},
       {Care::kLostCalls, "lost_calls"},
       {Care::kNoCalls, "no_calls"},
       {Care::kRequestsLikeCode, "requests_like_code"},
       {Care::kEarlierWork, "earlier_work"},
       {Care::kCountedSavings, "counted_savings"},
       {Care::kProfilerCost, "profiler_cost"},
       {Care::kMostlyProfiler, "mostly_profiler"},
       {Care::kProfilerMessage, "profiler_message"}});
  return kNames;
}

template <typename T>
requires requires(T value) { NamesOf(value); }
void to_json(Json& json, const T& value) {
  json = NamesOf(value).front().second;
  for (const auto& [one, name] : NamesOf(value)) {
    if (one == value) json = name;
  }
}

// ---- Fields by name

ADVISE_KEEP(UnseenTime, before_capture, in_graphs, queued)
ADVISE_KEEP(InputInfo, path, kind, producer, rank, host)
ADVISE_KEEP(WindowInfo, mode, start_ns, end_ns)
ADVISE_KEEP(DeviceBudget, rank, device, name, compute_ns, comm_exposed_ns, copy_exposed_ns,
            memset_exposed_ns, idle_ns, window_ns, idle_causes, unseen)
ADVISE_KEEP(RanksInfo, ranks, reports, hosts, processes, steps, parallel, load_balance,
            communication, orchestration, waited, transfer)
ADVISE_KEEP(NotChecked, rule, needs, reason, how)
inline void to_json(Json& json, const CareNote& note) {
  json = {{"care", note.care}, {"text", note.text}};
}
inline void Read(Kept json, CareNote& note) {
  if (json.is_string()) {  // format 4 had the text alone
    Read(json, note.text);
    return;
  }
  const simdjson::dom::object fields = json.get_object();
  ReadField(fields, "care", note.care);
  ReadField(fields, "text", note.text);
}
ADVISE_KEEP(Diagnostic, level, text, table, count)
ADVISE_KEEP(Link, url, programs)
ADVISE_KEEP(Fix, action, snippet, language, links, programs)
ADVISE_KEEP(Evidence, what, value, unit, threshold, start_ns, end_ns, table, rows, sql, find,
            source, partly)
ADVISE_KEEP(Where, ranks, devices, steps, phase, figures, in_turns, others_wait)
ADVISE_KEEP(StepPart, start, share)
// Rules of findings, verdicts and claims are kept by their id, see WithRule().
ADVISE_KEEP(Finding, rank, severity, tentative, observed, confidence, confidence_from, turn,
            saving_s, saving_share, alone_share, own_share, unprofiled_share,
            unprofiled_alone_share, touched_share, falls_short, comm_share, comm_faster, comm_fewer,
            idle_share, host_share, batches_ready, step_parts, basis, bound_alone, where, title,
            symptom, cause, fixes, evidence, explains, explained_by, makes_needless, unlocks,
            next_bound, changes)
ADVISE_KEEP(ClaimResult, claimed, gain, alone, saving)
ADVISE_KEEP(RunInfo, kind, unit, units, framework, languages, maker)
ADVISE_KEEP(EfficiencyInfo, measured_share, mfu, bandwidth, source)
ADVISE_KEEP(PlanStep, rule, after_seconds, unlocks, makes_needless, next_bound)
ADVISE_KEEP(Report, tool_version, inputs, window, devices, gpus, ranks, run, efficiency, plan,
            next_step, next_command, next_records_graphs, next_measures_hottest, healthy, verdict,
            read_with_care, no_verdict_reason, checked, not_checked, capture_command, diagnostics,
            site_changes, step_count, step_median_ns, steps_source, work_digest)
ADVISE_KEEP(CommGroup, name, description, size, ranks)

// ---- Fields by place: of what there is much of

inline auto Tie(FactRead& r) { return std::tie(r.name, r.shown); }
inline auto Tie(Comparison& c) {
  return std::tie(c.what, c.value, c.threshold, c.upper, c.name, c.unit, c.holds, c.of_saving);
}
inline auto Tie(RankTime& t) {
  return std::tie(t.compute, t.comm_exposed, t.copy_exposed, t.memset_exposed, t.idle,
                  t.loading_beside_comm, t.copying_beside_comm, t.writing, t.causes);
}
inline auto Tie(RankStep& s) { return std::tie(s.start, s.end, s.time); }
inline auto Tie(RankMessage& m) { return std::tie(m.start, m.end, m.late); }
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
auto Read(Kept json, T& value) -> decltype(Tie(value), void()) {
  ReadTied(json, Tie(value));
}

ADVISE_KEEP(Verdict, outcome, reason, missing, evidence, tables, reads, comparisons)
ADVISE_KEEP(RankSummary, rank, rank_source, shares_gpu_with, local_rank, world_size, host, job,
            path, clock, pid, device, device_index, devices_listed, device_name, device_uuid,
            utc_origin_ns, switches, work_print, window_start, window_end, time, steps_source,
            keeps_waits, steps, host_works, host_exchanges, launch_call, before_uploads,
            kernels_count, kernels, kernel_blocks, blocks, copied_bytes, copied_time, wrote_files,
            queued_sums, traits, languages, kinds, groups, messages, backwards, backwards_synced,
            memory_peak, memory_capacity, unseen, supports_verdict)

namespace {

// ---- Facts: names of one kind of value together, which is smaller than a record for each

// Spans are kept as their total, remedies not at all.
Json FactsToJson(const std::vector<NamedFact>& facts) {
  std::map<std::string, Json> by_kind;
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> absent;
  const auto put = [&](const char* kind, const NamedFact& fact, const auto& value) {
    by_kind[kind]["names"].push_back(fact.info->name);
    by_kind[kind]["values"].push_back(value);
  };
  for (const NamedFact& fact : facts) {
    const Value& value = fact.fact.value;
    if (const auto* reason = std::get_if<Absent>(&value)) {
      absent[{reason->reason, reason->needs}].push_back(fact.info->name);
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

// In the order of the catalog; facts that it does not have are of another version and left out.
std::vector<NamedFact> ReadFacts(Kept json, const std::vector<FactInfo>& catalog) {
  std::unordered_map<std::string_view, Value> values;
  values.reserve(catalog.size());
  const auto take = [&](const char* kind, auto like, auto value_of) {
    Kept list;
    if (json.at_key(kind).get(list) != simdjson::SUCCESS) return;
    InTurn all(list["values"]);
    for (const Kept name : simdjson::dom::array(list["names"])) {
      decltype(like) value{};
      Read(all.Next(), value);
      values[name] = value_of(std::move(value));
    }
  };
  const auto as_it_is = [](auto value) { return Value(std::move(value)); };
  take("number", 0.0, as_it_is);
  take("flag", false, as_it_is);
  take("text", std::string(), as_it_is);
  take("rows", Rows(), as_it_is);
  take("spans", Nanos{0}, [](Nanos total) { return Value(SpansOf(total)); });
  Kept absent;
  if (json.at_key("absent").get(absent) == simdjson::SUCCESS) {
    for (const Kept why : simdjson::dom::array(absent)) {
      InTurn parts(why);
      Absent reason;
      Read(parts.Next(), reason.reason);
      Read(parts.Next(), reason.needs);
      for (const Kept name : simdjson::dom::array(parts.Next())) values[name] = reason;
    }
  }
  std::vector<NamedFact> facts;
  facts.reserve(catalog.size());
  for (const FactInfo& info : catalog) {
    const auto at = values.find(info.name);
    const bool remedy = info.unit == "remedy";
    if (at == values.end() && !remedy) continue;
    NamedFact& fact = facts.emplace_back(NamedFact{&info, {}});
    fact.fact.value =
        at == values.end() ? Value(std::shared_ptr<const Remedy>()) : std::move(at->second);
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

// The rule of an item, nullptr when this version does not have it.
const RuleInfo* RuleOf(Kept item, const Vocabulary& known, std::string* id) {
  id->clear();
  ReadField(item.get_object(), "rule", *id);
  return known.find_rule(*id);
}

// Those whose rule this version has.
template <typename T>
std::vector<T> OfRules(Kept list, const Vocabulary& known, std::vector<std::string>* unknown) {
  std::vector<T> values;
  std::string id;
  for (const Kept item : simdjson::dom::array(list)) {
    const RuleInfo* rule = RuleOf(item, known, &id);
    if (rule == nullptr) {
      if (unknown != nullptr) unknown->push_back(id);
      continue;
    }
    Read(item, values.emplace_back());
    values.back().rule = rule;
  }
  return values;
}

std::vector<ClaimResult> ReadClaims(Kept list, const Vocabulary& known) {
  std::vector<ClaimResult> results;
  std::string id;
  for (const Kept item : simdjson::dom::array(list)) {
    const RuleInfo* rule = RuleOf(item, known, &id);
    if (rule == nullptr) continue;
    ClaimResult& result = results.emplace_back();
    Read(item, result);
    result.rule = rule;
    for (const Kept taken : simdjson::dom::array(item["taken_by"])) {
      std::pair<std::string, Nanos> by;
      Read(taken, by);
      const RuleInfo* taker = known.find_rule(by.first);
      if (taker != nullptr) result.taken_by.emplace_back(taker, by.second);
    }
  }
  return results;
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

SavedReport SummaryFromText(const std::string& text, const Vocabulary& known,
                            std::vector<std::string>* unknown) {
  try {
    simdjson::dom::parser parser;
    const Kept json = parser.parse(text);
    SavedReport saved;
    Report& report = saved.report;
    Read(json["report"], report);
    Read(json["ranks"], saved.ranks);
    report.facts = ReadFacts(json["facts"], known.facts);
    report.findings = OfRules<Finding>(json["findings"], known, unknown);
    report.verdicts = OfRules<Verdict>(json["verdicts"], known, nullptr);
    report.claim_results = ReadClaims(json["claims"], known);
    return saved;
  } catch (const simdjson::simdjson_error& problem) {
    throw BadSummary(problem.what());
  }
}

}  // namespace advise
