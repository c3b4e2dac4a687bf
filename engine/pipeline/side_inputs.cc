#include "engine/pipeline/side_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "engine/base/ascii.h"
#include "engine/base/file_name.h"
#include "engine/base/is_in.h"
#include "engine/import/importer.h"

namespace advise {
namespace {

enum class Whose : std::uint8_t { kThis, kAnother, kUnknown };

// "GPU-4F2A…" and "4f2a…" are one.
std::string PlainUuid(std::string_view uuid) {
  if (uuid.starts_with("GPU-")) uuid.remove_prefix(4);
  return Lower(uuid);
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
    if (!NumbersTell(side, hosts)) {
      if (!RankTells(side)) return Whose::kUnknown;
      return gpu.label == std::to_string(trace_.rank) ? Whose::kThis : Whose::kAnother;
    }
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
    return Fits(side) && devices_.size() == 1 && devices_.front()->ordinal == trace_.rank;
  }

  // All ranks are on the node of the log.
  bool Fits(const Trace& side) const {
    return trace_.world_size > 0 &&
           static_cast<std::size_t>(trace_.world_size) <= side.monitor.gpus.size();
  }

  // Where each process sees one GPU and calls it 0, launchers give the GPUs of a node to its ranks
  // in their order. Not where the log shows that GPU without work: then ranks may share one.
  bool RankTells(const Trace& side) const {
    if (!Fits(side) || devices_.size() != 1 || devices_.front()->ordinal != 0) return false;
    const std::string rank = std::to_string(trace_.rank);
    return std::any_of(side.monitor.gpus.begin(), side.monitor.gpus.end(),
                       [&](const MonitoredGpu& gpu) {
                         const MonitorSeries* const used = gpu.Find("utilization");
                         return gpu.label == rank && used != nullptr &&
                                std::any_of(used->value.begin(), used->value.end(),
                                            [](double value) { return value > 0; });
                       });
  }

  const Trace& trace_;
  std::vector<const Device*> devices_;
};

// The model of a GPU: "a4500" of "NVIDIA RTX A4500", "h100" of "NVIDIA H100 80GB HBM3"; "" where
// the name holds none. Names of one GPU differ by tool in what stands around it.
std::string ModelOf(const std::string& name) {
  std::string word;
  for (const char c : Lower(name) + " ") {
    if (IsLetter(c) || IsDigit(c)) {
      word += c;
      continue;
    }
    const bool digits = std::any_of(word.begin(), word.end(), [](char d) { return IsDigit(d); });
    if (digits && !word.ends_with("gb")) return word;
    word.clear();
  }
  return "";
}

bool IsOfNvidia(const std::string& name) {
  for (const char* maker : {"NVIDIA", "Tesla", "GeForce", "Quadro"})
    if (name.find(maker) != std::string::npos) return true;
  return false;
}

// "of an NVIDIA H100 and the report of an NVIDIA RTX A4500", where the names are of different GPUs.
std::string OtherModel(const MonitoredGpu& gpu, const Trace& report) {
  if (!IsOfNvidia(gpu.name) || ModelOf(gpu.name).empty()) return "";
  std::string named;
  for (const Device& device : report.devices) {
    if (!IsOfNvidia(device.name) || ModelOf(device.name).empty()) return "";
    if (ModelOf(device.name) == ModelOf(gpu.name)) return "";
    named = device.name;
  }
  if (named.empty()) return "";
  return fmt::format("is of another GPU ({}) than the report ({})", gpu.name, named);
}

std::string DayOf(double seconds) {
  const std::chrono::sys_seconds when{std::chrono::seconds(std::llround(seconds))};
  const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(when)};
  return fmt::format("{}-{:02}-{:02}", static_cast<int>(day.year()),
                     static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
}

// Logs write the time of their place, reports that of UTC.
std::string OtherTime(const Trace& side, const Trace& report, const TimesApart& apart) {
  constexpr double kNever = 1e9;
  const double log = static_cast<double>(side.utc_origin_ns) / kNanosPerSecond;
  const double ran = static_cast<double>(report.utc_origin_ns) / kNanosPerSecond;
  if (log < kNever || ran < kNever) return "";
  double length = 0;
  for (const MonitoredGpu& gpu : side.monitor.gpus) {
    for (const MonitorSeries& series : gpu.series)
      if (!series.time_s.empty()) length = std::max(length, series.time_s.back());
  }
  const double session = static_cast<double>(report.session_ns) / kNanosPerSecond;
  if (log > ran + session + apart.days || log + length + apart.days < ran) {
    return fmt::format("was written on another day ({}) than the report ({})", DayOf(log),
                       DayOf(ran));
  }
  // In the zone in which the log begins at most one step before the report.
  const double before = std::remainder(ran - log, apart.zone_step);
  const double lead = before < 0 ? before + apart.zone_step : before;
  const bool covers =
      lead <= length + apart.clocks || apart.zone_step - lead <= session + apart.clocks;
  return covers ? ""
                : "does not cover the time of the report, in whatever time zone it was written";
}

// Why a GPU of a monitor's log cannot be of a report; "" where nothing speaks against it.
std::string WhyAnother(const MonitoredGpu& gpu, const Trace& side, const Trace& report,
                       const TimesApart& apart) {
  if (!report.HasTimeline()) return "";
  std::string time = OtherTime(side, report, apart);
  return time.empty() ? OtherModel(gpu, report) : time;
}

template <typename T>
void MoveAll(std::vector<T>& from, std::vector<T>* to) {
  for (T& one : from) to->push_back(std::move(one));
  from.clear();
}

// What several logs of one job say together: each rank writes its own.
void JoinNccl(NcclLog& from, NcclLog* to) {
  if (to->version.empty()) to->version = from.version;
  if (to->network.empty()) to->network = from.network;
  to->gdr = std::max(to->gdr, from.gdr);
  to->nodes = std::max(to->nodes, from.nodes);
  to->several_groups = to->several_groups || from.several_groups ||
                       (to->ranks > 0 && from.ranks > 0 && to->ranks != from.ranks);
  if (from.ranks > to->ranks) to->rank_host.clear();
  if (from.ranks >= to->ranks) to->rank_host.merge(from.rank_host);
  to->ranks = std::max(to->ranks, from.ranks);
  MoveAll(from.channels, &to->channels);
  MoveAll(from.warnings, &to->warnings);
  MoveAll(from.timeouts, &to->timeouts);
  MoveAll(from.lost_peers, &to->lost_peers);
  const auto add = [](auto& list, auto* all) {
    for (auto& one : list) {
      if (!IsIn(one, *all)) all->push_back(std::move(one));
    }
  };
  add(from.environment, &to->environment);
  add(from.versions, &to->versions);
  add(from.ib_devices, &to->ib_devices);
  add(from.facts, &to->facts);
  // Of about one size: powers of two.
  const auto size = [](const NcclLog::Calls& calls) {
    return std::ilogb(calls.bytes / static_cast<double>(std::max<std::int64_t>(1, calls.count)));
  };
  for (const NcclLog::Calls& calls : from.calls) {
    const auto known =
        std::find_if(to->calls.begin(), to->calls.end(), [&](const NcclLog::Calls& c) {
          return c.operation == calls.operation && size(c) == size(calls);
        });
    if (known == to->calls.end()) {
      to->calls.push_back(calls);
    } else {
      known->count += calls.count;
      known->bytes += calls.bytes;
    }
  }
  // Of a rank that is not placed the host may be another one.
  if (static_cast<int>(to->rank_host.size()) < to->ranks) return;
  std::set<std::string> hosts;
  for (const auto& [rank, host] : to->rank_host) hosts.insert(host);
  to->nodes = std::max(to->nodes, static_cast<int>(hosts.size()));
}

// One server is one job. Its log tells what happened when, its page of metrics how long requests
// took; of what both say, the first one given counts.
void JoinServer(ServerLog& side, ServerLog* to) {
  if (side.empty()) return;
  if (to->empty()) {
    *to = std::move(side);
    return;
  }
  if (side.server != to->server) return;
  const auto add = [](const auto& more, auto* known) {
    if (*known < 0) *known = more;
  };
  add(side.preemptions, &to->preemptions);
  add(side.prefix_hits, &to->prefix_hits);
  add(side.eager, &to->eager);
  add(side.prefix_cache, &to->prefix_cache);
  add(side.most_running, &to->most_running);
  add(side.kv_tokens, &to->kv_tokens);
  add(side.longest, &to->longest);
  add(side.requests, &to->requests);
  add(side.prompt_tokens, &to->prompt_tokens);
  add(side.new_tokens, &to->new_tokens);
  for (ServerLatency ServerLog::*latency :
       {&ServerLog::queue, &ServerLog::first_token, &ServerLog::token}) {
    if ((to->*latency).count <= 0) to->*latency = side.*latency;
  }
  if (to->samples.size() < side.samples.size()) {
    to->samples = std::move(side.samples);
    to->has_clock = side.has_clock;
  }
}

// Adds what an input without a timeline says to a trace. `side` is left empty.
void JoinSide(Trace& side, Trace* trace) {
  MoveAll(side.counters, &trace->counters);
  const bool of_monitors = trace->devices.size() == trace->monitor.gpus.size() &&
                           side.devices.size() == side.monitor.gpus.size();
  MoveAll(side.monitor.gpus, &trace->monitor.gpus);
  MoveAll(side.monitor.errors, &trace->monitor.errors);
  MoveAll(side.monitor.killed, &trace->monitor.killed);
  MoveAll(side.monitor.links, &trace->monitor.links);
  MoveAll(side.monitor.processes, &trace->monitor.processes);
  trace->monitor.kernel_log = trace->monitor.kernel_log || side.monitor.kernel_log;
  trace->monitor.has_clock = trace->monitor.has_clock || side.monitor.has_clock;
  MoveAll(side.profile.tables, &trace->profile.tables);
  MoveAll(side.profile.allocators, &trace->profile.allocators);
  MoveAll(side.topology.matrices, &trace->topology.matrices);
  MoveAll(side.topology.ports, &trace->topology.ports);
  JoinNccl(side.nccl, &trace->nccl);
  JoinServer(side.server, &trace->server);
  // Without a timeline the devices are those of the first input that names any, or of all monitors.
  if (!trace->HasTimeline() && (trace->devices.empty() || of_monitors))
    MoveAll(side.devices, &trace->devices);
  for (const Diagnostic& diagnostic : side.diagnostics.list()) {
    trace->diagnostics.Add(diagnostic.level, diagnostic.text, diagnostic.table, diagnostic.count);
  }
}

// Totals of several files are of one run. A timeline has them, too, with the time of each event.
void JoinTotals(const Trace& side, const Trace& trace, Trace* part) {
  if (!trace.HasTimeline()) {
    part->profile.tables = side.profile.tables;
  } else if (!side.profile.tables.empty()) {
    part->diagnostics.Add(
        Level::kWarning,
        fmt::format("{}: not used, because the timeline tells more than totals", side.path));
  }
}

// Each node numbers its GPUs from 0. Where several logs have a number, it needs the name of the
// node, or of the log. `sources`: of each GPU, what it may be called by.
void TellNodesApart(const std::vector<std::string>& sources, Monitor* monitor) {
  std::vector<MonitoredGpu>& gpus = monitor->gpus;
  for (std::size_t a = 0; a < gpus.size(); ++a) {
    for (std::size_t b = 0; b < gpus.size(); ++b) {
      if (a != b && gpus[a].label == gpus[b].label && sources[a] != sources[b])
        gpus[a].of = sources[a];
    }
  }
}

// What a log is called by: its host, or its file.
std::string SourceOf(const Trace& log) {
  return log.host.empty() ? FileName(log.path) : std::string(ShortHost(log.host));
}

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

InputInfo InputOf(const Trace& trace) {
  return {trace.path, trace.kind, trace.producer, std::max(trace.rank, 0), trace.host};
}

Result<SideInputs> SideInputs::Read(const std::vector<std::string>& files, int jobs,
                                    const Knowledge& knowledge) {
  SideInputs read;
  read.apart_ = {knowledge.Number("monitor.days_apart"), knowledge.Number("monitor.zone_step"),
                 knowledge.Number("monitor.clocks_apart")};
  for (const std::string& file : files) {
    Result<Trace> trace = ImportReport(file, ImportOptions{jobs});
    if (!trace) return tl::unexpected(trace.error());
    read.inputs_.push_back(InputOf(*trace));
    read.sides_.push_back(std::move(*trace));
  }
  // Ranks may write a log each; one of them that shows the paths is enough.
  Trace* log = nullptr;
  bool shows_paths = false;
  for (Trace& side : read.sides_) {
    if (side.kind == "nccl-log" && log == nullptr) log = &side;
    shows_paths = shows_paths || !side.nccl.channels.empty();
  }
  if (log != nullptr && !shows_paths) {
    log->diagnostics.Add(Level::kWarning,
                         "NCCL's log does not show how ranks communicate: set NCCL_DEBUG=INFO",
                         "NCCL log");
  }
  return read;
}

std::set<std::string> SideInputs::Join(Of of, Trace* trace) const {
  std::set<std::string> took;
  if (sides_.empty()) return took;
  const UsedDevices devices(*trace);
  std::vector<std::string> sources(trace->monitor.gpus.size(), SourceOf(*trace));
  for (std::size_t s = 0; s < sides_.size(); ++s) {
    const Trace& side = sides_[s];
    Trace part;
    part.counters = side.counters;
    std::vector<std::string> guessed;
    std::map<std::string, std::size_t> others;  // why, and of how many GPUs
    for (std::size_t g = 0; g < side.monitor.gpus.size(); ++g) {
      const MonitoredGpu& gpu = side.monitor.gpus[g];
      if (const std::string why = WhyAnother(gpu, side, *trace, apart_); !why.empty()) {
        ++others[why];
        if (of == Of::kOnlyReport) took.insert(Key(s, g));  // it is said here
        continue;
      }
      if (of != Of::kOnlyReport) {
        const Whose whose = devices.OwnerOf(gpu, side);
        const bool first = of == Of::kFirstReport;
        if (whose == Whose::kAnother || (whose == Whose::kUnknown && !first)) continue;
        if (whose == Whose::kUnknown) guessed.push_back(gpu.label);
      }
      part.monitor.gpus.push_back(gpu);
      sources.push_back(SourceOf(side));
      took.insert(Key(s, g));
    }
    part.monitor.has_clock = side.monitor.has_clock && !part.monitor.empty();
    if (of == Of::kOnlyReport) {
      for (const auto& [why, count] : others)
        part.diagnostics.Add(Level::kWarning, fmt::format("{} {}: left out", side.path, why));
    }
    part.nccl = side.nccl;
    if (of != Of::kOtherReport) {
      part.topology = side.topology;
      part.server = side.server;
      part.monitor.errors = side.monitor.errors;
      part.monitor.killed = side.monitor.killed;
      part.monitor.links = side.monitor.links;
      part.monitor.processes = side.monitor.processes;
      part.monitor.kernel_log = side.monitor.kernel_log;
      part.devices = side.devices;
      part.profile.allocators = side.profile.allocators;
      JoinTotals(side, *trace, &part);
      for (const Diagnostic& told : side.diagnostics.list())
        part.diagnostics.Add(told.level, told.text, told.table, told.count);
      if (!guessed.empty()) {
        part.diagnostics.Add(
            Level::kWarning,
            fmt::format("it is unknown which report {} in {} belongs to: assuming the first report",
                        Listed(guessed), side.path));
      }
    }
    JoinSide(part, trace);
  }
  if (!trace->HasTimeline()) TellNodesApart(sources, &trace->monitor);
  return took;
}

std::vector<Diagnostic> SideInputs::LeftOut(bool any_report,
                                            const std::set<std::string>& taken) const {
  std::vector<Diagnostic> left;
  for (std::size_t s = 0; s < sides_.size(); ++s) {
    const Trace& side = sides_[s];
    if (!any_report) {
      left.push_back({Level::kWarning,
                      fmt::format("{} was not used: facts files are complete; give it together "
                                  "with the original reports",
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
