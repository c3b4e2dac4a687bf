// Which fixes are for the program that was captured: nobody tells a Fortran programmer to call
// torch.compile.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/advice/report_model.h"

namespace advise {

// "nvidia" and "amd" among a fix's `programs` say whose GPUs it is for, "training" and "inference"
// for which kind of run, "some-ranks" that it is for reports that lack ranks. Beyond that: the
// fixes whose `programs` name the framework of the run, what it builds on, or one of its languages;
// those that name none are for everybody. All of them where nothing is known about the program, or
// where none would be left. Links are chosen alike, but none may be left.
std::vector<Fix> FixesFor(const RunInfo& run, const std::vector<Fix>& fixes);
// Which of them fit, the best first; none where all are for other programs.
std::vector<std::size_t> FittingFixes(const RunInfo& run, const std::vector<Fix>& fixes);

// What `programs` may name beside the frameworks and languages of kb/runs.toml.
std::vector<std::string> OtherAudiences();

}  // namespace advise
