#include "engine/advice/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/base/text.h"
#include "engine/replay/remedy.h"

namespace advise {
namespace {

std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

class EvidenceCollector {
 public:
  EvidenceCollector(const Verdict& verdict, const Analysis& analysis)
      : verdict_(verdict), analysis_(analysis), trace_(analysis.run.trace) {
    for (const auto& remedy : verdict.saving.remedies) remedy_.Join(*remedy);
  }

  std::vector<Evidence> Collect() {
    LongestSpan();
    TopOp();
    TopCall();
    Counted();
    return std::move(evidence_);
  }

 private:
  bool sql_known() const { return trace_.kind == "nsys-sqlite"; }
  std::string InWindow(const char* column) const {
    return fmt::format("{0} >= {1} and {0} < {2}", column, analysis_.run.window.start,
                       analysis_.run.window.end);
  }

  void Add(Evidence item) {
    item.source = trace_.path;
    if (!sql_known()) {
      item.sql.clear();
      item.table = CategoryOf(item.table);
    } else {
      item.find.clear();
    }
    evidence_.push_back(std::move(item));
  }

  // What a Kineto trace calls the rows of a table.
  static std::string CategoryOf(const std::string& table) {
    if (table == "CUPTI_ACTIVITY_KIND_MEMCPY") return "gpu_memcpy";
    if (table == "CUPTI_ACTIVITY_KIND_MEMSET") return "gpu_memset";
    return table == "CUPTI_ACTIVITY_KIND_RUNTIME" ? "cuda_runtime" : "kernel";
  }

  // The time of an event as a Kineto trace writes it, whole microseconds: what follows the point
  // differs from writer to writer.
  static std::string FindTime(Nanos time) {
    return fmt::format("\"ts\": *{}", time >= 0 ? time / 1000 : -((999 - time) / 1000));
  }
  static std::string FindName(const std::string& name) {
    if (SafeText(name) != name) return "";
    std::string pattern;
    for (const char c : name) {
      if (std::string_view("\\[]*.^$").find(c) != std::string_view::npos) pattern += '\\';
      pattern += c;
    }
    return fmt::format("\"name\": *\"{}\"", pattern);
  }

  std::string OpName(std::uint32_t op) const {
    if (trace_.ops.kind[op] != OpKind::kKernel) return OpWord(op);
    const std::string& name = trace_.strings[trace_.shapes[trace_.ops.detail[op]].name];
    return SafeText(name.size() > 60 ? name.substr(0, 57) + "..." : name);
  }

  // Rows of the rank that the trace is a part of: "" when it is a whole report. `table` is the name
  // that the columns are to be found by, with its dot.
  std::string WorkOfRank(const char* table) const {
    if (trace_.part_of == 0) return "";
    std::string rows = fmt::format(" and {}globalPid = {}", table, trace_.part_of);
    if (trace_.part_device >= 0) {
      rows += fmt::format(" and {}deviceId = {}", table, trace_.part_device);
    }
    return rows;
  }
  std::string CallsOfRank(const char* table) const {
    if (trace_.part_of == 0) return "";
    std::string rows = fmt::format(" and ({}globalTid & ~16777215) = {}", table, trace_.part_of);
    if (!trace_.part_without.empty()) {
      rows +=
          fmt::format(" and {}globalTid not in ({})", table, fmt::join(trace_.part_without, ", "));
    }
    return rows;
  }

  // Rows of one device: needed only when the report holds several.
  std::string OnDevice(std::uint32_t device) const {
    if (analysis_.run.active_devices.size() < 2 && trace_.part_of == 0) return "";
    std::vector<std::int64_t> pids;
    bool shared = false;  // a process that drives several devices
    for (const Stream& stream : trace_.streams) {
      if (stream.process == kNone) continue;
      if (stream.device == device) pids.push_back(trace_.processes[stream.process].global_pid);
    }
    for (const Stream& stream : trace_.streams) {
      if (stream.process == kNone || stream.device == device) continue;
      if (std::find(pids.begin(), pids.end(), trace_.processes[stream.process].global_pid) !=
          pids.end())
        shared = true;
    }
    std::sort(pids.begin(), pids.end());
    pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
    std::string filter;
    if (!pids.empty()) filter = fmt::format(" where globalPid in ({})", fmt::join(pids, ", "));
    if (shared || pids.empty()) {
      filter += fmt::format(" {} deviceId = {}", filter.empty() ? "where" : "and",
                            trace_.devices[device].cuda_ordinal);
    }
    return filter;
  }

  // All GPU work of a device as one SQL source with columns start and "end".
  std::string Ops(std::uint32_t device) const {
    std::string sql;
    for (const char* table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
                              "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"}) {
      if (!trace_.HasTable(table)) continue;
      sql += fmt::format("{}select start, \"end\" from {}{}", sql.empty() ? "" : " union all ",
                         table, OnDevice(device));
    }
    return sql;
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
    Evidence item;
    if (analysis_.times[device].idle.Contains(middle)) {
      // From the end of all that began before to the start of what ends the gap.
      Nanos until = 0;
      Nanos next = 0;
      std::uint32_t next_op = kNone;
      bool any = false;
      for (const std::uint32_t op : analysis_.run.ops_of_device[device]) {
        if (trace_.ops.start[op] > middle) {
          next = trace_.ops.start[op];
          next_op = op;
          break;
        }
        until = any ? std::max(until, trace_.ops.end[op]) : trace_.ops.end[op];
        any = true;
      }
      if (!any || next_op == kNone) return;
      item.what = "the longest gap on the GPU that this explains";
      if (!sql_known()) item.what += ", which ends with " + OpName(next_op);
      item.find = FindTime(next);
      item.value = static_cast<double>(next - until);
      item.start_ns = until;
      item.end_ns = next;
      item.table = "CUPTI_ACTIVITY_KIND_KERNEL";
      item.sql = fmt::format(
          "with ops as ({}) select (select min(start) from ops where start >= {}) - "
          "(select max(\"end\") from ops where start < {});",
          Ops(device), next, next);
    } else {
      std::uint32_t found = kNone;
      for (const std::uint32_t op : analysis_.run.ops_of_device[device]) {
        if (trace_.ops.start[op] <= middle && trace_.ops.end[op] > middle) {
          const auto length = [&](std::uint32_t o) {
            return trace_.ops.end[o] - trace_.ops.start[o];
          };
          if (found == kNone || length(op) > length(found)) found = op;
        }
      }
      if (found == kNone) return;
      item.what = std::string("the longest such ") + OpWord(found);
      item.find = FindTime(trace_.ops.start[found]);
      item.value = static_cast<double>(trace_.ops.end[found] - trace_.ops.start[found]);
      item.start_ns = trace_.ops.start[found];
      item.end_ns = trace_.ops.end[found];
      item.table = OpTableName(found);
      item.sql =
          fmt::format("select max(\"end\" - start) from {} where start = {} and \"end\" = {};",
                      item.table, item.start_ns, item.end_ns);
    }
    item.unit = "ns";
    Add(std::move(item));
  }

  // The counters of the first kernel that the rule names, where they stand in their own file.
  void Counted() {
    for (const auto& [name, rows] : verdict_.tables) {
      if (rows.empty()) continue;
      std::string kernel, source;
      double headroom = -1;
      for (const auto& [column, cell] : rows.front()) {
        if (column == "kernel" && std::holds_alternative<std::string>(cell))
          kernel = std::get<std::string>(cell);
        if (column == "source" && std::holds_alternative<std::string>(cell))
          source = std::get<std::string>(cell);
        if (column == "headroom" && std::holds_alternative<double>(cell))
          headroom = std::get<double>(cell);
      }
      if (kernel.empty() || source.empty() || headroom < 0) continue;
      Evidence item;
      item.what =
          "counters of " + SafeText(kernel.size() > 60 ? kernel.substr(0, 57) + "..." : kernel);
      item.value = headroom;
      item.unit = "share";
      item.source = source;
      evidence_.push_back(std::move(item));
      return;
    }
  }

  const char* OpWord(std::uint32_t op) const {
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
  const char* OpTableName(std::uint32_t op) const {
    switch (trace_.ops.kind[op]) {
      case OpKind::kKernel:
        return "CUPTI_ACTIVITY_KIND_KERNEL";
      case OpKind::kCopy:
        return "CUPTI_ACTIVITY_KIND_MEMCPY";
      case OpKind::kMemset:
        return "CUPTI_ACTIVITY_KIND_MEMSET";
      case OpKind::kGraph:
        break;
    }
    return "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
  }

  // Of the ops that the fix changes: the kernel name, or kind of copy, with most time.
  void TopOp() {
    std::map<std::uint32_t, double> kernels;  // name -> time
    std::map<std::pair<CopyDirection, MemoryKind>, double> copies;
    const auto tally = [&](std::uint32_t op) {
      const auto length = static_cast<double>(trace_.ops.end[op] - trace_.ops.start[op]);
      const std::uint32_t detail = trace_.ops.detail[op];
      if (trace_.ops.kind[op] == OpKind::kKernel) kernels[trace_.shapes[detail].name] += length;
      if (trace_.ops.kind[op] == OpKind::kCopy)
        copies[{trace_.copies.direction[detail], HostSide(detail)}] += length;
    };
    for (const auto& [op, factor] : remedy_.scaled_ops) tally(op);
    for (const std::uint32_t op : remedy_.detached_ops) tally(op);
    const auto most = [](const auto& map) {
      return std::max_element(map.begin(), map.end(),
                              [](const auto& x, const auto& y) { return x.second < y.second; });
    };
    if (!copies.empty()) CopyTotal(most(copies)->first.first, most(copies)->first.second);
    if (!kernels.empty()) KernelTotal(most(kernels)->first);
  }

  MemoryKind HostSide(std::uint32_t copy) const {
    const bool up = trace_.copies.direction[copy] == CopyDirection::kHostToDevice ||
                    trace_.copies.direction[copy] == CopyDirection::kMigrationToDevice;
    return up ? trace_.copies.source[copy] : trace_.copies.target[copy];
  }

  void CopyTotal(CopyDirection direction, MemoryKind memory) {
    static const std::map<CopyDirection, int> kKinds = {{CopyDirection::kHostToDevice, 1},
                                                        {CopyDirection::kDeviceToHost, 2},
                                                        {CopyDirection::kDeviceToDevice, 8},
                                                        {CopyDirection::kMigrationToDevice, 11},
                                                        {CopyDirection::kMigrationToHost, 12}};
    const auto kind = kKinds.find(direction);
    if (kind == kKinds.end()) return;
    double bytes = 0;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      const std::uint32_t detail = trace_.ops.detail[op];
      if (trace_.ops.kind[op] != OpKind::kCopy || !analysis_.basis().InWindow(trace_.ops.start[op]))
        continue;
      if (trace_.copies.direction[detail] == direction && HostSide(detail) == memory) {
        bytes += static_cast<double>(trace_.copies.bytes[detail]);
      }
    }
    Evidence item;
    item.what =
        fmt::format("bytes copied {} ({} memory)", DirectionName(direction), MemoryName(memory));
    item.value = bytes;
    item.unit = "bytes";
    item.start_ns = analysis_.run.window.start;
    item.end_ns = analysis_.run.window.end;
    item.table = "CUPTI_ACTIVITY_KIND_MEMCPY";
    const bool up = kind->second == 1 || kind->second == 11;
    item.sql = fmt::format(
        "select sum(bytes) from CUPTI_ACTIVITY_KIND_MEMCPY where copyKind = {} and {} = {} and "
        "{}{};",
        kind->second, up ? "srcKind" : "dstKind", static_cast<int>(memory), InWindow("start"),
        WorkOfRank(""));
    Add(std::move(item));
  }

  void KernelTotal(StringId name) {
    double time = 0;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] != OpKind::kKernel ||
          !analysis_.basis().InWindow(trace_.ops.start[op]))
        continue;
      if (trace_.shapes[trace_.ops.detail[op]].name == name) {
        time += static_cast<double>(trace_.ops.end[op] - trace_.ops.start[op]);
      }
    }
    const std::string& text = trace_.strings[name];
    Evidence item;
    item.find = FindName(text);
    item.what = "time in " + SafeText(text.size() > 60 ? text.substr(0, 57) + "..." : text);
    item.value = time;
    item.unit = "ns";
    item.start_ns = analysis_.run.window.start;
    item.end_ns = analysis_.run.window.end;
    item.table = "CUPTI_ACTIVITY_KIND_KERNEL";
    if (SafeText(text) == text) {
      item.sql = fmt::format(
          "select sum(k.\"end\" - k.start) from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on "
          "s.id = "
          "k.demangledName where s.value = {} and {}{};",
          Quoted(text), InWindow("k.start"), WorkOfRank("k."));
    }
    Add(std::move(item));
  }

  // Of the calls that the fix changes: the name that occurs most.
  void TopCall() {
    std::map<StringId, std::int64_t> names;
    for (const std::uint32_t call : remedy_.unblocked_calls) ++names[trace_.calls.name[call]];
    if (names.empty()) {
      for (const std::uint32_t call : remedy_.vanished_calls) ++names[trace_.calls.name[call]];
    }
    if (names.empty()) return;
    const StringId name =
        std::max_element(names.begin(), names.end(), [](const auto& x, const auto& y) {
          return x.second < y.second;
        })->first;
    double count = 0;
    for (std::uint32_t call = 0; call < trace_.calls.size(); ++call) {
      if (trace_.calls.name[call] == name && analysis_.basis().InWindow(trace_.calls.start[call]))
        count += 1;
    }
    const std::string& text = trace_.strings[name];
    Evidence item;
    item.what = "calls of " + text;
    item.find = FindName(text);
    item.value = count;
    item.unit = "count";
    item.start_ns = analysis_.run.window.start;
    item.end_ns = analysis_.run.window.end;
    item.table = "CUPTI_ACTIVITY_KIND_RUNTIME";
    item.sql = fmt::format(
        "select count(*) from CUPTI_ACTIVITY_KIND_RUNTIME r join StringIds s on s.id = r.nameId "
        "where "
        "(s.value = '{0}' or s.value glob '{0}_v[0-9]*' or s.value glob '{0}_pt[sd][sz]*') and "
        "{1}{2};",
        text, InWindow("r.start"), CallsOfRank("r."));
    Add(std::move(item));
  }

  const Verdict& verdict_;
  const Analysis& analysis_;
  const Trace& trace_;
  Remedy remedy_;
  std::vector<Evidence> evidence_;
};

}  // namespace

std::vector<Evidence> CollectEvidence(const Verdict& verdict, const Analysis& analysis) {
  return EvidenceCollector(verdict, analysis).Collect();
}

}  // namespace advise
