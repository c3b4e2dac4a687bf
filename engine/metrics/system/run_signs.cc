#include "engine/metrics/system/run_signs.h"

#include <set>
#include <utility>

#include "engine/base/is_in.h"
#include "engine/base/text.h"

namespace advise {

RunSigns::RunSigns(const Run& run) : run_(run), trace_(run.trace), knowledge_(run.knowledge) {
  found_.resize(knowledge_.run_signs().size());
  Seen seen;
  std::set<std::pair<StringId, bool>> seen_kernels;
  for (const KernelShape& shape : trace_.shapes) {
    if (seen_kernels.insert({shape.name, shape.grid[0] > 1}).second) AddKernel(shape);
  }
  Column("range", trace_.ranges.name, &seen);
  Column("range", trace_.ranges.domain, &seen);
  Column("range", trace_.mpi.name, &seen);
  seen.clear();
  Column("operator", trace_.operators.name, &seen);
  seen.clear();
  Column("python", trace_.python_frames.name, &seen);
  seen.clear();
  Column("module", trace_.samples.module, &seen);
  seen.clear();
  std::set<std::uint32_t> processes;
  for (const std::uint32_t thread : run_.launching_threads) {
    Ask("thread", trace_.threads[thread].name, &seen);
    if (trace_.threads[thread].process != kNone) processes.insert(trace_.threads[thread].process);
  }
  for (const std::uint32_t process : processes) {
    const std::string& path = trace_.processes[process].name;
    const std::size_t slash = path.find_last_of('/');
    Add("process", slash == std::string::npos ? path : path.substr(slash + 1));
  }
  for (const auto& [name, value] : trace_.environment) Add("setting", name);
  for (const auto& [name, rows] : trace_.table_rows) {
    if (rows > 0) Add("table", name);
  }
}

std::string RunSigns::Says(std::string_view kind) const {
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const RunSign& sign = knowledge_.run_signs()[i];
    if (sign.about == RunSign::About::kKind && sign.rule.value == kind && !found_[i].empty())
      return found_[i];
  }
  return "";
}

void RunSigns::ForgetFromRanges(std::string_view kind) {
  std::vector<std::size_t> say;
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const RunSign& sign = knowledge_.run_signs()[i];
    if (sign.about != RunSign::About::kKind || sign.rule.value != kind || found_[i].empty())
      continue;
    if (sign.in != std::vector<std::string>{"range"}) return;
    say.push_back(i);
  }
  for (const std::size_t i : say) found_[i].clear();
}

void RunSigns::ForgetModels() {
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const RunSign& sign = knowledge_.run_signs()[i];
    const bool model = sign.about == RunSign::About::kKind && sign.rule.value != "solver";
    if (model && !IsIn("kernel", sign.in)) found_[i].clear();
  }
}

const RunSign* RunSigns::Framework() const {
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const RunSign& sign = knowledge_.run_signs()[i];
    if (sign.about == RunSign::About::kFramework && !found_[i].empty()) return &sign;
  }
  return nullptr;
}

std::vector<std::string> RunSigns::Languages() const {
  std::vector<std::string> languages;
  const auto add = [&](const std::string& language) {
    if (!IsIn(language, languages)) languages.push_back(language);
  };
  for (std::size_t i = 0; i < found_.size(); ++i) {
    if (found_[i].empty()) continue;
    const RunSign& sign = knowledge_.run_signs()[i];
    for (const std::string& language : sign.languages) add(language);
    if (sign.about == RunSign::About::kLanguage) add(sign.rule.value);
  }
  // Whoever launches kernels from no interpreter and by no directives wrote CUDA or HIP C++.
  const bool only_mpi = languages == std::vector<std::string>{"MPI"};
  const bool by_framework = trace_.kind == "kineto" || trace_.kind == "jax-trace";
  if ((languages.empty() || only_mpi) && trace_.ops.size() > 0 && !by_framework) add("CUDA C++");
  return languages;
}

void RunSigns::Column(const char* in, const std::vector<StringId>& names, Seen* seen) {
  for (const StringId name : names) Ask(in, name, seen);
}

void RunSigns::Ask(const char* in, StringId name, Seen* seen) {
  if (seen->insert(name).second) Add(in, trace_.strings[name]);
}

void RunSigns::Add(const char* in, const std::string& name) { Keep(in, name, name, 0); }

// Signatures of kernels take lines.
void RunSigns::AddKernel(const KernelShape& shape) {
  const std::string& name = trace_.strings[shape.name];
  Keep("kernel", name, KernelInWords(name), shape.grid[0]);
}

void RunSigns::Keep(const char* in, const std::string& name, const std::string& words,
                    std::uint32_t blocks_wide) {
  if (name.empty()) return;
  for (const std::size_t sign : knowledge_.RunSignsOf(in, name)) {
    if (found_[sign].empty() && knowledge_.run_signs()[sign].Fits(blocks_wide))
      found_[sign] = words;
  }
}

}  // namespace advise
