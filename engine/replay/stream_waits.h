// What waits for which work by the program's own order: a stream behind cudaStreamWaitEvent, and a
// host thread in a synchronize call.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/timeline/run.h"

namespace advise {

// By op: the op in whose stream an event was recorded behind it, and for which the op's own stream
// was made to wait before it; of several the one that ended last. kNone for none. Where the capture
// does not say which event a call is about, the order of the calls tells it, as far as it can.
// O(n log n) in the ops and calls of the run.
std::vector<std::uint32_t> AwaitedByEvents(const Run& run);

// By call: the op that a synchronize call waits for, whether or not it was still running: the last
// of the call's stream or of what that stream waits for behind it, before the call's event, or of
// the process. kNone where the capture does not say which stream or event, and for other calls.
// O(n log n + synchronize calls x streams).
std::vector<std::uint32_t> AwaitedBySyncs(const Run& run);

// By call: the call of another thread of the process that recorded the event for which this call
// makes a stream wait; kNone where the capture does not say so, and for other calls. The program
// means that record, so this call may not come before it. O(n log n) in the records and waits.
std::vector<std::uint32_t> RecordsOfWaits(const Run& run);

// By op: the download whose data an upload to another device sends on, kNone for other ops. The
// upload is the next that its thread hands to any device, and has the size of the download.
// O(calls).
std::vector<std::uint32_t> SentOn(const Run& run);

}  // namespace advise
