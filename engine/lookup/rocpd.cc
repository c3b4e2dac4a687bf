#include "engine/lookup/rocpd.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace advise::rocpd {
namespace {

const char* WayOf(CopyDirection direction) {
  switch (direction) {
    case CopyDirection::kHostToDevice:
      return "'MEMORY_COPY_HOST_TO_DEVICE'";
    case CopyDirection::kDeviceToHost:
      return "'MEMORY_COPY_DEVICE_TO_HOST'";
    case CopyDirection::kDeviceToDevice:
      return "'MEMORY_COPY_DEVICE_TO_DEVICE'";
    default:
      return nullptr;
  }
}

}  // namespace

Queries::Queries(const Trace& trace) : trace_(trace) {
  constexpr std::string_view kRowsWithTimes = "3";  // the schema; later ones keep times apart
  if (trace.kind != "rocprof" || !trace.schema.starts_with(kRowsWithTimes)) return;
  std::string set;
  for (const auto& [table, rows] : trace.table_rows) {
    if (!table.starts_with(kKernels)) continue;
    if (!set.empty()) return;
    set = table.substr(std::string_view(kKernels).size());
  }
  set_ = set;
}

std::string Queries::Longest(const char* table, const std::string& condition) const {
  return fmt::format("select max(\"end\" - start) from {} where {};", Table(table), condition);
}

std::string Queries::OpsOf(std::uint32_t device) const {
  const std::int64_t agent = trace_.devices[device].report_id;
  return fmt::format(
      "select start, \"end\" from {} where agent_id = {} union all select c.start, c.\"end\" from "
      "{} c join {} s on s.id = c.name_id where s.string not like '%HOST_TO_HOST' and case when "
      "s.string like '%HOST_TO_DEVICE' then c.dst_agent_id else c.src_agent_id end = {}",
      Table(kKernels), agent, Table(kCopies), Table("rocpd_string"), agent);
}

std::string Queries::TimeOfKernel(const std::string& quoted_names,
                                  const std::string& condition) const {
  return fmt::format(
      "select sum(k.\"end\" - k.start) from {} k join {} s on s.id = k.kernel_id where "
      "coalesce(nullif(s.display_name, ''), s.kernel_name) in ({}) and {};",
      Table(kKernels), Table("rocpd_info_kernel_symbol"), quoted_names, condition);
}

std::string Queries::BytesCopied(const std::vector<CopyDirection>& directions,
                                 const std::string& condition) const {
  std::vector<std::string> ways;
  for (const CopyDirection direction : directions) {
    const char* const way = WayOf(direction);
    if (way == nullptr) return "";
    ways.emplace_back(way);
  }
  if (ways.empty()) return "";
  return fmt::format(
      "select sum(c.size) from {} c join {} s on s.id = c.name_id where s.string in ({}) and {};",
      Table(kCopies), Table("rocpd_string"), fmt::join(ways, ", "), condition);
}

std::string Queries::CountOfCalls(const std::string& quoted_name,
                                  const std::string& condition) const {
  return fmt::format(
      "select count(*) from {} r join {} s on s.id = r.name_id where s.string = {} and {};",
      Table(kCalls), Table("rocpd_string"), quoted_name, condition);
}

}  // namespace advise::rocpd
