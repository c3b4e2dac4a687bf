// run.kind and its kin, startup.*, serving.*: what kind of program was captured, what it pays once,
// and for whom a server's GPU waits.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

auto StartUpPerDevice(double (*sum)(const StartUp&)) {
  return [sum](const StartUp& s, const Analysis& a) {
    return ShareOf(sum(s), static_cast<double>(a.run.active_devices.size()));
  };
}

void DeclareStartUp(Catalog* catalog) {
  auto& start = catalog->Of(&Analysis::start_up);
  start.Needs([](const Analysis& a) { return a.start_up.known; },
              "a loop was recorded, whose start lies before the window", "");
  start.Add(
      "startup.time", "ns",
      "Idle time that loads code or allocates memory, and copies before the first kernel, "
      "average per device; absent where a loop was recorded.",
      StartUpPerDevice([](const StartUp& s) { return s.code_ns + s.allocation_ns + s.upload_ns; }));
  start.Add("startup.code", "ns", "Part of the start-up that loads or compiles code.",
            StartUpPerDevice([](const StartUp& s) { return s.code_ns; }));
  start.Add("startup.compile", "ns",
            "Part of startup.code that compiles: in a compiler, or for long before code is loaded.",
            StartUpPerDevice([](const StartUp& s) { return s.compile_ns; }));
  start.Add("startup.allocation", "ns", "Part of the start-up that allocates memory.",
            StartUpPerDevice([](const StartUp& s) { return s.allocation_ns; }));
  start.Add("startup.upload", "ns",
            "Part of the start-up that only copies, before the first kernel.",
            StartUpPerDevice([](const StartUp& s) { return s.upload_ns; }));
  start.Add("startup.before", "ns",
            "From the first CUDA call to the first GPU operation, before the window.",
            &StartUp::before_ns);
  start.Add("startup.before_call", "name",
            "The CUDA call that takes most of the time before the first GPU operation.",
            [](const StartUp& s) { return s.before_call.name; });
  start.Add("startup.before_call_time", "ns",
            "Time of the CUDA call that takes most of the time before the first GPU operation.",
            [](const StartUp& s) { return s.before_call.time_ns; });
  start.AddLoss("startup", kLost, {"", "Time on devices that the start-up takes.", ""},
                &StartUp::loss);
}

void DeclareServing(Catalog* catalog) {
  auto& serving = catalog->Of(&Analysis::serving);
  serving.Needs([](const Analysis& a) { return a.serving.known; },
                "no ranges name the steps of a model server and no launching thread receives "
                "requests, or no OS calls were recorded",
                "nvtx");
  serving.Add("serving.load", "share",
              "Part of the time in which the server had a request to work on.", &Serving::load);
  serving.AddLoss("serving.no_request", kLost,
                  {"", "Idle between engine steps while the launching thread waits in the OS.", ""},
                  &Serving::no_request);
  auto& engine = catalog->Of(&Analysis::serving);
  engine.Needs([](const Analysis& a) { return a.serving.steps_named; },
               "no ranges name the steps of a model server", "nvtx");
  engine.AddLoss("serving.scheduler", kChange | kPerStep,
                 {"stretches of scheduler code between engine steps",
                  "Idle between engine steps while the launching thread runs code; where no OS "
                  "calls were recorded, also while it waits for requests.",
                  "The scheduler takes no time between engine steps."},
                 &Serving::scheduler);
  engine.AddLoss("serving.launch", kLost,
                 {"", "Idle inside engine steps while launches are made or host code runs.", ""},
                 &Serving::launch);
  auto& tokenizer = catalog->Of(&Analysis::serving);
  tokenizer.Needs(
      [](const Analysis& a) { return a.serving.tokenizer_named || a.serving.steps_named; },
      "no ranges of a server name the turning of tokens into text", "nvtx");
  tokenizer.AddLoss("serving.tokenizer", kLost,
                    {"", "Idle in ranges that turn tokens into text.", ""}, &Serving::tokenizer);
  auto& sampling = catalog->Of(&Analysis::serving);
  sampling.Needs(
      [](const Analysis& a) { return a.serving.sampling_named || a.serving.steps_named; },
      "no ranges of a server name the sampling of tokens", "nvtx");
  sampling.AddLoss(
      "serving.sampling", kChange,
      {"",
       "Idle while the host samples tokens, and copies of logits to the host that nothing hides.",
       "The launching thread samples no tokens."},
      &Serving::sampling);
}

void DeclareEngineSteps(Catalog* catalog) {
  auto& steps = catalog->Of(&Analysis::engine_steps);
  steps.Needs([](const Analysis& a) { return a.engine_steps.count > 0; },
              "no range says what a step of a model server works on", "nvtx");
  steps.Add("serving.sequences", "count",
            "Sequences that get a token in a step of a model server, as its range says: median of "
            "the steps that generate.",
            &EngineSteps::sequences);
  steps.Add(
      "serving.step", "ns",
      "From the end of the GPU's work for one step to that for the next, which reads no prompts, "
      "median.",
      &EngineSteps::generating);
  steps.Add("serving.prompts.steps", "count", "Steps that read prompts.",
            &EngineSteps::with_prompts);
  steps.Add("serving.prompts.tokens", "count",
            "Tokens of prompts in a step that reads some, median.", &EngineSteps::tokens);
  steps.Add(
      "serving.prompts.step", "ns",
      "From the end of the GPU's work for one step to that for the next, which reads prompts, "
      "median.",
      &EngineSteps::reading);
  steps.Add("serving.prompts.share", "share",
            "Part of the time of a model server's steps in those that read prompts.",
            &EngineSteps::reading_share);
  steps.Add("serving.prompts.waiting", "count",
            "Sequences that were being generated while prompts were read, median.",
            &EngineSteps::waiting);
}

}  // namespace

void DeclareRunKindFacts(Catalog* catalog) {
  auto& kind = catalog->Of(&Analysis::kind);
  kind.Add("run.kind", "name",
           "Kind of program: training, inference, one-pass, solver, kernels, start-up or no-gpu.",
           [](const RunKind& k) { return std::string(KindOfRunName(k.kind)); });
  kind.Add("run.kind_why", "name", "What shows the kind of the program.", &RunKind::why);
  kind.Add("run.unit", "name",
           "What the run is made of: step, token, request, iteration, pass, launch.",
           [](const RunKind& k) { return std::string(k.unit); });
  kind.Add(
      "run.request_waits", "name",
      "How a wait of a launching thread for the next request shows: none, if the program does "
      "not infer; as-code, if no OS calls were recorded and it infers or pauses unevenly before "
      "uploads; as-wait, if that thread waits in the "
      "OS while no other recorded thread works; else seen.",
      [](const RunKind& k) { return std::string(RequestWaitsName(k.request_waits)); });
  kind.Add(
      "run.uneven_pauses", "num",
      "How unevenly the host pauses before uploads: the upper quartile over the lower one, of the "
      "long pauses.",
      IfPositive(&RunKind::uneven_pauses,
                 "few steps have a long pause of the host before an upload", ""));
  kind.Add("run.units", "count", "Units of the run (run.unit) in the window.", &RunKind::units);
  kind.Add("run.framework", "name", "The most specific framework that names in the capture show.",
           UnlessEmpty(&RunKind::framework, "no name in the capture shows a framework", ""));
  kind.Add("run.optimizer", "name", "The class of PyTorch's optimizer, as its ranges name it.",
           UnlessEmpty(&RunKind::optimizer, "no range names one optimizer", ""));
  kind.Add("run.languages", "name",
           "Languages, programming models, and what the framework builds on, separated by commas.",
           [](const RunKind& k) { return fmt::format("{}", fmt::join(k.languages, ", ")); })
      .OfRanks([](const Cluster& c) {
        return c.ranks.empty() ? std::string() : c.ranks.front().languages;
      });
  kind.Add("run.trains", "flag", "Whether backward passes or an optimizer ran.", &RunKind::trains);
  kind.Add("run.decode", "flag", "Whether kernels or ranges of single tokens ran.",
           &RunKind::decode);
  kind.Add("run.serves", "flag", "Whether the run shows a model server.", &RunKind::serves);
  DeclareStartUp(catalog);
  DeclareServing(catalog);
  DeclareEngineSteps(catalog);
}

}  // namespace advise::facts
