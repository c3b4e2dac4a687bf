#include "engine/trace/together.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <utility>

#include "engine/trace/columns.h"

namespace advise {
namespace {

using RowNumbers = std::vector<std::uint32_t>;

// Rows that pointed into a table point behind what stands there before.
void MoveBehind(std::size_t before, RowNumbers* column) {
  for (std::uint32_t& row : *column) {
    if (row != kNone) row += static_cast<std::uint32_t>(before);
  }
}

void Follow(const RowNumbers& places, RowNumbers* column) {
  for (std::uint32_t& row : *column) {
    if (row != kNone) row = places[row];
  }
}

void MakeLater(Nanos later, std::vector<Nanos>* times) {
  for (Nanos& time : *times) time += later;
}

template <typename Value>
void AppendAll(std::vector<Value>* from, std::vector<Value>* to) {
  if (to->empty()) {
    *to = std::move(*from);
  } else {
    to->insert(to->end(), from->begin(), from->end());
  }
}

// A column that only some reports have holds nothing for the rows of the others.
template <typename Table>
void AppendTable(Table* from, Table* to) {
  const std::size_t more = from->size();
  const std::size_t before = to->size();
  ForEachColumn<Table>([&](auto column) {
    auto& added = from->*column;
    auto& kept = to->*column;
    if (added.empty() && kept.empty()) return;
    using Value = typename std::remove_reference_t<decltype(kept)>::value_type;
    Value nothing{};
    if constexpr (std::is_same_v<Table, RangeTable> && std::is_same_v<Value, std::uint32_t>) {
      if (column == &RangeTable::inputs) nothing = kNone;
    }
    kept.resize(before, nothing);
    added.resize(more, nothing);
    AppendAll(&added, &kept);
  });
}

// Sorts rows by `key`, those of the same key as they came. Returns where each row went.
template <typename Table, typename Key>
RowNumbers SortTable(Table* table, const Key& key) {
  RowNumbers order(table->size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  Table sorted;
  KeepRows(*table, order, &sorted);
  *table = std::move(sorted);
  RowNumbers places(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) places[order[i]] = i;
  return places;
}

// Appends one report after the other to the first.
class Joiner {
 public:
  explicit Joiner(Trace first) : to_(std::move(first)) {
    to_.joined.push_back({to_.path, 0});
    for (std::uint32_t i = 0; i < to_.shapes.size(); ++i) shapes_[KeyOf(to_.shapes[i])] = i;
  }

  void Add(Trace* from) {
    const auto report = static_cast<std::uint32_t>(to_.joined.size());
    later_ = from->utc_origin_ns - to_.utc_origin_ns;
    to_.joined.push_back({from->path, later_});
    Head(from);
    Named(from, report);
    Operations(from);
    HostCalls(from);
    Others(from);
  }

  Trace Done() {
    const auto by_start = [](auto* table) {
      const std::vector<Nanos> start = table->start;
      SortTable(table, [&](std::uint32_t row) { return start[row]; });
    };
    const auto by_time = [](auto* table) {
      const std::vector<Nanos> time = table->time;
      SortTable(table, [&](std::uint32_t row) { return time[row]; });
    };
    const OpTable& ops = to_.ops;
    const RowNumbers places = SortTable(
        &to_.ops, [&](std::uint32_t op) { return std::pair(ops.start[op], ops.end[op]); });
    Follow(places, &to_.collectives.op);
    by_start(&to_.syncs);
    by_time(&to_.events);
    by_time(&to_.memory);
    by_start(&to_.faults);
    by_start(&to_.collectives);
    return std::move(to_);
  }

 private:
  using ShapeKey =
      std::tuple<StringId, StringId, std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>,
                 std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  static ShapeKey KeyOf(const KernelShape& shape) {
    return {shape.name,
            shape.short_name,
            shape.grid,
            shape.block,
            shape.registers,
            shape.static_shared_bytes,
            shape.dynamic_shared_bytes,
            shape.local_bytes};
  }

  void Head(Trace* from) {
    to_.session_ns = std::max(to_.session_ns, from->session_ns + later_);
    to_.world_size = std::max(to_.world_size, from->world_size);
    for (const auto& [table, rows] : from->table_rows) to_.table_rows[table] += rows;
    for (const Diagnostic& said : from->diagnostics.list())
      to_.diagnostics.Add(said.level, said.text, said.table, said.count);
    for (Trace::ProfilerMessage& message : from->profiler_messages) {
      const bool known = std::any_of(to_.profiler_messages.begin(), to_.profiler_messages.end(),
                                     [&](const auto& one) { return one.text == message.text; });
      if (!known) to_.profiler_messages.push_back(std::move(message));
    }
  }

  // What rows name: strings, GPUs, processes, threads, streams, kernels' shapes.
  void Named(Trace* from, std::uint32_t report) {
    string_.resize(from->strings.size());
    for (StringId id = 0; id < from->strings.size(); ++id)
      string_[id] = to_.strings.Intern(from->strings[id]);
    device_.clear();
    for (Device& device : from->devices) device_.push_back(PlaceOf(&device));
    for (Process& process : from->processes) process.report = report;
    for (Thread& thread : from->threads) {
      thread.name = string_[thread.name];
      if (thread.process != kNone)
        thread.process += static_cast<std::uint32_t>(to_.processes.size());
    }
    for (Stream& stream : from->streams) {
      stream.name = string_[stream.name];
      if (stream.process != kNone)
        stream.process += static_cast<std::uint32_t>(to_.processes.size());
      if (stream.device != kNone) stream.device = device_[stream.device];
    }
    shape_.clear();
    for (KernelShape& shape : from->shapes) {
      shape.name = string_[shape.name];
      shape.short_name = string_[shape.short_name];
      const auto [known, is_new] =
          shapes_.try_emplace(KeyOf(shape), static_cast<std::uint32_t>(to_.shapes.size()));
      if (is_new) to_.shapes.push_back(shape);
      shape_.push_back(known->second);
    }
    // Processes, threads and streams are appended last: the tables ask how many there were.
  }

  std::uint32_t PlaceOf(Device* device) {
    const auto same =
        std::find_if(to_.devices.begin(), to_.devices.end(), [&](const Device& known) {
          return known.uuid == device->uuid &&
                 (!known.uuid.empty() || known.ordinal == device->ordinal);
        });
    const auto place = static_cast<std::uint32_t>(same - to_.devices.begin());
    if (same == to_.devices.end()) to_.devices.push_back(std::move(*device));
    return place;
  }

  void Operations(Trace* from) {
    for (std::uint32_t op = 0; op < from->ops.size(); ++op) {
      std::uint32_t& detail = from->ops.detail[op];
      switch (from->ops.kind[op]) {
        case OpKind::kKernel:
          detail = shape_[detail];
          break;
        case OpKind::kCopy:
          detail += static_cast<std::uint32_t>(to_.copies.size());
          break;
        case OpKind::kMemset:
          detail += static_cast<std::uint32_t>(to_.memsets.size());
          break;
        case OpKind::kGraph:
          break;
      }
      std::uint16_t& device = from->ops.device[op];
      device = static_cast<std::uint16_t>(device_[device]);
    }
    Follow(device_, &from->copies.peer);
    MoveBehind(to_.ops.size(), &from->collectives.op);
    MoveBehind(to_.groups.size(), &from->collectives.group);
    MoveBehind(to_.streams.size(), &from->ops.stream);
    MoveBehind(to_.calls.size(), &from->ops.call);
    for (auto* waits : {&from->syncs.stream, &from->events.stream})
      MoveBehind(to_.streams.size(), waits);
    for (auto* waits : {&from->syncs.call, &from->events.call}) MoveBehind(to_.calls.size(), waits);
    Rename(&from->collectives.kind);
    Delay(&from->ops);
    Delay(&from->syncs);
    Delay(&from->collectives);
    MakeLater(later_, &from->events.time);
    AppendTable(&from->ops, &to_.ops);
    AppendTable(&from->copies, &to_.copies);
    AppendTable(&from->memsets, &to_.memsets);
    AppendTable(&from->syncs, &to_.syncs);
    AppendTable(&from->events, &to_.events);
    AppendTable(&from->collectives, &to_.collectives);
    AppendAll(&from->groups, &to_.groups);
  }

  // Sorted by thread, and threads are appended: what is behind stays behind.
  void HostCalls(Trace* from) {
    for (auto* names : {&from->calls.name, &from->os_calls.name, &from->mpi.name,
                        &from->samples.symbol, &from->samples.module, &from->overheads.name})
      Rename(names);
    for (RangeTable* ranges : {&from->ranges, &from->operators, &from->python_frames}) {
      Rename(&ranges->name);
      Rename(&ranges->domain);
      MoveBehind(to_.operator_inputs.size(), &ranges->inputs);
    }
    AppendAll(&from->operator_inputs, &to_.operator_inputs);
    AppendOfThreads(&from->calls, &to_.calls);
    AppendOfThreads(&from->ranges, &to_.ranges);
    AppendOfThreads(&from->operators, &to_.operators);
    AppendOfThreads(&from->python_frames, &to_.python_frames);
    AppendOfThreads(&from->os_calls, &to_.os_calls);
    AppendOfThreads(&from->mpi, &to_.mpi);
    AppendOfThreads(&from->overheads, &to_.overheads);
    AppendOfThreads(&from->sched, &to_.sched);
    AppendOfThreads(&from->samples, &to_.samples);
  }

  void Others(Trace* from) {
    MakeLater(later_, &from->memory.time);
    Follow(device_, &from->memory.device);
    MoveBehind(to_.processes.size(), &from->memory.process);
    AppendTable(&from->memory, &to_.memory);
    Delay(&from->faults);
    Follow(device_, &from->faults.device);
    AppendTable(&from->faults, &to_.faults);
    // Each report may hold the same samples of the GPU and of NICs: those of the first count.
    for (auto [series, kept] : {std::pair(&from->gpu_series, &to_.gpu_series),
                                std::pair(&from->nic_series, &to_.nic_series)}) {
      for (Series& one : *series) {
        if (one.device != kNone) one.device = device_[one.device];
        const bool known = std::any_of(kept->begin(), kept->end(), [&](const Series& other) {
          return other.name == one.name && other.device == one.device && other.source == one.source;
        });
        if (known) continue;
        MakeLater(later_, &one.time);
        kept->push_back(std::move(one));
      }
    }
    AppendAll(&from->processes, &to_.processes);
    AppendAll(&from->threads, &to_.threads);
    AppendAll(&from->streams, &to_.streams);
  }

  void Rename(std::vector<StringId>* names) const {
    for (StringId& name : *names) name = string_[name];
  }

  template <typename Table>
  void Delay(Table* table) const {
    MakeLater(later_, &table->start);
    MakeLater(later_, &table->end);
  }

  template <typename Table>
  void AppendOfThreads(Table* from, Table* to) const {
    if constexpr (requires { from->start; }) {
      Delay(from);
    } else {
      MakeLater(later_, &from->time);
    }
    MoveBehind(to_.threads.size(), &from->thread);
    AppendTable(from, to);
  }

  Trace to_;
  std::map<ShapeKey, std::uint32_t> shapes_;
  // Of the report that is added:
  Nanos later_ = 0;               // its clock's zero on the clock of the first
  std::vector<StringId> string_;  // by its strings, devices, shapes: those of the whole
  RowNumbers device_;
  RowNumbers shape_;
};

}  // namespace

Trace Together(std::vector<Trace> reports) {
  Joiner joiner(std::move(reports.front()));
  for (std::size_t i = 1; i < reports.size(); ++i) {
    joiner.Add(&reports[i]);
    reports[i] = Trace();
  }
  return joiner.Done();
}

}  // namespace advise
