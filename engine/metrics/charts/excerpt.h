// A stretch of the run as a timeline shows it: what each host thread and each stream did, and why
// the GPUs were idle. Rows of events; events of one row never overlap unless they nest.
#pragma once

#include <string>
#include <vector>

#include "engine/timeline/idle.h"
#include "engine/timeline/run.h"

namespace advise {

enum class ExcerptKind : std::uint8_t {
  kRange,     // opened by the program
  kOperator,  // of the framework
  kPython,    // a traced Python function
  kCall,      // of the runtime or driver
  kOs,        // call of the operating system
  kKernel,
  kCommunication,
  kCopy,
  kMemset,
  kGraph,
  kGap,   // nothing ran on the GPU; the name is the cause
  kWait,  // inside a collective, for the last rank to come
};
const char* ExcerptKindName(ExcerptKind kind);

struct ExcerptEvent {
  Nanos start = 0;  // whole, also where it begins before the excerpt
  Nanos end = 0;
  ExcerptKind kind = ExcerptKind::kRange;
  std::string name;
  int depth = 0;               // how many events of the row are open around it
  std::size_t count = 1;       // events that this one stands for
  std::uint32_t call = kNone;  // of a call: its row; of GPU work: the call that launched it
  std::uint32_t op = kNone;    // of GPU work: its row
  std::int64_t bytes = -1;     // of copies and memsets
  std::string detail;          // "device 0, 108 blocks of 256 threads", may be empty
};

struct ExcerptRow {
  enum class Kind : std::uint8_t { kThread, kStream, kGaps, kRank } kind = Kind::kThread;
  std::string name;  // "python, main: calls", "GPU 0, stream 7"
  std::string process_name;
  std::int64_t process = 0;  // operating-system number, of threads
  std::int64_t number = 0;   // of the thread or stream
  std::uint32_t device = kNone;
  bool launches = false;             // of a thread that launches GPU work
  int depth = 1;                     // most events open at once
  std::vector<ExcerptEvent> events;  // by (start, -end)
};

struct ExcerptOptions {
  std::uint32_t device = kNone;  // kNone: all; else the rows of this one, and of its launchers
  std::size_t thread_rows = 8;   // of threads that launch first, then by time in the stretch
  std::size_t stream_rows = 8;
  // Neighbors in a row that are shorter than this are shown as one event; 0: never.
  Nanos merge_below = 0;
  std::size_t most_events = 0;   // of the whole excerpt; 0: no limit
  bool python = false;           // also Python functions: they are many and deep
  bool launching_calls = false;  // also calls before the stretch that launched work inside it
};

struct Excerpt {
  Nanos start = 0;
  Nanos end = 0;
  std::vector<ExcerptRow> rows;  // gaps, then streams, then threads
  std::size_t left_out = 0;      // events and rows that the limits kept out
};

// O(events of the trace).
Excerpt CutExcerpt(const Run& run, const Idle& idle, Nanos start, Nanos end,
                   const ExcerptOptions& options);

}  // namespace advise
