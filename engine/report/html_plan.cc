#include <fmt/format.h>

#include <algorithm>

#include "engine/base/text.h"
#include "engine/report/html_parts.h"
#include "engine/report/html_text.h"
#include "engine/report/plan_text.h"

namespace advise {
namespace {

constexpr std::size_t kMostStairs = 8;

// A bar as long as what is left; CSS turns the share into a width.
std::string Stair(const std::string& name, const std::string& time, double share) {
  return fmt::format(
      "<li><span class=\"stair-name\">{}</span><span class=\"stair-bar\"><span "
      "style=\"--share:{:.4f}\"></span></span><span class=\"amount\">{}</span></li>\n",
      HtmlText(name), std::clamp(share, 0.0, 1.0), HtmlText(time));
}

}  // namespace

std::string HtmlPlan(const Report& report) {
  const std::vector<PlanStage> plan = ListedPlan(report);
  if (plan.empty() || plan.front().ns <= 0) return "";
  const double now = plan.front().ns;
  std::string html = "<div class=\"plan\"><h3>Fixed in this order</h3>\n<ol class=\"stairs\">\n" +
                     Stair("now", PlanTimeText(report, now), 1);
  for (std::size_t i = 1; i < plan.size(); ++i) {
    // Of a long plan the first fixes and the end.
    if (i >= kMostStairs && i + 1 < plan.size()) continue;
    html += Stair(fmt::format("after {}", plan[i].rank), FormatQuantity(plan[i].ns, "ns"),
                  plan[i].ns / now);
  }
  html += "</ol>\n";
  if (const std::string limit = PlanLimit(report); !limit.empty())
    html += fmt::format("<p>Then {}.</p>\n", HtmlText(limit));
  for (const std::string& effect : PlanEffects(report))
    html += fmt::format("<p>{}</p>\n", HtmlText(effect));
  return html + "</div>\n";
}

}  // namespace advise
