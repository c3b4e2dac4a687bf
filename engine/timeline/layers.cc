#include "engine/timeline/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/ascii.h"

namespace advise {
namespace {

// "encoder.block.14.layer.0" is layer 14 of "encoder.block".
struct Layer {
  std::string_view of;
  int index = 0;
};

// The outermost number of a name that knowledge calls a layer's; nothing for other names.
std::optional<Layer> LayerOf(const Knowledge& knowledge, std::string_view name) {
  if (!knowledge.IsLayerRange(name)) return {};
  const auto first = std::find_if(name.begin(), name.end(), IsDigit);
  const auto last = std::find_if_not(first, name.end(), IsDigit);
  constexpr std::ptrdiff_t kMostDigits = 6;
  if (first == last || last - first > kMostDigits) return {};
  Layer layer{name.substr(0, static_cast<std::size_t>(first - name.begin())), 0};
  for (auto digit = first; digit != last; ++digit) layer.index = 10 * layer.index + (*digit - '0');
  return layer;
}

// The layer that each thread was in, by when its range began.
class LayersOfThreads {
 public:
  explicit LayersOfThreads(const Run& run) : began_(run.trace.threads.size()) {
    Gather(run, run.trace.ranges);
    Gather(run, run.trace.python_frames);
    for (auto& began : began_) {
      std::stable_sort(began.begin(), began.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
    }
  }

  // The last one that began before that time.
  std::optional<Layer> At(std::uint32_t thread, Nanos time) const {
    const auto& began = began_[thread];
    const auto after = std::upper_bound(began.begin(), began.end(), time,
                                        [](Nanos t, const auto& entry) { return t < entry.first; });
    if (after == began.begin()) return {};
    return std::prev(after)->second;
  }

 private:
  void Gather(const Run& run, const RangeTable& ranges) {
    std::unordered_map<StringId, std::optional<Layer>> known;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const auto [at, is_new] = known.try_emplace(ranges.name[i]);
      if (is_new) at->second = LayerOf(run.knowledge, run.trace.strings[ranges.name[i]]);
      if (at->second) began_[ranges.thread[i]].emplace_back(ranges.start[i], *at->second);
    }
  }

  std::vector<std::vector<std::pair<Nanos, Layer>>> began_;  // by thread, in order
};

// What the first launched op of a step was launched in.
std::optional<Layer> LayerAtStart(const Run& run, const LayersOfThreads& layers, const Step& step) {
  const OpTable& ops = run.trace.ops;
  auto op = static_cast<std::uint32_t>(
      std::lower_bound(ops.start.begin(), ops.start.end(), step.start) - ops.start.begin());
  while (op < ops.size() && ops.call[op] == kNone && ops.start[op] < step.end) ++op;
  if (op >= ops.size() || ops.call[op] == kNone) return {};
  const std::uint32_t call = ops.call[op];
  return layers.At(run.trace.calls.thread[call], run.trace.calls.start[call]);
}

// "blocks." where its layers count up, or down as backward passes do; "" otherwise.
std::string CountingLayers(const Run& run, const Steps& steps, double most) {
  const LayersOfThreads layers(run);
  std::size_t up = 0;
  std::size_t down = 0;
  std::string of;
  std::optional<Layer> before;
  for (const Step& step : steps.all) {
    const std::optional<Layer> now = LayerAtStart(run, layers, step);
    if (now && before && now->of == before->of) {
      up += now->index > before->index ? 1 : 0;
      down += now->index < before->index ? 1 : 0;
      of = now->of;
    }
    before = now;
  }
  const double pairs = static_cast<double>(steps.all.size()) - 1;
  return static_cast<double>(std::max(up, down)) >= most * pairs && up + down > 0 ? of : "";
}

// Of a caching allocator, which shows every tensor: the share of the steps that end with more
// memory in use than the step before.
double KeepsMemory(const Run& run, const Steps& steps) {
  const MemoryTable& memory = run.trace.memory;
  if (memory.reserved.empty() || steps.all.size() < 2) return 0;
  std::vector<std::int64_t> ends;
  std::int64_t used = 0;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (memory.memory[i] != MemoryKind::kDevice || memory.reserved[i] < 0) continue;
    while (ends.size() < steps.all.size() && memory.time[i] >= steps.all[ends.size()].end)
      ends.push_back(used);
    used += memory.bytes[i];
  }
  ends.resize(steps.all.size(), used);
  std::size_t more = 0;
  for (std::size_t i = 1; i < ends.size(); ++i) more += ends[i] > ends[i - 1] ? 1 : 0;
  return static_cast<double>(more) / static_cast<double>(ends.size() - 1);
}

// Whether the step uploads what it computes with, most of its time, and hands nothing back: the
// weights of a layer that stay on the host between two passes.
class UploadedLayers {
 public:
  explicit UploadedLayers(const Run& run)
      : run_(run),
        least_bytes_(run.knowledge.BytesOf("step.layer_upload_bytes")),
        least_uploads_(run.knowledge.Number("step.layer_uploads")),
        least_share_(run.knowledge.Number("step.layer_uploading")),
        most_kernels_(run.knowledge.Number("step.layer_most")),
        most_attentions_(run.knowledge.Number("step.layer_attentions")) {}

  // A step of many kernels holds many layers, and so does one that runs the same kernel of
  // attention oftener than a layer; one that updates weights is a step.
  bool IsOne(const Step& step) const {
    const OpTable& ops = run_.trace.ops;
    const auto gpus = static_cast<double>(run_.active_devices.size());
    double kernels = 0;
    double uploads = 0;
    double uploading = 0;
    std::unordered_map<std::uint32_t, double> attentions;  // by kernel and grid
    auto op = static_cast<std::uint32_t>(
        std::lower_bound(ops.start.begin(), ops.start.end(), step.start) - ops.start.begin());
    for (; op < ops.size() && ops.start[op] < step.end; ++op) {
      if (ops.kind[op] == OpKind::kKernel) {
        ++kernels;
        const std::string& name = run_.names.Kernel(ops.detail[op]).name;
        const bool again =
            name == "attention" && ++attentions[ops.detail[op]] > most_attentions_ * gpus;
        if (again || name == "optimizer") return false;
      }
      if (ops.kind[op] != OpKind::kCopy) continue;
      const std::uint32_t copy = ops.detail[op];
      const CopyDirection direction = run_.trace.copies.direction[copy];
      if (direction == CopyDirection::kDeviceToHost) return false;
      if (direction != CopyDirection::kHostToDevice) continue;
      uploads += run_.trace.copies.bytes[copy] >= least_bytes_ ? 1 : 0;
      uploading += static_cast<double>(ops.end[op] - ops.start[op]);
    }
    return kernels > 0 && kernels < most_kernels_ * gpus && uploads >= least_uploads_ * gpus &&
           uploading >= least_share_ * gpus * static_cast<double>(step.Length());
  }

 private:
  const Run& run_;
  const std::int64_t least_bytes_;
  const double least_uploads_, least_share_, most_kernels_, most_attentions_;
};

}  // namespace

bool AreUploadedLayers(const Run& run, const Steps& steps) {
  if (steps.source != "period" || steps.all.size() < 2) return false;
  const UploadedLayers layers(run);
  const auto count = std::count_if(steps.all.begin(), steps.all.end(),
                                   [&](const Step& step) { return layers.IsOne(step); });
  return static_cast<double>(count) >=
         run.knowledge.Number("step.layer_share") * static_cast<double>(steps.all.size());
}

bool IsOfLayer(const Run& run, std::uint32_t op) {
  if (run.trace.ops.kind[op] != OpKind::kKernel) return false;
  const std::string& name = run.names.Kernel(run.trace.ops.detail[op]).name;
  return name == "matrix" || name == "attention" || name == "convolution";
}

std::string WhyLayers(const Run& run, const Steps& steps) {
  if (steps.all.size() < 2) return "";
  const double most = run.knowledge.Number("step.layer_share");
  std::string of = CountingLayers(run, steps, most);
  if (!of.empty()) {
    of.erase(0, of.find_last_of(" (:") + 1);  // "FSDP::pre_forward (blocks."
    return fmt::format("the repeated work is the layers of one pass ({}0, {}1 …)", of, of);
  }
  if (AreUploadedLayers(run, steps))
    return "the repeated work looks like the layers of one pass: it uploads weights and returns "
           "nothing";
  if (KeepsMemory(run, steps) >= most)
    return "the repeated work looks like the layers of one pass: each repetition keeps more "
           "memory, and no range marks steps";
  return "";
}

}  // namespace advise
