// `advise scrub` of PyTorch traces: planted secrets are nowhere in the copy, whatever the file's
// shape, and the diagnosis is the same.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/app/capture_runs.h"
#include "tests/app/find_capture.h"
#include "tests/app/json.h"
#include "tests/app/program.h"
#include "tests/app/simulated.h"
#include "tests/support/schema.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

const std::vector<std::string> kTraceSecrets = {"gpu-node-42",
                                                "erika",
                                                "mustermann-project",
                                                "ghp_abcdefghijklmnopqrstuvwxyz0123",
                                                "hunter2\\u002d",
                                                "hunter2-is",
                                                "very-private",
                                                "weights_of",
                                                "10.20.30.40",
                                                "team-secret",
                                                "/home/",
                                                "\\/home"};

std::string SimulatedTrace(const Folder& folder, const std::string& scenario) {
  Simulate(folder, "scenarios/" + scenario, "-o run.json --format kineto");
  return ReadAll(folder / "run.json");
}

// What a diagnosis says, without the names of files.
constexpr const char* kVerdicts = " --format json --facts";
Json VerdictsIn(const Ran& ran) {
  const Json json = ParseJson(ran.out);
  Json said;
  for (const Json& finding : json["findings"]) {
    said["findings"].push_back(
        {finding["rule"], finding["severity"], finding["saving"], finding["confidence"]});
  }
  for (const char* part : {"devices", "window", "not_checked", "healthy"}) said[part] = json[part];
  for (const auto& [name, fact] : json["facts"].items()) {
    if (fact["unit"] != "name" && !name.starts_with("capture.secret")) {
      said["facts"][name] = fact["value"];
    }
  }
  return said;
}
Json VerdictsOf(const Folder& folder, const std::string& report) {
  const Ran ran = RunAdvise(folder, report + kVerdicts);
  INFO(report << ": " << ran.err);
  REQUIRE(ran.status == 0);
  return VerdictsIn(ran);
}

// Events that hold secrets in every place, put in front of those of the trace.
std::string Planted(const std::string& trace) {
  const std::string events = R"(
  {"ph": "M", "name": "process_name", "pid": 4242, "tid": 0, "ts": 0, "args": {"name": "python /home/erika/mustermann-project/very-private.py"}},
  {"ph": "X", "cat": "user_annotation", "name": "load \/home\/erika\/mustermann-project\/weights_of.bin token=ghp_abcdefghijklmnopqrstuvwxyz0123", "pid": 4242, "tid": 1, "ts": 1, "dur": 1},
  {"ph": "X", "cat": "cpu_op", "name": "on gpu-node-42 \u0065rika 10.20.30.40", "pid": 4242, "tid": 1, "ts": 3, "dur": 1, "args": {"Concrete Inputs": ["/home/erika/x"], "note of erika": "erika", "Process Group Description": "gpu-node-42 group"}},
  {"ph": "X", "cat": "python_function", "name": "/home/erika/mustermann-project/very-private.py(12): train_step", "pid": 4242, "tid": 1, "ts": 5, "dur": 1, "args": {"Python id": 1}},
  {"ph": "X", "cat": "python_function", "name": "very-private.py(13): inner", "pid": 4242, "tid": 1, "ts": 5, "dur": 1, "args": {"Python id": 2}},
  {"ph": "X", "cat": "python_function", "name": "/home/erika/env/lib/python3.10/site-packages/torch/nn/modules/module.py(1501): _call_impl", "pid": 4242, "tid": 1, "ts": 5, "dur": 1},
  {"ph": "X", "cat": "python_function", "name": "/data/pytorch/mustermann-project/very-private.py(3): f", "pid": 4242, "tid": 1, "ts": 5, "dur": 1},
  {"ph": "X", "cat": "python_function", "name": "/opt/site-packages/mustermann-project/very-private.py(4): f", "pid": 4242, "tid": 1, "ts": 5, "dur": 1},
  {"ph": "X", "cat": "erika's category", "name": "n", "pid": "erika", "tid": "gpu-node-42", "ts": 7, "dur": 1},
  {"ph": "i", "cat": "cpu_instant_event", "name": "say \"hunter2-is-not-it\" \\ twice", "pid": 4242, "tid": 1, "ts": 8, "s": "t"},
)";
  const std::string header = R"(
  "hostname": "gpu-node-42", "username": "erika", "DB_PASSWORD": "hunter2-is-not-it",
  "traceName": "/home/erika/mustermann-project/trace.json", "mast_job": "team-secret",
  "author": "volta_sgemm", "node_type": "data_worker", "owner": "python", "pad_token": "aten::add",
  "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1, "master": "10.20.30.40", "path of erika": "/home/erika/a/b"},)";
  std::string planted = trace;
  const std::size_t start = planted.find('{') + 1;
  planted.insert(start, header);
  const std::size_t at = planted.find('[', planted.find("\"traceEvents\"")) + 1;
  planted.insert(at, events);
  return planted;
}

TEST_CASE("a scrubbed PyTorch trace holds no planted secret and gives the same diagnosis") {
  const Folder folder;
  const std::string trace = Planted(SimulatedTrace(folder, "input/no-workers-cnn-a100"));
  folder.Write("run.json", trace);
  const std::string packed = GENERATE("clean.json", "clean.json.gz");
  Ran ran = RunAdvise(folder, "scrub run.json -o " + packed + " --format json");
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  const Json summary = ParseJson(ran.out);
  CHECK(SchemaProblems(summary, "scrub") == std::vector<std::string>());
  CHECK(summary["replaced"]["hosts"] == 1);
  CHECK(summary["replaced"]["users"] == 1);
  CHECK(summary["events"]["broken"] == 0);
  if (packed.ends_with(".gz")) {
    CHECK(ReadAll(folder / packed).starts_with("\x1f\x8b"));
    REQUIRE(RunAdvise(folder, "-k " + packed, "gunzip").status == 0);
  }
  const std::string clean = ReadAll(folder / "clean.json");
  for (const std::string& secret : kTraceSecrets) {
    INFO(secret);
    CHECK(clean.find(secret) == std::string::npos);
  }
  const Json json = ParseJson(clean);
  CHECK_FALSE(json.contains("username"));
  CHECK(json["distributedInfo"]["world_size"] == 1);
  CHECK_THAT(clean, Contains("site-packages/torch/nn/modules/module.py(1501): _call_impl"));
  CHECK_THAT(clean, Contains(".py(12): train_step") && Contains(".py(13): inner"));
  // What users say of themselves takes no words out of names.
  CHECK_THAT(clean, Contains("\"python"));
  CHECK(VerdictsOf(folder, "run.json") == VerdictsOf(folder, packed));
  CHECK(ReadAll(folder / "run.json") == trace);
}

TEST_CASE("PyTorch traces of every kind of fault keep their diagnosis") {
  for (const char* scenario :
       {"healthy/transformer-a100-no-ranges", "memory/leak-transformer", "launch/bound-small-a100",
        "precision/repeated-cast-transformer", "sync/item-transformer-a100"}) {
    INFO(scenario);
    const Folder folder;
    SimulatedTrace(folder, scenario);
    const Ran ran = RunAdvise(folder, "scrub run.json -o clean.json");
    INFO(ran.err);
    REQUIRE(ran.status == 0);
    CHECK(VerdictsOf(folder, "run.json") == VerdictsOf(folder, "clean.json"));
    // A scrubbed copy has nothing left to lose.
    REQUIRE(RunAdvise(folder, "scrub clean.json -o again.json").status == 0);
    CHECK(ReadAll(folder / "clean.json") == ReadAll(folder / "again.json"));
  }
}

TEST_CASE("broken and cut traces are scrubbed as far as they are read") {
  const Folder folder;
  const std::string trace = Planted(SimulatedTrace(folder, "healthy/cnn-a100"));
  std::string broken = trace;
  const std::size_t at = broken.find("\"ph\":\"X\"", broken.size() / 2);
  REQUIRE(at != std::string::npos);
  broken.replace(at, 8, "\"ph\" erika \"X");
  folder.Write("broken.json", broken);
  Ran ran = RunAdvise(folder, "scrub broken.json -o b.json --format json");
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  CHECK(ParseJson(ran.out)["events"]["broken"] > 0);
  CHECK(ReadAll(folder / "b.json").find("erika") == std::string::npos);
  CHECK(VerdictsOf(folder, "broken.json") == VerdictsOf(folder, "b.json"));
  folder.Write("cut.json", trace.substr(0, trace.size() * 2 / 3));
  ran = RunAdvise(folder, "scrub cut.json -o c.json");
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  CHECK(ReadAll(folder / "c.json").find("erika") == std::string::npos);
  CHECK(ParseJson(ReadAll(folder / "c.json"))["traceEvents"].size() > 100);
  // A bare array of events, as other writers leave it.
  const std::size_t open = trace.find('[', trace.find("\"traceEvents\""));
  const std::size_t close = trace.rfind(']');
  folder.Write("bare.json", trace.substr(open, close - open + 1));
  REQUIRE(RunAdvise(folder, "scrub bare.json -o bare-clean.json").status == 0);
  CHECK(VerdictsOf(folder, "bare.json") == VerdictsOf(folder, "bare-clean.json"));
  folder.Write("other.json", "{\"traceEvents\": []}");
  CHECK(RunAdvise(folder, "scrub other.json -o o.json").status == 3);
  CHECK_FALSE(std::filesystem::exists(folder / "o.json"));
}

// Captures of real programs are not ours to ship.
TEST_CASE("real PyTorch traces keep their diagnosis when they are scrubbed") {
  const std::vector<std::string> files = FindCaptures("kineto");
  const Folder folder;
  int scrubbed = 0;
  for (const std::string& file : files) {
    if (std::filesystem::file_size(file) >= 4'000'000) continue;
    const std::string report = "'" + file + "'";
    const Ran& before = ReportOfCapture(file);
    if (before.status != 0) continue;
    if (ParseJson(before.out)["inputs"][0]["kind"] != "kineto") continue;
    INFO(report);
    const std::string clean = "clean" + std::to_string(++scrubbed) + ".json";
    const Ran ran = RunAdvise(folder, "scrub " + report + " -o " + clean);
    INFO(ran.err);
    REQUIRE(ran.status == 0);
    CHECK(VerdictsIn(before) == VerdictsOf(folder, clean));
  }
  CHECK((files.empty() || scrubbed > 0));
}

}  // namespace
}  // namespace advise
