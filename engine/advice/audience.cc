#include "engine/advice/audience.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "engine/base/ascii.h"
#include "engine/base/is_in.h"

namespace advise {
namespace {

std::set<std::string> WhatItIs(const RunInfo& run) {
  std::set<std::string> all;
  if (!run.framework.empty()) all.insert(Lower(run.framework));
  for (const std::string& language : run.languages) {
    all.insert(Lower(language));
    if (language.ends_with("C++")) all.insert("c++");
  }
  return all;
}

bool IsMaker(const std::string& program) { return program == "nvidia" || program == "amd"; }

// Whether what is for these programs is for GPUs like these; every GPU where the run does not say.
bool FitsMaker(const RunInfo& run, const std::vector<std::string>& programs) {
  if (run.maker.empty() || std::none_of(programs.begin(), programs.end(), IsMaker)) return true;
  return IsIn(run.maker, programs);
}

bool IsKind(const std::string& program) { return program == "training" || program == "inference"; }

// Whether what is for training, or for inference, is for this run: what is neither for sure may be
// any of them, but a solver trains nothing.
bool FitsKind(const RunInfo& run, const std::vector<std::string>& programs) {
  const bool known = run.kind == "training" || run.kind == "inference" || run.kind == "solver";
  if (!known || std::none_of(programs.begin(), programs.end(), IsKind)) return true;
  return IsIn(run.kind, programs);
}

// What ran without a backward pass or an optimizer is told what is for training only where nothing
// else is said.
bool IsForOtherKind(const RunInfo& run, const std::vector<std::string>& programs) {
  const bool trains_nothing = run.kind == "one-pass" || run.kind == "kernels";
  return trains_nothing && IsIn("training", programs);
}

// To capture the other ranks is for reports that lack some.
constexpr const char* kSomeRanks = "some-ranks";

bool FitsRanks(const RunInfo& run, const std::vector<std::string>& programs) {
  return !run.all_ranks || !IsIn(kSomeRanks, programs);
}

// Whether what is for these programs is for such GPUs, kinds of runs and reports.
bool FitsSetting(const RunInfo& run, const std::vector<std::string>& programs) {
  return FitsMaker(run, programs) && FitsKind(run, programs) && FitsRanks(run, programs);
}

bool SaysNoProgram(const std::string& program) {
  return IsMaker(program) || IsKind(program) || program == kSomeRanks;
}

bool IsNative(const std::string& program) {
  static const std::set<std::string> native = {"c++", "fortran", "openacc", "openmp", "mpi"};
  return native.contains(program);
}

// Whether what is for these programs is for this one, whatever its GPUs; true where nothing says
// what the program is.
bool FitsProgram(const RunInfo& run, const std::vector<std::string>& programs) {
  if (std::all_of(programs.begin(), programs.end(), SaysNoProgram)) return true;
  const std::set<std::string> is = WhatItIs(run);
  if (is.empty()) return true;
  // A Python program whose framework no name shows may use any of them, or have its kernels in a
  // library of its own. CUDA's calls are the nearest thing to advice for every other language.
  const bool python = is.contains("python");
  const bool any_framework = python && run.framework.empty();
  const auto fits = [&](const std::string& program) {
    if (is.contains(program)) return true;
    if (IsNative(program)) return program == "c++" && (!python || any_framework);
    return any_framework;
  };
  return std::any_of(programs.begin(), programs.end(), [&](const std::string& program) {
    return !SaysNoProgram(program) && fits(program);
  });
}

// Whether what fits is for C++ alone, in a program of another native language.
bool IsForNeighbor(const RunInfo& run, const std::vector<std::string>& programs) {
  const std::set<std::string> is = WhatItIs(run);
  if (is.empty() || is.contains("python")) return false;
  const auto named = [&](const std::string& program) { return is.contains(program); };
  return std::none_of(programs.begin(), programs.end(), named) && IsIn("c++", programs);
}

// How far what fits is from a Python program of which no kernel, operator or range shows the
// framework: 0 for what names none; 1 for CuPy, whose programs seldom show it; 2 for others, whose
// programs nearly always do.
int FromUnseenFramework(const RunInfo& run, const std::vector<std::string>& programs) {
  const std::set<std::string> is = WhatItIs(run);
  if (!is.contains("python") || !run.framework.empty()) return 0;
  int far = 0;
  for (const std::string& program : programs) {
    if (SaysNoProgram(program) || IsNative(program) || is.contains(program)) continue;
    far = std::max(far, program == "cupy" ? 1 : 2);
  }
  return far;
}

// The program that what is said is for, in a report of one that nothing is said for; "" where it
// may be for this one.
std::string OtherProgram(const RunInfo& run, const std::vector<std::string>& programs) {
  static const std::map<std::string, std::string> names = {{"pytorch", "PyTorch"},
                                                           {"c++", "CUDA C++"},
                                                           {"vllm", "vLLM"},
                                                           {"sglang", "SGLang"},
                                                           {"tensorrt-llm", "TensorRT-LLM"},
                                                           {"cupy", "CuPy"},
                                                           {"jax", "JAX"},
                                                           {"mpi", "MPI"},
                                                           {"fortran", "Fortran"}};
  if (FitsProgram(run, programs)) return "";
  for (const std::string& program : programs) {
    const auto found = names.find(program);
    if (found != names.end()) return found->second;
  }
  return "";
}

}  // namespace

std::vector<std::string> OtherAudiences() {
  return {"nvidia", "amd", "training", "inference", kSomeRanks, "c++"};
}

std::vector<std::size_t> FittingFixes(const RunInfo& run, const std::vector<Fix>& all) {
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<std::string>& programs = all[i].programs;
    if (FitsSetting(run, programs) && FitsProgram(run, programs) && !IsForOtherKind(run, programs))
      fitting.push_back(i);
  }
  // What is said for C++ is the nearest thing where nothing is said for the program's own language.
  std::stable_partition(fitting.begin(), fitting.end(),
                        [&](std::size_t i) { return !IsForNeighbor(run, all[i].programs); });
  std::stable_sort(fitting.begin(), fitting.end(), [&](std::size_t a, std::size_t b) {
    return FromUnseenFramework(run, all[a].programs) < FromUnseenFramework(run, all[b].programs);
  });
  return fitting;
}

std::vector<Fix> FixesFor(const RunInfo& run, const std::vector<Fix>& all) {
  std::vector<Fix> fixes;
  for (const std::size_t i : FittingFixes(run, all)) fixes.push_back(all[i]);
  if (fixes.empty()) {
    for (const Fix& fix : all) {
      if (!FitsSetting(run, fix.programs)) continue;
      fixes.push_back(fix);
      const std::string other = OtherProgram(run, fix.programs);
      if (!other.empty())
        fixes.back().action += fmt::format(" (for {}; find its equivalent in your program)", other);
    }
  }
  for (Fix& fix : fixes) {
    std::erase_if(fix.links, [&](const Link& link) {
      return !FitsMaker(run, link.programs) || !FitsProgram(run, link.programs);
    });
  }
  return fixes;
}

}  // namespace advise
