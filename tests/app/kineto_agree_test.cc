// One simulated run, written as an Nsight Systems export and as a PyTorch trace, at no cost of the
// profiler: the program must say the same of both.
#include <catch2/catch.hpp>

#include "tests/app/json.h"
#include "tests/app/program.h"
#include "tests/app/simulated.h"
#include "tests/support/schema.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

// Of every area whose cause both formats record. (A PyTorch trace holds no OS calls, no migrations
// of unified memory, and one process.)
constexpr std::array kScenarios = {
    "healthy/cnn-a100",
    "healthy/transformer-a100-no-ranges",
    "healthy/tiny-kernels-full-queue",
    "host/jit-in-loop-transformer",
    "input/no-workers-cnn-a100",
    "input/too-few-workers-cnn-a100",
    "kernel/unfused-attention-a100",
    "kernel/small-grid-transformer",
    "launch/bound-small-a100",
    "memory/leak-transformer",
    "memory/alloc-in-loop-transformer",
    "precision/fp32-gemm-transformer-a100",
    "precision/repeated-cast-transformer",
    "step/checkpoint-every-five",
    "sync/item-transformer-a100",
    "sync/default-stream-stencil",
    "transfer/pageable-batch-cnn-a100",
    "transfer/many-small-copies-recommender",
};

constexpr std::array kParts = {"compute_ns", "comm_exposed_ns", "copy_exposed_ns",
                               "memset_exposed_ns", "idle_ns"};

Json ReportOf(const Folder& folder, const std::string& scenario, const std::string& format,
              const std::string& options = "") {
  const std::string file = format == "kineto" ? "run.pt.trace.json" : "run.sqlite";
  Simulate(folder, "scenarios/" + scenario, "-o " + file + " --event-us 0 --format " + format);
  const Ran ran = RunAdvise(folder, file + " --format json --facts" + options);
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  return ParseJson(ran.out);
}

// The first finding above info; "" when there is none.
std::string First(const Json& report) {
  for (const Json& finding : report["findings"]) {
    if (finding["severity"] != "info") return finding["rule"].get<std::string>();
  }
  return "";
}

double Share(const Json& report, const char* part, std::size_t device = 0) {
  const Json& budget = report["devices"][device]["budget"];
  return budget[part].get<double>() / budget["window_ns"].get<double>();
}

}  // namespace

TEST_CASE("the same run gives the same budget and the same first finding in both formats") {
  const Folder folder;
  for (const char* scenario : kScenarios) {
    INFO(scenario);
    const Json nsys = ReportOf(folder, scenario, "nsys");
    const Json kineto = ReportOf(folder, scenario, "kineto");
    CHECK(SchemaProblems(kineto) == std::vector<std::string>());
    REQUIRE(nsys["devices"].size() == 1);
    REQUIRE(kineto["devices"].size() == 1);
    for (const char* part : kParts) {
      INFO(part);
      CHECK(std::abs(Share(nsys, part) - Share(kineto, part)) < 0.01);
    }
    CHECK(First(kineto) == First(nsys));
  }
}

// Jobs of several ranks, one file a rank in either format.
TEST_CASE("ranks of a job give the same in both formats") {
  for (const char* scenario :
       {"rank/straggler-compute-x4", "rank/idle-device-x4", "comm/serial-sync-a100-x2",
        "comm/small-messages-l4-x2", "input/too-few-workers-ddp-a100"}) {
    INFO(scenario);
    const Folder folder;
    std::array<Json, 2> reports;
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string format = i == 0 ? "nsys" : "kineto";
      Simulate(folder, std::string("scenarios/") + scenario,
               "--event-us 0 --per-rank " + format + " --format " + format);
      const Ran ran = RunAdvise(folder, format + " --format json --facts");
      INFO(ran.err);
      REQUIRE(ran.status == 0);
      reports[i] = ParseJson(ran.out);
    }
    REQUIRE(reports[0]["devices"].size() == reports[1]["devices"].size());
    for (std::size_t d = 0; d < reports[0]["devices"].size(); ++d) {
      for (const char* part : kParts) {
        INFO(part << " of rank " << d);
        CHECK(std::abs(Share(reports[0], part, d) - Share(reports[1], part, d)) < 0.01);
      }
    }
    CHECK(First(reports[0]) == First(reports[1]));
  }
}

// Where the first finding differs, one format records what the other cannot:
// docs/validation-formats.md.
TEST_CASE("what only one format records is found in that one alone, and the budget is the same") {
  struct Differs {
    const char* scenario;
    const char* nsys;
    const char* kineto;
  };
  const Folder folder;
  for (const Differs& one : {
           Differs{"host/lock-contention-transformer", "host/lock-contention", "host/cpu-bound"},
           Differs{"input/no-prefetch-cnn", "input/no-prefetch", "input/too-few-workers"},
           Differs{"input/storage-bound-cnn", "input/storage-bound", "input/starved"},
           Differs{"input/no-workers-no-os-calls", "input/starved", "input/no-workers"},
           Differs{"input/starved-feed-thread-no-ranges", "input/starved", "host/cpu-bound"},
           Differs{"transfer/managed-memory-stencil", "transfer/managed-memory-faults", ""},
       }) {
    INFO(one.scenario);
    const Json nsys = ReportOf(folder, one.scenario, "nsys");
    const Json kineto = ReportOf(folder, one.scenario, "kineto");
    CHECK(First(nsys) == one.nsys);
    CHECK(First(kineto) == one.kineto);
    for (const char* part : kParts) {
      INFO(part);
      CHECK(std::abs(Share(nsys, part) - Share(kineto, part)) < 0.01);
    }
  }
}

// Steps that nothing marks are found by their period, which may begin and end elsewhere than the
// marked ones of a PyTorch trace. In the same window the budget is the same.
TEST_CASE("in one window the budget does not depend on the format at all") {
  const Folder folder;
  for (const char* scenario :
       {"sync/device-sync-stencil-no-ranges", "sync/event-wait-chain-two-streams",
        "input/no-prefetch-transformer-h100"}) {
    INFO(scenario);
    const Json nsys = ReportOf(folder, scenario, "nsys", " --window all");
    const Json kineto = ReportOf(folder, scenario, "kineto", " --window all");
    for (const char* part : kParts) {
      INFO(part);
      CHECK(std::abs(Share(nsys, part) - Share(kineto, part)) < 0.0001);
    }
  }
}

TEST_CASE("packed and plain, the same trace gives the same report") {
  const Folder folder;
  Json plain = ReportOf(folder, "transfer/pageable-batch-cnn-a100", "kineto");
  REQUIRE(RunAdvise(folder, "-k run.pt.trace.json", "gzip").status == 0);
  const Ran ran = RunAdvise(folder, "run.pt.trace.json.gz --format json --facts");
  REQUIRE(ran.status == 0);
  Json packed = ParseJson(ran.out);
  for (Json* report : {&plain, &packed}) {
    report->erase("inputs");
    for (Json& finding : (*report)["findings"]) {
      for (Json& item : finding["evidence"]) item.erase("source");
    }
  }
  CHECK(plain == packed);
}

TEST_CASE("a PyTorch trace is checked with grep, and captured again with its own profiler") {
  const Folder folder;
  ReportOf(folder, "sync/item-transformer-a100", "kineto");
  const Ran text = RunAdvise(folder, "-v run.pt.trace.json");
  CHECK_THAT(text.out, Contains("Check  tr '\\n}' ' \\n' < run.pt.trace.json | grep '\"ts\": *"));
  CHECK_THAT(text.out, !Contains("sqlite3"));
  CHECK_THAT(text.out, Contains("prof.step()"));
}

}  // namespace advise
