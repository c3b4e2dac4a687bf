// What names in a Kineto trace say beside their words: copies name their direction and memory,
// collectives their element type.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/trace/tables.h"

namespace advise::kineto {

struct CopyName {
  CopyDirection direction = CopyDirection::kUnknown;
  MemoryKind source = MemoryKind::kUnknown;
  MemoryKind target = MemoryKind::kUnknown;
};

// Of "Memcpy HtoD (Pageable -> Device)". ROCm says only "Host": such memory stays unknown, since it
// may be pinned.
CopyName ParseCopyName(std::string_view name);

// Of "Memset (Device)"; device memory when the name does not say.
MemoryKind ParseMemsetName(std::string_view name);

// Bytes of an element of a c10 type ("BFloat16"); 0 unknown.
std::int64_t ElementBytes(std::string_view type);

}  // namespace advise::kineto
