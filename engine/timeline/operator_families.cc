#include "engine/timeline/operator_families.h"

#include <algorithm>

#include "engine/base/is_in.h"

namespace advise {

OperatorFamilies::OperatorFamilies(const Run& run, std::initializer_list<std::string_view> families)
    : run_(run), known_(run.trace.strings.size(), kUnread) {
  for (const std::string_view family : families) {
    asked_.push_back(run.knowledge.FamilyIndex(FamilyKind::kOperator, family));
  }
}

int OperatorFamilies::Of(StringId name) {
  std::int8_t& known = known_[name];
  if (known != kUnread) return known;
  known = kNoFamily;
  const std::vector<std::size_t> all =
      run_.knowledge.FamiliesOf(FamilyKind::kOperator, run_.trace.strings[name]);
  for (std::size_t i = 0; i < asked_.size() && known == kNoFamily; ++i) {
    if (IsIn(asked_[i], all)) {
      known = static_cast<std::int8_t>(i);
    }
  }
  return known;
}

}  // namespace advise
