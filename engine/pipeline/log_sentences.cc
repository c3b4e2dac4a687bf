#include "engine/pipeline/log_sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/text.h"

namespace advise {
namespace {

// " The first token took 0.4 s in the median, a further one 30 ms."; "" where nothing says.
std::string FirstTokenWords(const ServerLoad& server) {
  const auto time = [](double seconds) {
    return FormatQuantity(seconds * kNanosPerSecond, "time");
  };
  const bool has_median = server.first_token.median_s >= 0;
  if (!has_median && server.first_token.mean_s < 0) return "";
  const double further = has_median ? server.token.median_s : server.token.mean_s;
  std::string words =
      fmt::format(" The first token took {} {}{}.",
                  time(has_median ? server.first_token.median_s : server.first_token.mean_s),
                  has_median ? "in the median" : "on average",
                  further < 0 ? "" : fmt::format(", each further one {}", time(further)));
  if (server.queue.mean_s > 0 && server.first_token.mean_s > 0 &&
      2 * server.queue.mean_s > server.first_token.mean_s) {
    words += fmt::format(" On average, requests waited {} of {} in the queue.",
                         time(server.queue.mean_s), time(server.first_token.mean_s));
  }
  return words;
}

// " It read 40,000,000 tokens of prompts and generated 100,000."
std::string TokenWords(const ServerLoad& server) {
  if (server.prompt_tokens <= 0 || server.new_tokens <= 0) return "";
  return fmt::format(" It read {} tokens of prompts and generated {}.",
                     FormatQuantity(server.prompt_tokens, "count"),
                     FormatQuantity(server.new_tokens, "count"));
}

// One sample says nothing of how long the GPUs were in use.
std::string OnlySample(std::size_t at_work, std::size_t all, double busy, double power,
                       std::size_t logged) {
  const std::string whose = at_work < all  ? fmt::format("{} of {} GPUs", at_work, all)
                            : at_work == 1 ? "the GPU"
                                           : fmt::format("{} GPUs", at_work);
  const std::string when =
      logged > 1 ? fmt::format("In only one of the monitor's {} samples, a GPU was in use:", logged)
                 : "The monitor took one sample: at that moment,";
  return fmt::format("{} the utilization of {} was {}{}.", when, whose, Percent(busy),
                     power < 0 ? "" : fmt::format(", at {} of the power limit", Percent(power)));
}

// "a", "a and b", "a, b, and c".
std::string InList(const std::vector<std::string>& parts) {
  std::string words;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    words += i == 0 ? "" : i + 1 == parts.size() ? parts.size() > 2 ? ", and " : " and " : ", ";
    words += parts[i];
  }
  return words;
}

// What the counters of DCGM say of the GPU's parts; "" without any.
std::string PartsInWords(const MonitorSummary& monitor) {
  const double sms = monitor.Mean(&MonitoredUse::sm_active);
  const double dram = monitor.Mean(&MonitoredUse::dram_active);
  const double tensor = monitor.Mean(&MonitoredUse::tensor_active);
  std::vector<std::string> parts;
  if (sms >= 0) parts.push_back(fmt::format("{} of the SMs had work", Percent(sms)));
  if (dram >= 0)
    parts.push_back(fmt::format("device memory moved data in {} of the cycles", Percent(dram)));
  if (tensor >= 0)
    parts.push_back(fmt::format("the tensor cores worked in {}{}", Percent(tensor),
                                dram < 0 ? " of the cycles" : ""));
  return parts.empty() ? "" : fmt::format(" On average, {}.", InList(parts));
}

}  // namespace

// A mean over two groups is true of no GPU.
std::string UseInWords(const MonitorSplit& split, double mean) {
  if (split.low.empty()) return Percent(mean);
  return fmt::format("{} ({} of them) or {}", Percent(split.low_use), split.low.size(),
                     Percent(split.high_use));
}

std::string MonitorSentence(const Analysis& analysis, std::size_t at_work, double busy) {
  const MonitorSummary& monitor = analysis.monitor;
  const std::size_t all = monitor.gpus.size();
  const bool split = std::all_of(
      monitor.gpus.begin(), monitor.gpus.end(),
      [](const MonitoredUse& use) { return use.label.find("instance ") != std::string::npos; });
  const char* const many = split ? "MIG instances" : "GPUs";
  std::string who = at_work == 1 ? split ? "the MIG instance was" : "the GPU was"
                                 : fmt::format("{} {} were", at_work, many);
  if (at_work < all)
    who = fmt::format("{} of {} {} {}", at_work, all, many, at_work == 1 ? "was" : "were");
  const double power = monitor.Mean(&MonitoredUse::busy_power);
  const std::string watts = power < 0 ? ""
                                      : fmt::format(", and drew {} of {} power limit then",
                                                    Percent(power), at_work == 1 ? "its" : "their");
  std::string words = monitor.samples == 1
                          ? OnlySample(at_work, all, busy, power, monitor.logged)
                          : fmt::format("According to the monitor, {} in use for {} of the time{}.",
                                        who, UseInWords(monitor.split, busy), watts);
  const double before = analysis.monitor_patterns.before;
  const std::string parts = PartsInWords(monitor);
  words += parts;
  const Knowledge& knowledge = analysis.run.knowledge;
  if (before >= knowledge.Number("monitor.pause") &&
      before >= knowledge.Number("monitor.lead") * monitor.seconds)
    words += fmt::format(" For {} before that, no GPU was in use.",
                         FormatQuantity(before * kNanosPerSecond, "time"));
  return words + (parts.empty() ? " A monitor cannot show why, or how well kernels use the GPU."
                                : " A monitor cannot show which kernels do that.");
}

std::string KernelLogSentence(const Monitor& monitor) {
  const auto counted = [](std::size_t count, const char* one, const char* many) {
    return fmt::format("{} {}", FormatQuantity(static_cast<double>(count), "count"),
                       count == 1 ? one : many);
  };
  std::vector<std::string> named;
  if (!monitor.errors.empty())
    named.push_back(counted(monitor.errors.size(), "GPU error", "GPU errors"));
  const auto broken =
      static_cast<std::size_t>(std::count_if(monitor.links.begin(), monitor.links.end(),
                                             [](const LinkEvent& event) { return event.broken; }));
  if (broken > 0) {
    named.push_back(counted(broken, "link error (NVSwitch, network port or PCIe)",
                            "link errors (NVSwitch, network port or PCIe)"));
  }
  if (!monitor.killed.empty()) {
    named.push_back(
        counted(monitor.killed.size(), "program that was killed", "programs that were killed") +
        " for lack of host memory");
  }
  std::string words = InList(named);
  if (words.empty()) words = "no GPU error, and no program that was killed for lack of host memory";
  return fmt::format("The Linux kernel log names {}. It does not show how well the GPUs work.",
                     words);
}

std::string TimeoutSentence(const NcclLog& log) {
  const auto longest =
      std::max_element(log.timeouts.begin(), log.timeouts.end(),
                       [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  if (longest == log.timeouts.end()) return "";
  const std::string who = longest->rank < 0 ? "a rank" : fmt::format("rank {}", longest->rank);
  std::string words = fmt::format(
      "The log tells how the job ended: {} waited {}in {}, then the watchdog gave up.", who,
      longest->seconds > 0
          ? "for " + FormatQuantity(longest->seconds * kNanosPerSecond, "time") + " "
          : "",
      longest->operation.empty() ? "a collective" : SafeText(longest->operation));
  if (!log.lost_peers.empty()) {
    const LostPeer& peer = log.lost_peers.front();
    words += fmt::format(" A network operation with {} failed (status {}).",
                         peer.peer.empty() ? "another rank" : SafeText(peer.peer), peer.status);
  }
  return words;
}

std::string ProcessesSentence(const Monitor& monitor, const MonitorHealth& health) {
  const std::size_t count = monitor.processes.size();
  std::string words = count == 1 ? "The list names one process that uses a GPU"
                                 : fmt::format("The list names {} processes that use a GPU", count);
  if (!health.shared.gpu.empty()) {
    // A number, or a UUID, which says what it is of.
    const std::string gpu = SafeText(health.shared.gpu);
    const std::size_t sharing = health.shared.processes;
    const std::string who = sharing < count ? fmt::format("{} of them", sharing)
                            : count == 2    ? "both"
                                            : "all of them";
    words += fmt::format("; {} share {}{}", who, gpu.starts_with("GPU-") ? "" : "GPU ", gpu);
  }
  return words + ". That does not show how much each of them computes.";
}

std::string WithoutWorkSentence(const MonitorSummary& monitor) {
  double held = -1, highest = 0;
  for (const MonitoredUse& use : monitor.gpus) {
    held = std::max(held, use.memory_peak);
    highest = std::max(highest, use.highest);
  }
  std::string words =
      highest > 0 ? fmt::format(
                        "No GPU is busy for more than {} of the time in any sample, so this "
                        "log shows no job, or one that hardly uses the GPU",
                        Percent(highest))
                  : "The monitor shows no GPU activity";
  if (held > 0)
    words += fmt::format("; up to {} of memory were in use", FormatQuantity(held, "bytes"));
  return words + ".";
}

std::string CallsSentence(const NcclLog& log) {
  const auto most =
      std::max_element(log.calls.begin(), log.calls.end(),
                       [](const auto& a, const auto& b) { return a.count < b.count; });
  if (most == log.calls.end() || most->count <= 0) return "";
  return fmt::format("NCCL's log lists {} calls of {}, of {} on average. ",
                     FormatQuantity(static_cast<double>(most->count), "count"),
                     SafeText(most->operation),
                     FormatQuantity(most->bytes / static_cast<double>(most->count), "bytes"));
}

std::string PortsSentence(const Topology& topology, const Paths& paths) {
  std::string words = fmt::format("{} network port{} listed", topology.ports.size(),
                                  topology.ports.size() == 1 ? " is" : "s are");
  if (!paths.ports_down.empty()) words += fmt::format(", {} not active", paths.ports_down.size());
  if (!paths.ports_slow.empty())
    words += fmt::format(", {} slower than the rest", paths.ports_slow.size());
  return words + ". A list of ports does not show how a job ran.";
}

std::string ServerSentence(const ServerLoad& server) {
  if (server.lines == 0 && server.first_token.count <= 0) {
    return fmt::format("The log of {} holds no requests, so it cannot show how well it serves.",
                       server.server);
  }
  const auto count = [](double value) { return FormatQuantity(value, "count"); };
  std::string words =
      fmt::format("According to its {}, {} ",
                  server.load < 0 && server.requests >= 0 ? "metrics" : "log", server.server);
  if (server.lines == 0) {
    return words + fmt::format("answered {} requests, and had none at the moment.{}",
                               FormatQuantity(server.first_token.count, "count"),
                               FirstTokenWords(server));
  }
  if (server.load >= 0) {
    words += fmt::format("had requests for {} of {}", Percent(server.load),
                         FormatQuantity(server.seconds * kNanosPerSecond, "time"));
  } else {
    words += "had requests";
  }
  if (server.running >= 0) {
    const std::string ran =
        server.running < 1 ? "less than one" : count(std::round(server.running));
    // A page of metrics is one look.
    words += server.lines > 1 ? fmt::format("; meanwhile, {} ran at once on average", ran)
                              : fmt::format("; at that moment, {} ran at once", ran);
    if (server.waiting > 0)
      words +=
          fmt::format(" and {} waited",
                      server.waiting < 1 ? "at times some" : count(std::round(server.waiting)));
  }
  if (server.kv_used >= 0)
    words += fmt::format(", with {} of the key-value cache in use", Percent(server.kv_used));
  return words + "." + FirstTokenWords(server) + TokenWords(server) +
         " That does not show how well the GPU works.";
}

}  // namespace advise
