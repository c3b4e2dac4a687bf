// run.kind and its kin, startup.*, serving.*: what kind of program was captured, what it pays once,
// and for whom a server's GPU waits.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/facts/fact_writer.h"
#include "engine/metrics/analysis.h"

namespace advise::facts {

std::vector<FactInfo> RunKindFactList() {
  return {
      {"run.kind", "name",
       "Kind of program: training, inference, one-pass, solver, kernels, start-up or no-gpu."},
      {"run.kind_why", "name", "What told the kind."},
      {"run.unit", "name",
       "What the run is made of: step, token, request, iteration, pass, launch."},
      {"run.units", "count", "Such units in the window."},
      {"run.framework", "name", "The most specific framework that names in the capture show."},
      {"run.languages", "name", "Languages and programming models, separated by commas."},
      {"run.kernels", "count", "Compute kernels with different names."},
      {"run.launches", "count", "Launches of compute kernels and graphs."},
      {"run.tentative", "flag", "Whether the capture holds too little to be sure of a loop."},
      {"run.trains", "flag", "Whether backward passes or an optimizer ran."},
      {"run.decode", "flag", "Whether kernels or ranges of single tokens ran."},
      {"run.prefill", "flag", "Whether kernels or ranges of whole prompts ran."},
      {"run.serves", "flag", "Whether anything of a model server ran."},
      {"startup.time", "ns",
       "Idle time that loads code or allocates memory, and copies before the first kernel, average "
       "per device; absent where a loop was recorded."},
      {"startup.code", "ns", "Part of it that loads or compiles code."},
      {"startup.allocation", "ns", "Part of it that allocates memory."},
      {"startup.upload", "ns", "Part of it that only copies, before the first kernel."},
      {"startup.before", "ns",
       "From the first CUDA call to the first GPU operation, before the window."},
      {"startup.lost", "spans", "The time on devices."},
      {"startup.remedy", "remedy", "The time without it."},
      {"serving.load", "share",
       "Part of the time in which the server had a request to work on; absent where nothing names "
       "the engine's steps or OS calls were not recorded."},
      {"serving.no_request.lost", "spans",
       "Idle between engine steps while the launching thread waits in the OS."},
      {"serving.no_request.remedy", "remedy", "Without these waits."},
      {"serving.scheduler.lost", "spans",
       "Idle between engine steps while the launching thread runs code."},
      {"serving.scheduler.remedy", "remedy", "Without this code."},
      {"serving.scheduler.per_step", "count", "How often per step."},
      {"serving.tokenizer.lost", "spans", "Idle in ranges that turn tokens into text."},
      {"serving.tokenizer.remedy", "remedy", "Without them."},
      {"serving.sampling.lost", "spans", "Idle in ranges that choose tokens."},
      {"serving.sampling.remedy", "remedy", "Without them."},
      {"serving.launch.lost", "spans",
       "Idle inside engine steps while launches are made or host code runs."},
      {"serving.launch.remedy", "remedy", "Without these waits."},
  };
}

namespace {

void WriteServing(const Serving& serving, FactWriter* w) {
  if (!serving.known) {
    for (const FactInfo& info : RunKindFactList()) {
      if (info.name.starts_with("serving."))
        w->Missing(info.name, "no range names the steps of a model server beside OS calls", "nvtx");
    }
    return;
  }
  w->Number("serving.load", serving.load);
  w->Lost("serving.no_request", serving.no_request);
  w->Lost("serving.scheduler", serving.scheduler);
  w->Number("serving.scheduler.per_step", serving.scheduler.per_step);
  w->Lost("serving.tokenizer", serving.tokenizer);
  w->Lost("serving.sampling", serving.sampling);
  w->Lost("serving.launch", serving.launch);
}

}  // namespace

void WriteRunKindFacts(const Analysis& a, FactWriter* w) {
  WriteServing(a.serving, w);
  const RunKind& kind = a.kind;
  w->Text("run.kind", KindOfRunName(kind.kind));
  w->Text("run.kind_why", kind.why);
  w->Text("run.unit", kind.unit);
  w->Number("run.units", static_cast<double>(kind.units));
  if (kind.framework.empty()) {
    w->Missing("run.framework", "no name in the capture shows a framework", "");
  } else {
    w->Text("run.framework", kind.framework);
  }
  w->Text("run.languages", fmt::format("{}", fmt::join(kind.languages, ", ")));
  w->Number("run.kernels", static_cast<double>(kind.kernels));
  w->Number("run.launches", static_cast<double>(kind.launches));
  w->Flag("run.tentative", !a.support.verdict);
  w->Flag("run.trains", kind.trains);
  w->Flag("run.decode", kind.decode);
  w->Flag("run.prefill", kind.prefill);
  w->Flag("run.serves", kind.serves);
  if (!a.start_up.known) {
    for (const char* name : {"startup.time", "startup.code", "startup.allocation", "startup.upload",
                             "startup.before", "startup.lost", "startup.remedy"}) {
      w->Missing(name, "a loop was recorded, whose start lies before the window", "");
    }
    return;
  }
  const auto devices = static_cast<double>(a.run.active_devices.size());
  const auto per_device = [devices](double sum) { return devices > 0 ? sum / devices : 0; };
  const StartUp& s = a.start_up;
  w->Number("startup.time", per_device(s.code_ns + s.allocation_ns + s.upload_ns));
  w->Number("startup.code", per_device(s.code_ns));
  w->Number("startup.allocation", per_device(s.allocation_ns));
  w->Number("startup.upload", per_device(s.upload_ns));
  w->Number("startup.before", s.before_ns);
  w->Lost("startup", s.loss);
}

}  // namespace advise::facts
