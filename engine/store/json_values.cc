#include "engine/store/json_values.h"

#include <algorithm>

namespace advise {

using Json = nlohmann::json;

Json CellJson(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  return std::get<std::string>(cell);
}
Cell CellOf(const Json& json) {
  if (json.is_number()) return json.get<double>();
  return json.is_string() ? json.get<std::string>() : std::string();
}

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
          {"comm_share", f.comm_share},
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
  // Facts files of before this was kept: rules of the area claimed communication alone.
  const bool comm = Get<std::string>(json, "rule").starts_with("comm/");
  f.comm_share = Get<double>(json, "comm_share", comm ? 1.0 : 0.0);
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

}  // namespace advise
