// How much a step of a model server works on, as its name says.
#include "engine/knowledge/step_size.h"

#include <catch2/catch.hpp>

#include "tests/support/shipped_knowledge.h"

namespace advise {
namespace {

// "sequences prompts tokens", "-" for what the name does not say.
std::string Read(std::string_view pattern, std::string_view name) {
  const auto size = ReadStepSize(pattern, name);
  if (!size) return "none";
  std::string text;
  for (const std::int64_t value : {size->sequences, size->prompts, size->tokens})
    text += (text.empty() ? "" : " ") + (value < 0 ? "-" : std::to_string(value));
  return text;
}

TEST_CASE("sizes stand where the pattern says") {
  CHECK(Read("step[decode bs={sequences}]", "step[DECODE bs=16]") == "16 - -");
  CHECK(Read("a{prompts}b{tokens}*", "a3b40 and more") == "- 3 40");
  CHECK(Read("*context_{prompts}({tokens})*", "execute_7_context_2(64)_x") == "- 2 64");
  CHECK(Read("a{tokens}", "b7") == "none");
  CHECK(Read("a{tokens}", "a") == "none");
  CHECK(Read("a{tokens}", "a7 ") == "none");
  CHECK(Read("a{tokens}", "a-7") == "none");
  CHECK(Read("a{tokens}", "a99999999999999999999") == "none");
  CHECK(Read("a{tokens}b", "a7") == "none");
  CHECK(Read("a{tokens}", "aa7") == "none");
  CHECK(Read("*a{tokens}", "") == "none");
}

TEST_CASE("a pattern that says no size, or none that is known, is an error") {
  CHECK(ProblemOfStepSize("step {tokens}").empty());
  CHECK_FALSE(ProblemOfStepSize("step").empty());
  CHECK_FALSE(ProblemOfStepSize("step {words}").empty());
  CHECK_FALSE(ProblemOfStepSize("step {tokens").empty());
  CHECK_FALSE(ProblemOfStepSize("step *{tokens}").empty());
}

TEST_CASE("names of servers that are known") {
  const auto read = [](std::string_view name) {
    const auto size = ShippedKnowledge().StepSizeOf(name);
    return size ? std::vector<std::int64_t>{size->sequences, size->prompts, size->tokens}
                : std::vector<std::int64_t>();
  };
  using Sizes = std::vector<std::int64_t>;
  CHECK(read("step[DECODE bs=16]") == Sizes{16, -1, -1});
  CHECK(read("step[EXTEND bs=2 toks=4096]") == Sizes{-1, 2, 4096});
  CHECK(read("step[EXTEND bs=2 toks=12 c_sqsq=80 c_sqsk=120 c_sk=20]") == Sizes{-1, 2, 12});
  CHECK(read("execute_16_context_0(sq0sk0sqsq0sqsk0)_generation_16(sq16sk8209sqsq16sqsk8209)") ==
        Sizes{16, 0, 0});
  CHECK(read("execute_context_3(2048)_generation_24(24)") == Sizes{24, 3, 2048});
  CHECK(read("step 7").empty());
  CHECK(ShippedKnowledge().StepSizeOf("step[MIXED bs=9 toks=2048]")->ReadsPrompts());
  CHECK_FALSE(ShippedKnowledge().StepSizeOf("step[DECODE bs=16]")->ReadsPrompts());
}

}  // namespace
}  // namespace advise
