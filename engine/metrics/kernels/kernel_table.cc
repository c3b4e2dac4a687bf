#include "engine/metrics/kernels/kernel_table.h"

#include <algorithm>
#include <map>

#include "engine/base/ascii.h"
#include "engine/base/text.h"

namespace advise {
namespace {

struct Tally {
  std::vector<Nanos> lengths;
  Nanos total = 0;
  std::map<std::uint32_t, Nanos> shapes;  // time by shape
};

}  // namespace

std::vector<KernelTotal> TabulateKernels(const Basis& basis) {
  const Trace& trace = basis.run.trace;
  std::map<StringId, Tally> by_name;
  Nanos all = 0;
  for (const std::uint32_t op : basis.OpsInWindow()) {
    if (trace.ops.kind[op] != OpKind::kKernel) continue;
    const Nanos length = trace.ops.end[op] - trace.ops.start[op];
    Tally& tally = by_name[trace.shapes[trace.ops.detail[op]].name];
    tally.lengths.push_back(length);
    tally.total += length;
    tally.shapes[trace.ops.detail[op]] += length;
    all += length;
  }
  std::vector<KernelTotal> rows;
  for (auto& [name, tally] : by_name) {
    const std::uint32_t shape =
        std::max_element(tally.shapes.begin(), tally.shapes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; })
            ->first;
    const KernelClass& kernel_class = basis.run.names.Kernel(shape);
    KernelTotal row;
    row.name = trace.strings[name];
    row.kernel_class = kernel_class.name;
    row.precision = kernel_class.precision;
    row.count = static_cast<std::int64_t>(tally.lengths.size());
    row.total_ns = tally.total;
    row.share = all > 0 ? static_cast<double>(tally.total) / static_cast<double>(all) : 0;
    row.min_ns = *std::min_element(tally.lengths.begin(), tally.lengths.end());
    row.max_ns = *std::max_element(tally.lengths.begin(), tally.lengths.end());
    row.median_ns = Median(std::move(tally.lengths));
    row.blocks = trace.shapes[shape].Blocks();
    row.threads = trace.shapes[shape].ThreadsPerBlock();
    row.registers = trace.shapes[shape].registers;
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(), [](const KernelTotal& a, const KernelTotal& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.name < b.name;
  });
  return rows;
}

std::vector<KernelTotal> UnknownKernels(const Basis& basis) {
  const Trace& trace = basis.run.trace;
  std::map<StringId, KernelTotal> unknown;
  double all = 0;
  for (const std::uint32_t op : basis.OpsInWindow()) {
    if (trace.ops.kind[op] != OpKind::kKernel) continue;
    const Nanos length = trace.ops.end[op] - trace.ops.start[op];
    all += static_cast<double>(length);
    const KernelClass& known = basis.run.names.Kernel(trace.ops.detail[op]);
    if (known.name != "other" || !known.family.empty()) continue;
    if (IsUnnamedKernel(trace.strings[trace.shapes[trace.ops.detail[op]].name])) continue;
    KernelTotal& total = unknown[trace.shapes[trace.ops.detail[op]].name];
    total.total_ns += length;
    ++total.count;
  }
  std::vector<KernelTotal> rows;
  for (auto& [name, total] : unknown) {
    total.name = trace.strings[name];
    total.kernel_class = "other";
    total.share = all > 0 ? static_cast<double>(total.total_ns) / all : 0;
    rows.push_back(std::move(total));
  }
  std::sort(rows.begin(), rows.end(), [](const KernelTotal& a, const KernelTotal& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.name < b.name;
  });
  return rows;
}

namespace {

bool IsOfName(char c) { return IsWordChar(c) || c == '$'; }

// The first word of a template's arguments that says what it is an instance of.
std::string_view FirstTellingWord(std::string_view arguments, const Knowledge& knowledge) {
  constexpr std::size_t kLeastLetters = 4;  // shorter ones name types and namespaces
  for (std::size_t i = 0; i < arguments.size();) {
    std::size_t end = i;
    while (end < arguments.size() && IsOfName(arguments[end])) ++end;
    const std::string_view word = arguments.substr(i, end - i);
    if (word.size() >= kLeastLetters && !IsDigit(word.front()) &&
        knowledge.ValueIn(NameList::kSilentWord, word).empty())
      return word;
    i = std::max(end, i + 1);
  }
  return {};
}

}  // namespace

std::string ShortKernelName(std::string_view full, const Knowledge& knowledge) {
  constexpr std::size_t kMost = 60;
  if (IsUnnamedKernel(full)) return std::string(full);
  if (full.starts_with("void ")) full.remove_prefix(5);
  int depth = 0;
  std::size_t begin = 0;  // of the last part of the name
  std::size_t open = std::string_view::npos;
  std::size_t end = full.size();
  for (std::size_t i = 0; i < full.size(); ++i) {
    const char c = full[i];
    constexpr std::string_view kAnonymous = "(anonymous namespace)";
    if (c == '(' && full.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
    } else if (c == '<') {
      if (depth++ == 0) open = i;
    } else if (c == '>') {
      --depth;
    } else if (depth == 0 && c == ':' && i + 1 < full.size() && full[i + 1] == ':') {
      begin = i + 2;
      open = std::string_view::npos;
      ++i;
    } else if (depth == 0 && (c == '(' || c == ' ' || c == '[')) {
      end = i;
      break;
    }
  }
  if (end <= begin) return std::string(full.substr(0, kMost));
  const std::size_t stop = std::min(open, end);
  std::string_view base = full.substr(begin, stop - begin);
  if (base.ends_with(".kd")) base.remove_suffix(3);
  std::string name(base);
  if (open < end && !knowledge.ValueIn(NameList::kGenericKernel, base).empty()) {
    const std::string_view word =
        FirstTellingWord(full.substr(open + 1, end - open - 1), knowledge);
    if (!word.empty()) name += "<" + std::string(word) + ">";
  }
  if (name.size() <= kMost) return name;
  return name.substr(0, kMost - 3) + "…";
}

}  // namespace advise
