// What tools say of a whole run without the time of any single event: tables of totals, and the
// state of a framework's allocator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace advise {

enum class ProfileOf : std::uint8_t {
  kKernels,
  kCopies,  // and memsets
  kCalls,   // of CUDA
  kOsCalls,
  kRanges,
  kStacks,        // samples of CPU call stacks, by the function that ran
  kInstructions,  // samples of one kernel, by source line or instruction
};

// One line of a table of totals.
struct ProfileRow {
  std::string name;
  double total = 0;    // ns; samples of stacks and instructions
  double count = 0;    // events; 0 unknown
  double median = -1;  // ns, of one event; -1 unknown
};

struct ProfileTable {
  ProfileOf of = ProfileOf::kKernels;
  std::vector<ProfileRow> rows;
  double whole = 0;  // as ProfileRow::total: of the run, where the table holds only a part; else 0
};

// What PyTorch's caching allocator printed of one device; bytes, -1 where the page does not say.
struct AllocatorPage {
  int device = 0;
  double allocated = -1, allocated_peak = -1;
  double reserved = -1, reserved_peak = -1;
  double unusable_peak = -1;  // inside split blocks that cannot be given back
  double retries = -1;        // cudaMalloc failed, the cache was emptied, and it was tried again
  double out_of_memory = -1;
};

struct Profile {
  std::vector<ProfileTable> tables;
  std::vector<AllocatorPage> allocators;
  bool empty() const { return tables.empty() && allocators.empty(); }
};

}  // namespace advise
