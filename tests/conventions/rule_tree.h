// Knowledge and rules of the source tree, loaded as the program loads them.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "engine/facts/catalog.h"
#include "engine/script/runner.h"
#include "tests/conventions/source_tree.h"

namespace advise {

inline std::string TextOf(const SourceFile& file) {
  std::string text;
  for (const std::string& line : file.lines) text += line + "\n";
  return text;
}

struct Tree {
  Tree() {
    std::vector<Knowledge::File> kb;
    for (const SourceFile& file : SourceFiles({"kb"}, {".toml"}))
      kb.push_back({file.path, TextOf(file)});
    auto loaded = Knowledge::Load(kb);
    REQUIRE(loaded);
    knowledge = std::make_unique<Knowledge>(std::move(*loaded));
    std::vector<RuleFile> files;
    for (const SourceFile& file : SourceFiles({"rules"}, {".lua"})) {
      const bool rule =
          file.path.find("/_") == std::string::npos && file.path.find("/lib/") == std::string::npos;
      if (rule) files.push_back({file.path, TextOf(file), false});
    }
    auto set = RuleSet::Load(files, *knowledge, FactList(*knowledge));
    REQUIRE(set);
    rules = std::make_unique<RuleSet>(std::move(*set));
  }
  std::unique_ptr<Knowledge> knowledge;
  std::unique_ptr<RuleSet> rules;
};

inline const Tree& SourceTree() {
  static const Tree tree;
  return tree;
}

}  // namespace advise
