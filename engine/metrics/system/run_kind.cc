#include "engine/metrics/system/run_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "engine/base/text.h"
#include "engine/timeline/layers.h"
#include "engine/timeline/step.h"

namespace advise {
namespace {

// What an input without a timeline cannot answer.
std::string WhyNoTimelineIsNotEnough(const Trace& trace) {
  if (!trace.counters.empty()) {
    return "kernel counters show how single kernels run, not what the run waits for";
  }
  if (!trace.monitor.empty()) {
    return "monitor samples show how busy the GPUs were, not what they waited for";
  }
  if (!trace.profile.empty()) {
    return "totals show what took long, not what the GPU waited for";
  }
  return "there is no timeline of the run";
}

// Whether the kernels are not there: memory was only cleared, or copies stand beside launches of
// what was not recorded. What repeats of that is no loop.
bool LacksKernels(const Run& run) {
  const auto& kinds = run.trace.ops.kind;
  const auto any = [&](auto test) { return std::any_of(kinds.begin(), kinds.end(), test); };
  if (any([](OpKind kind) { return kind == OpKind::kKernel || kind == OpKind::kGraph; }))
    return false;
  if (!any([](OpKind kind) { return kind == OpKind::kCopy; })) return true;
  for (std::uint32_t call = 0; call < run.trace.calls.size(); ++call) {
    const CallClass of = run.ClassOfCall(call);
    if (of == CallClass::kLaunch || of == CallClass::kGraphLaunch) return true;
  }
  return false;
}

// What every name of a run says of it, each distinct name asked once a place.
class Signs {
 public:
  explicit Signs(const Run& run) : run_(run), trace_(run.trace), knowledge_(run.knowledge) {
    found_.resize(knowledge_.run_signs().size());
    std::unordered_set<StringId> seen;
    for (const KernelShape& shape : trace_.shapes) Ask("kernel", shape.name, &seen);
    seen.clear();
    Column("range", trace_.ranges.name, &seen);
    Column("range", trace_.ranges.domain, &seen);
    Column("range", trace_.mpi.name, &seen);
    seen.clear();
    Column("operator", trace_.operators.name, &seen);
    seen.clear();
    Column("python", trace_.python_frames.name, &seen);
    seen.clear();
    Column("module", trace_.samples.module, &seen);
    seen.clear();
    std::set<std::uint32_t> processes;
    for (const std::uint32_t thread : run_.launching_threads) {
      Ask("thread", trace_.threads[thread].name, &seen);
      if (trace_.threads[thread].process != kNone) processes.insert(trace_.threads[thread].process);
    }
    for (const std::uint32_t process : processes) {
      const std::string& path = trace_.processes[process].name;
      const std::size_t slash = path.find_last_of('/');
      Add("process", slash == std::string::npos ? path : path.substr(slash + 1));
    }
    for (const auto& [name, value] : trace_.environment) Add("setting", name);
    for (const auto& [name, rows] : trace_.table_rows) {
      if (rows > 0) Add("table", name);
    }
  }

  // The first name that says so; empty for none.
  std::string Says(std::string_view kind) const {
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const RunSign& sign = knowledge_.run_signs()[i];
      if (sign.about == RunSign::About::kKind && sign.rule.value == kind && !found_[i].empty())
        return found_[i];
    }
    return "";
  }

  // The first that names show; null for none.
  const RunSign* Framework() const {
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const RunSign& sign = knowledge_.run_signs()[i];
      if (sign.about == RunSign::About::kFramework && !found_[i].empty()) return &sign;
    }
    return nullptr;
  }

  std::vector<std::string> Languages() const {
    std::vector<std::string> languages;
    const auto add = [&](const std::string& language) {
      if (std::find(languages.begin(), languages.end(), language) == languages.end())
        languages.push_back(language);
    };
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (found_[i].empty()) continue;
      const RunSign& sign = knowledge_.run_signs()[i];
      for (const std::string& language : sign.languages) add(language);
      if (sign.about == RunSign::About::kLanguage) add(sign.rule.value);
    }
    // Whoever launches kernels from no interpreter and by no directives wrote CUDA or HIP C++.
    const bool only_mpi = languages == std::vector<std::string>{"MPI"};
    if ((languages.empty() || only_mpi) && trace_.ops.size() > 0 && trace_.kind != "kineto")
      add("CUDA C++");
    return languages;
  }

 private:
  void Column(const char* in, const std::vector<StringId>& names,
              std::unordered_set<StringId>* seen) {
    for (const StringId name : names) Ask(in, name, seen);
  }
  void Ask(const char* in, StringId name, std::unordered_set<StringId>* seen) {
    if (seen->insert(name).second) Add(in, trace_.strings[name]);
  }
  void Add(const char* in, const std::string& name) {
    if (name.empty()) return;
    for (const std::size_t sign : knowledge_.RunSignsOf(in, name)) {
      if (found_[sign].empty()) found_[sign] = name;
    }
  }

  const Run& run_;
  const Trace& trace_;
  const Knowledge& knowledge_;
  std::vector<std::string> found_;  // by sign: the first name that gives it
};

class KindFinder {
 public:
  KindFinder(const Basis& basis, const Support& support)
      : run_(basis.run),
        trace_(basis.run.trace),
        support_(support),
        signs_(basis.run),
        serves_(basis.idle.serves) {}

  RunKind Find() {
    const RunSign* framework = signs_.Framework();
    if (framework != nullptr) result_.framework = framework->rule.value;
    models_ = framework != nullptr && !framework->any_kind;
    result_.languages = signs_.Languages();
    result_.trains = !signs_.Says("training").empty();
    result_.decode = !signs_.Says("decode").empty();
    result_.prefill = !signs_.Says("prefill").empty();
    result_.serves =
        result_.decode || result_.prefill || serves_ || !signs_.Says("serving").empty();
    CountKernels();
    Decide();
    Units();
    return std::move(result_);
  }

 private:
  void CountKernels() {
    std::unordered_set<StringId> names;
    for (std::size_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] == OpKind::kGraph) {
        ++result_.launches;
        graphs_ = true;
      }
      if (trace_.ops.kind[op] != OpKind::kKernel) continue;
      if (run_.IsComm(static_cast<std::uint32_t>(op))) continue;
      ++result_.launches;
      names.insert(trace_.shapes[trace_.ops.detail[op]].name);
    }
    result_.kernels = names.size();
  }

  // Whether kernels are of layers of a model: a framework for models computes other things as well,
  // such as distances and transforms. What graphs hold may be anything.
  bool HasLayers() const {
    const ShapeSet layers = run_.names.Shapes([](const KernelClass& c) {
      return c.name == "matrix" || c.name == "convolution" || c.name == "attention" ||
             c.name == "normalization" || c.name == "softmax";
    });
    for (std::size_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] == OpKind::kKernel && layers.Has(trace_.ops.detail[op])) return true;
    }
    return graphs_;
  }

  bool Speaks(const char* language) const {
    return std::find(result_.languages.begin(), result_.languages.end(), language) !=
           result_.languages.end();
  }

  void Set(KindOfRun kind, std::string why) {
    result_.kind = kind;
    result_.why = std::move(why);
  }

  void Decide() {
    if (trace_.ops.size() == 0) return Set(KindOfRun::kNoGpu, "no GPU activity was recorded");
    if (LacksKernels(run_)) return Set(KindOfRun::kNoGpu, "no kernel was recorded");
    if (!support_.verdict && support_.start_up) {
      return Set(KindOfRun::kStartUp, "most of the idle time loads code or allocates memory");
    }
    const std::string training = signs_.Says("training");
    if (!training.empty()) return Set(KindOfRun::kTraining, "\"" + training + "\" ran");
    const bool loops = run_.steps.known();
    for (const char* sign : {"decode", "prefill", "diffusion", "serving"}) {
      const std::string name = signs_.Says(sign);
      // What serves requests once, such as one call of an engine, is a pass.
      const bool once = std::string_view(sign) == "serving" && !loops;
      if (!name.empty() && !once) return Set(KindOfRun::kInference, "\"" + name + "\" ran");
    }
    const auto few = static_cast<std::size_t>(run_.knowledge.Number("kind.few_kernels"));
    const auto many = static_cast<std::int64_t>(run_.knowledge.Number("kind.many_launches"));
    const std::string solver = signs_.Says("solver");
    if (serves_ && loops && solver.empty() && !Speaks("MPI"))
      return Set(KindOfRun::kInference, "the thread that launches receives requests");
    const bool marked = loops && run_.steps.source != "period";
    if (!graphs_ && result_.kernels > 0 && result_.kernels <= few && result_.launches < many &&
        !marked && solver.empty() && !Speaks("MPI")) {
      return Set(KindOfRun::kKernels, fmt::format("{} different kernel{} ran", result_.kernels,
                                                  result_.kernels == 1 ? "" : "s"));
    }
    const bool learns = Speaks("Python") && models_;
    const bool repeats = loops || support_.verdict;
    if (repeats && solver.empty() && learns && HasLayers()) {
      return Set(KindOfRun::kInference, "passes repeat, and no backward pass or optimizer ran");
    }
    if (repeats || (!solver.empty() && result_.launches >= many)) {
      return Set(KindOfRun::kSolver,
                 !solver.empty() ? "\"" + solver + "\" ran"
                 : result_.framework.empty()
                     ? "the same kernels repeat, and none belongs to a framework"
                     : "the same kernels repeat, and nothing shows that they are of a model");
    }
    Set(KindOfRun::kOnePass, "nothing repeats often enough to be a loop");
  }

  void Units() {
    const std::size_t steps = run_.steps.known() ? run_.steps.steady_count() : MarkedSteps(run_);
    switch (result_.kind) {
      case KindOfRun::kTraining:
        result_.unit = "step";
        result_.units = std::max<std::size_t>(1, steps);
        break;
      case KindOfRun::kInference:
        result_.unit = result_.decode                      ? "token"
                       : !signs_.Says("diffusion").empty() ? "iteration"
                       : result_.serves                    ? "request"
                                                           : "step";  // nothing asked for it
        result_.units = std::max<std::size_t>(1, steps);
        break;
      case KindOfRun::kSolver:
        result_.unit = "iteration";
        result_.units = std::max<std::size_t>(1, steps);
        break;
      case KindOfRun::kOnePass:
      case KindOfRun::kStartUp:
        result_.unit = "pass";
        result_.units = 1;
        break;
      case KindOfRun::kKernels:
        result_.unit = "launch";
        result_.units = static_cast<std::size_t>(result_.launches);
        break;
      case KindOfRun::kNoGpu:
        break;
    }
  }

  const Run& run_;
  const Trace& trace_;
  const Support& support_;
  Signs signs_;
  bool serves_;
  bool models_ = false;  // the framework is one of models
  bool graphs_ = false;  // traced as a whole: nobody knows how many kernels there are
  RunKind result_;
};

}  // namespace

const char* KindOfRunName(KindOfRun kind) {
  static constexpr std::array<const char*, 7> kNames = {
      "training", "inference", "one-pass", "solver", "kernels", "start-up", "no-gpu"};
  return kNames[static_cast<std::size_t>(kind)];
}

namespace {

bool IsStartUp(IdleCause cause) {
  return cause == IdleCause::kJitOrModuleLoad || cause == IdleCause::kAllocation;
}

// Whether repetitions that are full of loading and allocating may be the start of a run: they are
// few, and unless they are very few or soon over, it fades towards the last ones. In a loop that
// compiles or allocates it goes on as it began.
bool MayBeStartUp(const Basis& basis) {
  const Run& run = basis.run;
  const auto repetitions = static_cast<double>(run.steps.all.size());
  if (repetitions >= run.knowledge.Number("verdict.start_up_steps")) return false;
  if (repetitions < run.knowledge.Number("verdict.start_up_passes")) return true;
  const auto length = static_cast<double>(run.window.Length());
  if (length < run.knowledge.Number("verdict.start_up_time")) return true;
  const double last = run.knowledge.Number("verdict.start_up_last");
  const Nanos from = run.window.end - static_cast<Nanos>(last * length);
  Nanos all = 0;
  Nanos late = 0;
  for (const GapPiece piece : basis.idle.pieces) {
    if (!IsStartUp(piece.cause)) continue;
    all += piece.Length();
    late += std::max<Nanos>(0, piece.end - std::max(piece.start, from));
  }
  return 2 * static_cast<double>(late) < last * static_cast<double>(all);
}

// Whether the GPUs wait for allocation in the last quarter of the window at least half as long as
// in each quarter before it: then the program allocates all along, and not at its start.
bool AllocatesAllAlong(const Basis& basis) {
  constexpr Nanos kParts = 4;
  const Window& window = basis.run.window;
  const Nanos from = window.end - window.Length() / kParts;
  Nanos before = 0;
  Nanos last = 0;
  for (const GapPiece piece : basis.idle.pieces) {
    if (piece.cause != IdleCause::kAllocation) continue;
    (piece.start >= from ? last : before) += piece.Length();
  }
  return last > 0 && 2 * last * (kParts - 1) >= before;
}

// Whether the GPUs wait for allocation in the last of the steady steps as in those before: caches
// that fill up ask for less and less.
bool AllocationRecurs(const Basis& basis) {
  const Steps& steps = basis.run.steps;
  if (!steps.known()) return AllocatesAllAlong(basis);
  if (steps.steady_count() < 2) return false;
  const Step& last = steps.all.back();
  const Nanos first = steps.all[steps.first_steady].start;
  Nanos before = 0;
  Nanos in_last = 0;
  for (const GapPiece piece : basis.idle.pieces) {
    if (piece.cause != IdleCause::kAllocation || piece.start < first) continue;
    (piece.start >= last.start ? in_last : before) += piece.Length();
  }
  const auto others = static_cast<Nanos>(steps.steady_count()) - 1;
  return in_last > 0 && 2 * in_last * others >= before;
}

// Whether a program that runs no layers of a model launches the kernel that takes most of its time
// again and again, all through the window: that is its loop, however its iterations differ (boxes
// of an adaptive mesh, active sets).
bool RepeatsThroughout(const Basis& basis) {
  const Run& run = basis.run;
  constexpr std::size_t kParts = 8;
  struct Launches {
    Nanos time = 0;
    std::size_t count = 0;
    std::bitset<kParts> parts;
  };
  std::unordered_map<StringId, Launches> kernels;
  const Nanos part = run.window.Length() / static_cast<Nanos>(kParts) + 1;
  for (std::uint32_t op = 0; op < run.trace.ops.size(); ++op) {
    const bool kernel = run.trace.ops.kind[op] == OpKind::kKernel && !run.IsComm(op);
    if (!kernel || !run.InWindow(run.trace.ops.start[op])) continue;
    if (IsOfLayer(run, op)) return false;
    Launches& launches = kernels[run.trace.shapes[run.trace.ops.detail[op]].name];
    launches.time += run.trace.ops.end[op] - run.trace.ops.start[op];
    ++launches.count;
    launches.parts.set(
        static_cast<std::size_t>((run.trace.ops.start[op] - run.window.start) / part));
  }
  const auto main =
      std::max_element(kernels.begin(), kernels.end(),
                       [](const auto& a, const auto& b) { return a.second.time < b.second.time; });
  return main != kernels.end() && main->second.parts.all() &&
         static_cast<double>(main->second.count) >= run.knowledge.Number("verdict.again");
}

// Launches that anybody can count are no pass of a program; "" where there are more.
std::string WhyFewKernels(const Run& run) {
  std::size_t kernels = 0;
  for (const OpKind kind : run.trace.ops.kind) {
    if (kind == OpKind::kGraph) return "";
    kernels += kind == OpKind::kKernel ? 1 : 0;
  }
  if (kernels == 0) return "no kernel was recorded";
  if (kernels == 1) return "only one kernel launch was recorded";
  const bool many = static_cast<double>(kernels) > run.knowledge.Number("verdict.few_launches");
  return many ? "" : fmt::format("only {} kernel launches were recorded", kernels);
}

}  // namespace

Support JudgeSupport(const Basis& basis) {
  const Run& run = basis.run;
  std::size_t ops = 0;  // migrations are not launched work
  for (const std::uint32_t stream : run.trace.ops.stream) ops += stream == kNone ? 0 : 1;
  if (!run.trace.HasTimeline()) return {false, false, WhyNoTimelineIsNotEnough(run.trace)};
  if (run.trace.ops.size() == 0) return {false, false, "no GPU activity was recorded"};
  if (LacksKernels(run)) return {false, false, "no kernel was recorded"};
  const auto length = run.window.Length();
  Nanos starting = 0;
  Nanos all = 0;
  const bool recurs = AllocationRecurs(basis);
  for (const std::uint32_t d : run.active_devices) {
    const auto& idle = basis.idle.by_device[d];
    starting += idle[static_cast<std::size_t>(IdleCause::kJitOrModuleLoad)];
    if (!recurs) starting += idle[static_cast<std::size_t>(IdleCause::kAllocation)];
    all += basis.times[d].idle.Total();
  }
  const bool mostly = all > 0 && 2 * starting > all && 4 * starting > length;
  if (run.steps.known()) {
    const auto least = static_cast<Nanos>(run.knowledge.Number("verdict.min_window"));
    const Nanos steady = run.steps.all.back().end - run.steps.all[run.steps.first_steady].start;
    if (steady < least) {
      return {false, mostly,
              fmt::format("the repeated work lasts only {} in all",
                          FormatQuantity(static_cast<double>(steady), "ns"))};
    }
    const auto devices = static_cast<double>(run.active_devices.size());
    const bool starts =
        static_cast<double>(starting) >=
        run.knowledge.Number("verdict.start_up_share") * devices * static_cast<double>(length);
    if (run.steps.source == "period" && starts && MayBeStartUp(basis)) {
      return {false, mostly,
              "the capture holds mostly start-up, since code is loaded in every repetition"};
    }
    return {};
  }
  if (mostly)
    return {false, true,
            "the capture holds mostly start-up, which loads code and allocates memory"};
  if (!run.steps.why_layers.empty()) return {false, false, run.steps.why_layers};
  const bool long_enough =
      static_cast<double>(ops) >= run.knowledge.Number("verdict.min_ops") &&
      static_cast<double>(length) >= run.knowledge.Number("verdict.min_window");
  const std::size_t marked = MarkedSteps(run);
  if (marked == 1) return {false, false, "only one step was recorded"};
  if (marked == 2) return {false, false, "only two steps were recorded"};
  if (const std::string few = WhyFewKernels(run); !few.empty()) return {false, false, few};
  if (!long_enough && !RepeatsThroughout(basis))
    return {false, false,
            "only one pass was recorded, and no work repeats often enough to be a loop"};
  return {};
}

RunKind FindRunKind(const Basis& basis, const Support& support) {
  return KindFinder(basis, support).Find();
}

}  // namespace advise
