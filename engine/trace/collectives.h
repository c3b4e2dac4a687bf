// What a report says of collectives beside the kernels that run them: which operation, how much
// data, in which communicator. From framework events (Kineto) or payloads of NCCL's own ranges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/units.h"
#include "engine/trace/strings.h"

namespace advise {

// A communicator. `ranks` are global ranks; empty when the report does not say.
struct CommGroup {
  std::string name;         // the report's own id of it: "0", "0x7f…"
  std::string description;  // "default_pg", "tp", may be empty
  int size = 0;             // 0 unknown
  std::vector<int> ranks;
};

// One row a collective or point-to-point operation, sorted by start.
struct CollectiveTable {
  std::vector<Nanos> start;  // of the operation on the host when known, else of its kernel
  std::vector<Nanos> end;
  std::vector<StringId> kind;           // canonical: "AllReduce", "AllGather", "ReduceScatter" …
  std::vector<std::int64_t> in_bytes;   // per rank; -1 unknown
  std::vector<std::int64_t> out_bytes;  // per rank; -1 unknown
  std::vector<std::uint32_t> group;     // -> Trace::groups; kNone unknown
  std::vector<std::uint32_t> op;        // -> Trace::ops, its kernel; kNone when not linked
  std::vector<std::int64_t> sequence;   // number inside the communicator; -1 unknown
  std::vector<std::int32_t> peer;       // global rank of send/recv's other side; -1 otherwise
  std::size_t size() const { return start.size(); }
};

}  // namespace advise
