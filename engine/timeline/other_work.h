// GPU work beside the loop that is judged: a program may train and then generate, or run one loop
// after another.
#pragma once

#include "engine/timeline/run.h"

namespace advise {

// The stretch outside of the steps that holds most GPU work, with no long pause inside.
struct OtherWork {
  Interval span;           // from its first op to its last; empty: there is none worth a word
  bool before = false;     // the steps; else behind them
  double share = 0;        // of all GPU work of the capture
  double busy = 0;         // of the span: in which GPUs work, on average
  bool starts_up = false;  // code is loaded for a fair part of the rest: that comes once in a run
  // Of all GPU work: the last iteration, which is no step, since nothing shows where it ends. 0
  // none worth a word.
  double last_step = 0;
  double left_out = 0;  // of all GPU work: outside of the window, whatever it is
};

// Warm-up steps belong to the loop. Start-up is no such work: there, GPUs hardly work between the
// pauses in which code is loaded and compiled (`window.other_share`, `window.other_busy`). None
// where the window was chosen by the caller, or covers everything. O(ops log ops).
OtherWork FindOtherWork(const Run& run);

}  // namespace advise
