// The fact catalog as pages: for people as Markdown, and for editors as classes of the Lua
// language server.
#pragma once

#include <string>
#include <vector>

#include "engine/facts/facts.h"

namespace advise {

// A table an area, in the order of the catalog.
std::string RenderFactsMarkdown(const std::vector<FactInfo>& catalog);

// LuaLS annotations: a class for each prefix of names ("Facts.copy.pageable"), a field for each
// name below it. A name that is both a fact and a prefix has both types.
std::string RenderFactStubs(const std::vector<FactInfo>& catalog);

}  // namespace advise
