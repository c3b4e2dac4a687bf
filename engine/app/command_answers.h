// What commands answer that need more than a finished report, for the command line and for
// `advise mcp` alike.
#pragma once

#include <string>
#include <vector>

#include "engine/app/options.h"

namespace advise {

// A text in the format that the options ask for; or the exit code, the complaint being made
// already.
using Answer = tl::expected<std::string, int>;

// The plan of a finished report.
std::string PlanAnswer(const Report& report, const OutputOptions& output);

// The new step time if the findings of these rules were fixed.
Answer WhatIfAnswer(RunOptions run, const std::vector<std::string>& fixes);

struct SliceText {
  std::string json;          // for a trace viewer
  std::size_t events = 0;    // in it
  std::size_t left_out = 0;  // short ones that have no room
};
// The time around the worst example of a finding.
tl::expected<SliceText, int> SliceAnswer(RunOptions run, int finding);

}  // namespace advise
