#include "engine/pipeline/log_sentences.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/base/text.h"

namespace advise {
namespace {

// " The first token took 0.4 s in the median, a further one 30 ms."; "" where nothing says.
std::string FirstTokenWords(const ServerLoad& server) {
  if (server.first_token.median_s < 0) return "";
  const auto time = [](double seconds) {
    return FormatQuantity(seconds * kNanosPerSecond, "time");
  };
  return fmt::format(" The first token took {} in the median{}.", time(server.first_token.median_s),
                     server.token.median_s < 0
                         ? ""
                         : fmt::format(", each further one {}", time(server.token.median_s)));
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
  std::string who = at_work == 1 ? "the GPU was" : fmt::format("{} GPUs were", at_work);
  if (at_work < all)
    who = fmt::format("{} of {} GPUs {}", at_work, all, at_work == 1 ? "was" : "were");
  const double power = monitor.Mean(&MonitoredUse::busy_power);
  const std::string watts = power < 0 ? ""
                                      : fmt::format(", and drew {} of {} power limit then",
                                                    Percent(power), at_work == 1 ? "its" : "their");
  std::string words = monitor.samples == 1
                          ? OnlySample(at_work, all, busy, power, monitor.logged)
                          : fmt::format("According to the monitor, {} in use for {} of the time{}.",
                                        who, UseInWords(monitor.split, busy), watts);
  const double before = analysis.monitor_patterns.before;
  const double sms = monitor.Mean(&MonitoredUse::sm_active);
  if (sms >= 0) words += fmt::format(" On average, {} of the SMs had work.", Percent(sms));
  const Knowledge& knowledge = analysis.run.knowledge;
  if (before >= knowledge.Number("monitor.pause") &&
      before >= knowledge.Number("monitor.lead") * monitor.seconds)
    words += fmt::format(" For {} before that, no GPU was in use.",
                         FormatQuantity(before * kNanosPerSecond, "time"));
  return words + " A monitor cannot show why, or how well kernels use the GPU.";
}

std::string KernelLogSentence(const Monitor& monitor) {
  const auto counted = [](std::size_t count, const char* one, const char* many) {
    return fmt::format("{} {}", FormatQuantity(static_cast<double>(count), "count"),
                       count == 1 ? one : many);
  };
  std::string words;
  if (!monitor.errors.empty())
    words = counted(monitor.errors.size(), "error of a GPU", "errors of GPUs");
  if (!monitor.killed.empty()) {
    words += words.empty() ? "" : " and ";
    words += counted(monitor.killed.size(), "program that it ended", "programs that it ended") +
             " for lack of memory";
  }
  if (words.empty()) words = "no error of a GPU, and no program that was ended for lack of memory";
  return fmt::format("The kernel's log names {}. It does not show how well the GPUs work.", words);
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
  return words + "." + FirstTokenWords(server) + " That does not show how well the GPU works.";
}

}  // namespace advise
