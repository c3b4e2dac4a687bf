// Facts of the environment, of the parallel efficiency, and of phases: values that add up by hand.
#include "tests/facts/runs.h"

namespace advise {
namespace {

std::string TextOf(const Facts& facts, const std::string& name) {
  const Fact* fact = facts.Find(name);
  REQUIRE(fact != nullptr);
  const auto* text = std::get_if<std::string>(&fact->value);
  return text == nullptr ? "" : *text;
}

TEST_CASE("switches of the environment are facts by name, and nothing else of it is") {
  Trace trace = TraceBuilder().Kernel("gemm", {0_us, 10_us}).Build();
  trace.environment = {{"HF_TOKEN", "very-secret"},
                       {"CUDA_LAUNCH_BLOCKING", "0"},
                       {"CUDA_LAUNCH_BLOCKING", "1"},
                       {"NCCL_DEBUG", "IN\x1b[2JFO"},
                       {"WORLD_SIZE", "8"}};
  const Analysis analysis(trace, ShippedKnowledge(), {});
  const auto facts = MakeFacts(analysis, Cluster(SummarizeRanks(analysis), analysis.run.knowledge));
  CHECK(TextOf(*facts, "environment.launch_blocking") == "1");  // the last one holds
  CHECK(TextOf(*facts, "environment.nccl_debug").find('\x1b') == std::string::npos);
  CHECK(Number(*facts, "capture.world_size") == 8);
  REQUIRE(IsAbsent(*facts, "environment.omp_threads"));
  CHECK(std::get<Absent>(facts->Find("environment.omp_threads")->value).reason ==
        "OMP_NUM_THREADS is not set");
  for (const FactInfo& info : FactList(ShippedKnowledge())) {
    const auto* text = std::get_if<std::string>(&facts->Find(info.name)->value);
    INFO(info.name);
    if (text != nullptr) CHECK(text->find("very-secret") == std::string::npos);
  }
}

TEST_CASE("what only sounds like a key is none") {
  Trace trace = TraceBuilder().Kernel("gemm", {0_us, 10_us}).Build();
  trace.environment = {{"TIKTOKEN_CACHE_DIR", "cache"},   {"TOKENIZERS_PARALLELISM", "false"},
                       {"AWS_SECRET_ACCESS_KEY", "this"}, {"HF_TOKEN_PATH", "where"},
                       {"GITHUB_TOKEN", "that"},          {"HF_TOKEN", ""}};
  const Analysis analysis(trace, ShippedKnowledge(), {});
  const auto facts = MakeFacts(analysis, Cluster(SummarizeRanks(analysis), analysis.run.knowledge));
  CHECK(TextOf(*facts, "capture.secret_names") == "AWS_SECRET_ACCESS_KEY, GITHUB_TOKEN");
}

TEST_CASE("MPI's launchers tell the size of a job, too") {
  for (const char* name :
       {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    INFO(name);
    Trace trace = TraceBuilder().Kernel("stencil", {0_us, 10_us}).Build();
    trace.environment = {{name, "8"}};
    const Analysis analysis(trace, ShippedKnowledge(), {});
    const auto facts =
        MakeFacts(analysis, Cluster(SummarizeRanks(analysis), analysis.run.knowledge));
    CHECK(Number(*facts, "capture.world_size") == 8);
  }
}

TEST_CASE("without an environment no switch is known") {
  const Analyzed run(TraceBuilder().Kernel("gemm", {0_us, 10_us}));
  const auto facts = FactsOf(run);
  CHECK(std::get<bool>(facts->Find("environment.recorded")->value) == false);
  CHECK(IsAbsent(*facts, "environment.launch_blocking"));
  CHECK(IsAbsent(*facts, "capture.world_size"));
}

TEST_CASE("the parallel efficiency is the product of its factors") {
  // GPU 0 computes 100 us of 200 us and copies 50 us; GPU 1 computes 50 us.
  TraceBuilder story;
  story.Kernel("gemm", {0_us, 100_us});
  story.CopyToGpu(1_MiB, MemoryKind::kPinned, {100_us, 105_us}, {110_us, 160_us});
  story.OnDevice(1).Kernel("gemm", {150_us, 200_us});
  const Analyzed run(story);
  const auto facts = FactsOf(run);
  CHECK(Number(*facts, "efficiency.parallel") == Approx(150.0 / 400));
  CHECK(Number(*facts, "efficiency.balance") == Approx(0.75));
  CHECK(Number(*facts, "efficiency.communication") == Approx(100.0 / 150));
  CHECK(Number(*facts, "efficiency.orchestration") == Approx(150.0 / 200));
  CHECK(Number(*facts, "efficiency.parallel") ==
        Approx(Number(*facts, "efficiency.balance") * Number(*facts, "efficiency.communication") *
               Number(*facts, "efficiency.orchestration")));
}

TEST_CASE("idle time inside a checkpoint range is the phase's, and is gone without it") {
  TraceBuilder story;
  for (int i = 0; i < 10; ++i) {
    const Nanos at = i * 1_ms;
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 110_us});
    if (i % 5 == 2) story.Range("save_checkpoint", {at + 200_us, at + 800_us});
  }
  const Analyzed run(story);
  const auto facts = FactsOf(run);
  CHECK(Number(*facts, "phase.checkpoint.count") == 2);
  CHECK(Lost(*facts, "phase.checkpoint.lost") == 2 * 600_us);
  CHECK(Lost(*facts, "phase.logging.lost") == 0);
}

TEST_CASE("the phase with most idle time is named, and time outside of all phases is unnamed") {
  const auto most_idle = [](Interval forward) {
    TraceBuilder story;
    for (int i = 0; i < 10; ++i) {
      const Nanos at = i * 1_ms;
      story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 110_us});
      story.Range("forward", {at + forward.start, at + forward.end});
    }
    const Analyzed run(story);
    return Text(*FactsOf(run), "phase.most_idle");
  };
  CHECK(most_idle({120_us, 990_us}) == "forward");
  CHECK(most_idle({120_us, 220_us}) == "unnamed");
}

}  // namespace
}  // namespace advise
