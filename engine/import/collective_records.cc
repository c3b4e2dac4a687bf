#include "engine/import/collective_records.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/base/ascii.h"

namespace advise {

std::string_view CollectiveKind(std::string_view name) {
  std::string word;
  for (const char c : name) {
    if (c != '_' && c != '-' && c != ' ') word += Lower(c);
  }
  // In this order: "reducescatter" holds "reduce" and "scatter".
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kKinds = {{
      {"allreduce", "AllReduce"},
      {"reducescatter", "ReduceScatter"},
      {"allgather", "AllGather"},
      {"alltoall", "AllToAll"},
      {"broadcast", "Broadcast"},
      {"send", "Send"},
      {"recv", "Recv"},
      {"scatter", "Scatter"},
      {"gather", "Gather"},
      {"barrier", "Barrier"},
      {"reduce", "Reduce"},
  }};
  for (const auto& [part, kind] : kKinds) {
    if (word.find(part) != std::string::npos) return kind;
  }
  return "";
}

std::uint32_t GroupRows::Row(const std::string& name) {
  CommGroup group;
  group.name = name;
  Add(std::move(group));
  return rows_.at(name);
}

void GroupRows::Add(CommGroup group) {
  const auto row = static_cast<std::uint32_t>(trace_.groups.size());
  if (rows_.try_emplace(group.name, row).second) trace_.groups.push_back(std::move(group));
}

void AppendCollectives(std::vector<CollectiveRecord> rows, CollectiveTable* table) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.start < b.start; });
  for (const CollectiveRecord& row : rows) {
    table->start.push_back(row.start);
    table->end.push_back(row.end);
    table->kind.push_back(row.kind);
    table->in_bytes.push_back(row.in_bytes);
    table->out_bytes.push_back(row.out_bytes);
    table->group.push_back(row.group);
    table->op.push_back(row.op);
    table->sequence.push_back(row.sequence);
    table->peer.push_back(row.peer);
  }
}

}  // namespace advise
