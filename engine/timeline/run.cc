#include "engine/timeline/run.h"

#include <algorithm>
#include <future>

#include "engine/timeline/restarts.h"
#include "engine/timeline/step.h"
#include "engine/timeline/tokens.h"

namespace advise {

namespace {

// By thread: the bytes of its largest upload, 0 for none; whether it launches anything else.
void FindLaunchingThreads(const std::vector<std::int64_t>& uploads,
                          const std::vector<std::uint8_t>& launches, Run* run) {
  const Trace& trace = run->trace;
  const auto value = static_cast<std::int64_t>(run->knowledge.Number("copy.tiny_bytes"));
  std::vector<std::uint8_t> of_process(trace.processes.size(), 0);
  for (std::uint32_t t = 0; t < launches.size(); ++t) {
    const std::uint32_t process = trace.threads[t].process;
    if (process != kNone && launches[t] != 0) of_process[process] = 1;
  }
  run->feeds.assign(launches.size(), 0);
  run->loads.assign(launches.size(), 0);
  for (std::uint32_t t = 0; t < launches.size(); ++t) {
    const std::uint32_t process = trace.threads[t].process;
    const bool launches_beside = process != kNone && of_process[process] != 0;
    if (launches[t] != 0 || uploads[t] != 0) run->launching_threads.push_back(t);
    // The main thread runs the program, whatever it hands to others.
    const bool main = launches_beside && trace.threads[t].tid == trace.processes[process].pid;
    if (launches[t] != 0 || uploads[t] == 0 || !launches_beside || main) continue;
    run->feeds[t] = 1;
    if (uploads[t] > value) run->loads[t] = 1;
  }
}

// Keeps the steps that lie wholly in what was asked for, and narrows the window to them: what is
// said per step is of the window, and so must be the steps. None stay where there are not two.
void NarrowToSteps(const Interval& asked, Window* window, Steps* steps) {
  const auto inside = [&asked](const Step& step) {
    return step.start >= asked.start && step.end <= asked.end;
  };
  const auto begin = std::find_if(steps->all.begin(), steps->all.end(), inside);
  const auto end = std::find_if_not(begin, steps->all.end(), inside);
  if (end - begin < 2) {
    steps->source.clear();
    steps->all.clear();
    steps->outliers.clear();
    steps->first_steady = 0;
    return;
  }
  const auto gone = static_cast<std::size_t>(begin - steps->all.begin());
  const auto kept = static_cast<std::size_t>(end - begin);
  std::vector<std::size_t> outliers;
  for (const std::size_t outlier : steps->outliers) {
    if (outlier >= gone && outlier < gone + kept) outliers.push_back(outlier - gone);
  }
  steps->outliers = std::move(outliers);
  steps->all = std::vector<Step>(begin, end);
  steps->first_steady = 0;  // who asks for the first steps wants them judged
  window->start = steps->all.front().start;
  window->end = steps->all.back().end;
}

// Whether most of what was asked for lies before or behind the steps.
bool LiesBeside(const Steps& steps, const Interval& asked) {
  if (!steps.known()) return false;
  const Nanos inside =
      std::min(steps.all.back().end, asked.end) - std::max(steps.all.front().start, asked.start);
  return 2 * inside < asked.Length();
}

// How much of the GPU work between two times lies farther from the steps than one more step would:
// the last step of a loop, whose end nothing shows, belongs to it. 0 where no steps are known.
double ShareBeside(const Run& run, const Interval& asked) {
  if (!run.steps.known()) return 0;
  const OpTable& ops = run.trace.ops;
  const Nanos step = run.steps.Median();
  const Interval loop{run.steps.all.front().start - step, run.steps.all.back().end + step};
  double all = 0;
  double beside = 0;
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    const Interval work{std::max(asked.start, ops.start[op]), std::min(asked.end, ops.end[op])};
    if (work.end <= work.start) continue;
    all += static_cast<double>(work.Length());
    const Nanos inside = std::min(work.end, loop.end) - std::max(work.start, loop.start);
    beside += static_cast<double>(work.Length() - std::max<Nanos>(0, inside));
  }
  return all > 0 ? beside / all : 0;
}

// Lets the window end with the work that runs at its end, which would count for more than the time
// that it has there. Where streams take turns without a pause, it at most doubles for that.
void EndWithWork(const OpTable& ops, Window* window) {
  const auto first = std::lower_bound(ops.start.begin(), ops.start.end(), window->start);
  const auto op_at = [&](auto place) {
    return static_cast<std::size_t>(place - ops.start.begin());
  };
  const Nanos asked = window->end;
  const Nanos most = asked + window->Length();
  for (std::size_t op = op_at(first); op < ops.size() && ops.start[op] < window->end; ++op) {
    if (ops.start[op] >= asked && ops.end[op] > most) break;
    window->end = std::max(window->end, ops.end[op]);
  }
}

// When the GPUs are done with an earlier pass: their first work, which was queued before the
// recording, as it has no recorded call, and which was done when the next was launched. 0 without
// any: what the host goes on with meanwhile may be the same pass.
Nanos EndOfEarlierWork(const Run& run) {
  const OpTable& ops = run.trace.ops;
  Nanos done = 0;
  for (const std::uint32_t device : run.active_devices) {
    Nanos end = 0;
    for (const std::uint32_t op : run.ops_of_device[device]) {
      if (ops.call[op] != kNone) {
        if (run.trace.calls.start[ops.call[op]] >= end) done = std::max(done, end);
        break;
      }
      if (ops.stream[op] != kNone) end = std::max(end, ops.end[op]);
    }
  }
  return done;
}

// Where a single pass begins, in a recording whose first op starts at `first`: with its step, if
// one is marked, else at the end of an earlier pass. A step that begins while the GPU still runs
// the earlier one does so in a loop, too, unless its thread only waits for that.
Nanos StartOfPass(const Run& run, Nanos first) {
  const Nanos done = EndOfEarlierWork(run);
  const MarkedSteps marked = FindMarkedSteps(run);
  if (marked.count == 0) return std::max(first, done);
  if (done <= marked.start) return done > 0 ? marked.start : std::min(first, marked.start);
  Nanos waited = 0;
  const CallTable& calls = run.trace.calls;
  for (const std::uint32_t call : run.calls_of_thread[marked.thread]) {
    if (!IsSync(run.ClassOfCall(call))) continue;
    waited += std::max<Nanos>(
        0, std::min(calls.end[call], done) - std::max(calls.start[call], marked.start));
  }
  return 2 * waited > done - marked.start ? done : marked.start;
}

}  // namespace

Run::Run(const Trace& trace_in, const Knowledge& knowledge_in)
    : trace(trace_in),
      knowledge(knowledge_in),
      first_op_of_call(trace_in.calls.size(), kNone),
      calls_of_thread(RowsByThread(trace_in.calls.thread, trace_in.threads.size())),
      ranges_of_thread(RowsByThread(trace_in.ranges.thread, trace_in.threads.size())),
      os_of_thread(RowsByThread(trace_in.os_calls.thread, trace_in.threads.size())),
      mpi_of_thread(RowsByThread(trace_in.mpi.thread, trace_in.threads.size())),
      overheads_of_thread(RowsByThread(trace_in.overheads.thread, trace_in.threads.size())),
      ops_of_device(trace_in.devices.size()) {
  auto named = std::async(std::launch::async, [this] { names = Names(trace, knowledge); });
  std::vector<std::size_t> ops(ops_of_device.size(), 0);
  for (const std::uint16_t device : trace.ops.device) ++ops[device];
  for (std::size_t d = 0; d < ops.size(); ++d) ops_of_device[d].reserve(ops[d]);
  std::vector<std::int64_t> uploads(trace.threads.size(), 0);   // bytes of the largest
  std::vector<std::uint8_t> launches(trace.threads.size(), 0);  // anything else
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    ops_of_device[trace.ops.device[op]].push_back(op);
    const std::uint32_t call = trace.ops.call[op];
    if (call == kNone) continue;
    if (first_op_of_call[call] == kNone) first_op_of_call[call] = op;
    const std::uint32_t thread = trace.calls.thread[call];
    const std::uint32_t copy = trace.ops.detail[op];
    if (trace.ops.kind[op] != OpKind::kCopy ||
        trace.copies.direction[copy] != CopyDirection::kHostToDevice) {
      launches[thread] = 1;
      continue;
    }
    uploads[thread] = std::max({uploads[thread], std::int64_t{1}, trace.copies.bytes[copy]});
  }
  for (std::uint32_t d = 0; d < ops_of_device.size(); ++d) {
    if (!ops_of_device[d].empty()) active_devices.push_back(d);
  }
  FindLaunchingThreads(uploads, launches, this);
  named.get();
}

namespace {

// A GPU that only starts up is none of those that the loop works on: it waits for nobody.
void LeaveOutIdleDevices(Run* run) {
  const auto works = [run](std::uint32_t device) {
    const std::vector<Nanos>& starts = run->trace.ops.start;
    const std::vector<std::uint32_t>& ops = run->ops_of_device[device];
    const auto first = std::lower_bound(ops.begin(), ops.end(), run->window.start,
                                        [&](auto op, Nanos time) { return starts[op] < time; });
    return first != ops.end() && starts[*first] < run->window.end;
  };
  std::vector<std::uint32_t> working;
  std::copy_if(run->active_devices.begin(), run->active_devices.end(), std::back_inserter(working),
               works);
  if (!working.empty()) run->active_devices = std::move(working);
}

// Timelines that people look at begin with it.
Nanos FirstEvent(const Run& run) {
  const Trace& trace = run.trace;
  Nanos first = trace.ops.start.front();
  const auto look = [&first](const RowRange& rows, const std::vector<Nanos>& starts) {
    if (!rows.empty()) first = std::min(first, starts[rows.first]);
  };
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    look(run.calls_of_thread[t], trace.calls.start);
    look(run.ranges_of_thread[t], trace.ranges.start);
  }
  for (const Nanos start : trace.operators.start) first = std::min(first, start);
  return first;
}

}  // namespace

void ChooseWindow(const WindowRequest& request, Run* run) {
  const OpTable& ops = run->trace.ops;
  Window window;
  if (ops.size() > 0) {
    window.start = ops.start.front();
    window.end = *std::max_element(ops.end.begin(), ops.end.end());
  }
  window.origin = window.start > static_cast<Nanos>(1e15) ? FirstEvent(*run) : 0;
  const Steps& steps = run->steps;
  if (request.mode == WindowRequest::Mode::kGiven) {
    const Nanos last = window.end;
    const auto at = [&window](double seconds) {
      return window.origin + static_cast<Nanos>(seconds * kNanosPerSecond);
    };
    window.mode = "given";
    window.start = std::clamp(at(request.from_s), window.start, last);
    window.end = std::clamp(at(request.to_s), window.start, last);
    if (LiesBeside(steps, {window.start, window.end})) {  // it may hold a loop of its own
      run->searched = {window.start, window.end};
      run->steps = FindSteps(*run);
    }
    const Interval asked{at(request.from_s), at(request.to_s)};
    // Steps stand for what was asked for where little of its work is done beside them.
    if (ShareBeside(*run, asked) >= run->knowledge.Number("window.other_share")) {
      run->steps = Steps();
    }
    NarrowToSteps(asked, &window, &run->steps);
    if (!steps.known()) EndWithWork(ops, &window);
  } else if (request.mode != WindowRequest::Mode::kAll && steps.known()) {
    const bool asked = request.mode == WindowRequest::Mode::kSteady;
    if (asked || !StartsAgainAndAgain(*run)) {
      window.mode = "steady";
      window.start = steps.all[steps.first_steady].start;
      window.end = steps.all.back().end;
    }
  } else if (request.mode != WindowRequest::Mode::kAll) {
    const Nanos start = StartOfPass(*run, window.start);
    if (start != window.start && start < window.end) {
      window.mode = "steady";
      window.start = start;
    }
  }
  run->window = window;
  LeaveOutIdleDevices(run);
}

RowRange Run::OpsInWindow() const {
  const std::vector<Nanos>& starts = trace.ops.start;
  const auto first = std::lower_bound(starts.begin(), starts.end(), window.start);
  const auto last = std::lower_bound(first, starts.end(), window.end);
  return {static_cast<std::uint32_t>(first - starts.begin()),
          static_cast<std::uint32_t>(last - starts.begin())};
}

std::size_t LaunchingCalls(const Run& run) {
  std::size_t launches = 0;
  for (std::uint32_t call = 0; call < run.trace.calls.size(); ++call) {
    const CallClass call_class = run.ClassOfCall(call);
    launches += call_class == CallClass::kLaunch || call_class == CallClass::kGraphLaunch ? 1 : 0;
  }
  return launches;
}

std::vector<std::uint8_t> StreamsThatCompute(const Run& run) {
  const OpTable& ops = run.trace.ops;
  std::vector<std::uint8_t> computes(run.trace.streams.size(), 0);
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    if (ops.stream[op] != kNone && IsCompute(ops, op) && !run.IsComm(op))
      computes[ops.stream[op]] = 1;
  }
  return computes;
}

Nanos FirstKernel(const Run& run, std::uint32_t device) {
  const OpTable& ops = run.trace.ops;
  for (const std::uint32_t op : run.ops_of_device[device]) {
    if (IsCompute(ops, op) && !run.IsComm(op)) return ops.start[op];
  }
  return run.window.end;
}

}  // namespace advise
