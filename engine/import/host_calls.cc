#include "engine/import/host_calls.h"

#include <algorithm>

#include "engine/import/row_order.h"

namespace advise {
namespace {

constexpr std::uint64_t kIdsPerCall = 8;  // more than this, beyond a floor, is "far apart"
constexpr std::uint64_t kIdFloor = 1 << 20;

bool IsOutside(const CallTable& calls, std::uint32_t a, std::uint32_t b) {
  return calls.start[a] != calls.start[b] ? calls.start[a] < calls.start[b]
                                          : calls.end[a] > calls.end[b];
}

}  // namespace

std::size_t DropCallsListedTwice(CallTable* calls) {
  const auto repeats = [calls](std::size_t outer, std::size_t row) {
    return calls->correlation[row] != 0 && calls->correlation[row] == calls->correlation[outer] &&
           calls->thread[row] == calls->thread[outer] && calls->name[row] == calls->name[outer] &&
           calls->end[row] <= calls->end[outer];
  };
  std::vector<std::uint32_t> kept;
  const std::size_t rows = calls->size();
  for (std::uint32_t row = 0; row < rows; ++row) {
    if (!kept.empty() && repeats(kept.back(), row)) {
      calls->failed[kept.back()] |= calls->failed[row];
    } else {
      kept.push_back(row);
    }
  }
  if (kept.size() < rows) ReorderRows(kept, calls);
  return rows - kept.size();
}

std::size_t ForgetImpossibleLaunches(Trace* trace) {
  // Engineering judgment: far more than clocks differ by that are read one after the other.
  constexpr Nanos kClockError = 1'000'000;
  OpTable& ops = trace->ops;
  std::size_t launched = 0;
  std::size_t early = 0;
  for (std::size_t op = 0; op < ops.size(); ++op) {
    if (ops.call[op] == kNone) continue;
    ++launched;
    early += ops.start[op] < trace->calls.start[ops.call[op]] - kClockError ? 1 : 0;
  }
  if (2 * early <= launched) return 0;
  std::fill(ops.call.begin(), ops.call.end(), kNone);
  return early;
}

CallIndex::CallIndex(const CallTable& calls, const std::vector<Thread>& threads,
                     std::size_t processes)
    : processes_(processes) {
  struct Extent {
    std::uint32_t least = kNone;
    std::uint32_t most = 0;
    std::uint64_t count = 0;
  };
  std::vector<Extent> extents(processes);
  const auto process_of = [&](std::size_t row) {
    const std::uint32_t thread = calls.thread[row];
    return calls.correlation[row] == 0 || thread == kNone ? kNone : threads[thread].process;
  };
  for (std::size_t row = 0; row < calls.size(); ++row) {
    const std::uint32_t process = process_of(row);
    if (process == kNone) continue;
    Extent& extent = extents[process];
    extent.least = std::min(extent.least, calls.correlation[row]);
    extent.most = std::max(extent.most, calls.correlation[row]);
    ++extent.count;
  }
  for (std::size_t process = 0; process < processes; ++process) {
    const Extent& extent = extents[process];
    if (extent.count == 0) continue;
    const std::uint64_t ids = std::uint64_t{extent.most} - extent.least + 1;
    processes_[process].first_id = extent.least;
    if (ids <= extent.count * kIdsPerCall + kIdFloor) {
      processes_[process].by_id.assign(ids, kNone);
    } else {
      processes_[process].pairs.reserve(extent.count);
    }
  }
  for (std::uint32_t row = 0; row < calls.size(); ++row) {
    const std::uint32_t process = process_of(row);
    if (process == kNone) continue;
    ProcessCalls& own = processes_[process];
    const std::uint32_t id = calls.correlation[row];
    if (own.by_id.empty()) {
      own.pairs.emplace_back(id, row);
      continue;
    }
    std::uint32_t& known = own.by_id[id - own.first_id];
    if (known == kNone || IsOutside(calls, row, known)) known = row;
  }
  for (ProcessCalls& own : processes_) {
    std::sort(own.pairs.begin(), own.pairs.end(), [&](const auto& a, const auto& b) {
      if (a.first != b.first) return a.first < b.first;
      if (IsOutside(calls, a.second, b.second)) return true;
      return !IsOutside(calls, b.second, a.second) && a.second < b.second;
    });
  }
}

std::uint32_t CallIndex::Find(std::uint32_t process, std::uint32_t correlation) const {
  if (correlation == 0 || process >= processes_.size()) return kNone;
  const ProcessCalls& own = processes_[process];
  if (!own.by_id.empty()) {
    const std::uint32_t place = correlation - own.first_id;  // wraps to beyond the end below first
    return place < own.by_id.size() ? own.by_id[place] : kNone;
  }
  const auto found =
      std::lower_bound(own.pairs.begin(), own.pairs.end(), correlation,
                       [](const auto& pair, std::uint32_t id) { return pair.first < id; });
  return found != own.pairs.end() && found->first == correlation ? found->second : kNone;
}

}  // namespace advise
