// Waiting that need not be: which calls block the host, and what the GPU loses until the host is
// ahead again.
#pragma once

#include <string>

#include "engine/metrics/losses/copies/copy.h"
#include "engine/metrics/losses/loss.h"
#include "engine/metrics/losses/waits/stream_ties.h"
#include "engine/timeline/phase.h"

namespace advise {

struct Syncs : StreamTies {
  std::int64_t count = 0;
  double time_ns = 0;
  Loss loop;  // synchronize calls that are not part of a read-back
  // What of its idle time is long stretches of host code behind them that may read a result, and
  // what is such code that cannot (ResultsHome).
  double loop_code_ns = 0, loop_free_code_ns = 0;
  double loop_with_code = 0;  // share of the calls with code behind them that may read a result
  Loss item;                  // tiny copies that the host waits for
  std::string item_kernel;    // that ran last before most of those that read
  Loss forward;               // the part of both inside forward ranges
  double forward_reads = 0;   // share of these that read or send a value
  Loss memset;
  Loss host_function;        // what streams run on the host
  Loss optimizer, backward;  // all waits of the host inside these phases of the loop
  std::string loop_name;
  std::string loop_directive;  // that holds most of these calls, where the report has directives
  double item_code_ns = 0;     // what of the idle time of `item` is long stretches of host code
  double item_median_bytes = 0, item_most_bytes = 0;
  std::string item_direction;
  std::int64_t item_sized = 0;  // of them, reads of the size of a result
  double busy_wait_ns = 0;      // in synchronize calls while the device was not computing
};

// `requests_as_code`: the program may wait for requests, and nothing that was recorded tells that
// from code (RequestWaits::kAsCode). O(n log n) in the calls and ops.
Syncs FindSyncs(const Basis& basis, const Copies& copies, const Phases& phases,
                bool requests_as_code);

}  // namespace advise
