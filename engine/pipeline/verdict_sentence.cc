#include "engine/pipeline/verdict_sentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/ascii.h"
#include "engine/base/is_in.h"
#include "engine/base/text.h"
#include "engine/pipeline/answer.h"
#include "engine/pipeline/measure_command.h"

namespace advise {
namespace {

// Of a GPU that did something, however little.
std::string PercentOfAll(double part, double all) {
  const std::string whole = Percent(1);
  const std::string percent = Percent(part / all);
  return percent == whole && part < all ? "more than 99 %" : percent;
}

// A title inside a sentence: "run matrix products …", but "FP32 …".
std::string InSentence(std::string title) {
  if (title.size() > 1 && IsUpper(title[0]) && !IsUpper(title[1])) {
    title[0] = static_cast<char>(title[0] - 'A' + 'a');
  }
  return title;
}

// " Next: measure this kernel."; what gives a reason behind a colon gets no second colon: " Next,
// name the GPU: with its peaks, …".
std::string NextInWords(const std::string& step) {
  return (step.find(": ") == std::string::npos ? " Next: " : " Next, ") + InSentence(step);
}

// "OpenACC, Fortran": what a program without a framework is written with, where advice has words of
// its own for it.
std::string LanguagesInWords(const RunInfo& run) {
  std::vector<std::string> told;
  for (const char* language : {"OpenACC", "OpenMP", "Fortran", "MPI"}) {
    if (IsIn(language, run.languages)) told.emplace_back(language);
  }
  return fmt::format("{}", fmt::join(told, ", "));
}

// "Training (PyTorch)": what was captured.
std::string KindWords(const RunInfo& run) {
  std::string words = run.kind == "training"                               ? "Training"
                      : run.kind == "inference" && run.unit == "token"     ? "Token generation"
                      : run.kind == "inference" && run.unit == "iteration" ? "Diffusion"
                      : run.kind == "inference"                            ? "Inference"
                      : run.kind == "solver"                               ? "A loop of iterations"
                      : run.kind == "kernels" && run.units == 1            ? "One kernel launch"
                      : run.kind == "kernels"                              ? "A few kernels"
                      : run.kind == "start-up"                             ? "Mostly start-up"
                                                                           : "One pass";
  const std::string made_with = run.framework.empty() ? LanguagesInWords(run) : run.framework;
  if (!made_with.empty()) words += fmt::format(" ({})", made_with);
  return words;
}

// What the other parts of the budget leave, each rounded as sentences round it: the report prints
// this figure again.
std::string ComputeInWords(const TimeOfDevices& time) {
  const double memsets = time.all - time.compute - time.comm - time.copy - time.idle;
  double left = 1;
  for (const double part : {time.comm, time.copy, memsets, time.idle})
    left -= std::round(100 * part / time.all) / 100;
  return Percent(std::max(0.0, left));
}

// "The other rank waits 30 % of the time for rank 2: …"; "" when the first finding is another one.
std::string StragglerSentence(const Report& report, const Cluster& ranks) {
  if (report.findings.empty()) return "";
  const Finding& first = report.findings.front();
  if (first.rule->topic != Topic::kLateRank || first.where.ranks.size() != 1) return "";
  const std::size_t others = ranks.ranks.size() - 1;
  const double waited = report.ranks.waited * static_cast<double>(others + 1) /
                        static_cast<double>(std::max<std::size_t>(1, others));
  // "Rank 2, which waits longer for data": behind a colon, "it" could be either rank.
  const std::string& cause = ranks.lateness.straggler.cause.words;
  return fmt::format("{} {} of the time for rank {}{}",
                     others == 1 ? "the other rank waits" : fmt::format("{} ranks wait", others),
                     Percent(waited), first.where.ranks.front(),
                     cause.starts_with("it ") ? ", which " + cause.substr(3) : ": " + cause);
}

struct IdleReason {
  double time = 0;  // of all devices
  std::string words;
};

// Time without a cause is parted as the row "Idle because of" parts it.
std::vector<IdleReason> IdleReasons(const Report& report, const TimeOfDevices& time) {
  // PyTorch's profiler records no waits for requests: they look like code.
  const bool requests =
      HasCare(report, Care::kRequestsLikeCode) && FactNumber(report, "run.serves").value_or(0) > 0;
  UnseenTime unseen;
  for (const DeviceBudget& device : report.devices) {
    unseen.before_capture += device.unseen.before_capture;
    unseen.in_graphs += device.unseen.in_graphs;
    unseen.queued += device.unseen.queued;
  }
  std::vector<IdleReason> reasons;
  for (std::size_t i = 0; i < kIdleCauseCount; ++i) {
    const auto cause = static_cast<IdleCause>(i);
    reasons.push_back({time.causes[i], requests && cause == IdleCause::kHostCompute
                                           ? "waiting for requests or host code"
                                           : WordsOf(cause).gpu});
    if (cause == IdleCause::kUnknown)
      reasons.back().time -=
          static_cast<double>(unseen.before_capture + unseen.in_graphs + unseen.queued);
  }
  const auto add = [&](Nanos part, const char* words) {
    reasons.push_back({static_cast<double>(part), words});
  };
  add(unseen.before_capture, "waiting for work from before the recording");
  add(unseen.in_graphs, "in gaps inside CUDA graphs");
  add(unseen.queued, "in waits that were not recorded");
  return reasons;
}

// ", mostly waiting for host code"; or ", 24 % waiting for host code and 22 % waiting for data"
// where no cause is half of it and two count.
std::string WhatIdleTimeWaitsFor(const Report& report, const TimeOfDevices& time,
                                 const Knowledge& knowledge) {
  if (WaitsForInput(report)) {
    return FactNumber(report, "run.serves").value_or(0) > 0
               ? ", mostly waiting for requests"
               : ", mostly waiting for the next command";
  }
  if (LosesKernelsOfGraphs(report))
    return ", mostly inside CUDA graphs, where the profiler probably lost kernels";
  if (HasCare(report, Care::kMostlyProfiler)) return ", mostly because the profiler slows the host";
  const double unknown = time.causes[static_cast<std::size_t>(IdleCause::kUnknown)];
  if (2 * unknown >= time.idle && NoteOf(report, Topic::kDisplayRate) != nullptr)
    return ", probably waiting for the next refresh of the display";
  std::vector<IdleReason> reasons = IdleReasons(report, time);
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const IdleReason& a, const IdleReason& b) { return a.time > b.time; });
  const auto& [first, words] = reasons[0];
  const auto& [second, other_words] = reasons[1];
  if (2 * first >= time.idle) return fmt::format(", mostly {}", words);
  if (second < knowledge.Number("verdict.second_cause") * first)
    return fmt::format(", {} {}", Percent(first / time.all), words);
  return fmt::format(", {} {} and {} {}", Percent(first / time.all), words,
                     Percent(second / time.all), other_words);
}

// ": two kernels take 83 %"; "" where none is named.
std::string KernelsToMeasure(const Report& report, const Knowledge& knowledge) {
  const MeasureCommand measure = CommandToMeasure(report, knowledge);
  if (measure.kernels == 0) return "";
  const bool one = measure.kernels == 1;
  // Of the compute time, and not only of kernels outside of graphs that were recorded as a whole.
  const double outside = 1 - FactNumber(report, "graph.whole.share").value_or(0);
  return fmt::format(": {} kernel{} take{} {}", CountWord(measure.kernels), one ? "" : "s",
                     one ? "s" : "", Percent(outside * std::min(1.0, measure.share)));
}

// What samples of the whole GPU say where no kernel was measured by itself; "" without samples.
std::string SampledInWords(const Report& report, const Knowledge& knowledge) {
  const double memory = FactNumber(report, "sample.compute.dram").value_or(0);
  if (memory >= knowledge.Number("verdict.memory_limits")) {
    return fmt::format(
        "While kernels run, device memory is at {} of its peak rate, which limits them. Single "
        "kernels were not measured",
        Percent(memory));
  }
  const std::optional<double> active = FactNumber(report, "sample.compute.sm_active");
  if (!active) return "";
  const std::optional<double> tensor = FactNumber(report, "sample.compute.tensor");
  return fmt::format(
      "While kernels run, {} of the SMs have work{}. Single kernels were not measured",
      Percent(*active),
      tensor ? fmt::format(", and the tensor pipes are active for {} of the time", Percent(*tensor))
             : "");
}

// Of a recording that is mostly the wait for earlier work. `s`: of the verb.
std::string AmidWork(const Report& report, const TimeOfDevices& time, const std::string& who,
                     const char* s) {
  const double before = FactNumber(report, "idle.before_capture").value_or(0) *
                        static_cast<double>(report.devices.size());
  const double rest = std::max(1.0, time.all - before);
  return fmt::format(
      "for {} of the time, {} wait{} for, or still run{}, work from before the recording. "
      "Recorded work fills {} of the rest",
      Percent(before / time.all), who, s, s, Percent(std::min(1.0, (time.all - time.idle) / rest)));
}

// Where the time went, in one clause.
std::string WhereTheTimeWent(const Report& report, const Knowledge& knowledge,
                             const Cluster* ranks) {
  const TimeOfDevices time = TimeOf(report);
  const auto pct = [&](double part) { return Percent(part / time.all); };
  const bool many = ranks != nullptr || report.devices.size() > 1;
  const std::string who = ranks != nullptr
                              ? fmt::format("the GPUs of {} ranks", ranks->ranks.size())
                          : many ? "the GPUs"
                                 : "the GPU";
  const char* const are = many ? "are" : "is";
  const char* const s = many ? "" : "s";
  if (report.healthy) {
    return fmt::format("{} {} busy {} of the time, and no fix would save even 1 %", who, are,
                       pct(time.all - time.idle));
  }
  if (ranks != nullptr) {
    std::string straggler = StragglerSentence(report, *ranks);
    if (!straggler.empty()) return straggler;
  }
  const bool has_advice = !report.findings.empty() && report.findings.front().InTurn() > 0 &&
                          report.findings.front().severity != Severity::kInfo;
  const bool busy = time.compute >= knowledge.Number("verdict.busy_compute") * time.all;
  // Copies and communication that nothing hides are no computing.
  const double waits = std::max(time.copy, time.comm);
  const bool hidden = waits < knowledge.Number("verdict.busy_waits") * time.all;
  std::string is_busy =
      hidden ? fmt::format("{} {} busy {} of the time", who, are, pct(time.all - time.idle))
             : fmt::format("{} compute{} for {} of the time and wait{} for {} for {}", who, s,
                           ComputeInWords(time), s,
                           time.copy > time.comm ? "copies" : "communication", pct(waits));
  if (busy && has_advice) {
    if (!LeavesKernelsUnmeasured(report, knowledge)) return is_busy;
    const std::string sampled = SampledInWords(report, knowledge);
    return is_busy + ". " +
           (sampled.empty() ? "How well the kernels run was not measured" : sampled) +
           KernelsToMeasure(report, knowledge);
  }
  if (busy) {
    const EfficiencyInfo& efficiency = report.efficiency;
    const bool little_lost =
        hidden && time.idle < knowledge.Number("verdict.little_lost") * time.all;
    const bool no_idle = time.idle < knowledge.Number("verdict.no_idle") * time.all;
    // Gaps inside graphs that were recorded as a whole do not show.
    const bool graphs =
        FactNumber(report, "graph.whole.share").value_or(0) > knowledge.Number("verdict.mostly");
    const std::string first =
        little_lost ? fmt::format("{} time is lost between {}", no_idle ? "no" : "little",
                                  graphs ? "CUDA graphs" : "kernels")
                    : is_busy;
    if (graphs) {
      return fmt::format("{}. What runs inside {} was not recorded", first,
                         little_lost ? "them" : "the CUDA graphs");
    }
    if (efficiency.measured_share < knowledge.Number("verdict.healthy_measured")) {
      // Between one kernel and nothing, no time can be lost.
      if (little_lost && report.run.kind == "kernels" && report.run.units == 1)
        return "how well it runs was not measured";
      const std::string kernels = KernelsToMeasure(report, knowledge);
      const std::string sampled = SampledInWords(report, knowledge);
      if (!sampled.empty()) return fmt::format("{}. {}{}", first, sampled, kernels);
      return fmt::format("{}. How well {} run was not measured{}", first,
                         little_lost ? "they" : "the kernels", kernels);
    }
    if (RunsAsWellAsLibraries(report, knowledge))
      return is_busy + ", and its kernels run as well as those of good libraries";
    return fmt::format("{}; {} of the computing time of kernels was measured, and no fix was found",
                       is_busy, Percent(efficiency.measured_share));
  }
  if (time.compute + time.comm + time.copy + time.idle <
      knowledge.Number("verdict.mostly") * time.all) {
    return fmt::format("{} clear{} memory, and nothing else, for {} of the time", who, s,
                       pct(time.all - time.compute - time.comm - time.copy - time.idle));
  }
  if (BeginsAmidWork(report)) return AmidWork(report, time, who, s);
  // What the GPU does most comes first, and then what it waits for.
  const bool computes = time.compute > std::max({time.copy, time.comm, time.idle});
  const auto waits_for = [&](const char* what, double part) {
    return computes ? fmt::format("{} compute{} for {} of the time and wait{} for {} for {}", who,
                                  s, ComputeInWords(time), s, what, pct(part))
                    : fmt::format("{} wait{} for {} {} of the time", who, s, what, pct(part));
  };
  if (time.copy >= time.comm && time.copy >= time.idle) return waits_for("copies", time.copy);
  if (time.comm >= time.idle) {
    const double waited = ranks != nullptr ? report.ranks.waited * time.all : 0;
    if (2 * waited >= time.comm) return waits_for("each other", waited);
    return waits_for("communication", time.comm);
  }
  const double memsets = time.all - time.compute - time.comm - time.copy - time.idle;
  if (memsets > time.idle) {
    return computes ? fmt::format("{} compute{} for {} of the time and clear{} memory for {}", who,
                                  s, ComputeInWords(time), s, pct(memsets))
                    : fmt::format("{} clear{} memory {} of the time", who, s, pct(memsets));
  }
  const std::string idle =
      computes
          ? fmt::format("{} compute{} for {} of the time and {} idle for {}", who, s,
                        ComputeInWords(time), are, pct(time.idle))
          : fmt::format("{} {} idle {} of the time", who, are, PercentOfAll(time.idle, time.all));
  return idle + WhatIdleTimeWaitsFor(report, time, knowledge);
}

}  // namespace

std::string WithNextStep(std::string sentence, const Report& report) {
  if (!report.next_step.empty()) sentence += NextInWords(report.next_step);
  return sentence;
}

std::string VerdictSentence(const Report& report, const Knowledge& knowledge,
                            const Cluster* ranks) {
  if (ranks != nullptr && ranks->ranks.size() < 2) ranks = nullptr;  // the others ran no GPU work
  if (TimeOf(report).all <= 0) return "No GPU activity was recorded, so there is nothing to judge.";
  if (RanNoKernel(report) && IsDamaged(report)) {
    return "The file is damaged or was cut off: what could be read of it holds no kernel." +
           NextInWords(report.next_step);
  }
  const double kernels = FactNumber(report, "kernel.count").value_or(0);
  if (RanNoKernel(report) && kernels > 0) {
    return fmt::format(
        "{} a length of zero: what the GPU computed is unknown.{}",
        kernels > 1 ? fmt::format("All {} recorded kernels have", FormatQuantity(kernels, "count"))
                    : "The only recorded kernel has",
        NextInWords(report.next_step));
  }
  const double launches = FactNumber(report, "capture.launches").value_or(0);
  if (RanNoKernel(report) && launches > 0) {
    return fmt::format(
        "No kernel was recorded, although {} launched: what the GPU computed is missing.{}",
        launches > 1 ? FormatQuantity(launches, "count") + " were" : "one was",
        NextInWords(report.next_step));
  }
  if (RanNoKernel(report)) {
    return fmt::format("No kernel was recorded: the GPU only {}.{}",
                       TimeOf(report).copy > 0 ? "moved data" : "cleared memory",
                       NextInWords(report.next_step));
  }
  return WithNextStep(
      fmt::format("{}: {}.", KindWords(report.run), WhereTheTimeWent(report, knowledge, ranks)),
      report);
}

}  // namespace advise
