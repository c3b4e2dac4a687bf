#include "engine/advice/audience.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

namespace advise {
namespace {

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

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

// Whether the fix is for GPUs like these; every GPU where the run does not say.
bool FitsMaker(const RunInfo& run, const Fix& fix) {
  const auto named = [](const std::string& program) { return IsMaker(program); };
  if (run.maker.empty() || std::none_of(fix.programs.begin(), fix.programs.end(), named))
    return true;
  return std::find(fix.programs.begin(), fix.programs.end(), run.maker) != fix.programs.end();
}

bool IsNative(const std::string& program) {
  static const std::set<std::string> native = {"c++", "fortran", "openacc", "openmp", "mpi"};
  return native.contains(program);
}

}  // namespace

std::vector<Fix> FixesFor(const RunInfo& run, const std::vector<Fix>& all) {
  std::vector<Fix> fixes;
  for (const Fix& fix : all) {
    if (FitsMaker(run, fix)) fixes.push_back(fix);
  }
  const std::set<std::string> is = WhatItIs(run);
  if (is.empty()) return fixes;
  // A Python program whose framework no name shows may use any of them. CUDA's calls are the
  // nearest thing to advice for every other language.
  const bool python = is.contains("python");
  const bool any_framework = python && run.framework.empty();
  const auto fits = [&](const std::string& program) {
    if (is.contains(program)) return true;
    return IsNative(program) ? !python && program == "c++" : any_framework;
  };
  std::vector<Fix> fitting;
  for (const Fix& fix : fixes) {
    const bool for_all = std::all_of(fix.programs.begin(), fix.programs.end(), IsMaker);
    if (for_all || std::any_of(fix.programs.begin(), fix.programs.end(), fits))
      fitting.push_back(fix);
  }
  return fitting.empty() ? fixes : fitting;
}

}  // namespace advise
