#include "engine/knowledge/operator_formula.h"

#include <algorithm>
#include <utility>

#include "engine/base/ascii.h"

namespace advise {

bool OperatorFormulas::CaseLess::operator()(std::string_view a, std::string_view b) const {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [](char x, char y) { return Lower(x) < Lower(y); });
}

std::string OperatorFormulas::Add(Entry entry) {
  bool has_patterns = false;
  for (const NamePattern& pattern : entry.names.any) {
    if (pattern.glob().find_first_of("*?[") != std::string::npos) {
      has_patterns = true;
    } else if (!by_name_.emplace(pattern.glob(), entries_.size()).second) {
      return pattern.glob();
    }
  }
  if (has_patterns) by_pattern_.push_back(entries_.size());
  entries_.push_back(std::move(entry));
  return "";
}

const OperatorFormula* OperatorFormulas::Find(std::string_view name) const {
  if (const auto found = by_name_.find(name); found != by_name_.end()) {
    return &entries_[found->second].formula;
  }
  const NameKey key(name);
  for (const std::size_t entry : by_pattern_) {
    if (entries_[entry].names.Matches(key)) return &entries_[entry].formula;
  }
  return nullptr;
}

}  // namespace advise
