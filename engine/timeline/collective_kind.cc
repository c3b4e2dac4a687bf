#include "engine/timeline/collective_kind.h"

#include "engine/base/ascii.h"

namespace advise {

std::vector<std::uint32_t> RowsOfCollectives(const Trace& trace) {
  const CollectiveTable& table = trace.collectives;
  std::vector<std::uint32_t> rows(table.size() > 0 ? trace.ops.size() : 0, kNone);
  for (std::uint32_t row = 0; row < table.size(); ++row) {
    if (table.op[row] != kNone) rows[table.op[row]] = row;
  }
  return rows;
}

std::string KindOfCollective(const Run& run, std::uint32_t op, std::uint32_t row) {
  std::string kind;
  if (row != kNone) {
    for (const char c : run.trace.strings[run.trace.collectives.kind[row]])
      if (IsLetter(c)) kind += Lower(c);
  }
  if (kind.empty()) kind = run.names.Kernel(run.trace.ops.detail[op]).collective;
  return kind == "send" || kind == "recv" ? "sendrecv" : kind;
}

bool ReducesGradients(const Run& run, std::uint32_t op) {
  const std::string& kind = run.names.Kernel(run.trace.ops.detail[op]).collective;
  return kind.empty() || kind == "allreduce" || kind == "reducescatter" || kind == "reduce";
}

}  // namespace advise
