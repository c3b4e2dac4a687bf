// Words of Nsight Systems' tables that both their reader and the checks for people need: what is
// called how, declared once.
#pragma once

#include <array>
#include <cstdint>

#include "engine/trace/tables.h"

namespace advise::cupti {

inline constexpr const char* kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
inline constexpr const char* kCopies = "CUPTI_ACTIVITY_KIND_MEMCPY";
inline constexpr const char* kMemsets = "CUPTI_ACTIVITY_KIND_MEMSET";
inline constexpr const char* kGraphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
inline constexpr const char* kCalls = "CUPTI_ACTIVITY_KIND_RUNTIME";

// Column copyKind. Copies inside a device are peer copies where a row names two devices.
struct CopyKind {
  int number = 0;
  CopyDirection direction = CopyDirection::kUnknown;
};
inline constexpr std::array<CopyKind, 14> kCopyKinds = {{
    {1, CopyDirection::kHostToDevice},
    {2, CopyDirection::kDeviceToHost},
    {3, CopyDirection::kHostToDevice},  // to an array
    {4, CopyDirection::kDeviceToHost},
    {5, CopyDirection::kDeviceToDevice},
    {6, CopyDirection::kDeviceToDevice},
    {7, CopyDirection::kDeviceToDevice},
    {8, CopyDirection::kDeviceToDevice},
    {9, CopyDirection::kHostToHost},
    {10, CopyDirection::kPeerToPeer},
    {11, CopyDirection::kMigrationToDevice},
    {12, CopyDirection::kMigrationToHost},
    {13, CopyDirection::kMigrationPeer},
    {14, CopyDirection::kMigrationPeer},
}};

// Packed ids: <hardware:8><vm:8><process:24><thread:24>.
inline constexpr int kIdBits = 24;
inline constexpr std::int64_t kIdMask = (std::int64_t{1} << kIdBits) - 1;
inline constexpr std::int64_t ProcessOf(std::int64_t global_id) { return global_id & ~kIdMask; }
inline constexpr std::int64_t PidOf(std::int64_t global_id) {
  return (global_id >> kIdBits) & kIdMask;
}
inline constexpr std::int64_t TidOf(std::int64_t global_id) { return global_id & kIdMask; }

}  // namespace advise::cupti
