// The columns of each table, declared once: whatever treats all columns alike (sorting, keeping
// some rows, reserving) asks here. A column that is forgotten does not compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "engine/trace/tables.h"

namespace advise {

template <typename Table>
struct Columns;  // kAll: a tuple of pointers to the columns

template <>
struct Columns<OpTable> {
  static constexpr auto kAll =
      std::tuple(&OpTable::start, &OpTable::end, &OpTable::kind, &OpTable::device, &OpTable::stream,
                 &OpTable::call, &OpTable::detail, &OpTable::in_graph);
};
template <>
struct Columns<CopyTable> {
  static constexpr auto kAll =
      std::tuple(&CopyTable::bytes, &CopyTable::direction, &CopyTable::source, &CopyTable::target,
                 &CopyTable::peer, &CopyTable::cause);
};
template <>
struct Columns<MemsetTable> {
  static constexpr auto kAll = std::tuple(&MemsetTable::bytes, &MemsetTable::memory);
};
template <>
struct Columns<CallTable> {
  static constexpr auto kAll =
      std::tuple(&CallTable::start, &CallTable::end, &CallTable::thread, &CallTable::name,
                 &CallTable::correlation, &CallTable::failed);
};
template <>
struct Columns<SyncTable> {
  static constexpr auto kAll = std::tuple(&SyncTable::start, &SyncTable::end, &SyncTable::call,
                                          &SyncTable::stream, &SyncTable::event_id);
};
template <>
struct Columns<EventTable> {
  static constexpr auto kAll =
      std::tuple(&EventTable::time, &EventTable::call, &EventTable::stream, &EventTable::event_id);
};
template <>
struct Columns<RangeTable> {
  static constexpr auto kAll =
      std::tuple(&RangeTable::start, &RangeTable::end, &RangeTable::thread, &RangeTable::name,
                 &RangeTable::domain, &RangeTable::payload, &RangeTable::inputs);
};
template <>
struct Columns<OsCallTable> {
  static constexpr auto kAll =
      std::tuple(&OsCallTable::start, &OsCallTable::end, &OsCallTable::thread, &OsCallTable::name);
};
template <>
struct Columns<MpiTable> {
  static constexpr auto kAll = std::tuple(&MpiTable::start, &MpiTable::end, &MpiTable::thread,
                                          &MpiTable::name, &MpiTable::kind, &MpiTable::sent,
                                          &MpiTable::received, &MpiTable::peer, &MpiTable::tag);
};
template <>
struct Columns<SchedTable> {
  static constexpr auto kAll =
      std::tuple(&SchedTable::time, &SchedTable::thread, &SchedTable::cpu, &SchedTable::on);
};
template <>
struct Columns<SampleTable> {
  static constexpr auto kAll = std::tuple(&SampleTable::time, &SampleTable::thread,
                                          &SampleTable::symbol, &SampleTable::module);
};
template <>
struct Columns<MemoryTable> {
  static constexpr auto kAll = std::tuple(
      &MemoryTable::time, &MemoryTable::bytes, &MemoryTable::address, &MemoryTable::memory,
      &MemoryTable::device, &MemoryTable::process, &MemoryTable::reserved);
};
template <>
struct Columns<FaultTable> {
  static constexpr auto kAll =
      std::tuple(&FaultTable::start, &FaultTable::end, &FaultTable::device, &FaultTable::count);
};
template <>
struct Columns<OverheadTable> {
  static constexpr auto kAll = std::tuple(&OverheadTable::start, &OverheadTable::end,
                                          &OverheadTable::thread, &OverheadTable::name);
};
template <>
struct Columns<CollectiveTable> {
  static constexpr auto kAll =
      std::tuple(&CollectiveTable::start, &CollectiveTable::end, &CollectiveTable::kind,
                 &CollectiveTable::in_bytes, &CollectiveTable::out_bytes, &CollectiveTable::group,
                 &CollectiveTable::op, &CollectiveTable::sequence, &CollectiveTable::peer);
};

// Calls `visit` with a pointer to each column of the table.
template <typename Table, typename Visit>
constexpr void ForEachColumn(const Visit& visit) {
  static_assert(
      sizeof(Table) == std::tuple_size_v<decltype(Columns<Table>::kAll)> * sizeof(std::vector<int>),
      "a column is missing in the list above");
  std::apply([&](auto... column) { (visit(column), ...); }, Columns<Table>::kAll);
}

template <typename Table>
void ReserveRows(std::size_t rows, Table* table) {
  ForEachColumn<Table>([&](auto column) { (table->*column).reserve(rows); });
}

// Appends the given rows of `from`. A column that a report does not have stays empty.
template <typename Table>
void KeepRows(const Table& from, const std::vector<std::uint32_t>& rows, Table* to) {
  ForEachColumn<Table>([&](auto column) {
    const auto& values = from.*column;
    auto& kept = to->*column;
    if (values.empty()) return;
    kept.reserve(rows.size());
    for (const std::uint32_t row : rows) kept.push_back(values[row]);
  });
}

}  // namespace advise
