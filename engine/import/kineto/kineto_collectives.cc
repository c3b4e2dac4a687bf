// Collectives are told twice: by the operation on the host (record_param_comms) and by the kernel
// that runs it, which repeats the arguments in newer traces. One row stands for both. Traces of
// PyTorch up to 2.2 have no arguments, but a range around each launch that names the operation.
#include <algorithm>
#include <span>
#include <utility>

#include "engine/import/kineto/kineto_names.h"
#include "engine/import/kineto/kineto_tables.h"
#include "engine/import/row_order.h"

namespace advise::kineto {
namespace {

// The ranks in "[0, 1, 2]"; none when the list was shortened ("[0, 1, ...").
std::vector<int> RanksOf(std::string_view text) {
  std::vector<int> ranks;
  if (text.find("..") != std::string_view::npos) return ranks;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t from = text.find_first_of("0123456789", at);
    if (from == std::string_view::npos) break;
    at = std::min(text.find_first_not_of("0123456789", from), text.size());
    if (const auto rank = ParseInt(text.substr(from, at - from))) {
      ranks.push_back(static_cast<int>(*rank));
    }
  }
  return ranks;
}

bool IsOfNccl(std::string_view kernel) {
  return kernel.find("nccl") != std::string_view::npos ||
         kernel.find("rccl") != std::string_view::npos;
}

// The row that holds the time of a call on its thread, in rows sorted by thread and start; nullptr
// when none does.
CollectiveRecord* Around(std::span<CollectiveRecord> rows, std::uint32_t thread, Nanos time) {
  auto after = std::upper_bound(rows.begin(), rows.end(), std::pair(thread, time),
                                [](const auto& key, const CollectiveRecord& row) {
                                  return key < std::pair(row.thread, row.start);
                                });
  if (after == rows.begin()) return nullptr;
  --after;
  return after->thread == thread && after->end >= time ? &*after : nullptr;
}

void SortByThread(std::vector<CollectiveRecord>* rows) {
  std::stable_sort(rows->begin(), rows->end(), [](const auto& a, const auto& b) {
    return a.thread != b.thread ? a.thread < b.thread : a.start < b.start;
  });
}

// One row for each kernel of a collective that a range such as "nccl:all_to_all" launched.
std::vector<CollectiveRecord> Annotated(Trace& trace) {
  std::vector<CollectiveRecord> ranges;
  for (std::uint32_t row = 0; row < trace.ranges.size(); ++row) {
    const std::string_view name = trace.strings[trace.ranges.name[row]];
    if (!name.starts_with("nccl:")) continue;
    const std::string_view kind = CollectiveKind(name);
    if (kind.empty()) continue;
    ranges.push_back({.start = trace.ranges.start[row],
                      .end = trace.ranges.end[row],
                      .thread = trace.ranges.thread[row],
                      .kind = trace.strings.Intern(kind)});
  }
  SortByThread(&ranges);
  std::vector<CollectiveRecord> rows;
  for (std::uint32_t op = 0; op < trace.ops.size() && !ranges.empty(); ++op) {
    const std::uint32_t call = trace.ops.call[op];
    if (trace.ops.kind[op] != OpKind::kKernel || call == kNone ||
        !IsOfNccl(trace.strings[trace.shapes[trace.ops.detail[op]].name]))
      continue;
    const CollectiveRecord* range =
        Around(ranges, trace.calls.thread[call], trace.calls.start[call]);
    if (range == nullptr) continue;
    rows.push_back(*range);
    rows.back().op = op;
  }
  return rows;
}

}  // namespace

std::uint32_t Tables::GroupOf(const Event& event) {
  const std::string name(event.Text(Arg::kGroupName));
  if (name.empty()) return kNone;
  const std::uint32_t row = groups_.Row(name);
  CommGroup& group = trace_.groups[row];
  if (group.description.empty()) group.description = event.Text(Arg::kGroupDescription);
  if (group.size == 0) group.size = static_cast<int>(event.Int(Arg::kGroupSize, 0));
  if (group.ranks.empty()) group.ranks = RanksOf(event.Text(Arg::kGroupRanks));
  return row;
}

void Tables::AddCollective(const Event& event, CollectiveRecord row) {
  const std::string_view kind = CollectiveKind(event.Text(Arg::kCollective));
  if (kind.empty()) return;
  const std::int64_t element = ElementBytes(event.Text(Arg::kElementType));
  const auto bytes = [&](Arg arg) {
    const std::int64_t elements = event.Int(arg, -1);
    return element == 0 || elements < 0 ? std::int64_t{-1} : elements * element;
  };
  row.kind = trace_.strings.Intern(kind);
  row.in_bytes = bytes(Arg::kInElements);
  row.out_bytes = bytes(Arg::kOutElements);
  row.group = GroupOf(event);
  row.sequence = event.Int(Arg::kSequence, -1);
  if (kind == "Send") row.peer = static_cast<std::int32_t>(event.Int(Arg::kTargetRank, -1));
  if (kind == "Recv") row.peer = static_cast<std::int32_t>(event.Int(Arg::kSourceRank, -1));
  collectives_.push_back(row);
}

// A kernel belongs to the operation inside which its call lies.
void Tables::JoinCollectives() {
  if (collectives_.empty()) {
    AppendCollectives(Annotated(trace_), &trace_.collectives);
    return;
  }
  std::vector<CollectiveRecord> rows;
  for (CollectiveRecord row : collectives_) {
    if (row.op != kNone) continue;
    row.thread = thread_rows_[row.thread];
    rows.push_back(row);
  }
  SortByThread(&rows);
  const std::size_t operations = rows.size();
  const auto operation_of = [&](std::uint32_t op) -> CollectiveRecord* {
    const std::uint32_t call = trace_.ops.call[op];
    if (call == kNone) return nullptr;
    return Around(std::span(rows).first(operations), trace_.calls.thread[call],
                  trace_.calls.start[call]);
  };
  for (CollectiveRecord row : collectives_) {
    if (row.op == kNone) continue;
    row.op = op_rows_.empty() ? row.op : op_rows_[row.op];
    if (row.op == kNone) continue;
    CollectiveRecord* const operation = operation_of(row.op);
    if (operation != nullptr && operation->op == kNone && operation->kind == row.kind) {
      operation->op = row.op;
    } else {
      rows.push_back(row);
    }
  }
  AppendCollectives(std::move(rows), &trace_.collectives);
}

}  // namespace advise::kineto
