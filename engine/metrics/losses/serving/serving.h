// Idle time of a model server, by who was waited for: between the steps of the engine
// there was no request, or the scheduler was not done; inside them the GPU waited for the host.
#pragma once

#include "engine/metrics/losses/loss.h"
#include "engine/metrics/system/run_kind.h"

namespace advise {

struct Serving {
  // OS calls were recorded (without them a wait for requests looks like host code), and either
  // ranges name the engine's steps, or a thread that launches receives the requests itself.
  bool known = false;
  // Ranges on a thread that launches name the engine's steps (or requests, prefill, decode): what
  // is between steps can be separated from what is inside.
  bool steps_named = false;
  // Ranges on a thread that launches say when it samples tokens, or turns them into text. They need
  // no OS calls: the name tells what the thread does.
  bool sampling_named = false;
  bool tokenizer_named = false;
  double load = 1;  // part of the device time in which there was a request to work on
  Loss no_request;  // the thread waits in the OS between steps
  Loss tokenizer;   // the GPU waits in ranges that turn tokens into text
  Loss sampling;    // the GPU waits in ranges that choose tokens
  // Only where the steps are named:
  Loss scheduler;  // it runs code between steps: scheduling, preparing inputs; without OS calls
                   // perhaps also a wait for requests
  Loss launch;     // the GPU waits for launches or host code inside a step
};

// O(ranges + pieces of idle time x log ranges).
Serving FindServing(const Basis& basis, const RunKind& kind);

}  // namespace advise
