// What every diagnosis does most, one piece at a time: the algebra of intervals, classes of names,
// all rules, JSON in and out. scripts/bench-pieces.sh builds and runs it; it is no test.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/cluster/cluster.h"
#include "engine/cluster/summarize.h"
#include "engine/facts/catalog.h"
#include "engine/metrics/analysis.h"
#include "engine/pipeline/run_rules.h"
#include "engine/report/json.h"
#include "engine/store/summary_json.h"
#include "tests/support/dice.h"
#include "tests/support/training_story.h"

namespace advise {
namespace {

// ---- Intervals

IntervalSet RandomIntervals(std::int64_t count, std::uint32_t seed) {
  Dice dice(seed);
  std::vector<Interval> intervals;
  Nanos at = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    at += dice.Between(1, 20);
    intervals.push_back({at, at + dice.Between(1, 30)});
  }
  return IntervalSet::Of(std::move(intervals));
}

void Intersect(benchmark::State& state) {
  const IntervalSet one = RandomIntervals(state.range(0), 1);
  const IntervalSet other = RandomIntervals(state.range(0), 2);
  for (auto _ : state) benchmark::DoNotOptimize(one.Intersect(other));
  state.SetItemsProcessed(state.iterations() * 2 * state.range(0));
}
BENCHMARK(Intersect)->Arg(1'000)->Arg(1'000'000)->Unit(benchmark::kMicrosecond);

void Subtract(benchmark::State& state) {
  const IntervalSet one = RandomIntervals(state.range(0), 1);
  const IntervalSet other = RandomIntervals(state.range(0), 2);
  for (auto _ : state) benchmark::DoNotOptimize(one.Subtract(other));
  state.SetItemsProcessed(state.iterations() * 2 * state.range(0));
}
BENCHMARK(Subtract)->Arg(1'000)->Arg(1'000'000)->Unit(benchmark::kMicrosecond);

// ---- A run, read once

struct Diagnosed {
  Session session;
  Trace trace;
  std::unique_ptr<Analysis> analysis;
  std::unique_ptr<Cluster> ranks;
  std::unique_ptr<Facts> facts;
  SavedReport saved;
};

const Diagnosed& OneRun() {
  static const std::unique_ptr<Diagnosed> made = [] {
    DiagnoseOptions options;
    options.no_site = true;
    auto session = LoadSession(options);
    if (!session) {
      std::fprintf(stderr, "%s\n", session.error().front().Line().c_str());
      std::exit(1);
    }
    auto run = std::make_unique<Diagnosed>(
        Diagnosed{std::move(*session), Training(200), nullptr, nullptr, nullptr, {}});
    const Knowledge& knowledge = *run->session.knowledge;
    run->analysis = std::make_unique<Analysis>(run->trace, knowledge, AnalysisOptions{});
    run->ranks = std::make_unique<Cluster>(SummarizeRanks(*run->analysis), knowledge);
    run->facts = MakeFacts(*run->analysis, *run->ranks);
    auto saved = DiagnoseTrace(run->session, options, run->trace, {});
    if (!saved) {
      std::fprintf(stderr, "%s\n", saved.error().Line().c_str());
      std::exit(1);
    }
    run->saved = std::move(*saved);
    return run;
  }();
  return *made;
}

// ---- Names, rules, JSON

void ClassOfName(benchmark::State& state) {
  const Knowledge& knowledge = *OneRun().session.knowledge;
  const std::vector<std::string> names = {
      "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x3_tn",
      "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, float, "
      "float, at::native::MulFunctor<float> >, at::detail::Array<char*, 2> >(int)",
      "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "void my_own_kernel<float, 128>(float*, int)"};
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(knowledge.ClassifyKernel(names[i++ % names.size()]));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(ClassOfName);

void AllRules(benchmark::State& state) {
  const Diagnosed& run = OneRun();
  for (auto _ : state) {
    benchmark::DoNotOptimize(RunRules(run.session, {}, Asked::kAll, *run.facts, ""));
  }
}
BENCHMARK(AllRules)->Unit(benchmark::kMillisecond);

void ReportAsJson(benchmark::State& state) {
  const Report& report = OneRun().saved.report;
  std::size_t bytes = 0;
  for (auto _ : state) bytes += RenderJson(report).size();
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}
BENCHMARK(ReportAsJson)->Unit(benchmark::kMicrosecond);

void FactsFromJson(benchmark::State& state) {
  const Diagnosed& run = OneRun();
  const std::string text = SummaryToJson(run.saved).dump();
  const Vocabulary known = {[&](const std::string& id) { return run.session.rules.Find(id); },
                            run.session.facts};
  for (auto _ : state) benchmark::DoNotOptimize(SummaryFromText(text, known, nullptr));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(FactsFromJson)->Unit(benchmark::kMicrosecond);

void StartUp(benchmark::State& state) {
  DiagnoseOptions options;
  options.no_site = true;
  for (auto _ : state) benchmark::DoNotOptimize(LoadSession(options));
}
BENCHMARK(StartUp)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace advise

BENCHMARK_MAIN();
