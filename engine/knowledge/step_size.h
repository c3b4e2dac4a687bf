// How much a step of a model server works on, where its range says so: "step[DECODE bs=16]".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace advise {

struct StepSize {
  // -1: the name does not say.
  std::int64_t sequences = -1;  // that get one more token
  std::int64_t prompts = -1;    // sequences whose prompts are read
  std::int64_t tokens = -1;     // of these prompts
  std::string_view server;      // whose names these are; "" unless the knowledge base tells
  bool ReadsPrompts() const { return prompts > 0 || tokens > 0; }
};

// `{sequences}`, `{prompts}` and `{tokens}` of the pattern stand for digits, `*` for anything up to
// the first place where what follows it fits; case does not matter. Nothing where the name does not
// fit. Linear.
std::optional<StepSize> ReadStepSize(std::string_view pattern, std::string_view name);

// "" or what is wrong with the pattern.
std::string ProblemOfStepSize(std::string_view pattern);

}  // namespace advise
