#include "engine/advice/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "engine/base/is_in.h"
#include "engine/base/text.h"
#include "engine/facts/rows.h"
#include "engine/lookup/look_up.h"
#include "engine/replay/remedy.h"

namespace advise {
namespace {

class EvidenceCollector {
 public:
  EvidenceCollector(const Verdict& verdict, const Analysis& analysis)
      : verdict_(verdict),
        analysis_(analysis),
        trace_(analysis.run.trace),
        guide_(trace_, {analysis.run.window.start, analysis.run.window.end}) {
    for (const auto& remedy : verdict.saving.remedies) remedy_.Join(*remedy);
  }

  // The first is what a person checks: in a database a sum or a count over many rows, in a text a
  // place to look at.
  std::vector<Evidence> Collect() {
    if (!guide_.IsDatabase()) LongestSpan();
    TopOp();
    TopCall();
    if (guide_.IsDatabase()) LongestSpan();
    Counted();
    return std::move(evidence_);
  }

 private:
  void Add(Evidence item, LookUp look_up) {
    item.table = std::move(look_up.table);
    item.sql = std::move(look_up.sql);
    item.find = std::move(look_up.find);
    item.source = trace_.path;
    if (!look_up.report.empty()) item.source = std::move(look_up.report);
    item.start_ns -= look_up.later;
    item.end_ns -= look_up.later;
    evidence_.push_back(std::move(item));
  }
  // Of what happens in the window; `explained` of it is the finding's.
  void AddTotal(std::string what, double value, double explained, const char* unit,
                LookUp look_up) {
    Evidence item;
    item.partly = explained < kNearlyAll * value;
    item.what = std::move(what);
    if (item.partly) {
      item.what += fmt::format(" (this finding is about {} of {})", FormatQuantity(explained, unit),
                               std::string_view(unit) == "count" ? "them" : "that");
    }
    item.value = value;
    item.unit = unit;
    item.start_ns = analysis_.run.window.start;
    item.end_ns = analysis_.run.window.end;
    Add(std::move(item), std::move(look_up));
  }

  std::string OpName(std::uint32_t op) const {
    if (trace_.ops.kind[op] != OpKind::kKernel) return std::string(OpWord(op));
    const std::string& name = trace_.strings[trace_.shapes[trace_.ops.detail[op]].name];
    return KernelInWords(name);
  }

  // The longest claimed time: a gap between two ops, or an op.
  void LongestSpan() {
    if (!verdict_.saving.claims) return;
    Interval longest;
    std::uint32_t device = kNone;
    for (std::uint32_t d = 0; d < verdict_.saving.claims->by_device.size(); ++d) {
      for (const Interval& i : verdict_.saving.claims->by_device[d].intervals()) {
        if (i.Length() > longest.Length()) longest = i, device = d;
      }
    }
    if (device == kNone) return;
    const Nanos middle = longest.start + longest.Length() / 2;
    if (analysis_.times[device].idle.Contains(middle)) {
      LongestGap(device, middle, longest.Length());
    } else {
      LongestOp(device, middle, longest.Length());
    }
  }

  // From the end of all that began before to the start of what ends the gap.
  void LongestGap(std::uint32_t device, Nanos middle, Nanos explained) {
    Nanos until = 0;
    std::uint32_t next = kNone;
    bool any = false;
    for (const std::uint32_t op : analysis_.run.ops_of_device[device]) {
      if (trace_.ops.start[op] > middle) {
        next = op;
        break;
      }
      until = any ? std::max(until, trace_.ops.end[op]) : trace_.ops.end[op];
      any = true;
    }
    if (!any || next == kNone) return;
    Evidence item;
    const Nanos gap = trace_.ops.start[next] - until;
    item.partly = IsPart(explained, gap);
    item.what = item.partly ? "a gap on the GPU" : "the longest gap on the GPU that this explains";
    if (!guide_.IsDatabase()) item.what += ", which ends with " + OpName(next);
    item.what += PartOf(item, explained);
    item.start_ns = until;
    item.end_ns = trace_.ops.start[next];
    item.value = static_cast<double>(gap);
    item.unit = "ns";
    Add(std::move(item), guide_.GapBefore(trace_.ops.start[next], device));
  }

  // "Such" are ops of a kind that the fix changes. Others run in time that is lost for another
  // reason: an upload that came late.
  void LongestOp(std::uint32_t device, Nanos middle, Nanos explained) {
    const auto length = [&](std::uint32_t op) { return trace_.ops.end[op] - trace_.ops.start[op]; };
    std::uint32_t found = kNone;
    for (const std::uint32_t op : analysis_.run.ops_of_device[device]) {
      const bool runs = trace_.ops.start[op] <= middle && trace_.ops.end[op] > middle;
      if (runs && (found == kNone || length(op) > length(found))) found = op;
    }
    if (found == kNone) return;
    const bool changed = IsChanged(found);
    if (changed && guide_.IsDatabase() && evidence_.empty()) Total(found);
    Evidence item;
    item.partly = !changed && IsPart(explained, length(found));
    item.what = changed ? fmt::format("the longest such {}", OpWord(found))
                        : fmt::format("a {} on the GPU{}", OpWord(found), PartOf(item, explained));
    item.start_ns = trace_.ops.start[found];
    item.end_ns = trace_.ops.end[found];
    item.value = static_cast<double>(length(found));
    item.unit = "ns";
    Add(std::move(item), guide_.OpAt(found));
  }

  // The fix changes this op, or kernels of its name, or lets its call return. Of copies some are
  // tiny, and others only run beside them.
  bool IsChanged(std::uint32_t op) const {
    const bool kernel = trace_.ops.kind[op] == OpKind::kKernel;
    const auto like_it = [&](std::uint32_t other) {
      return other == op ||
             (kernel && trace_.ops.kind[other] == OpKind::kKernel && OpName(other) == OpName(op));
    };
    const auto like = [&](const auto& one) { return like_it(one.first); };
    return std::any_of(remedy_.scaled_ops.begin(), remedy_.scaled_ops.end(), like) ||
           std::any_of(remedy_.lighter_ops.begin(), remedy_.lighter_ops.end(), like) ||
           std::any_of(remedy_.detached_ops.begin(), remedy_.detached_ops.end(), like_it) ||
           std::any_of(remedy_.freed_ops.begin(), remedy_.freed_ops.end(), like_it) ||
           IsIn(trace_.ops.call[op], remedy_.unblocked_calls);
  }

  // What is explained to nearly all of it is no part. Clocks jump by years: as
  // whole numbers, nine times a gap may overflow.
  static bool IsPart(Nanos explained, Nanos whole) {
    return static_cast<double>(explained) < kNearlyAll * static_cast<double>(whole);
  }
  static std::string PartOf(const Evidence& item, Nanos explained) {
    if (!item.partly) return "";
    return fmt::format(" (this finding explains {} of it)",
                       FormatQuantity(static_cast<double>(explained), "ns"));
  }

  // The counters of the first kernel that the rule names, where they stand in their own file.
  void Counted() {
    for (const auto& table : verdict_.tables) {
      const Rows& rows = table.second;  // clang 14 has no lambdas that use names of a binding
      if (rows.empty()) continue;
      const std::string kernel = TextIn(rows.front(), "kernel");
      const std::string source = TextIn(rows.front(), "source");
      const auto* headroom = CellOf<double>(rows.front(), "headroom");
      if (kernel.empty() || source.empty() || headroom == nullptr || *headroom < 0) continue;
      Evidence item;
      // What stands in the file, rather than what was computed of it: the unit that limits the
      // kernel.
      const auto of = [&](const char* column) {
        const auto* cell = CellOf<double>(rows.front(), column);
        return cell == nullptr ? -1 : *cell;
      };
      std::pair<double, const char*> limit =
          std::max(std::pair{of("memory"), "memory"}, std::pair{of("sm"), "the SMs"},
                   [](const auto& a, const auto& b) { return a.first < b.first; });
      const bool on_chip = TextIn(rows.front(), "memory_kind") == "on-chip";
      if (on_chip && of("l1") > limit.first) limit = {of("l1"), "the first-level cache"};
      const bool known = limit.first >= 0;
      item.what = known ? fmt::format("share of the peak of {} that {} reaches", limit.second,
                                      KernelInWords(kernel))
                        : fmt::format("headroom of {}", KernelInWords(kernel));
      item.value = known ? limit.first : *headroom;
      item.unit = "share";
      item.source = source;
      evidence_.push_back(std::move(item));
      return;
    }
  }

  std::string_view OpWord(std::uint32_t op) const {
    switch (trace_.ops.kind[op]) {
      case OpKind::kKernel:
        return analysis_.run.IsComm(op) ? "communication kernel" : "kernel";
      case OpKind::kCopy:
        return "copy";
      case OpKind::kMemset:
        return "memset";
      case OpKind::kGraph:
        break;
    }
    return "graph";
  }
  // Of the ops that the fix changes: the kernel name, or kind of copy, with most time.
  void TopOp() {
    std::map<std::uint32_t, double> kernels;  // name -> time
    std::map<MemoryKind, double> copies;      // by the host's side
    std::map<MemoryKind, double> bytes;
    std::map<MemoryKind, std::set<CopyDirection>> ways;
    const auto tally = [&](std::uint32_t op) {
      const auto length = static_cast<double>(trace_.ops.end[op] - trace_.ops.start[op]);
      const std::uint32_t detail = trace_.ops.detail[op];
      if (trace_.ops.kind[op] == OpKind::kKernel) kernels[trace_.shapes[detail].name] += length;
      if (trace_.ops.kind[op] != OpKind::kCopy) return;
      const MemoryKind memory = HostSide(trace_.copies, detail);
      copies[memory] += length;
      bytes[memory] += static_cast<double>(trace_.copies.bytes[detail]);
      ways[memory].insert(trace_.copies.direction[detail]);
    };
    for (const auto& [op, factor] : remedy_.scaled_ops) tally(op);
    for (const auto& [op, factor] : remedy_.lighter_ops) tally(op);
    for (const std::uint32_t op : remedy_.detached_ops) tally(op);
    const auto most = [](const auto& map) {
      return std::max_element(map.begin(), map.end(),
                              [](const auto& x, const auto& y) { return x.second < y.second; });
    };
    if (!copies.empty()) {
      const MemoryKind memory = most(copies)->first;
      const std::set<CopyDirection>& all = ways[memory];
      CopyTotal({all.begin(), all.end()}, memory, bytes[memory]);
    }
    if (!kernels.empty()) KernelTotal(most(kernels)->first, most(kernels)->second);
  }

  // Of all in the window that are like this op. How much of it is the finding's, nobody tells.
  void Total(std::uint32_t op) {
    constexpr double kAll = std::numeric_limits<double>::infinity();
    const std::uint32_t detail = trace_.ops.detail[op];
    if (trace_.ops.kind[op] == OpKind::kKernel) KernelTotal(trace_.shapes[detail].name, kAll);
    if (trace_.ops.kind[op] == OpKind::kCopy) {
      CopyTotal({trace_.copies.direction[detail]}, HostSide(trace_.copies, detail), kAll);
    }
  }

  // Sums `value` of the ops of a kind in the window that `wanted` accepts by their details.
  template <typename Wanted, typename Value>
  double SumInWindow(OpKind kind, const Wanted& wanted, const Value& value) const {
    double sum = 0;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] != kind || !analysis_.basis().InWindow(trace_.ops.start[op]))
        continue;
      if (wanted(trace_.ops.detail[op])) sum += static_cast<double>(value(op));
    }
    return sum;
  }

  void CopyTotal(const std::vector<CopyDirection>& directions, MemoryKind memory,
                 double explained) {
    LookUp look_up = guide_.BytesCopied(directions, memory);
    if (look_up.table.empty()) return;
    const CopyTable& copies = trace_.copies;
    const double bytes = SumInWindow(
        OpKind::kCopy,
        [&](std::uint32_t copy) {
          return HostSide(copies, copy) == memory && IsIn(copies.direction[copy], directions);
        },
        [&](std::uint32_t op) { return copies.bytes[trace_.ops.detail[op]]; });
    std::vector<std::string> names;
    for (const CopyDirection direction : directions) names.emplace_back(DirectionName(direction));
    const bool migrated = std::all_of(directions.begin(), directions.end(), IsMigration);
    AddTotal(migrated ? "bytes of managed memory that moved"
                      : fmt::format("bytes copied {} ({} memory)", fmt::join(names, " and "),
                                    MemoryName(memory)),
             bytes, explained, "bytes", std::move(look_up));
  }

  void KernelTotal(StringId name, double explained) {
    const double time = SumInWindow(
        OpKind::kKernel, [&](std::uint32_t shape) { return trace_.shapes[shape].name == name; },
        [&](std::uint32_t op) { return trace_.ops.end[op] - trace_.ops.start[op]; });
    const std::string& text = trace_.strings[name];
    AddTotal("time in " + SafeText(text.size() > 60 ? text.substr(0, 57) + "…" : text), time,
             explained, "ns", guide_.TimeOfKernel(name));
  }

  // Of the calls that the fix changes: the name that occurs most.
  void TopCall() {
    std::map<StringId, std::int64_t> names;
    for (const std::uint32_t call : remedy_.unblocked_calls) ++names[trace_.calls.name[call]];
    if (names.empty()) {
      for (const std::uint32_t call : remedy_.vanished_calls) ++names[trace_.calls.name[call]];
    }
    if (names.empty()) return;
    const auto [name, explained] =
        *std::max_element(names.begin(), names.end(),
                          [](const auto& x, const auto& y) { return x.second < y.second; });
    double count = 0;
    for (std::uint32_t call = 0; call < trace_.calls.size(); ++call) {
      if (trace_.calls.name[call] == name && analysis_.basis().InWindow(trace_.calls.start[call]))
        count += 1;
    }
    AddTotal("calls of " + trace_.strings[name], count, static_cast<double>(explained), "count",
             guide_.CountOfCalls(name));
  }

  static constexpr double kNearlyAll = 0.9;  // layout only

  const Verdict& verdict_;
  const Analysis& analysis_;
  const Trace& trace_;
  ReportGuide guide_;
  Remedy remedy_;
  std::vector<Evidence> evidence_;
};

}  // namespace

std::vector<Evidence> CollectEvidence(const Verdict& verdict, const Analysis& analysis) {
  return EvidenceCollector(verdict, analysis).Collect();
}

}  // namespace advise
