// The trace as every subject sees it, and what the classes that look for something in it have at
// hand.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "engine/replay/remedy.h"
#include "engine/timeline/idle.h"
#include "engine/timeline/run.h"

namespace advise {

// What the subjects share.
struct Basis {
  const Run& run;
  const std::vector<DeviceTime>& times;
  const Idle& idle;

  bool InWindow(Nanos time) const { return run.InWindow(time); }
  RowRange OpsInWindow() const { return run.OpsInWindow(); }
  // Inside the steady loop: what happens before and after it is not "a step", also when the window
  // holds it.
  bool InLoop(Nanos time) const {
    const Steps& steps = run.steps;
    return InWindow(time) && (!steps.known() || (time >= steps.all[steps.first_steady].start &&
                                                 time < steps.all.back().end));
  }
  // Before the first step of all. What the steps of the warm-up do is not InLoop(), but a fix wins
  // it in them, too; what comes before them is done once.
  bool BeforeSteps(Nanos time) const {
    return run.steps.known() && time < run.steps.all.front().start;
  }
  Nanos Device() const {  // device time: window times devices that did work
    return run.window.Length() *
           static_cast<Nanos>(std::max<std::size_t>(1, run.active_devices.size()));
  }
};

// Between host and device, in either direction; migrations are not counted.
inline bool IsHostDevice(CopyDirection d) {
  return d == CopyDirection::kHostToDevice || d == CopyDirection::kDeviceToHost;
}

// The base of classes that look for something in a trace.
class Finder {
 protected:
  explicit Finder(const Basis& basis) : basis_(basis), run_(basis.run), trace_(basis.run.trace) {}

  // Of the knowledge base.
  double Number(std::string_view name) const { return run_.knowledge.Number(name); }
  Nanos Time(std::string_view name) const { return run_.knowledge.Time(name); }
  std::size_t CountOf(std::string_view name) const { return run_.knowledge.CountOf(name); }
  std::int64_t BytesOf(std::string_view name) const { return run_.knowledge.BytesOf(name); }
  Nanos Length(std::uint32_t op) const { return trace_.ops.Length(op); }
  double LengthNs(std::uint32_t op) const { return static_cast<double>(Length(op)); }
  double Bytes(std::uint32_t op) const { return static_cast<double>(trace_.BytesOfCopy(op)); }
  bool IsOfHost(std::uint32_t op) const {  // a copy from or to the host
    return trace_.ops.kind[op] == OpKind::kCopy && IsHostDevice(trace_.DirectionOfCopy(op));
  }
  Nanos CallLength(std::uint32_t call) const {
    return trace_.calls.end[call] - trace_.calls.start[call];
  }
  // Of kernels: what a launch looks like, and what its name tells.
  const KernelShape& Shape(std::uint32_t op) const { return trace_.shapes[trace_.ops.detail[op]]; }
  const KernelClass& Class(std::uint32_t op) const {
    return run_.names.Kernel(trace_.ops.detail[op]);
  }
  bool In(const ShapeSet& shapes, std::uint32_t op) const {
    return shapes.Has(trace_.ops.detail[op]);
  }
  // The factor that brings a copy to this rate; 1 when the rate is unknown (0) or no higher.
  float ToRate(std::uint32_t op, double bytes_per_s) const {
    if (bytes_per_s <= 0 || Length(op) <= 0) return 1.0F;
    const double then = static_cast<double>(trace_.BytesOfCopy(op)) / bytes_per_s * kNanosPerSecond;
    return static_cast<float>(std::min(1.0, then / static_cast<double>(Length(op))));
  }
  // Devices that did work, at least one: sums over devices become means by it.
  double Devices() const {
    return static_cast<double>(std::max<std::size_t>(1, run_.active_devices.size()));
  }
  bool IsLaunchedIn(const HostTime& when, std::uint32_t op) const {  // its call is in them
    const std::uint32_t call = trace_.ops.call[op];
    if (call == kNone) return false;
    const auto at = when.find(trace_.calls.thread[call]);
    return at != when.end() && at->second.Contains(trace_.calls.start[call]);
  }

  const Basis& basis_;
  const Run& run_;
  const Trace& trace_;
};

}  // namespace advise
