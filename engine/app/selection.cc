#include "engine/app/selection.h"

#include <algorithm>
#include <set>

#include "engine/base/text.h"

namespace advise {

bool Selects(const std::string& name, const std::string& rule_id) {
  return rule_id == name || rule_id.starts_with(name + "/");
}

Result<void> CheckSelection(const std::string& option, const std::vector<std::string>& names,
                            const std::vector<std::string>& rule_ids) {
  for (const std::string& name : names) {
    const bool known = std::any_of(rule_ids.begin(), rule_ids.end(),
                                   [&](const std::string& id) { return Selects(name, id); });
    if (known) continue;
    std::set<std::string> candidates(rule_ids.begin(), rule_ids.end());
    for (const std::string& id : rule_ids) {
      for (std::size_t slash = id.find('/'); slash != std::string::npos;
           slash = id.find('/', slash + 1)) {
        candidates.insert(id.substr(0, slash));
      }
      // A rule that is named without its area.
      if (id.ends_with("/" + name)) {
        return Fail("there is no rule or area \"" + name + "\"", option,
                    "did you mean " + id + "?");
      }
    }
    const std::string near = DidYouMean(name, {candidates.begin(), candidates.end()});
    return Fail("there is no rule or area \"" + name + "\"", option,
                near.empty() ? "all of them: advise rules list" : "did you mean " + near + "?");
  }
  return {};
}

}  // namespace advise
