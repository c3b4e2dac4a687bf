// Facts of GPU metric samples: what they speak of, and what rules may claim by them.
#include "tests/facts/runs.h"

namespace advise {
namespace {

Series Sampled(std::uint32_t device, double percent, int samples) {
  Series series;
  series.name = "SM Issue";
  series.unit = "percent";
  series.device = device;
  for (int i = 1; i <= samples; ++i) {
    series.time.push_back(i * 10_us);
    series.value.push_back(percent);
  }
  return series;
}

TEST_CASE("what samples of compute may claim is the compute time of the devices with samples") {
  Trace trace = TrainingRun(2).Build();
  const auto facts_of = [&] {
    AnalysisOptions options;
    options.window.mode = WindowRequest::Mode::kAll;
    const Analysis analysis(trace, ShippedKnowledge(), options);
    return MakeFacts(analysis, Cluster(SummarizeRanks(analysis), analysis.run.knowledge));
  };
  CHECK(IsAbsent(*facts_of(), "sample.compute.lost"));
  trace.gpu_series.push_back(Sampled(1, 20, 4000));
  const auto facts = facts_of();
  CHECK(Number(*facts, "sample.compute.sm_issue") == Approx(0.2));
  const auto spans =
      std::get<std::shared_ptr<const Spans>>(facts->Find("sample.compute.lost")->value);
  // A step computes for 785 us, forward, and 585 us, backward.
  CHECK(spans->by_device[0].Total() == 0);
  CHECK(spans->by_device[1].Total() == 10 * (785_us + 585_us));
}

}  // namespace
}  // namespace advise
