#include "engine/pipeline/side_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

namespace advise {
namespace {

enum class Whose : std::uint8_t { kThis, kAnother, kUnknown };

// "GPU-4F2A…" and "4f2a…" are one.
std::string PlainUuid(std::string_view uuid) {
  if (uuid.starts_with("GPU-")) uuid.remove_prefix(4);
  std::string plain;
  for (const char c : uuid) {
    plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

std::string_view ShortHost(std::string_view host) { return host.substr(0, host.find('.')); }

// The devices of a report that did work.
class UsedDevices {
 public:
  explicit UsedDevices(const Trace& trace) : trace_(trace) {
    std::vector<bool> used(trace.devices.size(), false);
    for (const std::uint16_t device : trace.ops.device) used[device] = true;
    for (std::size_t d = 0; d < used.size(); ++d) {
      if (used[d]) devices_.push_back(&trace.devices[d]);
    }
  }

  Whose OwnerOf(const MonitoredGpu& gpu, const Trace& side) const {
    const bool hosts = !side.host.empty() && !trace_.host.empty();
    if (hosts && ShortHost(side.host) != ShortHost(trace_.host)) return Whose::kAnother;
    if (!gpu.uuid.empty()) {
      const std::string uuid = PlainUuid(gpu.uuid);
      bool all_known = !devices_.empty();
      for (const Device* device : devices_) {
        if (PlainUuid(device->uuid) == uuid) return Whose::kThis;
        all_known = all_known && !device->uuid.empty();
      }
      if (all_known) return Whose::kAnother;
    }
    if (!NumbersTell(side, hosts)) return Whose::kUnknown;
    const bool same = std::any_of(devices_.begin(), devices_.end(), [&](const Device* device) {
      return std::to_string(device->ordinal) == gpu.label;
    });
    return same ? Whose::kThis : Whose::kAnother;
  }

 private:
  // A process may see only one GPU and call it 0, whichever it is. Not so where its number is
  // another one, or is that of its rank in a job that fits on the node of the log.
  bool NumbersTell(const Trace& side, bool same_host) const {
    if (devices_.empty()) return false;
    if (same_host && devices_.back()->ordinal > 0) return true;
    const bool fits = trace_.world_size > 0 &&
                      static_cast<std::size_t>(trace_.world_size) <= side.monitor.gpus.size();
    return fits && devices_.size() == 1 && devices_.front()->ordinal == trace_.rank;
  }

  const Trace& trace_;
  std::vector<const Device*> devices_;
};

std::string Key(std::size_t side, std::size_t gpu) { return fmt::format("{} {}", side, gpu); }

// "GPU 3", "GPUs 3, 5"; some of many.
std::string Listed(const std::vector<std::string>& labels) {
  constexpr std::size_t kMost = 8;
  std::string text = labels.size() == 1 ? "GPU " : "GPUs ";
  for (std::size_t i = 0; i < std::min(kMost, labels.size()); ++i) {
    text += (i > 0 ? ", " : "") + labels[i];
  }
  return text + (labels.size() > kMost ? ", …" : "");
}

}  // namespace

Result<SideInputs> SideInputs::Read(const std::vector<std::string>& files) {
  SideInputs read;
  for (const std::string& file : files) {
    Result<Trace> trace = ImportReport(file, ImportOptions{1});
    if (!trace) return tl::unexpected(trace.error());
    read.inputs_.push_back({trace->path, trace->kind, trace->producer, trace->host, trace->rank});
    read.sides_.push_back(std::move(*trace));
  }
  return read;
}

std::set<std::string> SideInputs::Join(bool first, Trace* trace) const {
  std::set<std::string> took;
  if (sides_.empty()) return took;
  const UsedDevices devices(*trace);
  for (std::size_t s = 0; s < sides_.size(); ++s) {
    const Trace& side = sides_[s];
    Trace part;
    part.counters = side.counters;
    std::vector<std::string> guessed;
    for (std::size_t g = 0; g < side.monitor.gpus.size(); ++g) {
      const MonitoredGpu& gpu = side.monitor.gpus[g];
      const Whose whose = devices.OwnerOf(gpu, side);
      if (whose == Whose::kAnother || (whose == Whose::kUnknown && !first)) continue;
      part.monitor.gpus.push_back(gpu);
      took.insert(Key(s, g));
      if (whose == Whose::kUnknown) guessed.push_back(gpu.label);
    }
    part.monitor.has_clock = side.monitor.has_clock && !part.monitor.empty();
    if (first) {
      part.topology = side.topology;
      part.nccl = side.nccl;
      part.diagnostics = side.diagnostics;
      if (!guessed.empty()) {
        part.diagnostics.Add(
            Level::kWarning,
            fmt::format("which report is of {} in {} cannot be told: taken for the first report's",
                        Listed(guessed), side.path));
      }
    }
    JoinSide(part, trace);
  }
  return took;
}

std::vector<Diagnostic> SideInputs::LeftOut(bool any_timeline,
                                            const std::set<std::string>& taken) const {
  std::vector<Diagnostic> left;
  for (std::size_t s = 0; s < sides_.size(); ++s) {
    const Trace& side = sides_[s];
    if (!any_timeline) {
      left.push_back({Level::kWarning,
                      fmt::format("{} was not used: facts files are finished, give it with the "
                                  "reports they were made of",
                                  side.path),
                      "", 1});
      continue;
    }
    std::vector<std::string> labels;
    for (std::size_t g = 0; g < side.monitor.gpus.size(); ++g) {
      if (!taken.contains(Key(s, g))) labels.push_back(side.monitor.gpus[g].label);
    }
    if (labels.empty()) continue;
    left.push_back({Level::kWarning,
                    fmt::format("{} of {} did no work in any of the reports: left out",
                                Listed(labels), side.path),
                    "", 1});
  }
  return left;
}

}  // namespace advise
