#include "engine/metrics/charts/excerpt.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "engine/base/is_in.h"
#include "engine/metrics/losses/copies/copy.h"

namespace advise {
namespace {

bool ByStart(const ExcerptEvent& a, const ExcerptEvent& b) {
  return std::tuple(a.start, -a.end, a.op, a.call) < std::tuple(b.start, -b.end, b.op, b.call);
}

// Time of a row inside the excerpt: what decides which rows are worth their room.
Nanos TimeInside(const ExcerptRow& row, Nanos start, Nanos end) {
  Nanos time = 0;
  for (const ExcerptEvent& event : row.events) {
    time += std::max<Nanos>(0, std::min(end, event.end) - std::max(start, event.start));
  }
  return time;
}

class Cutter {
 public:
  Cutter(const Run& run, const Idle& idle, Nanos start, Nanos end, const ExcerptOptions& options)
      : run_(run), trace_(run.trace), idle_(idle), start_(start), end_(end), options_(options) {}

  Excerpt Cut() {
    std::vector<ExcerptRow> gaps = Gaps();
    std::vector<ExcerptRow> streams = Streams();
    std::vector<ExcerptRow> threads = Threads();
    Keep(&streams, options_.stream_rows);
    Keep(&threads, options_.thread_rows);
    excerpt_.start = start_;
    excerpt_.end = end_;
    for (auto* rows : {&gaps, &streams, &threads}) {
      for (ExcerptRow& row : *rows) {
        std::stable_sort(row.events.begin(), row.events.end(), ByStart);
        if (options_.merge_below > 0) Merge(&row);
        Nest(&row);
      }
    }
    Limit(&gaps, &streams, &threads);
    return std::move(excerpt_);
  }

 private:
  bool Inside(Nanos from, Nanos to) const { return from < end_ && to > start_; }
  bool Wanted(std::uint32_t device) const {
    return options_.device == kNone || device == options_.device;
  }
  std::string DeviceName(std::uint32_t device) const {
    return fmt::format("GPU {}", trace_.devices[device].ordinal);
  }

  std::vector<ExcerptRow> Gaps() const {
    std::map<std::uint32_t, ExcerptRow> rows;
    for (const GapPiece piece : idle_.pieces) {
      if (!Wanted(piece.device) || !Inside(piece.start, piece.end)) continue;
      ExcerptRow& row = rows[piece.device];
      row.kind = ExcerptRow::Kind::kGaps;
      row.device = piece.device;
      row.name = DeviceName(piece.device) + ", idle because of";
      std::string name = WordsOf(piece.cause).label;
      // Pieces are as fine as what the host did; what is shown is why.
      if (!row.events.empty() && row.events.back().end == piece.start &&
          row.events.back().name == name) {
        row.events.back().end = piece.end;
        continue;
      }
      ExcerptEvent event;
      event.start = piece.start;
      event.end = piece.end;
      event.kind = ExcerptKind::kGap;
      event.name = std::move(name);
      row.events.push_back(std::move(event));
    }
    return Values(std::move(rows));
  }

  std::vector<ExcerptRow> Streams() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, ExcerptRow> rows;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.start[op] >= end_) break;
      const std::uint32_t device = trace_.ops.device[op];
      if (!Wanted(device) || !Inside(trace_.ops.start[op], trace_.ops.end[op])) continue;
      const std::uint32_t stream = trace_.ops.stream[op];
      ExcerptRow& row = rows[{device, stream}];
      row.kind = ExcerptRow::Kind::kStream;
      row.device = device;
      if (row.name.empty()) {
        row.number = stream == kNone ? -1 : trace_.streams[stream].id;
        row.name = stream == kNone ? DeviceName(device) + ", memory migration"
                                   : fmt::format("{}, stream {}", DeviceName(device), row.number);
      }
      row.events.push_back(Op(op));
      if (trace_.ops.call[op] != kNone) launchers_.insert(trace_.ops.call[op]);
    }
    return Values(std::move(rows));
  }

  ExcerptEvent Op(std::uint32_t op) const {
    ExcerptEvent event;
    event.start = trace_.ops.start[op];
    event.end = trace_.ops.end[op];
    event.op = op;
    event.call = trace_.ops.call[op];
    const std::uint32_t detail = trace_.ops.detail[op];
    switch (trace_.ops.kind[op]) {
      case OpKind::kKernel: {
        const KernelShape& shape = trace_.shapes[detail];
        event.kind = run_.IsComm(op) ? ExcerptKind::kCommunication : ExcerptKind::kKernel;
        event.name = trace_.strings[shape.name];
        if (shape.Blocks() > 0) {
          event.detail =
              fmt::format("{} blocks of {} threads", shape.Blocks(), shape.ThreadsPerBlock());
        }
        break;
      }
      case OpKind::kCopy:
        event.kind = ExcerptKind::kCopy;
        event.name = fmt::format("copy {}", DirectionName(trace_.copies.direction[detail]));
        event.bytes = trace_.copies.bytes[detail];
        event.detail = fmt::format("{} to {} memory", MemoryName(trace_.copies.source[detail]),
                                   MemoryName(trace_.copies.target[detail]));
        break;
      case OpKind::kMemset:
        event.kind = ExcerptKind::kMemset;
        event.name = "memset";
        event.bytes = trace_.memsets.bytes[detail];
        break;
      case OpKind::kGraph:
        event.kind = ExcerptKind::kGraph;
        event.name = fmt::format("graph {}", detail);
        break;
    }
    return event;
  }

  // Ranges and calls of a thread in rows of their own: a range need not nest with calls.
  std::vector<ExcerptRow> Threads() {
    std::vector<ExcerptRow> rows;
    std::vector<RowRange> operators;
    std::vector<RowRange> python;
    const std::size_t count = trace_.threads.size();
    if (trace_.operators.size() > 0) operators = RowsByThread(trace_.operators.thread, count);
    if (options_.python && trace_.python_frames.size() > 0) {
      python = RowsByThread(trace_.python_frames.thread, count);
    }
    std::set<std::uint32_t> launching;
    for (const std::uint32_t call : launchers_) launching.insert(trace_.calls.thread[call]);
    for (std::uint32_t thread = 0; thread < trace_.threads.size(); ++thread) {
      if (options_.device != kNone && !launching.contains(thread) && !MayMatter(thread)) continue;
      AddRow(thread, "ranges", RangesAndMpi(thread), &rows);
      if (!operators.empty()) {
        AddRow(thread, "operators",
               Ranges(trace_.operators, operators[thread], ExcerptKind::kOperator), &rows);
      }
      if (!python.empty()) {
        AddRow(thread, "Python", Ranges(trace_.python_frames, python[thread], ExcerptKind::kPython),
               &rows);
      }
      AddRow(thread, "calls", Calls(thread), &rows);
    }
    std::stable_partition(rows.begin(), rows.end(),
                          [](const ExcerptRow& row) { return row.launches; });
    return rows;
  }

  // Beside the threads that launched work here: those of the device's processes that launch at all,
  // or load data.
  bool MayMatter(std::uint32_t thread) const {
    const std::uint32_t process = trace_.threads[thread].process;
    const bool works =
        std::any_of(trace_.streams.begin(), trace_.streams.end(), [&](const Stream& stream) {
          return stream.device == options_.device && stream.process == process;
        });
    if (run_.names.ThreadRole(thread) == Role::kLoaderWorker) return true;
    const auto& list = run_.launching_threads;
    return works && IsIn(thread, list);
  }

  void AddRow(std::uint32_t thread, const char* what, std::vector<ExcerptEvent> events,
              std::vector<ExcerptRow>* rows) const {
    if (events.empty()) return;
    const Thread& of = trace_.threads[thread];
    ExcerptRow row;
    const std::string& name = trace_.strings[of.name];
    row.number = of.tid;
    std::string process;
    if (of.process != kNone) {
      row.process = trace_.processes[of.process].pid;
      row.process_name = fmt::format("{} ({})", trace_.processes[of.process].name, row.process);
      if (trace_.processes.size() > 1) process = fmt::format(" of {}", row.process);
    }
    const auto& launching = run_.launching_threads;
    row.launches = IsIn(thread, launching);
    row.name = fmt::format("{}{}: {}", name.empty() ? fmt::format("thread {}", of.tid) : name,
                           process, what);
    row.events = std::move(events);
    rows->push_back(std::move(row));
  }

  std::vector<ExcerptEvent> RangesAndMpi(std::uint32_t thread) const {
    std::vector<ExcerptEvent> events =
        Ranges(trace_.ranges, run_.ranges_of_thread[thread], ExcerptKind::kRange);
    std::vector<ExcerptEvent> calls =
        Ranges(trace_.mpi, run_.mpi_of_thread[thread], ExcerptKind::kRange);
    if (calls.empty()) return events;
    events.insert(events.end(), std::make_move_iterator(calls.begin()),
                  std::make_move_iterator(calls.end()));
    std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) {
      return std::pair(a.start, -a.end) < std::pair(b.start, -b.end);
    });
    return events;
  }

  std::vector<ExcerptEvent> Ranges(const auto& table, RowRange rows, ExcerptKind kind) const {
    std::vector<ExcerptEvent> events;
    for (const std::uint32_t r : rows) {
      if (table.start[r] >= end_) break;
      if (!Inside(table.start[r], table.end[r])) continue;
      ExcerptEvent event;
      event.start = table.start[r];
      event.end = table.end[r];
      event.kind = kind;
      event.name = trace_.strings[table.name[r]];
      events.push_back(std::move(event));
    }
    return events;
  }

  std::vector<ExcerptEvent> Calls(std::uint32_t thread) const {
    std::vector<ExcerptEvent> events;
    for (const std::uint32_t c : run_.calls_of_thread[thread]) {
      if (trace_.calls.start[c] >= end_) break;
      const bool launched_inside = options_.launching_calls && launchers_.contains(c);
      if (!launched_inside && !Inside(trace_.calls.start[c], trace_.calls.end[c])) continue;
      ExcerptEvent event;
      event.start = trace_.calls.start[c];
      event.end = trace_.calls.end[c];
      event.kind = ExcerptKind::kCall;
      event.name = trace_.strings[trace_.calls.name[c]];
      event.call = c;
      events.push_back(std::move(event));
    }
    for (const std::uint32_t c : run_.os_of_thread[thread]) {
      if (trace_.os_calls.start[c] >= end_) break;
      if (!Inside(trace_.os_calls.start[c], trace_.os_calls.end[c])) continue;
      ExcerptEvent event;
      event.start = trace_.os_calls.start[c];
      event.end = trace_.os_calls.end[c];
      event.kind = ExcerptKind::kOs;
      event.name = trace_.strings[trace_.os_calls.name[c]];
      events.push_back(std::move(event));
    }
    return events;
  }

  template <typename Key>
  static std::vector<ExcerptRow> Values(std::map<Key, ExcerptRow> rows) {
    std::vector<ExcerptRow> list;
    for (auto& [key, row] : rows) list.push_back(std::move(row));
    return list;
  }

  // The `most` rows that matter most, in the order they had.
  void Keep(std::vector<ExcerptRow>* rows, std::size_t most) {
    if (rows->size() <= most) return;
    std::vector<std::tuple<bool, Nanos, std::size_t>> order;
    for (std::size_t i = 0; i < rows->size(); ++i) {
      order.emplace_back(!(*rows)[i].launches, -TimeInside((*rows)[i], start_, end_), i);
    }
    std::sort(order.begin(), order.end());
    std::set<std::size_t> kept;
    for (std::size_t i = 0; i < most; ++i) kept.insert(std::get<2>(order[i]));
    std::vector<ExcerptRow> list;
    for (std::size_t i = 0; i < rows->size(); ++i) {
      if (kept.contains(i)) {
        list.push_back(std::move((*rows)[i]));
      } else {
        excerpt_.left_out += (*rows)[i].events.size();
      }
    }
    *rows = std::move(list);
  }

  // Short neighbors of one kind with hardly a pause between them become one event.
  void Merge(ExcerptRow* row) const {
    std::vector<ExcerptEvent> merged;
    for (ExcerptEvent& event : row->events) {
      const bool is_short = event.end - event.start < options_.merge_below;
      if (is_short && !merged.empty()) {
        ExcerptEvent& last = merged.back();
        const bool last_short = last.count > 1 || last.end - last.start < options_.merge_below;
        if (last_short && last.kind == event.kind && event.start >= last.end &&
            event.start - last.end < options_.merge_below) {
          if (last.name != event.name) last.name.clear();
          last.end = std::max(last.end, event.end);
          last.bytes = last.bytes < 0 || event.bytes < 0 ? -1 : last.bytes + event.bytes;
          last.count += event.count;
          last.detail.clear();
          last.call = last.op = kNone;
          continue;
        }
      }
      merged.push_back(std::move(event));
    }
    row->events = std::move(merged);
  }

  // What overlaps without nesting (concurrent kernels of a stream) is put one deeper, too.
  static void Nest(ExcerptRow* row) {
    std::vector<Nanos> open;  // ends, by depth
    for (ExcerptEvent& event : row->events) {
      std::size_t depth = open.size();
      while (depth > 0 && open[depth - 1] <= event.start) --depth;
      open.resize(depth);
      open.push_back(event.end);
      event.depth = static_cast<int>(depth);
      row->depth = std::max(row->depth, event.depth + 1);
    }
  }

  // Above the limit the shortest events are left out: they would be the hardest to see.
  void Limit(std::vector<ExcerptRow>* gaps, std::vector<ExcerptRow>* streams,
             std::vector<ExcerptRow>* threads) {
    std::vector<Nanos> lengths;
    for (auto* rows : {gaps, streams, threads}) {
      for (const ExcerptRow& row : *rows) {
        for (const ExcerptEvent& event : row.events) lengths.push_back(event.end - event.start);
      }
    }
    Nanos shortest = -1;
    std::size_t ties = 0;  // of the shortest length that may stay
    if (options_.most_events > 0 && lengths.size() > options_.most_events) {
      const auto nth = lengths.begin() + static_cast<std::ptrdiff_t>(options_.most_events) - 1;
      std::nth_element(lengths.begin(), nth, lengths.end(), std::greater<>());
      shortest = *nth;
      ties = options_.most_events -
             static_cast<std::size_t>(std::count_if(lengths.begin(), lengths.end(),
                                                    [&](Nanos l) { return l > shortest; }));
    }
    for (auto* rows : {gaps, streams, threads}) {
      for (ExcerptRow& row : *rows) {
        if (shortest >= 0) {
          excerpt_.left_out += std::erase_if(row.events, [&](const ExcerptEvent& event) {
            const Nanos length = event.end - event.start;
            if (length > shortest) return false;
            if (length == shortest && ties > 0) return --ties, false;
            return true;
          });
        }
        if (!row.events.empty()) excerpt_.rows.push_back(std::move(row));
      }
    }
  }

  const Run& run_;
  const Trace& trace_;
  const Idle& idle_;
  Nanos start_;
  Nanos end_;
  const ExcerptOptions& options_;
  std::set<std::uint32_t> launchers_;
  Excerpt excerpt_;
};

}  // namespace

const char* ExcerptKindName(ExcerptKind kind) {
  switch (kind) {
    case ExcerptKind::kRange:
      return "range";
    case ExcerptKind::kOperator:
      return "operator";
    case ExcerptKind::kPython:
      return "python";
    case ExcerptKind::kCall:
      return "call";
    case ExcerptKind::kOs:
      return "os";
    case ExcerptKind::kKernel:
      return "compute";
    case ExcerptKind::kCommunication:
      return "comm";
    case ExcerptKind::kCopy:
      return "copy";
    case ExcerptKind::kMemset:
      return "memset";
    case ExcerptKind::kGraph:
      return "graph";
    case ExcerptKind::kWait:
      return "wait";
    case ExcerptKind::kGap:
      break;
  }
  return "gap";
}

Excerpt CutExcerpt(const Run& run, const Idle& idle, Nanos start, Nanos end,
                   const ExcerptOptions& options) {
  return Cutter(run, idle, start, end, options).Cut();
}

}  // namespace advise
