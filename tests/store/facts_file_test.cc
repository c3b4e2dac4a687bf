// What is written is what is read, and what is damaged is said to be.
#include "engine/store/facts_file.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>

#include "engine/facts/catalog.h"
#include "engine/store/numbers.h"
#include "engine/store/summary_json.h"
#include "tests/support/analyzed.h"
#include "tests/support/fact_infos.h"

namespace advise {
namespace {

const RuleInfo& AnyRule() {
  static const RuleInfo rule = [] {
    RuleInfo info;
    info.id = "transfer/pageable-copy";
    return info;
  }();
  return rule;
}

Vocabulary Known() {
  static const std::vector<FactInfo> facts = FactList(ShippedKnowledge());
  return {[](const std::string& id) { return id == AnyRule().id ? &AnyRule() : nullptr; }, facts};
}

SavedReport Sample() {
  SavedReport saved;
  Report& r = saved.report;
  r.tool_version = "0.1.0";
  r.work_digest = 0xFEDCBA9876543210ULL;  // needs all 64 bits
  r.inputs = {{"run.sqlite", "nsys-sqlite", "nsys 2026.2", 3, "node1"}};
  r.window = {"steady", 100, 9'000'000'100};
  DeviceBudget d;
  d.rank = 3;
  d.name = "H100";
  d.compute_ns = 5;
  d.idle_ns = 7;
  d.window_ns = 12;
  d.idle_causes = {{"launch", 7}};
  r.devices = {d};
  NamedFact number{InfoOf("run.ops", "count", "x"), {}};
  number.fact.value = 1.0 / 3.0;
  NamedFact rows{InfoOf("comm.kinds", "rows", "x"), {}};
  rows.fact.value = Rows{{{"kind", Cell(std::string("allreduce"))}, {"count", Cell(12.0)}}};
  NamedFact absent{InfoOf("steps.count", "count", "x"), {}};
  absent.fact.value = Absent{"no steps were found", "steps"};
  r.facts = {number, rows, absent};
  Finding f;
  f.rule = &AnyRule();
  f.severity = Severity::kHigh;
  f.saving_s = 0.1;
  f.saving_share = 0.011;
  f.where.ranks = {3};
  f.symptom = "223 copies";
  f.fixes = {{"Pin it", "pin_memory=True", "python", {{"https://x"}}}};
  Evidence e;
  e.what = "the longest";
  e.threshold = 0.02;
  e.rows = {1, 2};
  f.evidence = {e};
  r.findings = {f};
  Verdict v;
  v.rule = &AnyRule();
  v.outcome = Outcome::kFired;
  v.evidence["share"] = 0.5;
  v.reads = {{"run.ops", "3"}};
  v.comparisons = {{"at_least", 0.5, 0.02, 0, "min_share", "share", true}};
  r.verdicts = {v};

  RankSummary rank;
  rank.rank = 3;
  rank.host = "node1";
  rank.window_end = 1000;
  rank.time.compute = 600;
  rank.time.idle = 400;
  rank.time.causes[2] = 400;
  rank.steps = {{0, 500, {}}, {500, 1000, {}}};
  rank.steps[1].time.compute = 300;
  rank.kernels = {{"gemm", 4, 600, 150}};
  rank.kinds = {"allreduce", "sendrecv"};
  rank.groups = {{"0", "tp", 2, {0, 3}}};
  RankCollectives& c = rank.collectives;
  c.start = {-50, 300, 290};  // before zero, and out of order
  c.end = {10, 400, 1'000'000'000'000};
  c.exposed = {0, 60, 1};
  c.bare_end = {-1, 60, -1};
  c.kind = {0, 1, 0};
  c.phase = {2, 2, 1};
  c.lane = {0, 1, 0};
  c.group = {-1, 0, -1};
  c.bytes = {-1, 4'000'000'000, 0};
  c.peer = {-1, 7, -1};
  saved.ranks = {rank, rank};
  saved.ranks[1].rank = 4;
  saved.ranks[1].collectives = {};
  return saved;
}

class Place {
 public:
  Place()
      : path_((std::filesystem::temp_directory_path() /
               ("advise-facts-" + std::to_string(getpid()) + ".facts"))
                  .string()) {}
  ~Place() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST_CASE("a saved report comes back as it was") {
  const Place place;
  const SavedReport before = Sample();
  REQUIRE(WriteFactsFile(before, place.path()));
  CHECK(IsFactsFileAt(place.path()));
  const auto after = ReadFactsFile(place.path(), Known());
  REQUIRE(after);
  CHECK(Encode(*after) == Encode(before));
  std::map<std::string, Value> values;
  for (const NamedFact& fact : after->report.facts) values[fact.info->name] = fact.fact.value;
  CHECK(std::get<double>(values.at("run.ops")) == 1.0 / 3.0);
  CHECK(std::get<Rows>(values.at("comm.kinds")) ==
        std::get<Rows>(before.report.facts[1].fact.value));
  CHECK(std::get<Absent>(values.at("steps.count")).reason == "no steps were found");
  CHECK(after->report.findings[0].rule == &AnyRule());
  CHECK(after->report.work_digest == before.report.work_digest);
  CHECK(after->report.findings[0].evidence[0].threshold == 0.02);
  CHECK(after->ranks[0].collectives.start == before.ranks[0].collectives.start);
  CHECK(after->ranks[0].collectives.end == before.ranks[0].collectives.end);
  CHECK(after->ranks[0].collectives.bytes == before.ranks[0].collectives.bytes);
  CHECK(after->ranks[0].collectives.bare_end == before.ranks[0].collectives.bare_end);
  CHECK(after->ranks[0].groups[0].ranks == std::vector<int>{0, 3});
  CHECK(after->ranks[0].steps[1].time.compute == 300);
}

TEST_CASE("a flipped byte is found by the checksum") {
  const Place place;
  REQUIRE(WriteFactsFile(Sample(), place.path()));
  {
    SQLite::Database db(place.path(), SQLite::OPEN_READWRITE);
    db.exec(
        "update sections set content = x'00' || substr(content, 2) || x'01' "
        "where name = 'summary'");
  }
  const auto read = ReadFactsFile(place.path(), Known());
  REQUIRE_FALSE(read);
  CHECK(read.error().Line().find("the section \"summary\" is damaged") != std::string::npos);
}

TEST_CASE("a cut file gives one line, or all that was in it where only padding is gone") {
  const Place place;
  REQUIRE(WriteFactsFile(Sample(), place.path()));
  const auto size = std::filesystem::file_size(place.path());
  for (const double part : {0.9, 0.6, 0.3, 0.1}) {
    std::filesystem::resize_file(place.path(),
                                 static_cast<std::uintmax_t>(part * static_cast<double>(size)));
    const auto read = ReadFactsFile(place.path(), Known());
    INFO(part);
    if (part < 0.9) REQUIRE_FALSE(read);
    if (read) {
      CHECK(Encode(*read) == Encode(Sample()));
    } else {
      CHECK(read.error().Line().find('\n') == std::string::npos);
    }
  }
}

TEST_CASE("a file of a later version is refused only when it says so") {
  const Place place;
  REQUIRE(WriteFactsFile(Sample(), place.path()));
  {
    SQLite::Database db(place.path(), SQLite::OPEN_READWRITE);
    db.exec(
        "update meta set value = '1000' where name = 'format';"
        "insert into sections values ('something new', 0, x'');"
        "create table another (x)");
  }
  CHECK(ReadFactsFile(place.path(), Known()));
  {
    SQLite::Database db(place.path(), SQLite::OPEN_READWRITE);
    db.exec("update meta set value = '1000' where name = 'reads_from'");
  }
  const auto read = ReadFactsFile(place.path(), Known());
  REQUIRE_FALSE(read);
  CHECK(read.error().Line().find("later version") != std::string::npos);
}

TEST_CASE("a file of the format before is refused in one line that says what to do") {
  const Place place;
  REQUIRE(WriteFactsFile(Sample(), place.path()));
  {
    SQLite::Database db(place.path(), SQLite::OPEN_READWRITE);
    db.exec("update meta set value = '2' where name in ('format', 'reads_from')");
  }
  const auto read = ReadFactsFile(place.path(), Known());
  REQUIRE_FALSE(read);
  CHECK(read.error().Line().find("earlier version of advise (format 2") != std::string::npos);
  CHECK(read.error().Line().find("advise facts REPORT -o run.facts") != std::string::npos);
}

TEST_CASE("notes keep what they are about, and those of format 4 are read without") {
  SavedReport saved = Sample();
  saved.report.read_with_care = {{Care::kNoSteps, "no steps were found"}};
  nlohmann::json json = SummaryToJson(saved);
  std::vector<std::string> unknown;
  CHECK(HasCare(SummaryFromText(json.dump(), Known(), &unknown).report, Care::kNoSteps));
  json["report"]["read_with_care"] = {"no steps were found"};
  const Report old = SummaryFromText(json.dump(), Known(), &unknown).report;
  REQUIRE(old.read_with_care.size() == 1);
  CHECK(old.read_with_care[0].text == "no steps were found");
  CHECK(old.read_with_care[0].care == Care::kOther);
}

TEST_CASE("fields of another type are refused, names and fields of a later version are not") {
  const nlohmann::json json = SummaryToJson(Sample());
  std::vector<std::string> unknown;
  const auto read = [&](auto change) {
    nlohmann::json changed = json;
    change(changed);
    return SummaryFromText(changed.dump(), Known(), &unknown);
  };
  using Json = nlohmann::json&;
  CHECK_NOTHROW(read([](Json) {}));
  CHECK_THROWS_AS(read([](Json j) { j["report"] = 3; }), BadSummary);
  CHECK_THROWS_AS(read([](Json j) { j.erase("verdicts"); }), BadSummary);
  CHECK_THROWS_AS(read([](Json j) { j["report"]["step_count"] = "many"; }), BadSummary);
  CHECK_THROWS_AS(read([](Json j) { j["report"]["step_count"] = 1e30; }), BadSummary);
  CHECK_THROWS_AS(read([](Json j) { j["report"]["healthy"] = 1; }), BadSummary);
  CHECK_THROWS_AS(read([](Json j) { j["report"]["window"]["mode"] = nullptr; }), BadSummary);
  CHECK_THROWS_AS(read([](Json j) { j["ranks"][0]["kernels"][0] = {"gemm", 4}; }), BadSummary);
  CHECK_THROWS_AS(read([](Json j) { j["facts"]["number"]["values"] = {}; }), BadSummary);
  CHECK_THROWS_AS(read([](Json j) { j["facts"]["rows"]["values"][0]["cells"][0] = true; }),
                  BadSummary);
  CHECK_THROWS_AS(SummaryFromText(json.dump() + "}", Known(), &unknown), BadSummary);
  CHECK_THROWS_AS(SummaryFromText("", Known(), &unknown), BadSummary);

  const SavedReport later = read([](Json j) {
    j["report"]["of_later"] = {1, 2};
    j["report"].erase("step_count");
    j["findings"][0]["severity"] = "dire";
    j["ranks"][0]["kernels"][0].push_back("of later");
  });
  CHECK(later.report.step_count == 0);
  CHECK(later.report.findings[0].severity == Severity::kInfo);
  CHECK(later.ranks[0].kernels[0].median == 150);
}

TEST_CASE("what is no number is kept as 0, and every kind of fact comes back") {
  SavedReport saved = Sample();
  const auto fact = [](const char* name, const char* unit, Value value) {
    NamedFact made{InfoOf(name, unit, "x"), {}};
    made.fact.value = std::move(value);
    return made;
  };
  auto spans = std::make_shared<Spans>();
  spans->by_device.push_back(IntervalSet::Of({{10, 30}, {50, 55}}));
  saved.report.facts = {
      fact("window.time", "ns", std::numeric_limits<double>::quiet_NaN()),
      fact("capture.has_calls", "flag", true), fact("steps.source", "name", std::string("range")),
      fact("copy.exposed", "spans", std::shared_ptr<const Spans>(std::move(spans)))};
  const auto read = Decode(Encode(saved), Known(), "x.facts");
  REQUIRE(read);
  std::map<std::string, Value> values;
  for (const NamedFact& one : read->report.facts) values[one.info->name] = one.fact.value;
  CHECK(std::get<double>(values.at("window.time")) == 0);
  CHECK(std::get<bool>(values.at("capture.has_calls")));
  CHECK(std::get<std::string>(values.at("steps.source")) == "range");
  CHECK(std::get<std::shared_ptr<const Spans>>(values.at("copy.exposed"))->Total() == 25);
}

TEST_CASE("findings of unknown rules are left out, and said so") {
  Vocabulary known = Known();
  known.find_rule = [](const std::string&) { return nullptr; };
  const auto read = Decode(Encode(Sample()), known, "x.facts");
  REQUIRE(read);
  CHECK(read->report.findings.empty());
  REQUIRE(read->report.diagnostics.size() == 1);
  CHECK(read->report.diagnostics[0].text.find("transfer/pageable-copy") != std::string::npos);
}

TEST_CASE("messages between processes hold the same, and a cut one is noticed") {
  const Sections sections = Encode(Sample());
  const std::string packed = Pack(sections);
  REQUIRE(Unpack(packed));
  CHECK(*Unpack(packed) == sections);
  CHECK_FALSE(Unpack(packed.substr(0, packed.size() - 1)));
  CHECK_FALSE(Unpack("nonsense"));
  for (const char* size :
       {":", "x:", "-1:", "1x:", "99999999999999999999:", "18446744073709551615:"}) {
    INFO(size);
    CHECK_FALSE(Unpack(size + packed.substr(packed.find(':') + 1)));
  }
  CHECK_FALSE(Unpack("0:"));  // not even a number of sections
  NumberWriter head;          // a name longer than any message
  for (const std::int64_t number : {1, -1, 1}) head.Put(number);
  CHECK_FALSE(Unpack(std::to_string(head.bytes().size()) + ":" + head.bytes() + "name"));
}

}  // namespace
}  // namespace advise
