// What summaries of profilers say of a run: how much of what there was, and the longest of each. No
// summary tells when anything happened, so nothing here is idle, exposed or overlapped.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/knowledge/knowledge.h"
#include "engine/trace/tables.h"

namespace advise {

// Rows of one subject by name, the longest first.
struct TotalsOf {
  double total = 0;  // ns, or samples
  double count = 0;
  std::vector<ProfileRow> rows;
  bool empty() const { return rows.empty(); }
};

struct ProfileTotals {
  std::map<ProfileOf, TotalsOf> of;
  const TotalsOf& Of(ProfileOf what) const;
  bool empty() const { return of.empty() && allocator.reserved_peak < 0; }

  // Of the copies: between host and GPU.
  double host_copies = 0;

  // Of the calls, by their class.
  double launches = 0, launch_time = 0;
  double launch_median = -1;  // ns, of the call that launches most; -1 unknown
  double waits = 0, wait_time = 0;
  double allocations = 0, allocation_time = 0;

  AllocatorPage allocator;  // of the fullest device
};

ProfileTotals SumProfile(const Trace& trace, const Knowledge& knowledge);

}  // namespace advise
