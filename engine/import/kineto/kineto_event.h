// One event of a Chrome trace as PyTorch's profiler writes it: the fields and arguments that we
// read, still as text of the file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/units.h"

namespace advise::kineto {

// What an event is about: its `cat`, in the words of all generations of writers.
enum class Category : std::uint8_t {
  kUnknown,
  kOperator,    // cpu_op
  kAnnotation,  // user_annotation
  kPython,      // python_function
  kCall,        // cuda_runtime, cuda_driver; ROCm's hip calls too
  kKernel,
  kCopy,
  kMemset,
  kSync,         // cuda_sync
  kEventRecord,  // cuda_event
  kOverhead,
  kInstant,       // cpu_instant_event: "[memory]"
  kOtherDevice,   // work of an accelerator that is no GPU
  kCounterRange,  // cuda_profiler_range: hardware counters of a kernel that was run for them
  kIgnored,       // known, and of no use to us: arrows, copies of annotations on the GPU …
  kCount
};

// The arguments that we read. Keys that say the same thing share a value.
enum class Arg : std::uint8_t {
  kExternalId,
  kDevice,
  kContext,
  kStream,
  kCorrelation,
  kBytes,
  kRegisters,
  kSharedMemory,
  kGraphId,
  kGraphNode,
  kSequenceNumber,
  kForwardThread,
  kName,
  kAddress,
  kTotalAllocated,
  kTotalReserved,
  kDeviceId,
  kDeviceType,
  kCollective,
  kElementType,
  kInElements,
  kOutElements,
  kGroupSize,
  kGroupName,
  kGroupDescription,
  kGroupRanks,
  kSourceRank,
  kTargetRank,
  kSequence,
  kSyncKind,
  kEventId,
  kToDevice,
  kFromDevice,
  kInputSizes,  // these four are lists, kept as JSON, and only of operators whose work they tell
  kInputTypes,
  kInputStrides,
  kInputValues,
  kCount
};

// A value as it stands in the file: quotes removed, escapes not.
struct Event {
  std::string_view phase;  // "ph": X, i, M …
  Category category = Category::kUnknown;
  std::string_view category_text;
  std::string_view name;
  std::string_view pid;
  std::string_view tid;
  std::string_view start;     // microseconds
  std::string_view duration;  // microseconds
  std::array<std::uint32_t, 3> grid{};
  std::array<std::uint32_t, 3> block{};
  std::uint64_t present = 0;  // bit per Arg
  std::array<std::string_view, static_cast<std::size_t>(Arg::kCount)> args;

  // Cheaper than a new event: what `present` does not name is never read.
  void Clear() {
    phase = category_text = name = pid = tid = start = duration = {};
    category = Category::kUnknown;
    grid = block = {};
    present = 0;
  }
  bool Has(Arg arg) const { return (present >> static_cast<unsigned>(arg) & 1) != 0; }
  std::string_view Text(Arg arg) const {
    return Has(arg) ? args[static_cast<std::size_t>(arg)] : std::string_view();
  }
  void Set(Arg arg, std::string_view value) {
    present |= std::uint64_t{1} << static_cast<unsigned>(arg);
    args[static_cast<std::size_t>(arg)] = value;
  }
  std::int64_t Int(Arg arg, std::int64_t otherwise) const;
};

// Whether an operator of a writer before 2022 is what a user or torch.utils annotated:
// "ProfilerStep#3", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__".
bool IsAnnotation(std::string_view operator_name);
Category CategoryOf(std::string_view text);      // ignoring case
std::optional<Arg> ArgOf(std::string_view key);  // nothing for keys that we do not read
std::string_view NameOf(Arg arg);                // as PyTorch writes it
inline bool IsInputList(Arg arg) { return arg >= Arg::kInputSizes && arg <= Arg::kInputValues; }
bool IsSkipped(const Event& event);  // by phase and category, before `args`

// Whole nanoseconds of microseconds "1683564901548726", "1414456661601.577", "1.7e15", digit by
// digit: doubles of this size are too coarse. Nothing when it is no number or beyond 64 bits.
std::optional<Nanos> ParseMicroseconds(std::string_view text);
// A whole number, also "12.0", "0x7f…" and true/false; nothing for anything else.
std::optional<std::int64_t> ParseInt(std::string_view text);
// The text that JSON's escapes stand for. Escapes that are none stay as they are.
std::string Unescaped(std::string_view raw);

}  // namespace advise::kineto
