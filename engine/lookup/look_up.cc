#include "engine/lookup/look_up.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "engine/base/text.h"
#include "engine/lookup/cupti.h"
#include "engine/trace/listed_twice.h"

namespace advise {
namespace {

std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

const char* TableOf(OpKind kind) {
  switch (kind) {
    case OpKind::kKernel:
      return cupti::kKernels;
    case OpKind::kCopy:
      return cupti::kCopies;
    case OpKind::kMemset:
      return cupti::kMemsets;
    case OpKind::kGraph:
      break;
  }
  return cupti::kGraphs;
}

const char* RocpdTableOf(std::string_view table) {
  if (table == cupti::kCopies) return rocpd::kCopies;
  return table == cupti::kCalls ? rocpd::kCalls : rocpd::kKernels;
}

// What rocprofv3 calls the rows of a table in JSON.
std::string RecordsOf(std::string_view table) {
  if (table == cupti::kCopies) return "memory_copy";
  return table == cupti::kCalls ? "hip_api" : "kernel_dispatch";
}

// What a Kineto trace calls them.
std::string CategoryOf(std::string_view table) {
  if (table == cupti::kCopies) return "gpu_memcpy";
  if (table == cupti::kMemsets) return "gpu_memset";
  return table == cupti::kCalls ? "cuda_runtime" : "kernel";
}

// Databases of rocprofv3, which no search in a text helps with.
bool IsBinary(const Trace& trace) { return trace.kind == "rocprof" && !trace.schema.empty(); }

// The time of an event as a Kineto trace writes it, whole microseconds: what follows the point
// differs from writer to writer. A table of GPU work begins its rows with it, in units of its own.
std::string FindTime(const Trace& trace, Nanos time) {
  if (IsBinary(trace)) return "";
  if (trace.kind == "gpu-trace") {
    if (trace.producer == "rocprof") return fmt::format(",{},", time);
    return trace.producer == "nsys stats" ? fmt::format("^{},", time) : "";
  }
  if (trace.kind == "rocprof") return fmt::format("\"start_timestamp\": *{}", time);
  return fmt::format("\"ts\": *{}", time >= 0 ? time / 1000 : -((999 - time) / 1000));
}

std::string FindName(const Trace& trace, const std::string& name) {
  if (IsBinary(trace) || SafeText(name) != name) return "";
  std::string pattern;
  for (const char c : name) {
    if (std::string_view("\\[]*.^$").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  if (trace.kind == "gpu-trace") return pattern;
  if (trace.kind == "rocprof") return fmt::format("\"{}\"", pattern);
  return fmt::format("\"name\": *\"{}\"", pattern);
}

bool IsUpward(CopyDirection direction) {
  return direction == CopyDirection::kHostToDevice ||
         direction == CopyDirection::kMigrationToDevice;
}

}  // namespace

MemoryKind HostSide(const CopyTable& copies, std::uint32_t copy) {
  return IsUpward(copies.direction[copy]) ? copies.source[copy] : copies.target[copy];
}

ReportGuide::ReportGuide(const Trace& trace, Interval window)
    : trace_(trace),
      window_(window),
      rocpd_(trace),
      is_nsys_(trace.kind == "nsys-sqlite"),
      is_joined_(!trace.joined.empty()) {
  const std::vector<std::uint16_t>& devices = trace.ops.device;
  has_several_gpus_ = std::any_of(devices.begin(), devices.end(),
                                  [&](std::uint16_t device) { return device != devices.front(); });
}

LookUp ReportGuide::Made(const char* table, std::string sql, std::string find) const {
  if (is_joined_) sql = find = "";
  if (is_nsys_) return {table, std::move(sql), "", "", 0};
  return {trace_.kind == "rocprof" ? RecordsOf(table) : CategoryOf(table), "", std::move(find), "",
          0};
}

LookUp ReportGuide::InRocpd(const char* table, std::string sql) const {
  return {rocpd_.Table(RocpdTableOf(table)), is_joined_ ? "" : std::move(sql), "", "", 0};
}

std::string ReportGuide::InWindow(const char* column) const {
  return fmt::format("{0} >= {1} and {0} < {2}", column, window_.start, window_.end);
}

// Rows of the rank that the trace is a part of: "" when it is a whole report. `table` is the name
// that the columns are to be found by, with its dot.
std::string ReportGuide::WorkOfRank(const char* table) const {
  if (trace_.part_of == 0) return "";
  std::string rows = fmt::format(" and {}globalPid = {}", table, trace_.part_of);
  if (trace_.part_device >= 0)
    rows += fmt::format(" and {}deviceId = {}", table, trace_.part_device);
  return rows;
}

std::string ReportGuide::CallsOfRank(const char* table) const {
  if (trace_.part_of == 0) return "";
  std::string rows =
      fmt::format(" and ({}globalTid & ~{}) = {}", table, cupti::kIdMask, trace_.part_of);
  if (!trace_.part_without.empty()) {
    rows +=
        fmt::format(" and {}globalTid not in ({})", table, fmt::join(trace_.part_without, ", "));
  }
  return rows;
}

// Rows of one device: needed only when the report holds several.
std::string ReportGuide::OnDevice(std::uint32_t device) const {
  if (!has_several_gpus_ && trace_.part_of == 0) return "";
  const auto process_of = [&](const Stream& stream) {
    return trace_.processes[stream.process].global_pid;
  };
  std::vector<std::int64_t> pids;
  for (const Stream& stream : trace_.streams) {
    if (stream.process != kNone && stream.device == device) pids.push_back(process_of(stream));
  }
  std::sort(pids.begin(), pids.end());
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  const bool shared =  // a process that drives several devices
      std::any_of(trace_.streams.begin(), trace_.streams.end(), [&](const Stream& stream) {
        return stream.process != kNone && stream.device != device &&
               std::binary_search(pids.begin(), pids.end(), process_of(stream));
      });
  std::string filter;
  if (!pids.empty()) filter = fmt::format(" where globalPid in ({})", fmt::join(pids, ", "));
  if (shared || pids.empty()) {
    filter += fmt::format(" {} deviceId = {}", filter.empty() ? "where" : "and",
                          trace_.devices[device].cuda_ordinal);
  }
  return filter;
}

// All GPU work of a device as one SQL source with columns start and "end".
std::string ReportGuide::OpsOf(std::uint32_t device) const {
  std::string sql;
  for (const char* table : {cupti::kKernels, cupti::kCopies, cupti::kMemsets, cupti::kGraphs}) {
    if (!trace_.HasTable(table)) continue;
    sql += fmt::format("{}select start, \"end\" from {}{}", sql.empty() ? "" : " union all ", table,
                       OnDevice(device));
  }
  return sql;
}

std::uint32_t ReportGuide::ReportOf(std::uint32_t op) const {
  const std::uint32_t stream = trace_.ops.stream[op];
  const std::uint32_t process = stream == kNone ? kNone : trace_.streams[stream].process;
  return process == kNone ? 0 : trace_.processes[process].report;
}

LookUp ReportGuide::OpAt(std::uint32_t op) const {
  Trace::JoinedReport report;
  if (is_joined_) report = trace_.joined[ReportOf(op)];
  const Nanos start = trace_.ops.start[op] - report.later;
  const char* const table = TableOf(trace_.ops.kind[op]);
  const std::string when =
      fmt::format("start = {} and \"end\" = {}", start, trace_.ops.end[op] - report.later);
  LookUp found = Made(table, "", "");
  found.report = report.path;
  found.later = report.later;
  if (rocpd_.CanAsk()) {
    found.table = rocpd_.Table(RocpdTableOf(table));
    found.sql = rocpd_.Longest(RocpdTableOf(table), when);
  } else if (is_nsys_) {
    found.sql = fmt::format("select max(\"end\" - start) from {} where {};", table, when);
  } else {
    found.find = FindTime(trace_, start);
  }
  return found;
}

LookUp ReportGuide::GapBefore(Nanos next, std::uint32_t device) const {
  const std::string sql = fmt::format(
      "with ops as ({}) select (select min(start) from ops where start >= {}) - (select "
      "max(\"end\") from ops where start < {});",
      rocpd_.CanAsk() ? rocpd_.OpsOf(device) : OpsOf(device), next, next);
  if (rocpd_.CanAsk()) return InRocpd(cupti::kKernels, sql);
  return Made(cupti::kKernels, sql, FindTime(trace_, next));
}

// The kernel in SQL: its name, or where that is long, as much of both ends as no other kernel has.
std::string ReportGuide::IsKernel(const std::string& text) const {
  constexpr std::size_t kLong = 120;
  const bool plain = std::all_of(text.begin(), text.end(),
                                 [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  for (std::size_t end = 24; plain && text.size() > kLong && 4 * end < text.size(); end += 8) {
    const std::string first = text.substr(0, end);
    const std::string last = text.substr(text.size() - end);
    const bool told =
        std::none_of(trace_.shapes.begin(), trace_.shapes.end(), [&](const KernelShape& shape) {
          const std::string& other = trace_.strings[shape.name];
          return other != text && other.starts_with(first) && other.ends_with(last);
        });
    if (told) {
      return fmt::format("substr(s.value, 1, {0}) = {1} and substr(s.value, -{0}) = {2}", end,
                         Quoted(first), Quoted(last));
    }
  }
  return "s.value = " + Quoted(text);
}

// A table whose rows are summed.
std::string ReportGuide::Once(std::string_view table) const {
  return trace_.diagnostics.Has(kRowsListedTwice)
             ? fmt::format("(select distinct * from {})", table)
             : std::string(table);
}

LookUp ReportGuide::TimeOfKernel(StringId name) const {
  const std::string& text = trace_.strings[name];
  if (SafeText(text) != text || IsUnnamedKernel(text)) return Made(cupti::kKernels, "", "");
  if (rocpd_.CanAsk()) {
    const std::string names = Quoted(text) + ", " + Quoted(text + ".kd");
    return InRocpd(cupti::kKernels, rocpd_.TimeOfKernel(names, InWindow("k.start")));
  }
  return Made(
      cupti::kKernels,
      fmt::format("select sum(k.\"end\" - k.start) from {} k join StringIds s on s.id = "
                  "k.demangledName where {} and {}{};",
                  Once(cupti::kKernels), IsKernel(text), InWindow("k.start"), WorkOfRank("k.")),
      FindName(trace_, text));
}

LookUp ReportGuide::BytesCopied(const std::vector<CopyDirection>& directions,
                                MemoryKind host_side) const {
  if (rocpd_.CanAsk())
    return InRocpd(cupti::kCopies, rocpd_.BytesCopied(directions, InWindow("c.start")));
  std::vector<std::string> ways;
  for (const CopyDirection direction : directions) {
    // Whether a copy is one between devices is told by more than its kind.
    const bool is_told_by_kind = IsUpward(direction) || direction == CopyDirection::kDeviceToHost ||
                                 direction == CopyDirection::kMigrationToHost ||
                                 direction == CopyDirection::kDeviceToDevice;
    if (!is_told_by_kind) return {};
    std::vector<int> kinds;
    for (const cupti::CopyKind& kind : cupti::kCopyKinds) {
      if (kind.direction == direction) kinds.push_back(kind.number);
    }
    ways.push_back(fmt::format("copyKind in ({}) and {} = {}", fmt::join(kinds, ", "),
                               IsUpward(direction) ? "srcKind" : "dstKind",
                               static_cast<int>(host_side)));
  }
  if (ways.empty()) return {};
  const std::string rows =
      ways.size() == 1 ? ways.front() : fmt::format("(({}))", fmt::join(ways, ") or ("));
  return Made(cupti::kCopies,
              fmt::format("select sum(bytes) from {} where {} and {}{};", Once(cupti::kCopies),
                          rows, InWindow("start"), WorkOfRank("")),
              "");
}

LookUp ReportGuide::CountOfCalls(StringId name) const {
  const std::string& text = trace_.strings[name];
  if (rocpd_.CanAsk()) {
    return InRocpd(cupti::kCalls, rocpd_.CountOfCalls(Quoted(text), InWindow("r.start")));
  }
  const char* const rows =
      trace_.diagnostics.Has(kCallsListedTwice) || trace_.diagnostics.Has(kRowsListedTwice)
          ? "distinct r.globalTid || ' ' || r.correlationId"
          : "*";
  return Made(cupti::kCalls,
              fmt::format("select count({4}) from {0} r join StringIds s on s.id = r.nameId where "
                          "(s.value = '{1}' or s.value glob '{1}_v[0-9]*' or s.value glob "
                          "'{1}_pt[sd][sz]*') and {2}{3};",
                          cupti::kCalls, text, InWindow("r.start"), CallsOfRank("r."), rows),
              FindName(trace_, text));
}

// Where a report holds several ranks, each process may call its GPU 0, so that processes tell them
// apart, and GPUs those of one process.
LookUp KernelsOfRank(const RankInReport& rank, Interval when) {
  const std::string device = fmt::format("deviceId = {}", rank.device);
  std::string rows = device;
  if (!rank.is_only_one && rank.pid != 0) {
    rows = fmt::format("globalPid / {0} % {0} = {1}", cupti::kIdMask + 1, rank.pid);
    if (!rank.is_only_of_process) rows += " and " + device;
  }
  return {cupti::kKernels,
          fmt::format("select start, \"end\", \"end\" - start from {} where {} and start < {} and "
                      "\"end\" > {};",
                      cupti::kKernels, rows, when.end, when.start),
          "", "", 0};
}

}  // namespace advise
