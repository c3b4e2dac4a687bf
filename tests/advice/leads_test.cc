// Which of two fixes comes first that win about the same.
#include "tests/advice/verdicts.h"

namespace advise {
namespace {

// Of two fixes, the far one wins more than it claims; how the near one's claim compares with that.
struct FarAndNear {
  Analyzed run{HalfIdleSteps(), kAuto};
  std::shared_ptr<Remedy> gone = std::make_shared<Remedy>();
  Nanos more = 0;  // what the far one wins

  // It changes the first launches only, if so many are given.
  explicit FarAndNear(std::size_t launches) {
    gone->vanished_calls = run.Calls("cudaLaunchKernel");
    if (launches < gone->vanished_calls.size()) gone->vanished_calls.resize(launches);
    more = run->replay().Gain(*gone);
  }
  std::string First(Nanos claimed, Nanos near, RuleKind kind = RuleKind::kRoot,
                    const char* effort = "code") const {
    const Window& window = run->run.window;
    Verdicts verdicts;
    verdicts.Add({.id = "a/far",
                  .priority = 80,
                  .claims = {{{window.start, window.start + claimed}}},
                  .remedy = gone});
    verdicts.rule(0).effort = effort;
    verdicts.Add({.id = "a/near",
                  .priority = 20,
                  .claims = {{{window.end - near, window.end}}},
                  .kind = kind});
    return verdicts.Rank(run).at(0).rule->id;
  }
};

TEST_CASE("of fixes that win the same, one comes first that wins the time it was seen to lose") {
  const FarAndNear fixes(10);
  const Nanos more = fixes.more;
  REQUIRE(more < fixes.run.Window() / 6);
  REQUIRE(more > fixes.run.Window() / 20);
  CHECK(fixes.First(more / 3, more) == "a/near");
  const Nanos less = more * 90 / 100;
  CHECK(fixes.First(more / 3, less) == "a/near");
  CHECK(fixes.First(more / 3, less, RuleKind::kSymptom) == "a/far");       // names no fix
  CHECK(fixes.First(more / 3, less, RuleKind::kRoot, "flag") == "a/far");  // is tried in minutes
  CHECK(fixes.First(more / 3, more, RuleKind::kRoot, "flag") == "a/far");
  CHECK(fixes.First(more / 3, more * 80 / 100) == "a/far");
  CHECK(fixes.First(more, more) == "a/far");  // the more specific
  CHECK(fixes.First(more, less) == "a/far");
}

TEST_CASE("fixes do not win the same that are points of the window apart") {
  const FarAndNear fixes(1000);
  const Nanos more = fixes.more;
  const Nanos point = fixes.run.Window() / 100;
  REQUIRE(more > 40 * point);
  CHECK(fixes.First(more / 3, more - point) == "a/near");
  CHECK(fixes.First(more / 3, more - 3 * point) == "a/far");
}

TEST_CASE("a setting comes before a change of code that wins little more and is no surer") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  const auto first = [&](Nanos percent, double confidence, const char* effort_of_fix = "",
                         const char* snippet = "a = True") {
    Verdicts verdicts;
    verdicts.Add({.id = "a/setting", .claims = {Percent(run, 60, 80)}});
    verdicts.rule(0).effort = "flag";
    verdicts.rule(0).fixes.emplace_back().effort = effort_of_fix;
    verdicts.rule(0).fixes.back().snippet = snippet;
    verdicts.Add({.id = "a/code", .claims = {Percent(run, 0, percent)}, .confidence = confidence});
    return verdicts.Rank(run)[0].rule->id;
  };
  CHECK(first(24, 0.8) == "a/setting");
  CHECK(first(24, 0.9) == "a/code");          // which is surer
  CHECK(first(27, 0.8) == "a/code");          // which wins a third more
  CHECK(first(24, 0.8, "code") == "a/code");  // the fix for this run is no setting
  CHECK(first(24, 0.8, "", "with a():\n    b()") == "a/code");
}

}  // namespace
}  // namespace advise
