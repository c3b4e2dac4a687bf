// SARIF 2.1.0, checked against what the standard demands of each object that is written.
#include "engine/report/sarif.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/report/sample_report.h"
#include "tests/report/views_sample.h"

namespace advise {
namespace {

using Json = nlohmann::json;

// What is wrong with an object: a key that the standard does not know here, or one that it demands
// and that is missing.
void CheckKeys(const Json& object, const std::string& where, const std::set<std::string>& demanded,
               const std::set<std::string>& known) {
  INFO(where << ": " << object.dump().substr(0, 200));
  REQUIRE(object.is_object());
  for (const std::string& key : demanded) {
    INFO("demanded: " << key);
    CHECK(object.contains(key));
  }
  for (const auto& [key, value] : object.items()) {
    INFO("unknown: " << key);
    CHECK((demanded.contains(key) || known.contains(key)));
  }
}

void CheckMessage(const Json& message) {
  CheckKeys(message, "message", {"text"}, {"markdown", "arguments", "id", "properties"});
  CHECK_FALSE(message["text"].get<std::string>().empty());
}

void CheckUri(const Json& uri) {
  INFO(uri);
  for (const char c : uri.get<std::string>()) {
    CHECK((std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string("-._~:/?#[]@!$&'()*+,;=%").find(c) != std::string::npos));
  }
}

void CheckSarif(const Json& log) {
  CheckKeys(log, "log", {"version", "runs"}, {"$schema", "properties"});
  CHECK(log["version"] == "2.1.0");
  REQUIRE(log["runs"].size() == 1);
  const Json& run = log["runs"][0];
  CheckKeys(run, "run", {"tool"},
            {"invocations", "artifacts", "results", "columnKind", "properties"});
  CheckKeys(run["tool"], "tool", {"driver"}, {});
  const Json& driver = run["tool"]["driver"];
  CheckKeys(driver, "driver", {"name"}, {"version", "rules", "informationUri"});
  std::set<std::string> ids;
  for (const Json& rule : driver["rules"]) {
    CheckKeys(
        rule, "rule", {"id"},
        {"shortDescription", "fullDescription", "help", "defaultConfiguration", "properties"});
    CheckMessage(rule["shortDescription"]);
    CheckMessage(rule["fullDescription"]);
    CheckMessage(rule["help"]);
    CHECK(ids.insert(rule["id"].get<std::string>()).second);
    CheckKeys(rule["defaultConfiguration"], "configuration", {}, {"level", "enabled", "rank"});
    const Json& tags = rule["properties"]["tags"];
    const std::set<std::string> unique = tags;
    CHECK(unique.size() == tags.size());
  }
  for (const Json& invocation : run["invocations"]) {
    CheckKeys(invocation, "invocation", {"executionSuccessful"}, {"toolExecutionNotifications"});
    for (const Json& note : invocation["toolExecutionNotifications"]) {
      CheckKeys(note, "notification", {"message"}, {"level"});
      CheckMessage(note["message"]);
    }
  }
  for (const Json& artifact : run["artifacts"]) {
    CheckKeys(artifact, "artifact", {}, {"location", "roles", "description"});
    CheckUri(artifact["location"]["uri"]);
  }
  const std::set<std::string> levels = {"none", "note", "warning", "error"};
  for (const Json& result : run["results"]) {
    CheckKeys(result, "result", {"message"},
              {"ruleId", "ruleIndex", "kind", "level", "locations", "partialFingerprints", "rank",
               "properties"});
    CheckMessage(result["message"]);
    CHECK(levels.contains(result["level"].get<std::string>()));
    // The standard: a result that is no failure has the level "none".
    if (result["kind"] != "fail") CHECK(result["level"] == "none");
    CHECK(driver["rules"].at(result["ruleIndex"].get<std::size_t>())["id"] == result["ruleId"]);
    CHECK(result["rank"].get<double>() >= 0);
    CHECK(result["rank"].get<double>() <= 100);
    for (const auto& print : result["partialFingerprints"]) CHECK(print.is_string());
    for (const Json& location : result["locations"]) {
      CheckKeys(location, "location", {}, {"physicalLocation", "logicalLocations"});
      const Json& physical = location["physicalLocation"];
      CheckKeys(physical, "physical location", {"artifactLocation"}, {"region"});
      CheckUri(physical["artifactLocation"]["uri"]);
      for (const char* field : {"startLine", "startColumn", "endLine", "endColumn"}) {
        CHECK(physical["region"][field].get<int>() >= 1);
      }
    }
  }
}

TEST_CASE("the log has what SARIF demands and nothing that it does not know") {
  const auto sample = MakeSampleReport();
  CheckSarif(Json::parse(RenderSarif(sample->report)));
  sample->report.views = SampleViews();
  CheckSarif(Json::parse(RenderSarif(sample->report)));
  CheckSarif(Json::parse(RenderSarif(Report())));
}

TEST_CASE("a finding is a result of its rule, with its level, saving and words") {
  const auto sample = MakeSampleReport();
  const Json run = Json::parse(RenderSarif(sample->report))["runs"][0];
  REQUIRE(run["results"].size() == 4);
  const Json& upload = run["results"][0];
  CHECK(upload["ruleId"] == "transfer/repeated-upload");
  CHECK(upload["level"] == "error");
  CHECK(upload["rank"] == Approx(92.78));
  CHECK(upload["properties"]["saving_seconds"] == 0.9);
  CHECK(upload["message"]["text"].get<std::string>().find("Saves up to 0.90 s of 0.97 s") !=
        std::string::npos);
  CHECK(run["results"][1]["level"] == "warning");
  CHECK(run["results"][3]["level"] == "none");
}

TEST_CASE("a source line is a physical location") {
  const auto sample = MakeSampleReport();
  sample->report.views = SampleViews();
  const Json run = Json::parse(RenderSarif(sample->report))["runs"][0];
  const Json& location = run["results"][0]["locations"][0];
  CHECK(location["physicalLocation"]["artifactLocation"]["uri"] == "train.py");
  CHECK(location["physicalLocation"]["region"]["startLine"] == 12);
  CHECK(location["logicalLocations"][0]["name"] == "load");
}

// What GitHub demands beyond the standard; it refuses a whole file for one result that lacks it.
TEST_CASE("GitHub takes the log: places, words and fingerprints of every result") {
  const auto sample = MakeSampleReport();
  const auto check = [](const Json& run) {
    CHECK_FALSE(run["tool"]["driver"]["name"].get<std::string>().empty());
    for (const Json& rule : run["tool"]["driver"]["rules"]) {
      CHECK(rule["shortDescription"]["text"].get<std::string>().size() <= 1024);
      CHECK(rule["fullDescription"]["text"].get<std::string>().size() <= 1024);
      CHECK_FALSE(rule["help"]["text"].get<std::string>().empty());
      CHECK(rule["defaultConfiguration"]["level"] != "none");
      CHECK(rule["properties"]["tags"].size() <= 20);
    }
    std::set<std::string> prints;
    for (const Json& result : run["results"]) {
      CHECK(result["locations"].size() >= 1);
      CHECK(result["locations"].size() <= 10);
      CHECK_FALSE(result["message"]["text"].get<std::string>().empty());
      prints.insert(result["partialFingerprints"]["primaryLocationLineHash"].get<std::string>());
    }
    CHECK(prints.size() == run["results"].size());
  };
  const Json run = Json::parse(RenderSarif(sample->report))["runs"][0];
  check(run);
  // Without a source line: the report that shows it.
  const Json& place = run["results"][0]["locations"][0]["physicalLocation"];
  CHECK(place["artifactLocation"]["uri"] == run["artifacts"][0]["location"]["uri"]);
  CHECK(place["region"]["startLine"] == 1);
  sample->report.views = SampleViews();
  check(Json::parse(RenderSarif(sample->report))["runs"][0]);
}

TEST_CASE("paths become addresses") {
  CHECK(PathUri("src/train.py") == "src/train.py");
  CHECK(PathUri("/home/a b/x.py") == "file:///home/a%20b/x.py");
  CHECK(PathUri("C:\\x#1.py") == "C%3A/x%231.py");
  CHECK(PathUri("ä") == "%C3%A4");
}

}  // namespace
}  // namespace advise
