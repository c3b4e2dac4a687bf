// What importers share on collectives: their names, their communicators, and the table of them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/trace/tables.h"

namespace advise {

// "AllReduce" of "allreduce", "all_reduce_coalesced", "ncclAllReduce" …; "" for what moves no data.
std::string_view CollectiveKind(std::string_view name);

// A collective as the file describes it: the operation on the host, or a kernel.
struct CollectiveRecord {
  Nanos start = 0;
  Nanos end = 0;
  std::uint32_t thread = kNone;  // of the operation on the host; kNone for a kernel
  std::uint32_t op = kNone;      // its kernel
  StringId kind = 0;
  std::int64_t in_bytes = -1;
  std::int64_t out_bytes = -1;
  std::uint32_t group = kNone;
  std::int64_t sequence = -1;
  std::int32_t peer = -1;
};

// The row of trace.groups that stands for each name.
class GroupRows {
 public:
  explicit GroupRows(Trace& trace) : trace_(trace) {}
  std::uint32_t Row(const std::string& name);
  void Add(CommGroup group);  // unless there is one of that name

 private:
  Trace& trace_;
  std::map<std::string, std::uint32_t> rows_;
};

// Appends the rows, in the order of their start.
void AppendCollectives(std::vector<CollectiveRecord> rows, CollectiveTable* table);

}  // namespace advise
