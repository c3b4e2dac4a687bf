// Which copies only carry data between a GPU and MPI. A thread brings data to the host, gives it to
// MPI, and uploads what came: an exchange. Copies belong to it when MPI moves at least as much, and
// when the host does little else meanwhile: else it works on the data.
#include <algorithm>

#include "engine/metrics/losses/copies/copy.h"
#include "engine/metrics/losses/ranks/mpi_waits.h"

namespace advise {
namespace {

// What one thread does between two exchanges.
class Exchange {
 public:
  Exchange(const Run& run, std::uint32_t thread)
      : run_(run),
        trace_(run.trace),
        thread_(thread),
        least_bytes_(run.knowledge.BytesOf("mpi.staged_copy")),
        most_work_(run.knowledge.Number("mpi.staging_work")) {}

  void Down(std::uint32_t op, StagedCopies* found) {
    if (!up_.empty()) Close(found);
    down_.push_back(op);
  }
  void Up(std::uint32_t op, StagedCopies* found) {
    if (calls_ > 0 && !down_.empty()) {
      up_.push_back(op);
    } else {
      Close(found);  // an input, or a round trip without MPI
    }
  }
  void Mpi(std::uint32_t row, StagedCopies* found) {
    if (!up_.empty()) Close(found);
    const MpiTable& mpi = trace_.mpi;
    ++calls_;
    per_rank_ = per_rank_ || CountsPerRank(trace_.strings[mpi.name[row]]);
    Add(mpi.sent[row], &sent_);
    Add(mpi.received[row], &received_);
  }
  void Close(StagedCopies* found) {
    std::reverse(down_.begin(), down_.end());  // the last ones are those that MPI sends
    // Of how many ranks each sent or received that much is not known.
    const std::vector<std::uint32_t> down = Within(down_, per_rank_ ? -1 : sent_);
    // Where MPI does not say how much it received, it was about as much as it was given.
    const std::int64_t given = received_ >= 0 ? received_ : BytesOf(down);
    const std::vector<std::uint32_t> up = Within(up_, per_rank_ ? -1 : given);
    if (calls_ > 0 && !down.empty() && !up.empty() && OnlyCarries(down.back(), up.back())) {
      found->down.insert(found->down.end(), down.begin(), down.end());
      found->up.insert(found->up.end(), up.begin(), up.end());
    }
    down_.clear();
    up_.clear();
    calls_ = 0;
    sent_ = received_ = -1;
    per_rank_ = false;
  }

 private:
  static void Add(std::int64_t more, std::int64_t* bytes) {
    if (more >= 0) *bytes = std::max<std::int64_t>(*bytes, 0) + more;
  }
  std::int64_t BytesOf(const std::vector<std::uint32_t>& ops) const {
    std::int64_t bytes = 0;
    for (const std::uint32_t op : ops) bytes += trace_.BytesOfCopy(op);
    return bytes;
  }
  // As many copies as MPI moved bytes; all where it does not say how many.
  std::vector<std::uint32_t> Within(const std::vector<std::uint32_t>& ops,
                                    std::int64_t moved) const {
    std::vector<std::uint32_t> within;
    std::int64_t left = moved;
    for (const std::uint32_t op : ops) {
      const std::int64_t bytes = trace_.BytesOfCopy(op);
      if (bytes < least_bytes_ || (moved >= 0 && bytes > left)) continue;
      left -= bytes;
      within.push_back(op);
    }
    return within;
  }

  // Whether the host is in calls of CUDA and MPI for most of the time from the one copy to the
  // other.
  bool OnlyCarries(std::uint32_t first_down, std::uint32_t last_up) const {
    const Nanos from = trace_.calls.start[trace_.ops.call[first_down]];
    const Nanos to = trace_.calls.end[trace_.ops.call[last_up]];
    const Nanos inside = TimeIn(trace_.calls, run_.calls_of_thread[thread_], from, to) +
                         TimeIn(trace_.mpi, run_.mpi_of_thread[thread_], from, to);
    return static_cast<double>(to - from - inside) <= most_work_ * static_cast<double>(to - from);
  }
  // Of the thread in calls that begin in [from, to). Calls inside others count once.
  static Nanos TimeIn(const auto& table, RowRange rows, Nanos from, Nanos to) {
    const auto first = table.start.begin() + rows.first;
    const auto last = table.start.begin() + rows.last;
    Nanos time = 0, until = from;
    for (auto at = std::lower_bound(first, last, from); at != last && *at < to; ++at) {
      const Nanos end = std::min(to, table.end[static_cast<std::size_t>(at - table.start.begin())]);
      time += std::max<Nanos>(0, end - std::max(until, *at));
      until = std::max(until, end);
    }
    return time;
  }

  const Run& run_;
  const Trace& trace_;
  std::uint32_t thread_;
  std::int64_t least_bytes_;
  double most_work_;
  std::vector<std::uint32_t> down_, up_;
  std::int64_t calls_ = 0, sent_ = -1, received_ = -1;
  bool per_rank_ = false;  // see CountsPerRank
};

}  // namespace

StagedCopies FindStagedCopies(const Basis& basis) {
  const Run& run = basis.run;
  const Trace& trace = run.trace;
  StagedCopies found;
  for (const std::uint32_t thread : run.launching_threads) {
    const RowRange rows = run.mpi_of_thread[thread];
    if (rows.empty()) continue;
    Exchange exchange(run, thread);
    std::uint32_t row = rows.first;
    const auto mpi_until = [&](Nanos time) {
      for (; row < rows.last && trace.mpi.start[row] < time; ++row) {
        if (MovesData(trace.mpi.kind[row])) exchange.Mpi(row, &found);
      }
    };
    const RowRange calls = run.calls_of_thread[thread];
    for (const std::uint32_t call : calls) {
      const std::uint32_t op = run.first_op_of_call[call];
      if (op == kNone || trace.ops.kind[op] != OpKind::kCopy ||
          !basis.InLoop(trace.ops.start[op])) {
        continue;
      }
      const CopyDirection direction = trace.DirectionOfCopy(op);
      if (!IsHostDevice(direction)) continue;
      mpi_until(trace.calls.start[call]);
      if (direction == CopyDirection::kDeviceToHost) {
        exchange.Down(op, &found);
      } else {
        exchange.Up(op, &found);
      }
    }
    exchange.Close(&found);
  }
  std::sort(found.down.begin(), found.down.end());
  std::sort(found.up.begin(), found.up.end());
  return found;
}

bool UsesMpi(const Run& run, std::uint32_t thread, Nanos from, Nanos to) {
  const MpiTable& mpi = run.trace.mpi;
  const RowRange rows = run.mpi_of_thread[thread];
  const auto first = mpi.start.begin() + rows.first;
  const auto last = mpi.start.begin() + rows.last;
  // Calls of a thread follow each other: only the one before `from` can reach into the time.
  auto at = std::lower_bound(first, last, from);
  if (at != first) --at;
  for (; at != last && *at < to; ++at) {
    const auto row = static_cast<std::size_t>(at - mpi.start.begin());
    if (mpi.end[row] > from && MovesData(mpi.kind[row])) return true;
  }
  return false;
}

}  // namespace advise
