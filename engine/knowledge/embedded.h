// The rules and the knowledge base as they were when the program was built, so that the binary
// needs no files beside it. Paths are those of the source tree: "rules/transfer/pageable-copy.lua".
#pragma once

#include <vector>

#include "engine/knowledge/knowledge.h"

namespace advise {

// Sorted by path. Copies all texts, a megabyte.
std::vector<Knowledge::File> EmbeddedFiles();

}  // namespace advise
