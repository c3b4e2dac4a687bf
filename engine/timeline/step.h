// Iterations of the run: from annotations, from ranges that look like steps, or from the
// periodicity of the GPU work.
#pragma once

#include "engine/timeline/run.h"

namespace advise {

// Finds the steps and their warm-up and outliers (docs/design/steps.md).
// Less than `step.min_count` like steps are no steps: `Steps::source` is empty then. `peer`: the
// steps of another rank on the same clock, for one that shows none itself.
// O(ops + ranges).
Steps FindSteps(const Run& run, const Steps* peer = nullptr);

// The steps of another rank on the same clock, where this one communicates in most of them: ranks
// that exchange data are in one and the same step. Of a model server, only one rank hands tokens to
// the host. None where it does not. O(ops log steps).
Steps StepsOfPeer(const Run& run, const Steps& peer);

// Steps from ranges that are named as steps, or from periodicity alone. `named`: how many steps the
// program names, where it hands them to another thread and goes on; 0 for none.
Steps StepsFromRanges(const Run& run);
Steps StepsFromPeriod(const Run& run, std::size_t named = 0);

// Steps of a program that generates tokens, from one answer that it hands to the host to the next:
// prompts that it reads in between and sequences that end make no two of them alike.
// O(ops log ops).
Steps StepsFromAnswers(const Run& run);

// Steps of training, from one update of the weights to the next: kernels that update weights are
// known by their names, or, where there are none, backward passes by the threads that launch them.
// None where most of them do not compute about as much. O(ops).
Steps StepsFromTraining(const Run& run);
// Whether `steps` hold several of the `parts` each, or some of them do.
bool AreParts(const Run& run, const Steps& parts, const Steps& steps);

// Steps from ranges of any name: they follow each other on one thread, fill its time, each launches
// work, and the host takes part in each. Of several such, the most numerous, then the outermost.
Steps StepsFromOtherRanges(const Run& run);

// Steps from one update of the weights to the next, where ranges name the updates.
Steps StepsFromUpdates(const Run& run);

// By iteration but the last, 1 where the host takes part: it sends the GPU data, and, unless
// `data_only`, takes some, waits for it (also by asking again and again whether work is done), or
// exchanges messages with other ranks. `opened`: when the host began each iteration, in order.
// `only`: what other threads do does not count; kNone: all launching threads count. O((calls +
// messages) log iterations).
std::vector<std::uint8_t> HostMeets(const Run& run, const std::vector<Nanos>& opened,
                                    bool data_only, std::uint32_t only = kNone);

// The share of iterations in which it does. The layers of a model do without, or all but some of
// them. In any order. 1 where that is not known.
double HostTakesPart(const Run& run, std::vector<Nanos> opened, bool data_only);

// Ranges that are called steps and launched GPU work, of the family with most of them: too few of
// them are no steps, but a reader who marked one step knows that there is one.
struct MarkedSteps {
  std::size_t count = 0;
  Nanos start = 0;           // of the first
  Nanos usual = 0;           // median length
  std::size_t launches = 0;  // in all of them, of what computes
  std::uint32_t thread = kNone;
};
MarkedSteps FindMarkedSteps(const Run& run);  // O(ranges + ops)

// Marks warm-up and outliers. Warm-up are the leading steps that are unusually long (median and
// MAD), or that load code or allocate where later ones do not. What the first steps are known to
// have waited, none or less of them, makes no warm-up.
void SplitWarmup(const Run& run, const std::vector<Nanos>& waits, Steps* steps);

// Makes `first` the first steady step, and marks outliers from there on.
void BeginSteadyAt(const Run& run, std::size_t first, Steps* steps);

// Whether the device usually waits, or copies a batch, in these gaps between the computing of one
// step and that of the next. Nothing tells how long it would have waited behind the last step:
// without that, the step looks busier than the others. Communication is no waiting here.
bool StepsEndWithWait(const Run& run, const std::vector<Interval>& gaps, Nanos usual_length);

}  // namespace advise
