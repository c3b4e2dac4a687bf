#include "engine/app/ranks_apart.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/app/run_judge.h"
#include "engine/app/run_views.h"
#include "engine/cluster/identity.h"
#include "engine/metrics/names.h"
#include "engine/trace/part.h"

namespace advise {
namespace {

// The processes that are ranks of one job.
std::vector<std::uint32_t> RanksOf(const Trace& trace, const Knowledge& knowledge) {
  std::vector<std::uint32_t> processes = ProcessesWithOwnGpus(trace);
  if (processes.empty()) return processes;
  const Names names(trace, knowledge);
  std::vector<std::uint8_t> communicates(trace.processes.size(), 0);
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    if (trace.ops.kind[op] != OpKind::kKernel || trace.ops.stream[op] == kNone) continue;
    if (names.IsCommunication(trace.ops.detail[op])) {
      communicates[trace.streams[trace.ops.stream[op]].process] = 1;
    }
  }
  const bool all = std::all_of(processes.begin(), processes.end(),
                               [&](std::uint32_t p) { return communicates[p] != 0; });
  return all ? processes : std::vector<std::uint32_t>();
}

// Who the ranks are says the whole report: a part knows itself as the only one. One a GPU.
std::vector<RankSummary> Identities(const Trace& trace) {
  std::vector<std::uint32_t> process_of(trace.devices.size(), kNone);
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    const std::uint32_t stream = trace.ops.stream[op];
    if (stream != kNone) process_of[trace.ops.device[op]] = trace.streams[stream].process;
  }
  std::vector<RankSummary> ranks;
  for (std::uint32_t device = 0; device < process_of.size(); ++device) {
    if (process_of[device] != kNone) ranks.push_back(IdentityOf(trace, device, process_of[device]));
  }
  IdentifyRanks(trace, &ranks);
  return ranks;
}

void Identify(const std::vector<RankSummary>& whole, RankSummary* rank) {
  const auto same = std::find_if(whole.begin(), whole.end(), [&](const RankSummary& one) {
    return one.pid == rank->pid && one.device == rank->device;
  });
  if (same == whole.end()) return;
  rank->rank = same->rank;
  rank->rank_source = same->rank_source;
  rank->local_rank = same->local_rank;
  rank->world_size = same->world_size;
  rank->device_index = same->device_index;
  rank->devices_listed = same->devices_listed;
}

// Claims of verdicts, `device_of` their sets in the whole trace.
void MoveClaims(const std::vector<std::uint32_t>& device_of, Verdict* verdict) {
  verdict->saving.remedies.clear();
  if (verdict->saving.claims == nullptr) return;
  auto moved = std::make_shared<Spans>();
  const std::vector<IntervalSet>& sets = verdict->saving.claims->by_device;
  for (std::size_t i = 0; i < std::min(sets.size(), device_of.size()); ++i) {
    if (moved->by_device.size() <= device_of[i]) moved->by_device.resize(device_of[i] + 1);
    moved->by_device[device_of[i]] = sets[i];
  }
  verdict->saving.claims = std::move(moved);
}

}  // namespace

std::optional<SavedReport> JudgeRanksApart(const Session& session, const DiagnoseOptions& options,
                                           const WindowRequest& window, const Trace& trace,
                                           const std::vector<InputFile>& inputs) {
  const std::vector<std::uint32_t> processes = RanksOf(trace, *session.knowledge);
  if (processes.empty()) return std::nullopt;
  const std::vector<RankSummary> ranks = Identities(trace);
  DiagnoseOptions quiet = options;
  quiet.progress = nullptr;
  quiet.inspect = nullptr;
  quiet.draw = false;
  std::vector<Part> parts;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    if (options.progress) options.progress(fmt::format("rank {} of {}", i + 1, processes.size()));
    const Trace part = PartOf(trace, processes, processes[i]);
    Result<SavedReport> saved = JudgeTrace(session, quiet, window, part, inputs);
    if (!saved || saved->ranks.empty()) return std::nullopt;
    for (RankSummary& rank : saved->ranks) Identify(ranks, &rank);
    std::vector<std::uint32_t> device_of(part.devices.size(), 0);
    for (std::size_t r = 0; r < saved->ranks.size(); ++r) {
      device_of[r] = saved->ranks[r].device_index;
    }
    for (Verdict& verdict : saved->report.verdicts) MoveClaims(device_of, &verdict);
    parts.push_back({trace.path, FileKind::kTimeline, std::move(*saved), std::nullopt, {}});
  }
  Result<SavedReport> run = JudgeRun(session, quiet, &parts);
  if (!run) return std::nullopt;
  std::vector<std::uint32_t> device_of;  // claims of verdicts about ranks are by rank
  for (const RankSummary& rank : run->ranks) device_of.push_back(rank.device_index);
  for (Verdict& verdict : run->report.verdicts) {
    if (AboutRanks(*verdict.rule)) MoveClaims(device_of, &verdict);
  }
  return std::move(*run);
}

}  // namespace advise
