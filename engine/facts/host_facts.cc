// host.*: what the host does while the GPU waits.
#include <algorithm>

#include "engine/base/text.h"
#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

Rows RangesAroundCode(const HostCode& code) {
  return RowsOf(
      code.ranges,
      [](const auto& row) {
        return Row{{"name", RangeInWords(row.name)}, {"time", row.time_ns}};
      },
      10);
}

Rows FunctionsInCode(const HostCode& code) {
  return RowsOf(
      code.functions,
      [](const auto& row) {
        return Row{{"name", row.name}, {"samples", row.samples}};
      },
      10);
}

Rows OperatorsOfCode(const HostCode& code) {
  return RowsOf(
      code.operators,
      [](const auto& row) {
        return Row{{"name", row.name}, {"time", row.time_ns}};
      },
      10);
}

void DeclareCode(Catalog* catalog) {
  auto& code = catalog->Of(&Analysis::host_code);
  code.AddLoss(
      "host.compute", kChange,
      {"",
       "Time in which the GPU is idle, or waits for an upload that starts late, because the "
       "launching thread runs code that the report does not show.",
       "Code that the report does not show runs elsewhere, or while the GPU is at work."},
      &HostCode::time);
  code.Add("host.compute.ranges", "rows",
           "Innermost named ranges around host code that the report does not show: name, time.",
           RangesAroundCode);
  code.Add("host.compute.functions", "rows",
           "Functions that CPU samples saw while the GPU waited for code of the launching thread: "
           "name (its library's file where the function "
           "is not known), samples.",
           If([](const HostCode& found) { return found.sampled; }, FunctionsInCode,
              "the CPU was not sampled", "cpu-sampling"));
  catalog->OfAll().Add(
      "host.compute.operators", "rows",
      "Operators of a framework that the launching thread runs on the CPU while the GPU waits for "
      "its code: name, time without that of operators that it calls.",
      If([](const Analysis& a) { return a.run.trace.operators.size() > 0; },
         [](const Analysis& a) { return OperatorsOfCode(a.host_code); },
         "framework operators were not recorded", "operators"));
  code.Add("host.compute.code", "ns",
           "Time of launching threads in host code that the report does not show, at the places of "
           "the loop where the GPU waits for it somewhere, whether or not it waits there.",
           &HostCode::code_ns);
  code.Add("host.compute.before_uploads", "ns",
           "Of the time lost to this code, the part for code right before the thread copies data "
           "to the GPU.",
           &HostCode::before_uploads_ns);
  code.Add("host.compute.between_turns", "ns",
           "Of host.compute.before_uploads, the part behind a download of what the GPU computed "
           "from the last upload without an update of weights: the code may need that result.",
           &HostCode::between_turns_ns);
  code.Add("host.compute.steps", "count",
           "Fewest steps of the loop that hold nine tenths of the time lost to this code.",
           IfPositive(&HostCode::steps, "no steps are known", "steps"));
  code.Add("host.compute.late_uploads", "ns",
           "Of the time lost to this code, the part in which the GPU does nothing but uploads that "
           "the code delayed.",
           &HostCode::late_uploads_ns);
  code.Add("host.compute.longest", "ns",
           "Of the time lost to this code, the longest stretch without a break on one GPU.",
           &HostCode::longest_ns);
}

void DeclareDoing(Catalog* catalog) {
  auto& stalls = catalog->Of(&Analysis::stalls);
  const auto doing = [&](const char* group, const std::string& does, const std::string& remedy,
                         Loss Stalls::*loss) {
    stalls.AddLoss(group, kOfGaps,
                   {"gaps of the loop in which the launching thread " + does,
                    "Idle time while the launching thread " + does + ".", remedy},
                   loss);
  };
  doing("host.sleep", "sleeps", "The launching thread does not sleep in the loop.", &Stalls::sleep);
  doing("host.network", "is inside network calls",
        "The launching thread makes no network calls in the loop.", &Stalls::network);
  doing("host.file_write", "writes files", "The launching thread writes no files in the loop.",
        &Stalls::file_write);
  stalls.AddLoss("host.os_wait", kOfGaps,
                 {"waits of the launching thread in the OS (poll, condition, semaphore), in the "
                  "loop, while the GPU is idle or only copies",
                  "Time in which the GPU is idle or only copies while the launching thread is "
                  "blocked in the OS.",
                  "The launching thread is not blocked in the OS in the loop."},
                 &Stalls::os_wait);
  stalls.AddLoss(
      "host.exchange", kOfGaps,
      {"gaps of the loop in which the launching thread runs code in a range named for "
       "communication",
       "Idle time while the launching thread exchanges data, as names of ranges or kernels say.",
       "No range or kernel names an exchange in which the launching thread waits."},
      &Stalls::exchange);
  stalls.AddLoss(
      "host.input", kCount | kPerStep | kLost,
      {"gaps of the loop in which the launching thread waits for what comes from outside",
       "Idle time while the launching thread waits for a request or a command.", ""},
      &Stalls::input);
  stalls.AddLoss(
      "host.source", kPerStep | kLost,
      {"gaps of the loop in which the launching thread waits for a source that keeps its own rate",
       "Idle time while the launching thread waits for the next piece of a source that keeps its "
       "own rate, such as a camera.",
       ""},
      &Stalls::source);
  stalls.Add("host.source.rate", "num",
             "Pieces per second of the source for which a launching thread waits longest; 0 where "
             "none keeps its own rate.",
             &Stalls::source_rate);
  const auto since_start = [](Nanos Interval::*end) {
    return [end](const Stalls& s, const Analysis& a) {
      return s.between_input.*end - (s.between_input.Length() > 0 ? a.run.window.origin : 0);
    };
  };
  stalls.Add("host.input.between_from", "ns",
             "When the longest stretch of the window without a wait for what comes from outside "
             "begins, from the start of the trace; 0 where nothing was waited for.",
             since_start(&Interval::start));
  stalls.Add("host.input.between_to", "ns",
             "When the longest stretch of the window without a wait for what comes from outside "
             "ends, from the start of the trace.",
             since_start(&Interval::end));
}

}  // namespace

void DeclareHostFacts(Catalog* catalog) {
  auto& host = catalog->Of(&Analysis::host);
  host.AddLoss(
      "host.jit", kOfCalls,
      {"module loads and compilations in the window", "Idle time in module loads and compilations.",
       "Module loads and compilations are gone."},
      &Host::jit);
  host.AddLoss(
      "host.lock", kOfGaps,
      {"lock waits of launching threads inside gaps",
       "Idle time in lock waits of launching threads.", "Launching threads do not wait for locks."},
      &Host::lock);
  const auto is_scheduled = [](const Host& h) { return h.preempted_ns >= 0; };
  const char* const kNoEvents = "scheduling events with OS calls were not recorded";
  host.Add("host.preempted", "ns",
           "Idle while the launching thread was ready but not on a CPU; absent without scheduling "
           "events.",
           If(is_scheduled, &Host::preempted_ns, kNoEvents, "cpu-sampling"));
  host.Add("host.preempted.lost", "spans",
           "Idle time while the launching thread was ready but not on a CPU, device by device.",
           If(is_scheduled, In(&Host::preempted, &Loss::lost), kNoEvents, "cpu-sampling"));
  host.Add("host.preempted.remedy", "remedy", "Launching threads never wait for a CPU.",
           If(is_scheduled, In(&Host::preempted, &Loss::remedy), kNoEvents, "cpu-sampling"));
  host.Add("host.cpu_moves", "num",
           "How often a launching thread wakes up on another CPU, per second; absent without "
           "scheduling events.",
           UnlessNegative(&Host::cpu_moves_per_s, "scheduling events were not recorded",
                          "cpu-sampling"));
  host.Add("host.gpu_processes", "count", "Most processes with work on one device.",
           &Host::gpu_processes);
  host.Add("host.restarts.processes", "count",
           "Processes that use one device one after the other and begin with the same kernel, on "
           "the device with most of them; 0 where no such process follows another.",
           [](const Host& h) { return static_cast<double>(h.starts.processes); });
  host.Add("host.restarts.lost", "spans",
           "Idle time between the last work of one such process and the first of the next, device "
           "by device.",
           [](const Host& h) { return h.starts.lost; });
  host.AddLoss("host.gpu_switch", kChange,
               {"",
                "Time in which a kernel waits until another process had its turn on the device, "
                "while the device idles or has room beside the kernels that run.",
                "Kernels of all processes run at once, as far as the device has room."},
               &Host::gpu_switch);
  host.Add("host.one_gpu.lost", "spans",
           "Where other GPUs of the node have no work: time in which kernels wait for those of "
           "another process on their device, as much as is won if each process has a GPU.",
           [](const Host& h) { return h.one_gpu; });
  DeclareCode(catalog);
  DeclareDoing(catalog);
}

}  // namespace advise::facts
