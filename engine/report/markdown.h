// The report for issues and merge requests: GitHub-flavoured Markdown. Text from traces is escaped:
// it makes no tables, tags, links, mentions or code of its own.
#pragma once

#include <string>
#include <string_view>

#include "engine/advice/report_model.h"

namespace advise {

struct MarkdownOptions {
  int top = 5;  // findings in full; the rest stand in the table only
  std::string
      reports_argument;  // the reports as typed, quoted for the shell; empty: the first input
};

std::string RenderMarkdown(const Report& report, const MarkdownOptions& options);

// One line of plain words: what Markdown or HTML would read as markup is escaped.
std::string MarkdownText(std::string_view raw);

// Text in a code span that no number of back-ticks inside it ends.
std::string MarkdownCode(std::string_view raw);

// Lines of code in a fence that none of them ends.
std::string MarkdownFence(std::string_view code, std::string_view language);

}  // namespace advise
