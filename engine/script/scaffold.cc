#include "engine/script/scaffold.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/script/embedded_rules.h"
#include "engine/script/rule_loader.h"

namespace advise {
namespace {

constexpr std::string_view kTemplatePath = "rules/_template.lua";
constexpr std::string_view kTemplateId = "area/name";
constexpr std::string_view kThreshold =
    "value  = 0.02\n"
    "unit   = \"share\"\n"
    "range  = [0.0, 1.0]\n"
    "why    = \"Below two percent the advice is not worth the change.\"\n"
    "source = \"convention of this project\"\n";

}  // namespace

Result<Scaffold> NewRule(std::string_view id) {
  if (!IsRuleId(id)) {
    return Fail(fmt::format("\"{}\" is not a rule's id", id), "",
                "wanted area/name in lower case, such as transfer/pageable-copy");
  }
  const std::vector<Knowledge::File> files = EmbeddedRules();
  const auto found = std::find_if(files.begin(), files.end(), [](const Knowledge::File& file) {
    return file.path == kTemplatePath;
  });
  if (found == files.end())
    return Fail("the program was built without it", std::string(kTemplatePath));

  const std::string area(id.substr(0, id.find('/')));
  const std::string name(id.substr(id.find('/') + 1));
  const bool of_site = area == "site";
  Scaffold made;
  made.text = found->text;
  if (of_site) {  // the knowledge base is the project's own
    const std::size_t line = made.text.find("  knowledge = ");
    if (line != std::string::npos) made.text.erase(line, made.text.find('\n', line) + 1 - line);
  }
  for (std::size_t at = made.text.find(kTemplateId); at != std::string::npos;
       at = made.text.find(kTemplateId, at + id.size())) {
    made.text.replace(at, kTemplateId.size(), id);
  }
  made.path = of_site ? name + ".lua" : fmt::format("rules/{}.lua", id);
  made.thresholds_path = of_site ? "advise.toml" : fmt::format("kb/thresholds/{}.toml", area);
  made.thresholds = of_site ? fmt::format("\n[thresholds.\"{}\".min_share]\n{}", id, kThreshold)
                            : fmt::format("\n[{}.min_share]\n{}", name, kThreshold);
  return made;
}

}  // namespace advise
