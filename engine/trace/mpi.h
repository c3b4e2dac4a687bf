// Calls of MPI on host threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/units.h"
#include "engine/trace/strings.h"

namespace advise {

enum class MpiKind : std::uint8_t {
  kOther,       // start-up, communicators, one-sided transfers, queries
  kSend,        // blocking or not
  kReceive,     // blocking or not; probes, too
  kExchange,    // sends and receives in one call
  kWait,        // for requests or for one-sided transfers; tests, too
  kCollective,  // blocking or not
  kFile,        // opens, reads and closes files
  kFileWrite,   // writes files
};

// Whether a call of this kind moves data between ranks, or waits for it.
inline bool UsesFiles(MpiKind kind) {
  return kind == MpiKind::kFile || kind == MpiKind::kFileWrite;
}
inline bool MovesData(MpiKind kind) { return kind != MpiKind::kOther && !UsesFiles(kind); }

// Of a function by its name in C or Fortran: "MPI_Isend", "pmpi_isend_". Of names that are none of
// MPI's: kOther.
MpiKind MpiKindOf(std::string_view function);
bool IsMpiFunction(std::string_view name);

// Whether the size of a call may be that of the part for one other rank, as in MPI_Alltoall, of
// which there are as many as ranks.
bool CountsPerRank(std::string_view function);

// Sorted by (thread, start, -end). Columns of numbers hold -1 for what the report does not say.
struct MpiTable {
  std::vector<Nanos> start;
  std::vector<Nanos> end;
  std::vector<std::uint32_t> thread;
  std::vector<StringId> name;
  std::vector<MpiKind> kind;
  std::vector<std::int64_t> sent;      // bytes
  std::vector<std::int64_t> received;  // bytes
  std::vector<std::int32_t> peer;      // the other rank of a message, the root of a collective
  std::vector<std::int32_t> tag;
  std::size_t size() const { return start.size(); }
};

}  // namespace advise
