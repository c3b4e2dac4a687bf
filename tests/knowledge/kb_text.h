// Helpers for tests that read knowledge from texts.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "engine/knowledge/knowledge.h"

namespace advise {

// The lines of all problems of one file; empty when it loads.
inline std::vector<std::string> KbProblems(const std::string& path, const std::string& text) {
  const auto knowledge = Knowledge::Load({{path, text}});
  std::vector<std::string> lines;
  if (!knowledge) {
    for (const Error& error : knowledge.error()) lines.push_back(error.Line());
  }
  return lines;
}

// The one problem.
inline std::string KbProblem(const std::string& path, const std::string& text) {
  const std::vector<std::string> lines = KbProblems(path, text);
  for (const std::string& line : lines) UNSCOPED_INFO(line);
  REQUIRE(lines.size() == 1);
  return lines[0];
}

inline Knowledge LoadKb(const std::vector<Knowledge::File>& files) {
  auto knowledge = Knowledge::Load(files);
  for (const Error& error : knowledge ? std::vector<Error>() : knowledge.error()) {
    UNSCOPED_INFO(error.Line());
  }
  REQUIRE(knowledge);
  return std::move(*knowledge);
}

inline std::vector<std::string> Lines(const std::vector<Error>& errors) {
  std::vector<std::string> lines;
  for (const Error& error : errors) lines.push_back(error.Line());
  return lines;
}

}  // namespace advise
