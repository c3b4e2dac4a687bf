// The line of the program that a finding's worst example comes from.
#include <catch2/catch.hpp>

#include "engine/advice/views.h"
#include "tests/support/analyzed.h"

namespace advise {
namespace {

struct Frame {
  const char* name;
  Nanos start;
  Nanos end;
};

// A gap from 20 to 80 us in which `frames` were open on the launching thread; a finding claims it.
std::vector<FindingSource> SourcesOf(const std::vector<Frame>& frames,
                                     Interval claimed = {20_us, 80_us}) {
  Trace trace = TraceBuilder()
                    .Launch("a", {0, 5_us}, {10_us, 20_us})
                    .Launch("b", {70_us, 75_us}, {80_us, 90_us})
                    .Build();
  for (const Frame& frame : frames) {
    trace.python_frames.start.push_back(frame.start);
    trace.python_frames.end.push_back(frame.end);
    trace.python_frames.thread.push_back(0);
    trace.python_frames.name.push_back(trace.strings.Intern(frame.name));
    trace.python_frames.domain.push_back(0);
    trace.python_frames.payload.push_back(0);
  }
  const Analysis analysis(trace, ShippedKnowledge(), {});
  RuleInfo rule;
  Verdict verdict;
  verdict.rule = &rule;
  verdict.outcome = Outcome::kFired;
  Spans spans;
  spans.by_device = {IntervalSet::Of({claimed})};
  verdict.saving.claims = std::make_shared<const Spans>(spans);
  Report report;
  report.verdicts = {verdict};
  Finding finding;
  finding.rule = &rule;
  finding.rank = 4;
  report.findings = {finding};
  return FindSources(analysis, report);
}

TEST_CASE("the innermost function of the user's own code is named") {
  const auto sources =
      SourcesOf({{"train.py(3): main", 0, 100_us},
                 {"data/set (1).py(42): load", 30_us, 70_us},
                 {"/usr/lib/python3/site-packages/torch/x.py(9): read", 40_us, 60_us},
                 {"<built-in method read>", 45_us, 55_us}});
  REQUIRE(sources.size() == 1);
  CHECK(sources[0].finding == 4);
  CHECK(sources[0].file == "data/set (1).py");
  CHECK(sources[0].line == 42);
  CHECK(sources[0].function == "load");
}

TEST_CASE("of a kernel the line that launched it is named, from its first instant on") {
  const std::vector<Frame> frames = {{"train.py(3): main", 0, 100_us},
                                     {"model.py(7): first", 0, 6_us},
                                     {"model.py(8): second", 69_us, 76_us}};
  for (const Interval claimed :
       {Interval{80_us, 90_us}, Interval{79_us, 81_us}, Interval{88_us, 91_us}}) {
    const auto sources = SourcesOf(frames, claimed);
    REQUIRE(sources.size() == 1);
    CHECK(sources[0].line == 8);
  }
  const auto first = SourcesOf(frames, {12_us, 16_us});
  REQUIRE(first.size() == 1);
  CHECK(first[0].line == 7);
}

TEST_CASE("library code is named when nothing else was open") {
  const auto sources = SourcesOf({{"site-packages/x.py(9): read", 40_us, 60_us}});
  REQUIRE(sources.size() == 1);
  CHECK(sources[0].line == 9);
}

TEST_CASE("functions that were over, builtins and odd names give no line") {
  CHECK(SourcesOf({{"train.py(3): main", 0, 30_us},
                   {"<built-in method sleep>", 31_us, 79_us},
                   {"(3): f", 31_us, 79_us},
                   {"x.py(0): f", 31_us, 79_us},
                   {"x.py(y): f", 31_us, 79_us}})
            .empty());
  CHECK(SourcesOf({}).empty());
}

}  // namespace
}  // namespace advise
