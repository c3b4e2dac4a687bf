// A slice against the trace it was cut from, event by event.
#include "engine/report/slice.h"

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/advice/views.h"
#include "tests/support/analyzed.h"

namespace advise {
namespace {

using Json = nlohmann::json;

// One blocking copy between two kernels; the finding claims the time of the copy.
struct Story {
  Analyzed run{
      TraceBuilder()
          .Range("step", {0, 200_us})
          .Launch("first", {0, 5_us}, {10_us, 40_us})
          .CopyToGpu(1_MiB, MemoryKind::kPageable, {50_us, 100_us}, {60_us, 100_us}, "cudaMemcpy")
          .Launch("second <&\"", {105_us, 110_us}, {112_us, 150_us})
          .OsCall("read", {20_us, 30_us})};
  RuleInfo rule;
  Report report;

  Story() {
    rule.id = "transfer/blocking-copy";
    rule.title = "Copy asynchronously";
    Verdict verdict;
    verdict.rule = &rule;
    verdict.outcome = Outcome::kFired;
    Spans spans;
    spans.by_device = {IntervalSet::Of({{60_us, 100_us}})};
    verdict.saving.claims = std::make_shared<const Spans>(spans);
    report.verdicts = {verdict};
    Finding finding;
    finding.rule = &rule;
    finding.rank = 1;
    report.findings = {finding};
  }
  Json Slice() const {
    return Json::parse(RenderSlice(BuildSlice(*run, report, report.findings[0])));
  }
};

// Complete events by name.
std::multimap<std::string, Json> Events(const Json& slice, const std::string& phase) {
  std::multimap<std::string, Json> events;
  for (const Json& event : slice["traceEvents"]) {
    if (event["ph"] == phase) events.emplace(event["name"], event);
  }
  return events;
}

const Json& Only(const std::multimap<std::string, Json>& events, const std::string& name) {
  INFO(name);
  REQUIRE(events.count(name) == 1);
  return events.find(name)->second;
}

TEST_CASE("every event of the window is in the slice with its time, and nothing else is") {
  const Json slice = Story().Slice();
  const auto events = Events(slice, "X");
  // 20 us on either side of the copy: 40 to 120 us. The first kernel ended at 40, so did its
  // launch.
  CHECK(slice["otherData"]["start_ns"] == 40'000);
  CHECK(slice["otherData"]["end_ns"] == 120'000);
  CHECK(events.count("first") == 0);
  CHECK(events.count("read") == 0);
  const Json& copy = Only(events, "copy host to device");
  CHECK(copy["ts"] == 60.0);
  CHECK(copy["dur"] == 40.0);
  CHECK(copy["args"]["bytes"] == 1048576);
  const Json& kernel = Only(events, "second <&\"");
  CHECK(kernel["ts"] == 112.0);
  CHECK(kernel["dur"] == 38.0);
  CHECK(kernel["cat"] == "compute");
  CHECK(Only(events, "cudaMemcpy")["dur"] == 50.0);
  CHECK(Only(events, "cudaLaunchKernel")["ts"] == 105.0);
  CHECK(Only(events, "step")["dur"] == 200.0);
  double idle = 0;
  for (const auto& [name, event] : events) {
    if (event["cat"] == "gap") idle += event["dur"].get<double>();
  }
  CHECK(idle == Approx(20 + 12));  // 40 to 60 and 100 to 112 us
}

TEST_CASE("arrows lead from each launching call to its work") {
  const Json slice = Story().Slice();
  std::map<int, Json> from;
  std::map<int, Json> to;
  for (const Json& event : slice["traceEvents"]) {
    if (event["ph"] == "s") from[event["id"].get<int>()] = event;
    if (event["ph"] == "f") to[event["id"].get<int>()] = event;
  }
  REQUIRE(from.size() == 2);
  REQUIRE(to.size() == 2);
  std::set<std::pair<double, double>> arrows;
  for (const auto& [id, start] : from) {
    REQUIRE(to.contains(id));
    CHECK(to[id]["bp"] == "e");
    arrows.emplace(start["ts"].get<double>(), to[id]["ts"].get<double>());
  }
  CHECK(arrows == std::set<std::pair<double, double>>{{50.0, 60.0}, {105.0, 112.0}});
}

TEST_CASE("threads, streams and findings have tracks of their own, with names") {
  const Json slice = Story().Slice();
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> tracks;
  for (const Json& event : slice["traceEvents"]) {
    if (event["ph"] == "M" && event["name"] == "thread_name") {
      const auto [at, fresh] = tracks.emplace(
          std::pair(event["pid"].get<std::int64_t>(), event["tid"].get<std::int64_t>()),
          event["args"]["name"].get<std::string>());
      CHECK(fresh);
    }
  }
  for (const Json& event : slice["traceEvents"]) {
    if (event["ph"] == "M") continue;
    CHECK(tracks.contains({event["pid"].get<std::int64_t>(), event["tid"].get<std::int64_t>()}));
  }
  const auto events = Events(slice, "X");
  const Json& mark = Only(events, "Copy asynchronously");
  CHECK(mark["ts"] == 60.0);
  CHECK(mark["dur"] == 40.0);
  const std::string track =
      tracks[{mark["pid"].get<std::int64_t>(), mark["tid"].get<std::int64_t>()}];
  CHECK(track.starts_with("1: Copy asynchronously, time claimed on GPU 0"));
  CHECK(Only(events, "worst example")["ts"] == 60.0);
}

TEST_CASE("events of one track nest") {
  FindingSlice slice;
  slice.devices = {"GPU 0"};
  slice.excerpt.end = 100;
  ExcerptRow row;
  row.kind = ExcerptRow::Kind::kStream;
  row.device = 0;
  row.number = 7;
  row.name = "GPU 0, stream 7";
  for (const auto& [start, end] : {std::pair{0, 50}, {10, 20}, {40, 60}, {55, 70}}) {
    ExcerptEvent event;
    event.start = start;
    event.end = end;
    event.kind = ExcerptKind::kKernel;
    event.name = "k";
    row.events.push_back(event);
  }
  slice.excerpt.rows = {row};
  const Json json = Json::parse(RenderSlice(slice));
  std::map<std::int64_t, std::vector<std::pair<double, double>>> tracks;
  for (const Json& event : json["traceEvents"]) {
    if (event["ph"] != "X") continue;
    const double start = event["ts"].get<double>();
    tracks[event["tid"].get<std::int64_t>()].emplace_back(start,
                                                          start + event["dur"].get<double>());
  }
  CHECK(tracks.size() == 2);
  for (const auto& [track, events] : tracks) {
    for (const auto& a : events) {
      for (const auto& b : events) {
        const bool cut = a.first < b.first && b.first < a.second && a.second < b.second;
        CHECK_FALSE(cut);
      }
    }
  }
}

TEST_CASE("a finding that points at no time gives no slice") {
  Story story;
  story.report.verdicts.clear();
  CHECK(BuildSlice(*story.run, story.report, story.report.findings[0]).excerpt.rows.empty());
}

}  // namespace
}  // namespace advise
