// The knowledge base as it was when the program was built, so that the binary needs no files beside
// it. Paths are those of the source tree: "kb/exercises/pinned.toml".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/knowledge/knowledge.h"

namespace advise {

// The one file without a text that stands for all that Knowledge::Load reads of kb/: the build has
// read and checked them (cmake/embed_knowledge.cc).
inline constexpr std::string_view kPackedKnowledge = "kb/packed.toml";

// The packed knowledge, and the texts of the other files of kb/ by path.
std::vector<Knowledge::File> EmbeddedKnowledge();

// What Knowledge::Load reads of kb/: exercises and the example of a site's settings are read by
// others.
inline bool IsKnowledge(std::string_view path) {
  return path.starts_with("kb/") && !path.starts_with("kb/exercises/") && path.ends_with(".toml") &&
         path != "kb/site.example.toml";
}

// From what was loaded to bytes, and back.
std::string PackKnowledge(const Knowledge& knowledge);
Knowledge UnpackKnowledge(std::string_view packed);

}  // namespace advise
