// Rules are written in the terms of NVIDIA's GPUs; the reader of a report has the GPUs that were
// captured.
#pragma once

#include <string>

#include "engine/advice/report_model.h"

namespace advise {

// The same prose in the terms of the maker (RunInfo::maker): "SMs" are "compute units" on AMD's
// GPUs. Names with underscores or dots, such as CUDA_VISIBLE_DEVICES, stay. Not for code.
std::string InTermsOf(const std::string& maker, const std::string& prose);

// All prose of the findings, of what was not checked, and of the notes.
void UseTermsOfMaker(Report* report);

}  // namespace advise
