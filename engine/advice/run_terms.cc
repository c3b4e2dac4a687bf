#include "engine/advice/run_terms.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "engine/base/ascii.h"

namespace advise {
namespace {

struct Term {
  std::string_view theirs;  // as the rules have it
  std::string_view ours;
};

// Longer terms come before those that they begin with. The tools of NVIDIA have no counterpart
// whose output is read here, so that nobody is sent to them.
constexpr std::array<Term, 21> kAmd = {{
    {" (Nsight Compute)", ""},
    {"an SM", "a compute unit"},
    {"SMs", "compute units"},
    {"SM", "compute unit"},
    {"tensor cores", "matrix cores"},
    {"tensor core", "matrix core"},
    {"tensor-core", "matrix-core"},
    {"Tensor cores", "Matrix cores"},
    {"warps", "wavefronts"},
    {"warp", "wavefront"},
    {"Warps", "Wavefronts"},
    {"CUDA graphs", "HIP graphs"},
    {"CUDA graph", "HIP graph"},
    {"CUDA-aware", "GPU-aware"},
    {"CUDA C++", "HIP C++"},
    {"CUDA", "HIP"},
    {"NCCL's", "RCCL's"},
    {"NCCL", "RCCL"},
    {"NVLink", "Infinity Fabric"},
    {"NVSwitch", "Infinity Fabric"},
    {"InfiniBand/NVLink", "InfiniBand/Infinity Fabric"},
}};

// A term stands alone: it is no part of a name such as CUDA_HOME, torch.CUDA or `SMs_per_GPU`.
bool StandsAlone(const std::string& text, std::size_t at, std::size_t length) {
  const std::size_t end = at + length;
  if (at > 0 && (IsWordChar(text[at - 1]) || text[at - 1] == '.') && text[at] != ' ') return false;
  if (end >= text.size()) return true;
  if (text[end] == '.') return end + 1 >= text.size() || !IsWordChar(text[end + 1]);
  return !IsWordChar(text[end]);
}

bool BeginsSentence(const std::string& text) {
  if (text.empty()) return true;
  return text.size() > 1 && text.back() == ' ' && text[text.size() - 2] == '.';
}

// The last word, where a space follows it.
std::string WordBefore(const std::string& text) {
  if (text.empty() || text.back() != ' ') return "";
  const std::size_t end = text.size() - 1;
  const std::size_t space = end == 0 ? std::string::npos : text.find_last_of(" (", end - 1);
  return text.substr(space == std::string::npos ? 0 : space + 1,
                     end - (space == std::string::npos ? 0 : space + 1));
}

// Names of the runtime library that HIP does not have with "hip" in place of "cuda".
constexpr std::array<Term, 4> kHip = {{
    {"cudaMallocHost", "hipHostMalloc"},
    {"cudaFreeHost", "hipHostFree"},
    {"cudaDevAttrMultiProcessorCount", "hipDeviceAttributeMultiprocessorCount"},
    {"cudaDeviceProp", "hipDeviceProp_t"},
}};

// Names of the runtime library of CUDA, such as cudaEventRecord, as HIP has them.
std::string InNamesOfHip(const std::string& text) {
  constexpr std::string_view kCuda = "cuda";
  std::string made;
  for (std::size_t i = 0; i < text.size();) {
    const bool begins = i == 0 || (!IsWordChar(text[i - 1]) && text[i - 1] != '.');
    std::size_t end = i;
    while (begins && end < text.size() && IsWordChar(text[end])) ++end;
    const std::string_view word(text.data() + i, end - i);
    if (word.size() <= kCuda.size() || !word.starts_with(kCuda) || !IsUpper(word[kCuda.size()])) {
      made += text[i++];
      continue;
    }
    const auto* const other = std::find_if(kHip.begin(), kHip.end(),
                                           [&](const Term& term) { return term.theirs == word; });
    made += other != kHip.end() ? std::string(other->ours)
                                : "hip" + std::string(word.substr(kCuda.size()));
    i = end;
  }
  return made;
}

// Steps that are no iterations of the program's loop.
bool IsOtherStep(const std::string& before) {
  static const std::set<std::string> kinds = {"decode", "engine",       "optimizer", "update",
                                              "fused",  "intermediate", "training",  "by"};
  return kinds.contains(before);
}

}  // namespace

std::string InTermsOf(const std::string& maker, const std::string& prose) {
  if (maker != "amd") return prose;
  std::string made;
  for (std::size_t i = 0; i < prose.size();) {
    const Term* found = nullptr;
    for (const Term& term : kAmd) {
      if (prose.compare(i, term.theirs.size(), term.theirs) != 0) continue;
      if (!StandsAlone(prose, i, term.theirs.size())) continue;
      found = &term;
      break;
    }
    if (found == nullptr) {
      made += prose[i++];
      continue;
    }
    const bool begins = BeginsSentence(made);
    const std::size_t at = made.size();
    made += found->ours;
    if (begins && at < made.size()) made[at] = Upper(made[at]);
    i += found->theirs.size();
  }
  return InNamesOfHip(made);
}

std::string InUnitsOf(const std::string& unit, const std::string& prose) {
  if (unit != "request" && unit != "token" && unit != "iteration") return prose;
  const std::string_view step = "step";
  std::string made;
  for (std::size_t i = 0; i < prose.size();) {
    const bool upper = prose.compare(i, step.size(), "Step") == 0;
    std::size_t end = i + step.size();
    if (!upper && prose.compare(i, step.size(), step) != 0) {
      made += prose[i++];
      continue;
    }
    if (end < prose.size() && prose[end] == 's') ++end;
    const std::string before = WordBefore(made);
    if (!StandsAlone(prose, i, end - i) || IsOtherStep(before) ||
        prose.compare(i, 12, "step by step") == 0 || (i > 0 && prose[i - 1] == '-')) {
      made += prose[i++];
      continue;
    }
    if (unit == "iteration" && (before == "a" || before == "A")) made.insert(made.size() - 1, "n");
    const std::size_t at = made.size();
    made += unit;
    if (upper) made[at] = Upper(made[at]);
    if (prose[end - 1] == 's') made += 's';
    i = end;
  }
  return made;
}

std::string TitleFor(const RunInfo& run, const RuleInfo& rule) {
  const std::string title = InTermsOf(run.maker, rule.title);
  return rule.own_steps ? title : InUnitsOf(run.unit, title);
}

void UseTermsOfRun(Report* report) {
  const RunInfo& run = report->run;
  for (Finding& finding : report->findings) {
    const bool own = finding.rule == nullptr || finding.rule->own_steps;
    const auto use = [&](std::string* prose) {
      *prose = InTermsOf(run.maker, *prose);
      if (!own) *prose = InUnitsOf(run.unit, *prose);
    };
    if (finding.rule != nullptr) finding.title = TitleFor(run, *finding.rule);
    for (std::string* prose :
         {&finding.symptom, &finding.cause, &finding.basis, &finding.confidence_from}) {
      use(prose);
    }
    for (Fix& fix : finding.fixes) {
      use(&fix.action);
      if (run.maker == "amd" && fix.language == "cpp") fix.snippet = InNamesOfHip(fix.snippet);
    }
  }
  const auto use = [&](std::string* prose) {
    *prose = InUnitsOf(run.unit, InTermsOf(run.maker, *prose));
  };
  for (NotChecked& item : report->not_checked) {
    use(&item.reason);
    use(&item.how);
  }
  for (CareNote& note : report->read_with_care) {
    const std::string said = note.text;
    use(&note.text);
    for (Diagnostic& diagnostic : report->diagnostics) {
      if (diagnostic.text == said) diagnostic.text = note.text;
    }
  }
}

}  // namespace advise
