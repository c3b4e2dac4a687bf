#include "engine/advice/maker_terms.h"

#include <array>
#include <cctype>
#include <string_view>

namespace advise {
namespace {

struct Term {
  std::string_view theirs;  // as the rules have it
  std::string_view ours;
};

// Longer terms come before those that they begin with. The tools of NVIDIA have no counterpart
// whose output is read here, so that nobody is sent to them.
constexpr std::array<Term, 22> kAmd = {{
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
    {"cudaFree", "hipFree"},
}};

bool InWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// A term stands alone: it is no part of a name such as CUDA_HOME, torch.CUDA or `SMs_per_GPU`.
bool StandsAlone(const std::string& text, std::size_t at, std::size_t length) {
  const std::size_t end = at + length;
  if (at > 0 && (InWord(text[at - 1]) || text[at - 1] == '.') && text[at] != ' ') return false;
  if (end >= text.size()) return true;
  if (text[end] == '.') return end + 1 >= text.size() || !InWord(text[end + 1]);
  return !InWord(text[end]);
}

bool BeginsSentence(const std::string& text) {
  if (text.empty()) return true;
  return text.size() > 1 && text.back() == ' ' && text[text.size() - 2] == '.';
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
    if (begins && at < made.size())
      made[at] = static_cast<char>(std::toupper(static_cast<unsigned char>(made[at])));
    i += found->theirs.size();
  }
  return made;
}

void UseTermsOfMaker(Report* report) {
  const std::string& maker = report->run.maker;
  const auto use = [&](std::string* prose) { *prose = InTermsOf(maker, *prose); };
  for (Finding& finding : report->findings) {
    if (finding.rule != nullptr) finding.title = InTermsOf(maker, finding.rule->title);
    for (std::string* prose :
         {&finding.symptom, &finding.cause, &finding.basis, &finding.confidence_from}) {
      use(prose);
    }
    for (Fix& fix : finding.fixes) use(&fix.action);
  }
  for (NotChecked& item : report->not_checked) {
    use(&item.reason);
    use(&item.how);
  }
  for (std::string& note : report->read_with_care) use(&note);
}

}  // namespace advise
