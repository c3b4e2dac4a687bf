// Collectives are told twice: by the operation on the host (record_param_comms) and by the kernel
// that runs it, which repeats the arguments in newer traces. One row stands for both.
#include <algorithm>

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
  std::vector<CollectiveRecord> rows;
  for (CollectiveRecord row : collectives_) {
    if (row.op != kNone) continue;
    row.thread = thread_rows_[row.thread];
    rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.thread != b.thread ? a.thread < b.thread : a.start < b.start;
  });
  const std::size_t operations = rows.size();
  const auto operation_of = [&](std::uint32_t op) -> CollectiveRecord* {
    const std::uint32_t call = trace_.ops.call[op];
    if (call == kNone) return nullptr;
    const std::uint32_t thread = trace_.calls.thread[call];
    const Nanos time = trace_.calls.start[call];
    const auto end = rows.begin() + static_cast<std::ptrdiff_t>(operations);
    auto after = std::upper_bound(rows.begin(), end, std::pair(thread, time),
                                  [](const auto& key, const CollectiveRecord& row) {
                                    return key < std::pair(row.thread, row.start);
                                  });
    if (after == rows.begin()) return nullptr;
    --after;
    return after->thread == thread && after->end >= time ? &*after : nullptr;
  };
  for (CollectiveRecord row : collectives_) {
    if (row.op == kNone) continue;
    row.op = op_rows_.empty() ? row.op : op_rows_[row.op];
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
