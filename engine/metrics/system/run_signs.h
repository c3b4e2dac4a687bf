// What the names of a run say of it: kinds of programs, frameworks and languages (knowledge base:
// run signs).
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "engine/timeline/run.h"

namespace advise {

class RunSigns {
 public:
  // Asks each distinct name once a place. O(names x signs that may fit).
  explicit RunSigns(const Run& run);

  // The first name that says that the run is of this kind; empty for none.
  std::string Says(std::string_view kind) const;

  // Takes back what nothing but ranges says.
  void ForgetFromRanges(std::string_view kind);

  // Takes back kinds of programs with a model, but for those that kernels show.
  void ForgetModels();

  // The first framework that names show; null for none.
  const RunSign* Framework() const;

  // In the order of the signs that tell them, each once.
  std::vector<std::string> Languages() const;

 private:
  using Seen = std::unordered_set<StringId>;
  void Column(const char* in, const std::vector<StringId>& names, Seen* seen);
  void Ask(const char* in, StringId name, Seen* seen);
  void Add(const char* in, const std::string& name);
  void AddKernel(const KernelShape& shape);
  void Keep(const char* in, const std::string& name, const std::string& words,
            std::uint32_t blocks_wide);

  const Run& run_;
  const Trace& trace_;
  const Knowledge& knowledge_;
  std::vector<std::string> found_;  // by sign: the first name that gives it
};

}  // namespace advise
