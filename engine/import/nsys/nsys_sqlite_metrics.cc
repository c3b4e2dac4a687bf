// Sampled metrics of GPUs and network cards.
//
//   TARGET_INFO_GPU_METRICS  typeId, metricId, metricName "SMs Active [Throughput %]"
//   GPU_METRICS              timestamp, typeId, metricId, value    → gpu_series
//     metricId restarts on each GPU: the key is (typeId, metricId), and typeId & 0xff the GPU's id
//     "[MHz]" metrics hold Hz wrapped to signed 32 bits
//   GENERIC_EVENTS           the same samples in exports up to 2022: timestamp, typeId and
//                            data = {"SM Active": 12, …}, for types whose description in
//                            GENERIC_EVENT_TYPES speaks of GPU metrics
//   TARGET_INFO_NETWORK_METRICS  metricsListId, metricsIdx, name, unit
//   NET_NIC_METRIC           start, end, globalId, portId, metricsListId, metricsIdx, value
//                            → nic_series, at the end of the interval that was counted
//   NIC_ID_MAP, TARGET_INFO_NIC_INFO   globalId → card name
#include <fmt/format.h>

#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "engine/base/ascii.h"
#include "engine/import/nsys/nsys_sqlite_rows.h"
#include "engine/import/row_order.h"

namespace advise::nsys {
namespace {

constexpr std::int64_t kMetricLimit = 1 << 16;  // ids beyond are damage

std::string UnitOfBracket(std::string_view bracket) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kUnits = {{
      {"Throughput %", "percent"},
      {"%", "percent"},
      {"MHz", "hz"},
      {"Requests", "count"},
      {"Workloads", "count"},
      {"Cycles Active", "cycles"},
      {"Avg", "average"},
  }};
  for (const auto& [text, unit] : kUnits) {
    if (bracket == text) return std::string(unit);
  }
  std::string unit;  // "Avg Warps per Cycle" → "avg_warps_per_cycle"
  for (const char c : bracket) {
    unit += c == ' ' ? '_' : Lower(c);
  }
  return unit;
}

// "SMs Active [Throughput %]" → name and unit. Names of 2021 have no bracket.
void SetName(std::string_view text, Series& series) {
  const std::size_t open = text.rfind(" [");
  if (open != std::string_view::npos && text.ends_with(']')) {
    series.name = text.substr(0, open);
    series.unit = UnitOfBracket(text.substr(open + 2, text.size() - open - 3));
    return;
  }
  series.name = text;
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  series.unit = has("Clock Frequency") ? "hz" : has("Requests") ? "count" : "percent";
}

double ValueOf(const Scan& scan, int column, bool wrapped) {
  if (!wrapped) return scan.Real(column);
  const std::int64_t hz = scan.Int(column);
  return hz >= 0 ? static_cast<double>(hz) : static_cast<double>(static_cast<std::uint32_t>(hz));
}

void SortSamples(std::vector<Series>& all) {
  for (Series& series : all) {
    const auto order = OrderBy(series.time);
    Reorder(order, series.time);
    Reorder(order, series.value);
  }
  std::erase_if(all, [](const Series& series) { return series.time.empty(); });
}

std::uint32_t GpuOf(std::int64_t type) { return static_cast<std::uint32_t>(type & 0xff); }

void ReadGpuMetrics(Reader& reader, std::vector<Series>& all) {
  std::map<std::int64_t, std::vector<std::uint32_t>> by_type;  // → metricId → series
  {
    Scan names(reader, "TARGET_INFO_GPU_METRICS", {"typeId", "metricId", "metricName", "typeName"});
    while (names.Next()) {
      const std::int64_t metric = names.Int(1);
      if (metric < 0 || metric >= kMetricLimit) continue;
      auto& series = by_type[names.Int(0)];
      if (series.size() <= static_cast<std::size_t>(metric)) series.resize(metric + 1, kNone);
      if (series[metric] != kNone) continue;  // listed again by an appended report
      series[metric] = static_cast<std::uint32_t>(all.size());
      all.emplace_back();
      SetName(names.Text(2), all.back());
      all.back().device = GpuOf(names.Int(0));
      all.back().source = names.Text(3);
    }
  }
  Scan samples(reader, "GPU_METRICS", {"timestamp", "typeId", "metricId", "value"});
  std::int64_t type = 0;
  const std::vector<std::uint32_t>* series_of_type = nullptr;
  samples.ForEach([&] {
    Nanos time = 0;
    if (!samples.Instant(0, time)) return;
    if (series_of_type == nullptr || samples.Int(1) != type) {
      type = samples.Int(1);
      const auto found = by_type.find(type);
      series_of_type = found == by_type.end() ? nullptr : &found->second;
    }
    const std::int64_t metric = samples.Int(2);
    if (series_of_type == nullptr || metric < 0 ||
        metric >= static_cast<std::int64_t>(series_of_type->size()) ||
        (*series_of_type)[metric] == kNone) {
      samples.Drop("samples of metrics without a name were dropped");
      return;
    }
    Series& series = all[(*series_of_type)[metric]];
    series.time.push_back(time);
    series.value.push_back(ValueOf(samples, 3, series.unit == "hz"));
  });
}

void ReadGenericGpuMetrics(Reader& reader, std::vector<Series>& all) {
  if (!reader.source.Has("GENERIC_EVENTS", "data")) return;
  std::map<std::int64_t, bool> is_metrics;
  {
    Scan types(reader, "GENERIC_EVENT_TYPES", {"typeId", "data"});
    while (types.Next()) {
      is_metrics[types.Int(0)] = types.Text(1).find("GPU Metrics") != std::string_view::npos;
    }
  }
  std::map<std::pair<std::int64_t, std::string>, std::size_t, std::less<>> known;
  Scan samples(reader, "GENERIC_EVENTS",
               "SELECT e.timestamp, e.typeId, j.key, j.value FROM GENERIC_EVENTS e, "
               "json_each(CASE WHEN json_valid(e.data) THEN e.data ELSE '{}' END) j");
  while (samples.Next()) {
    const std::int64_t type = samples.Int(1);
    if (!is_metrics[type]) continue;
    Nanos time = 0;
    if (!samples.Instant(0, time)) continue;
    const auto [found, is_new] =
        known.emplace(std::pair(type, std::string(samples.Text(2))), all.size());
    if (is_new) {
      all.emplace_back();
      SetName(samples.Text(2), all.back());
      all.back().device = GpuOf(type);
    }
    Series& series = all[found->second];
    series.time.push_back(time);
    series.value.push_back(ValueOf(samples, 3, series.unit == "hz"));
  }
}

struct Card {
  std::string name;
  std::string link;
};

// As the verbs number link layers: IBV_LINK_LAYER_INFINIBAND, IBV_LINK_LAYER_ETHERNET.
std::string LinkLayerOf(std::int64_t number) {
  return number == 1 ? "InfiniBand" : number == 2 ? "Ethernet" : "";
}

std::map<std::int64_t, Card> ReadCards(Reader& reader) {
  std::map<std::int64_t, Card> by_card;  // nicId
  std::map<std::int64_t, Card> by_global_id;
  Scan cards(reader, "TARGET_INFO_NIC_INFO", {"nicId", "GUID|globalId", "name", "linkLayer"});
  while (cards.Next()) {
    const Card card = {std::string(cards.Text(2)), LinkLayerOf(cards.Int(3))};
    by_card[cards.Int(0)] = card;
    if (!cards.IsNull(1)) by_global_id[cards.Int(1)] = card;
  }
  Scan map(reader, "NIC_ID_MAP", {"nicId", "globalId"});
  while (map.Next()) {
    const auto found = by_card.find(map.Int(0));
    if (found != by_card.end()) by_global_id[map.Int(1)] = found->second;
  }
  return by_global_id;
}

void ReadCardMetrics(Reader& reader, std::vector<Series>& all) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<std::string, std::string>> names;
  Scan listed(reader, "TARGET_INFO_NETWORK_METRICS",
              {"metricsListId", "metricsIdx", "name", "unit"});
  while (listed.Next()) {
    std::string unit = UnitOfBracket(listed.Text(3));
    names[{listed.Int(0), listed.Int(1)}] = {std::string(listed.Text(2)), std::move(unit)};
  }
  const std::map<std::int64_t, Card> cards = ReadCards(reader);
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>, std::size_t> known;
  Scan samples(reader, "NET_NIC_METRIC",
               {"start", "end", "globalId", "portId", "metricsListId", "metricsIdx", "value"});
  samples.ForEach([&] {
    Nanos start = 0;
    Nanos end = 0;
    if (!samples.Span(0, start, end)) return;
    const auto name = names.find({samples.Int(4), samples.Int(5)});
    if (name == names.end()) {
      samples.Drop("samples of metrics without a name were dropped");
      return;
    }
    const auto [found, is_new] = known.emplace(
        std::tuple(samples.Int(2), samples.Int(3), samples.Int(4), samples.Int(5)), all.size());
    if (is_new) {
      const auto card = cards.find(samples.Int(2));
      all.emplace_back();
      all.back().name = name->second.first;
      all.back().unit = name->second.second;
      all.back().source = fmt::format(
          "{} port {}",
          card == cards.end() ? fmt::format("NIC {:x}", samples.Int(2)) : card->second.name,
          samples.Int(3));
      if (card != cards.end()) all.back().link = card->second.link;
    }
    all[found->second].time.push_back(end);
    all[found->second].value.push_back(samples.Real(6));
  });
}

}  // namespace

SeriesRows ReadSeries(Reader& reader) {
  SeriesRows rows;
  ReadGpuMetrics(reader, rows.gpu);
  ReadGenericGpuMetrics(reader, rows.gpu);
  ReadCardMetrics(reader, rows.nic);
  SortSamples(rows.gpu);
  SortSamples(rows.nic);
  return rows;
}

}  // namespace advise::nsys
