// What pages of a comparison say of what was matched, and of findings that went with others.
#include "engine/report/compare_words.h"

#include <catch2/catch.hpp>

#include "engine/report/compare_pages.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

RunComparison Halved() {
  RunComparison c;
  c.comparable = true;
  c.unit = "step";
  c.units_before = c.units_after = 10;
  c.before.ns = 40e6;
  c.after.ns = 20e6;
  c.speedup = 2;
  c.matched = {{"kernel", 0.5, 0.75}, {"shapes", 0.25, 0.25}};
  c.budget = {{"compute", 20e6, 15e6}, {"idle", 20e6, 5e6}, {"idle.data_loading", 20e6, 5e6}};
  return c;
}

TEST_CASE("each level says its share before and after, and the rest is told") {
  CHECK(MatchedInWords(Halved()) ==
        std::vector<std::string>{"by kernel and size 50 % → 75 %",
                                 "by operator on the same shapes 25 % → 25 %",
                                 "not matched 25 % → 0 %"});
}

TEST_CASE("a run that got slower lost time, and saved no negative amount") {
  RunComparison c = Halved();
  c.predicted_ns = 30'000;
  c.achieved_ns = 217'000;
  CHECK(SavedLabel(c) + " " + SavedAmount(c) == "Saved 217 µs (predicted: 30.0 µs)");
  c.achieved_ns = -217'000;
  CHECK(SavedLabel(c) + " " + SavedAmount(c) == "Lost 217 µs (predicted saving: 30.0 µs)");
}

TEST_CASE("what went with another fix names it, and why; else nothing is said") {
  FindingChange gone{"launch/bound",
                     "Reduce launch work",
                     5e6,
                     0,
                     "AFTER still launches as much work",
                     {"input/no-workers"},
                     false};
  CHECK(WentAlong(gone) ==
        "probably because of input/no-workers: AFTER still launches as much work");
  gone.replayed = true;
  CHECK(WentAlong(gone) == "because of input/no-workers: AFTER still launches as much work");
  gone.went_with.clear();
  CHECK(WentAlong(gone) == "nothing shows its fix: AFTER still launches as much work");
  gone.why.clear();
  CHECK(WentAlong(gone).empty());
}

TEST_CASE("pages tell what is gone apart from what is fixed, and escape what reports say") {
  RunComparison c = Halved();
  c.fixed = {{"input/no-workers", "Load data <early>", 10e6, 0, "", {}, false}};
  c.gone = {{"launch/bound",
             "Reduce launch work",
             5e6,
             0,
             "AFTER still launches as much work",
             {"input/no-workers"},
             true}};
  CHECK_THAT(CompareText(c, "a", "b", 80, false),
             Contains("Gone     launch/bound") && Contains("; because of"));
  CHECK_THAT(CompareMarkdown(c, "a", "b"), Contains("**Gone without their own fix**"));
  const std::string html = CompareHtml(c, "<a>", "b");
  CHECK_THAT(html, Contains("Gone without their own fix") && Contains("Load data &lt;early&gt;") &&
                       Contains("&lt;a&gt;") && !Contains("<script"));
  CHECK_THAT(html, Contains("<span class=\"compute\" style=\"--share:0.5000\">"));
}

TEST_CASE("of runs of different work no page says which is faster") {
  RunComparison c = Halved();
  c.comparable = false;
  c.forced = true;
  c.reasons = {"other GPUs: A before, B after"};
  c.predicted_ns = 5e6;
  c.fixed = {{"input/no-workers", "Load data early", 5e6, 0, ""}};
  c.gone = {{"launch/bound", "Reduce launch work", 5e6, 0, ""}};
  c.added = {{"kernel/hot", "Speed up one kernel", 0, 5e6, ""}};
  for (const std::string& page : {CompareText(c, "a", "b", 80, false), CompareMarkdown(c, "a", "b"),
                                  CompareHtml(c, "a", "b")}) {
    CHECK_THAT(page, Contains("other GPUs") && Contains("Different work") &&
                         (Contains("40.0 ms") || Contains("40.0\u00A0ms")));
    CHECK_THAT(page, !Contains("times as fast") && !Contains("predicted"));
    // Nothing was fixed: these are the findings of two programs.
    CHECK_THAT(page, !Contains("Fixed") && !Contains("Gone") && !Contains("New"));
    CHECK_THAT(page, Contains("input/no-workers") && Contains("launch/bound"));
  }
  const std::vector<FindingGroup> groups = FindingGroups(c);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].title == "Only BEFORE");
  CHECK(groups[0].findings.size() == 2);
  CHECK(groups[1].title == "Only AFTER");
  c.forced = false;
  CHECK_THAT(CompareHtml(c, "a", "b"), Contains("other GPUs") && !Contains("40.0 ms"));
}

}  // namespace
}  // namespace advise
