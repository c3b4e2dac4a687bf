// Rules are written in the terms of NVIDIA's GPUs and of steps; the reader of a report has the GPUs
// and the program that were captured.
#pragma once

#include <string>

#include "engine/advice/report_model.h"

namespace advise {

// The same prose in the terms of the maker (RunInfo::maker): "SMs" are "compute units" on AMD's
// GPUs. Names with underscores or dots, such as CUDA_VISIBLE_DEVICES, stay. Not for code.
std::string InTermsOf(const std::string& maker, const std::string& prose);

// The same prose with the run's own word for a step (RunInfo::unit): "The first step" is "The first
// iteration" of a solver. Other steps, such as decode steps and optimizer steps, stay.
std::string InUnitsOf(const std::string& unit, const std::string& prose);

// The title of a rule in the terms of the run.
std::string TitleFor(const RunInfo& run, const RuleInfo& rule);

// All prose of the findings, of what was not checked, and of the notes.
void UseTermsOfRun(Report* report);

}  // namespace advise
