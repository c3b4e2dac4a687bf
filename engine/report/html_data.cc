#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/advice/report_views.h"
#include "engine/base/text.h"
#include "engine/report/budget_text.h"
#include "engine/report/finding_text.h"
#include "engine/report/html_parts.h"
#include "engine/report/html_text.h"

namespace advise {
namespace {

using Json = nlohmann::ordered_json;

// Six significant digits are more than a chart can show.
Json Number(double value) {
  if (!std::isfinite(value)) return nullptr;
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.6g", value);
  return std::strtod(digits, nullptr);
}

// Texts that recur, each once.
class NumberedNames {
 public:
  std::size_t Of(const std::string& text) {
    const auto [at, fresh] = index_.try_emplace(text, list_.size());
    if (fresh) list_.push_back(SafeText(text));
    return at->second;
  }
  Json List() const { return list_; }

 private:
  std::map<std::string, std::size_t> index_;
  Json list_ = Json::array();
};

// An event as an array: the page holds thousands. Times count from the start of the excerpt.
Json Event(const ExcerptEvent& event, Nanos origin, NumberedNames* names) {
  Json list = {event.start - origin,
               event.end - event.start,
               names->Of(ExcerptKindName(event.kind)),
               names->Of(event.name),
               event.depth,
               event.count,
               event.bytes,
               names->Of(event.detail)};
  if (event.call != kNone) list.push_back(event.call);
  return list;
}

const char* RowKind(ExcerptRow::Kind kind) {
  if (kind == ExcerptRow::Kind::kThread) return "thread";
  if (kind == ExcerptRow::Kind::kRank) return "rank";
  return kind == ExcerptRow::Kind::kStream ? "stream" : "gaps";
}

Json Timeline(const FindingTimeline& timeline, NumberedNames* names) {
  Json rows = Json::array();
  for (const ExcerptRow& row : timeline.excerpt.rows) {
    Json events = Json::array();
    for (const ExcerptEvent& event : row.events)
      events.push_back(Event(event, timeline.excerpt.start, names));
    rows.push_back({{"kind", RowKind(row.kind)},
                    {"name", SafeText(row.name)},
                    {"depth", row.depth},
                    {"events", events}});
  }
  return {{"finding", timeline.finding},
          {"what", SafeText(timeline.what)},
          {"note", SafeText(timeline.note)},
          {"origin", timeline.excerpt.start},
          {"length", timeline.excerpt.end - timeline.excerpt.start},
          {"from", timeline.start_ns - timeline.excerpt.start},
          {"to", timeline.end_ns - timeline.excerpt.start},
          {"left_out", timeline.excerpt.left_out},
          {"rows", rows}};
}

Json StepsData(const ReportViews& views) {
  Json list = Json::array();
  for (const StepPoint& point : views.steps) {
    list.push_back({point.first, point.count, point.start_ns, point.median_ns, point.max_ns,
                    point.warmup ? 1 : 0, point.outlier ? 1 : 0});
  }
  return list;
}

Json CopiesData(const ReportViews& views) {
  Json list = Json::array();
  for (const CopySizeBin& bin : views.copy_sizes) {
    list.push_back(
        {SafeText(bin.direction), bin.from_bytes, bin.count, Number(bin.bytes), bin.time_ns});
  }
  return list;
}

Json KernelsData(const ReportViews& views) {
  Json list = Json::array();
  for (const KernelTotal& row : views.kernels) {
    list.push_back({SafeText(row.name), SafeText(row.kernel_class), SafeText(row.precision),
                    row.count, row.total_ns, Number(row.share), row.median_ns, row.min_ns,
                    row.max_ns, row.blocks, row.threads, row.registers});
  }
  return list;
}

Json SamplesData(const ReportViews& views) {
  Json list = Json::array();
  for (const ThinSeries& series : views.samples) {
    Json mean = Json::array();
    for (const double value : series.mean) mean.push_back(Number(value));
    list.push_back({{"name", SafeText(series.name)},
                    {"unit", SafeText(series.unit)},
                    {"source", SafeText(series.source)},
                    {"bucket", series.bucket_ns},
                    {"mean", mean}});
  }
  return list;
}

Json Lateness(const ReportViews& views) {
  Json names = Json::array();
  for (const std::string& name : views.lateness.names) names.push_back(SafeText(name));
  Json rows = Json::array();
  for (const auto& row : views.lateness.mean_ns) {
    Json cells = Json::array();
    for (const double value : row) cells.push_back(Number(value));
    rows.push_back(cells);
  }
  return {{"names", names}, {"steps", views.lateness.steps}, {"rows", rows}};
}

Json RooflineData(const ReportViews& views) {
  Json points = Json::array();
  for (const RooflinePoint& point : views.roofline.points) {
    points.push_back({SafeText(point.kernel), Number(point.flop_per_byte), Number(point.flops),
                      Number(point.time_ns)});
  }
  Json roofs = Json::array();
  for (const RoofCurve& roof : views.roofline.roofs) {
    roofs.push_back({Number(roof.peak_flops), Number(roof.bytes_per_s)});
  }
  return {{"points", points},
          {"roofs", roofs},
          {"without_place", views.roofline.without_place},
          {"left_out", views.roofline.left_out},
          {"estimated", views.roofline.estimated}};
}

}  // namespace

std::string HtmlData(const Report& report) {
  Json json = {{"window", {report.window.start_ns, report.window.end_ns}}};
  if (report.views != nullptr) {
    const ReportViews& views = *report.views;
    NumberedNames names;
    Json timelines = Json::array();
    for (const FindingTimeline& timeline : views.timelines) {
      timelines.push_back(Timeline(timeline, &names));
    }
    json["timelines"] = timelines;
    json["names"] = names.List();
    Json not_drawn = Json::array();
    for (const std::string& line : views.not_drawn) not_drawn.push_back(SafeText(line));
    json["not_drawn"] = not_drawn;
    json["charts_of"] = SafeText(views.charts_of);
    json["steps"] = StepsData(views);
    json["called"] = StepsInWords(report.run);
    json["copies"] = CopiesData(views);
    json["kernels"] = KernelsData(views);
    json["kernels_left_out"] = views.kernels_left_out;
    json["samples"] = SamplesData(views);
    json["lateness"] = Lateness(views);
    json["roofline"] = RooflineData(views);
  }
  return ScriptSafeJson(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace advise
