// The rules and the knowledge base as they were when the program was built, so that the binary
// needs no files beside it. Paths are those of the source tree: "rules/transfer/pageable-copy.lua".
#pragma once

#include <string_view>
#include <vector>

#include "engine/knowledge/knowledge.h"
#include "engine/knowledge/toml_tree.h"

namespace advise {

// Sorted by path; copies the texts. Rules and what Knowledge::Load reads have no text: the build
// has compiled and parsed them (cmake/embed_files.cc).
std::vector<Knowledge::File> EmbeddedFiles();

// What Knowledge::Load reads of kb/: exercises and the example of a site's settings are read by
// others.
inline bool IsKnowledge(std::string_view path) {
  return path.starts_with("kb/") && !path.starts_with("kb/exercises/") && path.ends_with(".toml") &&
         path != "kb/site.example.toml";
}

// Not the template, not lib/.
inline bool IsRule(std::string_view path) {
  return path.ends_with(".lua") && path.find("/_") == std::string_view::npos &&
         path.find("/lib/") == std::string_view::npos;
}

// A tree of toml_tree.h as the build wrote it, in JSON: each node is [line, value], and a table an
// object of nodes. It is trusted.
TomlNode EmbeddedTree(std::string_view json);

}  // namespace advise
