#include "engine/report/kernels_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/text.h"
#include "engine/facts/rows.h"
#include "engine/report/finding_text.h"

namespace advise {
namespace {

constexpr std::size_t kKernelsShown = 3;
constexpr int kKernelNumbers = 26;  // share, count and time before a kernel's name

// Without what stands around the function in C++; names of other compilers are one word.
std::string KernelLabel(const Report& report, const std::string& name) {
  if (name.find_first_of(" <(:") == std::string::npos) return SafeText(name);
  const Rows* rows = FactRows(report, "efficiency.unmeasured");
  for (const Row& row : rows == nullptr ? Rows() : *rows) {
    const auto* full = CellOf<std::string>(row, "name");
    const auto* brief = CellOf<std::string>(row, "short_name");
    if (full != nullptr && brief != nullptr && *full == name) return SafeText(*brief);
  }
  const std::string words = KernelInWords(name);
  const std::size_t scope = words.rfind("::", words.find('<'));
  return scope == std::string::npos ? words : words.substr(scope + 2);
}

}  // namespace

void WriteKernels(Page& page, const Report& report, int column) {
  const Rows* rows = FactRows(report, "summary.kernels");
  if (rows == nullptr) return;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kKernelsShown, rows->size()); ++i) {
    const auto* name = CellOf<std::string>((*rows)[i], "name");
    names.push_back(name == nullptr ? "" : KernelLabel(report, *name));
  }
  names = ShortenedApart(names, page.width() - column - kKernelNumbers);
  std::string label = "Kernels";
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Row& row = (*rows)[i];
    if (names[i].empty()) continue;
    page.Labelled(
        label, 0, column,
        fmt::format("{}  {:.0f} × {}  {}", FormatQuantity(NumberIn(row, "share"), "share"),
                    NumberIn(row, "count"), FormatQuantity(NumberIn(row, "mean_ns"), "ns"),
                    names[i]));
    label.clear();
  }
}

}  // namespace advise
