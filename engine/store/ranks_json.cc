// Summaries of ranks as JSON; their collectives are kept apart (encode.cc), as numbers.
#include "engine/store/json_values.h"
#include "engine/store/report_json.h"

namespace advise {
namespace {

using Json = nlohmann::json;

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
                    {"backwards", r.backwards},
                    {"backwards_synced", r.backwards_synced},
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
    r.backwards = Get<double>(item, "backwards");
    r.backwards_synced = Get<double>(item, "backwards_synced");
    r.memory_peak = Get<double>(item, "memory_peak", -1);
    r.memory_capacity = Get<double>(item, "memory_capacity");
    r.supports_verdict = Get<bool>(item, "supports_verdict", true);
    ranks.push_back(std::move(r));
  }
  return ranks;
}

}  // namespace advise
