// The rules as they were when the program was built, so that the binary needs no files beside it.
#pragma once

#include <string_view>
#include <vector>

#include "engine/knowledge/knowledge.h"

namespace advise {

// By path ("rules/transfer/pageable-copy.lua"). A rule has no text: the build has read, checked and
// compiled it (cmake/embed_rules.cc); RuleSet::Load takes what it made. Others are texts.
std::vector<Knowledge::File> EmbeddedRules();

// Not the template, not lib/.
inline bool IsRule(std::string_view path) {
  return path.ends_with(".lua") && path.find("/_") == std::string_view::npos &&
         path.find("/lib/") == std::string_view::npos;
}

}  // namespace advise
