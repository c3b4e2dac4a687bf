// Copies: what kinds there are, which of them cost time, and why.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/metrics/losses/copies/optimizer_offload.h"
#include "engine/metrics/losses/copies/repeated_uploads.h"
#include "engine/metrics/losses/loss.h"
#include "engine/timeline/phase.h"

namespace advise {

struct CopyGroup {
  std::string direction;
  std::string memory;
  std::int64_t count = 0;
  double bytes = 0;
  double time_ns = 0;
  double exposed_ns = 0;
};

// Each host-device copy of the window belongs to one class, by what is most specific about it.
enum class CopyKind : std::uint8_t { kPlain, kTiny, kSmall, kPageable, kBlocking, kMigration };

struct Copies {
  std::vector<CopyGroup> groups;
  Loss pageable, blocking, small, slow, repeated, roundtrip, migration, through_host, serial,
      separate;
  OptimizerOffload offload;
  double small_median_bytes = 0;
  double blocking_pageable_share = 0;  // -1: the kind of some of the memory was not recorded
  std::string repeated_memory;
  std::string roundtrip_directive;  // that brings most of it back, where the report has directives
  bool roundtrip_by_directives = false;  // the program computes by directives
  double roundtrip_activations = 0;      // share that only the backward pass takes back
  UploadLooks repeated_looks = UploadLooks::kConstant;
  bool repeated_answered = false;  // results of what is computed from them go back
  // The synchronizing calls that only wait for a copy just issued, and that copy's call.
  std::unordered_map<std::uint32_t, std::uint32_t> copy_of_sync;
  // The synchronizing calls that wait for data which the host then sends to another rank.
  std::unordered_set<std::uint32_t> calls_to_exchange;
  std::vector<CopyKind>
      kind_of_op;  // per op of the trace; meaningful for host-device copies in the window
};

// What else is known of the run.
struct CopyContext {
  // Enough like work was recorded to speak of a loop (Support::verdict); what comes before it is
  // done once.
  bool repeats = false;
  bool of_tokens = false;       // each step generates a token
  double link_bytes_per_s = 0;  // what pinned copies reach on this host, 0 unknown
};

// O(ops + calls).
Copies FindCopies(const Basis& basis, const Phases& phases, const CopyContext& context);

// All copies of the window by direction and memory kind, most time first.
std::vector<CopyGroup> GroupCopies(const Basis& basis);
const char* DirectionName(CopyDirection direction);
const char* MemoryName(MemoryKind memory);
// Large pinned copies of the window show what the link reaches: their 90th percentile; 0 when there
// are none.
double ObservedLinkRate(const Basis& basis);

}  // namespace advise
