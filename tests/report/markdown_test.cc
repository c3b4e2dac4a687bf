#include "engine/report/markdown.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "tests/report/sample_report.h"

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace advise {
namespace {

TEST_CASE("the page opens with the verdict and lists what to fix in a table") {
  const auto sample = MakeSampleReport();
  const std::string text = RenderMarkdown(sample->report, {});
  CHECK_THAT(text, StartsWith("## The GPUs wait for host-to-device copies 93 % of the time.\n"));
  CHECK_THAT(text, Contains("| all | 2 % | 0 % | 93 % | 0 % | 5 % | launching 4 %, unknown 1 % |"));
  CHECK_THAT(text,
             Contains("| 1 | Weights are uploaded from the host in every step | 0.90 s (93 %) | "
                      "critical | `transfer/repeated-upload` |"));
  CHECK_THAT(text, Contains("<details><summary>Evidence</summary>"));
  CHECK_THAT(text, Contains("  ```python\n  model = model.to(\"cuda\")\n"));
  CHECK_THAT(text, Contains("advise why transfer/repeated-upload run.sqlite"));
  CHECK_THAT(text, Contains("2 rules could not be checked"));
}

TEST_CASE("a fix that a finding before has is named") {
  const auto sample = MakeSampleReport();
  Finding again = sample->report.findings.front();
  again.rank = 9;
  sample->report.findings.push_back(again);
  MarkdownOptions all;
  all.top = 9;
  CHECK_THAT(RenderMarkdown(sample->report, all), Contains("(the fix of 1)"));
}

TEST_CASE("tables keep their cells and details are closed") {
  const auto sample = MakeSampleReport();
  sample->rules[0].title = "a | b \\ c";
  const std::string text = RenderMarkdown(sample->report, {});
  CHECK_THAT(text, Contains("| 1 | a \\| b \\\\ c |"));
  std::istringstream lines(text);
  std::size_t cells = 0;
  int open = 0;
  for (std::string line; std::getline(lines, line);) {
    open += line.find("<details>") != std::string::npos ? 1 : 0;
    open -= line.find("</details>") != std::string::npos ? 1 : 0;
    if (!line.starts_with("|")) {
      cells = 0;
      continue;
    }
    std::size_t count = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      count += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
    }
    INFO(line);
    if (cells == 0) cells = count;
    CHECK(count == cells);
  }
  CHECK(open == 0);
}

TEST_CASE("only the first findings are written out") {
  const auto sample = MakeSampleReport();
  MarkdownOptions options;
  options.top = 1;
  const std::string text = RenderMarkdown(sample->report, options);
  CHECK_THAT(text, Contains("### 1\\. Weights") || Contains("### 1. Weights"));
  CHECK_THAT(text, !Contains("### 2"));
  CHECK_THAT(text, Contains("| 2 | Capture the step as a CUDA graph |"));
}

TEST_CASE("text makes no markup of its own") {
  CHECK(MarkdownText("a*b_c`d|e") == "a\\*b\\_c\\`d\\|e");
  CHECK(MarkdownText("<b>&") == "&lt;b&gt;&amp;");
  CHECK(MarkdownText("see #12, @all") == "see #<!-- -->12, @<!-- -->all");
  CHECK(MarkdownText("https://x.org") == "https&#58;//x.org");
  CHECK(MarkdownText("at::native::fire") == "at&#58;&#58;native&#58;&#58;fire");
  CHECK(MarkdownText("www.x.org") == "www&#46;x.org");
  CHECK(MarkdownText("- item") == "\\- item");
  CHECK(MarkdownText("1. item") == "1\\. item");
  CHECK(MarkdownText("48.7 ms: fine") == "48.7 ms: fine");
  CHECK(MarkdownText("[a](b)") == "\\[a\\](b)");
  CHECK(MarkdownText("two\nlines").find('\n') == std::string::npos);
}

TEST_CASE("code is not ended by the back-ticks it holds") {
  CHECK(MarkdownCode("plain") == "`plain`");
  CHECK(MarkdownCode("a`b") == "``a`b``");
  CHECK(MarkdownCode("`") == "`` ` ``");
  CHECK(MarkdownFence("x", "python") == "```python\nx\n```\n");
  CHECK(MarkdownFence("```\nx", "c++ `") == "````c++\n```\nx\n````\n");
}

}  // namespace
}  // namespace advise
