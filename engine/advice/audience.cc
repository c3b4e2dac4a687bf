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

bool IsNative(const std::string& program) {
  static const std::set<std::string> native = {"c++", "fortran", "openacc", "openmp", "mpi"};
  return native.contains(program);
}

}  // namespace

std::vector<Fix> FixesFor(const RunInfo& run, const std::vector<Fix>& fixes) {
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
    const bool for_all = fix.programs.empty();
    if (for_all || std::any_of(fix.programs.begin(), fix.programs.end(), fits))
      fitting.push_back(fix);
  }
  return fitting.empty() ? fixes : fitting;
}

}  // namespace advise
