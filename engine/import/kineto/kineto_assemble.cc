// Puts the rows of a Kineto trace into order and ties them together: threads to processes, streams
// to devices, GPU work to the calls that launched it.
#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <unordered_map>

#include "engine/import/host_calls.h"
#include "engine/import/kineto/kineto_tables.h"
#include "engine/import/repeated_rows.h"
#include "engine/import/row_order.h"
#include "engine/trace/operators_kept.h"

namespace advise::kineto {
namespace {

constexpr std::string_view kBackwardOperator = "autograd::engine::evaluate_function";

// From External ids to calls. Calls of one operator may share its id: its GPU work goes to those
// that launch, one after the other.
class ExternalLinks {
 public:
  explicit ExternalLinks(const Trace& trace) : trace_(trace) {}

  // Of GPU work with this id, asked in the order of its start; kNone when no call has the id.
  std::uint32_t NextLaunch(std::uint32_t id) {
    if (id == 0) return kNone;
    if (calls_.empty()) ListCalls();
    const auto found = calls_.find(id);
    if (found == calls_.end()) return kNone;
    Launches& launches = found->second;
    const std::uint32_t call = launches.rows[launches.next];
    if (launches.next + 1 < launches.rows.size()) ++launches.next;
    return call;
  }

 private:
  struct Launches {
    std::vector<std::uint32_t> rows;  // by start; all calls of the id where none launches
    std::size_t next = 0;
  };

  void ListCalls() {
    const CallTable& calls = trace_.calls;
    for (std::uint32_t row = 0; row < calls.size(); ++row) {
      if (calls.correlation[row] != 0) calls_[calls.correlation[row]].rows.push_back(row);
    }
    const auto launches = [&](std::uint32_t row) {
      const std::string& name = trace_.strings[calls.name[row]];
      return name.find("Launch") != std::string::npos || name.find("Mem") != std::string::npos;
    };
    for (auto& [id, own] : calls_) {
      std::vector<std::uint32_t> rows;
      std::copy_if(own.rows.begin(), own.rows.end(), std::back_inserter(rows), launches);
      if (!rows.empty()) own.rows = std::move(rows);
      std::sort(own.rows.begin(), own.rows.end(), [&](std::uint32_t a, std::uint32_t b) {
        return calls.start[a] != calls.start[b] ? calls.start[a] < calls.start[b] : a < b;
      });
    }
  }

  const Trace& trace_;
  std::unordered_map<std::uint32_t, Launches> calls_;
};

}  // namespace

void Tables::Assemble() {
  ListThreads();
  ListDevices();
  ListStreams();
  DropExternalLinks();
  SortTables();
  JoinCalls();
  JoinCollectives();
  PlaceOverheads();
  FillMemory();
  NameThreads();
  Report();
}

// Python functions of some writers carry neither process nor thread: they are taken for those of
// the thread that works most.
void Tables::ListThreads() {
  std::map<ThreadKey, std::int64_t> work;
  const auto count = [&](const std::vector<std::uint32_t>& column, std::int64_t weight) {
    for (const std::uint32_t number : column) work[threads_.keys()[number]] += weight;
  };
  count(trace_.calls.thread, 1000);
  count(trace_.operators.thread, 1);
  count(trace_.ranges.thread, 1000);
  count(trace_.memory.process, 1);
  const auto most = std::max_element(
      work.begin(), work.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const ThreadKey main = most == work.end() ? ThreadKey{} : most->first;
  const auto placed = [&](const ThreadKey& key) {
    return key.pid == 0 && !work.contains(key) && !work.empty() ? main : key;
  };
  std::set<ThreadKey> keys;
  for (const ThreadKey& key : threads_.keys()) keys.insert(placed(key));
  std::map<std::int64_t, std::uint32_t> process_rows;
  std::map<ThreadKey, std::uint32_t> rows;
  for (const ThreadKey& key : keys) {
    const auto [process, is_new] =
        process_rows.try_emplace(key.pid, static_cast<std::uint32_t>(trace_.processes.size()));
    if (is_new) {
      const auto name = process_names_.find(key.pid);
      trace_.processes.push_back({.global_pid = key.pid,
                                  .pid = key.pid,
                                  .name = name == process_names_.end() ? "" : name->second,
                                  .rank = trace_.rank});
      if (key.pid == main.pid) main_process_ = process->second;
    }
    rows[key] = static_cast<std::uint32_t>(trace_.threads.size());
    trace_.threads.push_back({.global_tid = key.tid, .tid = key.tid, .process = process->second});
  }
  for (const ThreadKey& key : threads_.keys()) thread_rows_.push_back(rows.at(placed(key)));
  for (std::vector<std::uint32_t>* column :
       {&trace_.calls.thread, &trace_.ranges.thread, &trace_.operators.thread,
        &trace_.python_frames.thread, &trace_.memory.process}) {
    MapColumn(thread_rows_, column);
  }
  for (std::uint32_t& process : trace_.memory.process) process = trace_.threads[process].process;
}

// A thread is named by the file, or by what it does.
void Tables::NameThreads() {
  std::vector<std::uint8_t> backward(trace_.threads.size(), 0);
  for (std::size_t i = 0; i < trace_.operators.size(); ++i) {
    const std::string& name = trace_.strings[trace_.operators.name[i]];
    if (name.starts_with(kBackwardOperator)) backward[trace_.operators.thread[i]] = 1;
  }
  for (std::size_t t = 0; t < trace_.threads.size(); ++t) {
    Thread& thread = trace_.threads[t];
    const std::int64_t pid = trace_.processes[thread.process].pid;
    const auto given = thread_names_.find({pid, thread.tid});
    const bool is_main = thread.tid == pid;
    std::string name = given == thread_names_.end() ? "" : given->second;
    if (backward[t] != 0 && !is_main && name.find("autograd") == std::string::npos) {
      name = "pt_autograd_thread";  // the file says only "thread 59976 (python3)"
    } else if (is_main && name.empty()) {
      name = "main thread";
    }
    thread.name = trace_.strings.Intern(name);
  }
}

void Tables::ListStreams() {
  std::set<StreamKey> keys(streams_.keys().begin(), streams_.keys().end());
  std::map<StreamKey, std::uint32_t> rows;
  for (const StreamKey& key : keys) {
    // CUPTI numbers a context's default stream 7, ROCm 0.
    const bool is_default = key.stream == (header_.is_rocm ? 0 : 7);
    rows[key] = static_cast<std::uint32_t>(trace_.streams.size());
    trace_.streams.push_back({.process = main_process_,
                              .device = DeviceRow(key.device),
                              .context = key.context,
                              .id = key.stream,
                              .is_default = is_default});
  }
  for (const StreamKey& key : streams_.keys()) stream_rows_.push_back(rows.at(key));
}

// Where correlations are written, External ids number operators, or repeat them.
void Tables::DropExternalLinks() {
  if (!has_correlations_) return;
  for (const auto& [column, row] : external_links_) (*column)[row] = 0;
}

void Tables::SortTables() {
  if (!inputs_.empty()) trace_.operators.inputs.resize(trace_.operators.size(), kNone);
  trace_.operator_inputs = inputs_.Take();
  const std::size_t threads = trace_.threads.size();
  SortSpans(threads, &trace_.calls);
  SortSpans(threads, &trace_.ranges);
  SortSpans(threads, &trace_.operators);
  SortSpans(threads, &trace_.python_frames);
  SortOps();
  ReorderRows(OrderBy(trace_.syncs.start), &trace_.syncs);
  ReorderRows(OrderBy(trace_.events.time), &trace_.events);
  if (listed_twice_ > 0) DropRepeated();
}

void Tables::SortOps() {
  const auto by_start = OpOrder(trace_.ops.start, trace_.ops.end);
  ReorderRows(by_start, &trace_.ops);
  Reorder(by_start, nodes_);
  const auto kept = has_correlations_
                        ? OpsListedOnce(trace_.ops, trace_.copies, trace_.memsets, nodes_)
                        : std::vector<std::uint32_t>();
  const std::size_t all = trace_.ops.size();
  ReorderRows(kept, &trace_.ops);
  listed_twice_ = static_cast<std::int64_t>(all - trace_.ops.size());
  nodes_ = {};
  if (by_start.empty() && kept.empty()) return;
  op_rows_.assign(all, kNone);
  for (std::uint32_t row = 0; row < trace_.ops.size(); ++row) {
    const std::uint32_t sorted = kept.empty() ? row : kept[row];
    op_rows_[by_start.empty() ? sorted : by_start[sorted]] = row;
  }
}

// Where work of the GPU is listed twice, all else may be. Elsewhere equal rows stand for what
// happened more often than the file's microseconds tell.
void Tables::DropRepeated() {
  DropCallsListedTwice(&trace_.calls);
  DropListedTwice(trace_.ranges.start, &trace_.ranges);
  DropListedTwice(trace_.operators.start, &trace_.operators);
  DropListedTwice(trace_.python_frames.start, &trace_.python_frames);
  DropListedTwice(trace_.syncs.start, &trace_.syncs);
  DropListedTwice(trace_.events.time, &trace_.events);
}

void Tables::JoinCalls() {
  const CallIndex index(trace_.calls, trace_.threads, trace_.processes.size());
  ExternalLinks external(trace_);
  const auto find = [&](std::uint32_t correlation) {
    if (main_process_ == kNone) return kNone;
    std::uint32_t call = index.Find(main_process_, correlation);
    for (std::uint32_t p = 0; call == kNone && p < trace_.processes.size(); ++p) {
      call = index.Find(p, correlation);
    }
    return call;
  };
  std::vector<std::uint8_t> is_graph(trace_.strings.size(), 0);
  for (const StringId name : trace_.calls.name) {
    if (is_graph[name] == 0) {
      is_graph[name] = trace_.strings[name].find("GraphLaunch") == std::string::npos ? 1 : 2;
    }
  }
  OpTable& ops = trace_.ops;
  ops.device.reserve(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    ops.stream[i] = stream_rows_[ops.stream[i]];
    ops.device.push_back(static_cast<std::uint16_t>(trace_.streams[ops.stream[i]].device));
    ops.call[i] = has_correlations_ ? find(ops.call[i]) : external.NextLaunch(ops.call[i]);
    if (ops.call[i] != kNone && is_graph[trace_.calls.name[ops.call[i]]] == 2) ops.in_graph[i] = 1;
  }
  MapColumn(stream_rows_, &trace_.syncs.stream);
  for (std::uint32_t& call : trace_.syncs.call) call = find(call);
  MapColumn(stream_rows_, &trace_.events.stream);
  for (std::uint32_t& call : trace_.events.call) call = find(call);
}

// The file does not say on which thread the profiler worked: the one inside whose call it lies.
// What lies in no call, or in calls of several threads, belongs to none.
void Tables::PlaceOverheads() {
  OverheadTable& overheads = trace_.overheads;
  const std::vector<RowRange> calls = RowsByThread(trace_.calls.thread, trace_.threads.size());
  for (std::size_t i = 0; i < overheads.size(); ++i) {
    std::vector<std::uint32_t> hosts;
    for (std::uint32_t t = 0; t < calls.size(); ++t) {
      const auto first = trace_.calls.start.begin() + calls[t].first;
      const auto last = trace_.calls.start.begin() + calls[t].last;
      const auto after = std::upper_bound(first, last, overheads.start[i]);
      if (after == first) continue;
      const auto row = static_cast<std::size_t>(after - trace_.calls.start.begin()) - 1;
      if (trace_.calls.end[row] >= overheads.end[i]) hosts.push_back(t);
    }
    if (hosts.size() == 1) overheads.thread[i] = hosts.front();
  }
  SortSpans(trace_.threads.size(), &overheads);
}

// Rows of tensors add up to the level only when what was there before is a row, too.
void Tables::FillMemory() {
  MemoryTable& memory = trace_.memory;
  const auto order = OrderBy(memory.time);
  ReorderRows(order, &memory);
  Reorder(order, memory_levels_);
  if (listed_twice_ > 0) {
    const auto kept = ListedOnce(memory.time, [&](std::uint32_t a, std::uint32_t b) {
      return SameRow(memory, a, b) && memory_levels_[a] == memory_levels_[b];
    });
    ReorderRows(kept, &memory);
    Reorder(kept, memory_levels_);
  }
  std::set<std::uint32_t> seen;
  const std::size_t rows = memory.size();
  for (std::size_t i = 0; i < rows; ++i) {
    const std::int64_t before = memory_levels_[i] - memory.bytes[i];
    if (!seen.insert(memory.device[i]).second || memory_levels_[i] < 0 || before <= 0) continue;
    memory.time.push_back(memory.time.front());
    memory.bytes.push_back(before);
    memory.address.push_back(0);
    memory.memory.push_back(MemoryKind::kDevice);
    memory.device.push_back(memory.device[i]);
    memory.process.push_back(memory.process[i]);
    memory.reserved.push_back(memory.reserved[i]);
  }
  const auto late = static_cast<std::ptrdiff_t>(rows);
  const auto to_front = [late](auto& column) {
    std::rotate(column.begin(), column.begin() + late, column.end());
  };
  to_front(memory.time);
  to_front(memory.bytes);
  to_front(memory.address);
  to_front(memory.memory);
  to_front(memory.device);
  to_front(memory.process);
  to_front(memory.reserved);
}

void Tables::Report() {
  static constexpr std::array<std::pair<Category, const char*>, 11> kTables = {{
      {Category::kOperator, "cpu_op"},
      {Category::kAnnotation, "user_annotation"},
      {Category::kPython, "python_function"},
      {Category::kCall, "cuda_runtime"},
      {Category::kKernel, "kernel"},
      {Category::kCopy, "gpu_memcpy"},
      {Category::kMemset, "gpu_memset"},
      {Category::kSync, "cuda_sync"},
      {Category::kEventRecord, "cuda_event"},
      {Category::kOverhead, "overhead"},
      {Category::kInstant, "[memory]"},
  }};
  for (const auto& [category, name] : kTables) {
    const std::int64_t rows = rows_[static_cast<std::size_t>(category)];
    if (rows > 0) trace_.table_rows[name] = rows;
  }
  const auto add = [&](std::int64_t count, Level level, std::string_view text) {
    if (count > 0) trace_.diagnostics.Add(level, text, "", count);
  };
  add(untimed_, Level::kWarning, "events without a usable time were dropped");
  add(backward_time_, Level::kWarning, "events that end before they start were dropped");
  add(absurd_, Level::kWarning, "events of more than a week were dropped");
  add(listed_twice_, Level::kWarning, kRowsListedTwice);
  add(other_devices_, Level::kWarning, kOtherAccelerator);
  add(counter_ranges_, Level::kInfo, kCountersOfRanges);
  const std::int64_t left_out = last_number_ - first_number_ + 1 - numbered_;
  if (numbered_ > 0 && left_out > numbered_) add(left_out, Level::kInfo, kOperatorsLeftOut);
  for (const auto& [category, count] : unknown_) {
    trace_.diagnostics.Add(Level::kInfo, "events of an unknown category were left out", category,
                           count);
  }
  Nanos first = std::numeric_limits<Nanos>::max();
  Nanos last = std::numeric_limits<Nanos>::min();
  const auto span = [&](const auto& table) {
    for (std::size_t i = 0; i < table.size(); ++i) {
      first = std::min(first, table.start[i]);
      last = std::max(last, table.end[i]);
    }
  };
  span(trace_.ops);
  span(trace_.calls);
  span(trace_.ranges);
  span(trace_.operators);
  if (last > first) trace_.session_ns = last - first;
  std::string& producer = trace_.producer;
  producer = "PyTorch profiler";
  if (header_.is_rocm) producer += ", ROCm";
  if (header_.cuda_runtime > 0) {
    producer += ", CUDA " + std::to_string(header_.cuda_runtime / 1000) + "." +
                std::to_string(header_.cuda_runtime % 1000 / 10);
  }
}

}  // namespace advise::kineto
