// What a run did, counted by hand.
#include "engine/facts/rows.h"
#include "tests/facts/runs.h"

namespace advise {
namespace {

const Rows& Table(const Facts& facts, const std::string& name) {
  const Fact* fact = facts.Find(name);
  INFO(name);
  REQUIRE(fact != nullptr);
  REQUIRE(std::holds_alternative<Rows>(fact->value));
  return std::get<Rows>(fact->value);
}

double Cell(const Row& row, const std::string& column) {
  for (const auto& [name, cell] : row) {
    if (name == column) return std::get<double>(cell);
  }
  FAIL("no column " << column);
  return 0;
}

TEST_CASE("ten training steps on two ranks: kernels, uploads, collectives, the driving thread") {
  const Analyzed run(TrainingRun(2));
  const auto facts = FactsOf(run);
  CHECK(Number(*facts, "gemm.fp32.count") == 20);
  CHECK(Number(*facts, "gemm.half.count") == 20);
  CHECK(Number(*facts, "gemm.count") == 40);
  CHECK(Number(*facts, "collective.allreduce.count") == 20);
  CHECK(Number(*facts, "collective.allreduce.per_step") == Approx(1));
  CHECK(Number(*facts, "collective.allreduce.time") == Approx(10 * 400e3));
  CHECK(Number(*facts, "collective.allreduce.overlap") == 0);
  CHECK(Number(*facts, "collective.allgather.count") == 0);
  CHECK(IsAbsent(*facts, "collective.allgather.overlap"));
  CHECK(Text(*facts, "work.upload_memory") == "pageable");
  CHECK(Number(*facts, "work.upload_bytes") == Approx(2.0 * (1 << 20)));
  const Rows& uploads = Table(*facts, "work.uploads");
  REQUIRE(uploads.size() == 1);
  CHECK(Cell(uploads[0], "count") == 20);
  CHECK(Cell(uploads[0], "bytes") == 2.0 * (1 << 20));
  CHECK(Text(*facts, "launch.thread") == "main");
  CHECK(Text(*facts, "work.top_class") == "matrix");
  const Rows& kernels = Table(*facts, "work.kernels");
  REQUIRE(kernels.size() == 3);  // collectives are no work of the program's own
  CHECK(Cell(kernels[0], "count") == 20);
  CHECK(Cell(kernels[0], "time") == Approx(20 * 685e3));
}

TEST_CASE("a run without kernels, ranges or samples says what it does not know") {
  const Analyzed run{TraceBuilder()};
  const auto facts = FactsOf(run);
  for (const char* name : {"work.top_class", "work.steps", "work.upload_memory", "launch.thread",
                           "phase.rows", "phase.forward.gpu", "link.kind", "nic.rate"}) {
    CHECK(IsAbsent(*facts, name));
  }
}

TEST_CASE("rows of many steps keep their mean, where every 240th is slow") {
  std::vector<TimedStep> steps;
  double sum = 0;
  for (std::size_t i = 0; i < 3'605; ++i) {
    steps.push_back({i, i % 240 == 239 ? 5'600e3 : 150e3, i % 240 == 239});
    sum += steps.back().time;
  }
  const Rows rows = StepRows(steps);
  CHECK(rows.size() == 450);
  double mean = 0;
  for (const Row& row : rows) mean += Cell(row, "time") / 450;
  CHECK(mean == Approx(sum / 3'605).epsilon(0.01));
  CHECK(Cell(rows[29], "outlier") == 1);
  CHECK(Cell(rows[28], "outlier") == 0);
  steps.resize(500);
  CHECK(StepRows(steps).size() == 500);
  CHECK(StepRows({}).empty());
}

TEST_CASE("one run alone knows nothing of scaling") {
  const Analyzed run(TrainingRun(1));
  const auto facts = FactsOf(run);
  CHECK(Number(*facts, "scale.runs") == 1);
  CHECK(IsAbsent(*facts, "scale.efficiency"));
}

}  // namespace
}  // namespace advise
