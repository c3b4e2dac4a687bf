// How a person looks something up in the report that a trace was read from: with the sqlite3 shell
// in a database, by searching in a text. Each format's words stay in this room.
#pragma once

#include <cstdint>
#include <string>

#include "engine/lookup/rocpd.h"
#include "engine/trace/intervals.h"
#include "engine/trace/tables.h"

namespace advise {

struct LookUp {
  std::string table;  // a database's table, or what a text calls events of the kind
  std::string sql;    // one statement that returns the value; "" for a text
  std::string find;   // a pattern to search for; "" for a database, or where none is safe
  // Of a trace that was put together from several reports: the one to look in, and its time 0 on
  // the clock of the trace. "": the trace's only report.
  std::string report;
  Nanos later = 0;
};

// Which side of a copy is the host's: its kind of memory tells pageable from pinned.
MemoryKind HostSide(const CopyTable& copies, std::uint32_t copy);

class ReportGuide {
 public:
  // Sums and counts are of what starts inside `window`; of several reports put together no one
  // statement tells them, nor a gap. `trace` must outlive the guide.
  ReportGuide(const Trace& trace, Interval window);

  bool IsDatabase() const { return is_nsys_ || rocpd_.CanAsk(); }

  LookUp OpAt(std::uint32_t op) const;  // its duration
  // Idle time of the device before its first op at or after `next`.
  LookUp GapBefore(Nanos next, std::uint32_t device) const;
  LookUp TimeOfKernel(StringId name) const;
  // Nothing for directions that no condition selects.
  // In all of these directions.
  LookUp BytesCopied(const std::vector<CopyDirection>& directions, MemoryKind host_side) const;
  LookUp CountOfCalls(StringId name) const;

 private:
  LookUp Made(const char* table, std::string sql, std::string find) const;
  // The same in a database of rocprofv3, of a table that has the name of one of Nsight Systems'.
  LookUp InRocpd(const char* table, std::string sql) const;
  // Of an op.
  std::uint32_t ReportOf(std::uint32_t op) const;
  std::string InWindow(const char* column) const;
  std::string WorkOfRank(const char* table) const;
  std::string CallsOfRank(const char* table) const;
  std::string OnDevice(std::uint32_t device) const;
  std::string OpsOf(std::uint32_t device) const;
  std::string IsKernel(const std::string& text) const;
  std::string Once(std::string_view table) const;

  const Trace& trace_;
  Interval window_;
  rocpd::Queries rocpd_;
  bool is_nsys_ = false;
  bool is_joined_ = false;
  bool has_several_gpus_ = false;  // that do work
};

// One rank's kernels that overlap `when`, in a report of Nsight Systems that may hold several
// ranks.
struct RankInReport {
  std::int64_t pid = 0;  // 0 unknown
  std::int64_t device = 0;
  bool is_only_one = true;  // of the report
  bool is_only_of_process = true;
};
LookUp KernelsOfRank(const RankInReport& rank, Interval when);

}  // namespace advise
