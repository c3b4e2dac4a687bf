#include "engine/metrics/losses/copies/answered_uploads.h"

#include <algorithm>
#include <map>
#include <vector>

namespace advise {
namespace {

// The kernels and copies of the window, in the order in which the host asked for them.
std::vector<std::uint32_t> InOrderOfCalls(const Run& run) {
  const Trace& trace = run.trace;
  std::vector<std::uint32_t> order;
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    const OpKind kind = trace.ops.kind[op];
    const bool counts = kind == OpKind::kKernel || kind == OpKind::kCopy;
    if (counts && run.InWindow(trace.ops.start[op])) order.push_back(op);
  }
  const auto asked = [&](std::uint32_t op) {
    const std::uint32_t call = trace.ops.call[op];
    return call == kNone ? trace.ops.start[op] : trace.calls.start[call];
  };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return asked(a) < asked(b); });
  return order;
}

}  // namespace

std::set<std::int64_t> AnsweredSizes(const Run& run, double steps) {
  const Trace& trace = run.trace;
  const double least = run.knowledge.Number("copy.answer_share");
  const auto least_bytes = run.knowledge.BytesOf("copy.answer_bytes");
  struct Open {
    std::vector<std::int64_t> bytes;  // uploads in a row
    bool computed = false;
  };
  const auto few = run.knowledge.CountOf("copy.repeated_count");
  std::vector<Open> open(trace.streams.size());
  struct Answers {
    std::size_t large = 0;
    std::size_t small = 0;
    std::size_t uploads = 0;
  };
  std::map<std::int64_t, Answers> answers_of;  // by size
  for (const std::uint32_t op : run.OpsInWindow()) {
    const std::uint32_t stream = trace.ops.stream[op];
    if (stream == kNone) continue;
    Open& of_stream = open[stream];
    if (trace.ops.kind[op] != OpKind::kCopy) {
      of_stream.computed |= !of_stream.bytes.empty();
      continue;
    }
    const CopyDirection to = trace.DirectionOfCopy(op);
    const std::int64_t bytes = trace.BytesOfCopy(op);
    if (to == CopyDirection::kHostToDevice) {
      ++answers_of[bytes].uploads;
      if (of_stream.computed) of_stream = {};
      of_stream.bytes.push_back(bytes);
    }
    if (to != CopyDirection::kDeviceToHost || !of_stream.computed) continue;
    // A long row is a model that comes and goes: its weights are no results.
    if (of_stream.bytes.size() >= few) of_stream.bytes = {of_stream.bytes.back()};
    const std::int64_t last = of_stream.bytes.back();
    const bool large = static_cast<double>(bytes) >= least * static_cast<double>(last);
    if (!large && bytes < least_bytes) continue;
    Answers& answers = answers_of[last];
    ++(large ? answers.large : answers.small);
    of_stream.bytes.pop_back();
    of_stream.computed = !of_stream.bytes.empty();
  }
  const double share = run.knowledge.Number("copy.repeated_steps");
  const double many = run.knowledge.Number("copy.repeated_count") * steps;
  std::set<std::int64_t> answered;
  for (const auto& [bytes, of] : answers_of) {
    const auto uploads = static_cast<double>(of.uploads);
    const std::size_t count = of.large + (uploads >= many ? of.small : 0);
    if (static_cast<double>(count) >= share * uploads) answered.insert(bytes);
  }
  return answered;
}

bool AreAnswered(const Run& run, const std::set<std::uint32_t>& uploads) {
  const Trace& trace = run.trace;
  struct Open {
    double bytes = 0;  // uploaded and not answered yet
    bool computed = false;
    std::map<std::int64_t, int> others;  // other uploads by size
  };
  std::map<std::uint32_t, Open> by_device;
  const double least = run.knowledge.Number("copy.answer_share");
  double all = 0;
  for (const std::uint32_t op : InOrderOfCalls(run)) {
    Open& open = by_device[trace.ops.device[op]];
    if (trace.ops.kind[op] == OpKind::kKernel) {
      open.computed |= !run.IsComm(op);
    } else if (uploads.contains(op)) {
      open.bytes += static_cast<double>(trace.BytesOfCopy(op));
      all += static_cast<double>(trace.BytesOfCopy(op));
    } else if (trace.DirectionOfCopy(op) == CopyDirection::kHostToDevice) {
      ++open.others[trace.BytesOfCopy(op)];
    } else if (trace.DirectionOfCopy(op) == CopyDirection::kDeviceToHost && open.computed) {
      int& same = open.others[trace.BytesOfCopy(op)];
      if (same > 0) {
        --same;
        continue;
      }
      open.bytes = std::max(0.0, open.bytes - static_cast<double>(trace.BytesOfCopy(op)) / least);
      open.computed = false;
    }
  }
  double open_bytes = 0;
  for (const auto& [device, open] : by_device) open_bytes += open.bytes;
  return all - open_bytes >= run.knowledge.Number("copy.repeated_steps") * all;
}

}  // namespace advise
