// From events to columns. Each event becomes a row of one of the trace's tables, with the file's
// own keys still behind its index columns; Assemble puts the rows into order and ties them
// together.
//
//   column          until assembled
//   thread          number of the thread in `threads`
//   stream          number of the stream in `streams`
//   call            the number that ties GPU work to its call (see LinkOf), 0 none
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/import/collective_records.h"
#include "engine/import/keys.h"
#include "engine/import/kineto/kineto_stream.h"
#include "engine/import/operator_sizes.h"
#include "engine/trace/tables.h"

namespace advise::kineto {

// What top-level keys say of the run, beside the devices.
struct Header {
  bool is_rocm = false;
  std::int64_t cuda_runtime = 0;  // 12040 is 12.4; 0 unknown
};

class Tables : public Visitor {
 public:
  explicit Tables(Trace& trace) : trace_(trace), groups_(trace) {}

  void OnEvent(const Event& event) override;
  void OnHeader(std::string_view key, std::string_view json) override;

  // kineto_assemble.cc: sorts, joins, names. Call once, at the end.
  void Assemble();

  // Events of a kind that the PyTorch profiler writes.
  std::int64_t known() const { return known_; }

 private:
  bool Span(const Event& event, Nanos* start, Nanos* end);
  std::uint32_t LinkOf(const Event& event, std::vector<std::uint32_t>* column);
  StringId Name(std::string_view raw);
  std::uint32_t ThreadOf(const Event& event);
  std::uint32_t StreamOf(const Event& event);
  void Metadata(const Event& event);
  void GpuWork(const Event& event, Nanos start, Nanos end);
  std::uint32_t ShapeOf(const Event& event);
  void Wait(const Event& event, Nanos start, Nanos end);
  void Memory(const Event& event);
  void AddSpan(const Event& event, Nanos start, Nanos end, std::int64_t payload,
               RangeTable* ranges);
  void CountNumbered(std::int64_t number);
  void AddInputs(const Event& event);                            // of the last row of operators
  void AddCollective(const Event& event, CollectiveRecord row);  // kineto_collectives.cc
  std::uint32_t GroupOf(const Event& event);

  // kineto_assemble.cc
  void ListThreads();
  void NameThreads();
  void ListDevices();  // kineto_devices.cc
  std::uint32_t DeviceRow(std::int64_t number);
  void ListStreams();
  void DropExternalLinks();
  void SortTables();
  void SortOps();
  void DropRepeated();
  void JoinCalls();
  void JoinCollectives();  // kineto_collectives.cc
  void PlaceOverheads();
  void FillMemory();
  void Report();

  Trace& trace_;
  Header header_;
  Dictionary<ThreadKey> threads_;
  std::string last_pid_, last_tid_;  // as they stood in the event that asked last
  std::uint32_t last_thread_ = kNone;
  StreamKeys streams_;
  ShapeNumbers shapes_;
  GroupRows groups_;
  InputLists inputs_;
  std::map<std::int64_t, std::string> process_names_;
  std::map<ThreadKey, std::string> thread_names_;
  std::vector<CollectiveRecord> collectives_;  // `op`: the kernel's row before sorting
  std::vector<std::int64_t> memory_levels_;  // bytes allocated after each row of memory, -1 unknown
  std::array<std::int64_t, 16> rows_{};      // read, by category
  std::int64_t numbered_ = 0;                // operators with a number, and
  std::int64_t first_number_ = 0, last_number_ = 0;
  bool has_correlations_ = false;  // GPU work or a call carries one
  // Where an External id stands in for a correlation: a column, and its row.
  std::vector<std::pair<std::vector<std::uint32_t>*, std::size_t>> external_links_;
  std::vector<std::uint32_t> nodes_;        // of graphs, by op, 0 none; until ops are sorted
  std::vector<std::uint32_t> op_rows_;      // where each op came to lie when ops were sorted; kNone
                                            // where it was listed twice; empty: where it was
  std::int64_t listed_twice_ = 0;           // ops that were dropped for that
  std::vector<std::uint32_t> stream_rows_;  // number -> Trace::streams
  std::vector<std::uint32_t> thread_rows_;  // number -> Trace::threads
  std::map<std::int64_t, std::uint32_t> device_rows_;         // number -> Trace::devices
  std::uint32_t main_process_ = kNone;                        // that makes the calls
  std::map<std::string, std::int64_t, std::less<>> unknown_;  // categories that nobody heard of
  std::int64_t known_ = 0;
  std::int64_t untimed_ = 0;
  std::int64_t backward_time_ = 0;  // events that end before they start
  std::int64_t absurd_ = 0;
  std::int64_t other_devices_ = 0;
  std::int64_t counter_ranges_ = 0;
};

}  // namespace advise::kineto
