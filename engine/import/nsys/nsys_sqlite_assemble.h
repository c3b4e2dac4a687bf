// Turns what the reading tasks left into one trace: names into the pool, threads, processes,
// streams and devices into rows of their own, calls to the work that they launched.
#pragma once

#include "engine/import/nsys/nsys_sqlite_rows.h"
#include "engine/import/nsys/nsys_sqlite_system.h"

namespace advise::nsys {

// The rows of one task with the log that its names refer to.
template <typename Rows>
struct Logged {
  Rows rows;
  ReadLog log;
};

struct AllRows {
  Logged<SystemInfo> system;
  GpuRows gpu;
  std::vector<ReadLog> gpu_logs;  // of its parts
  Logged<CallRows> calls;
  Logged<WaitRows> waits;
  Logged<RangeRows> ranges;
  Logged<NcclRows> nccl;
  Logged<DirectiveRows> directives;
  Logged<OsCallRows> os_calls;
  Logged<MpiRows> mpi;
  Logged<SchedRows> sched;
  Logged<SampleRows> samples;
  Logged<OverheadRows> overheads;
  Logged<MemoryRows> memory;
  Logged<SeriesRows> series;
};

// Fills `trace`, which ReadSystem has begun. `reader` reads the texts of names. On up to `jobs`
// threads.
void Assemble(AllRows all, Reader& reader, int jobs, Trace& trace);

}  // namespace advise::nsys
