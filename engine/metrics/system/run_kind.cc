#include "engine/metrics/system/run_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_set>

#include "engine/base/is_in.h"
#include "engine/base/median.h"
#include "engine/base/text.h"
#include "engine/metrics/losses/loss.h"
#include "engine/metrics/system/run_signs.h"
#include "engine/timeline/rests.h"
#include "engine/timeline/step.h"

namespace advise {
namespace {

// PyTorch's class in "Optimizer.step#Adagrad.step"; "" where no range names one, or several do.
std::string OnlyOptimizer(const Trace& trace) {
  constexpr std::string_view kBefore = "Optimizer.step#";
  constexpr std::string_view kAfter = ".step";
  std::string only;
  for (StringId id = 0; id < trace.strings.size(); ++id) {
    const std::string& name = trace.strings[id];
    if (!name.starts_with(kBefore) || !name.ends_with(kAfter)) continue;
    const std::string one =
        name.substr(kBefore.size(), name.size() - kBefore.size() - kAfter.size());
    if (!only.empty() && only != one) return "";
    only = one;
  }
  return only;
}

class KindFinder : Finder {
 public:
  KindFinder(const Basis& basis, const Support& support)
      : Finder(basis), support_(support), signs_(basis.run), serves_(basis.idle.serves) {}

  RunKind Find() {
    const RunSign* framework = signs_.Framework();
    if (framework != nullptr) result_.framework = framework->rule.value;
    models_ = framework != nullptr && !framework->any_kind;
    if (ReadsPictures()) signs_.ForgetFromRanges("decode");
    // A solver may call its steps what those of a model are called.
    if (!run_.names.MayLearn() && !serves_) signs_.ForgetModels();
    result_.languages = signs_.Languages();
    result_.optimizer = OnlyOptimizer(trace_);
    result_.trains = !signs_.Says("training").empty();
    result_.decode = !signs_.Says("decode").empty();
    result_.prefill = !signs_.Says("prefill").empty();
    result_.serves =
        result_.decode || result_.prefill || serves_ || !signs_.Says("serving").empty();
    CountKernels();
    Decide();
    FindPauses();
    result_.request_waits = FindRequestWaits();
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

  // Whether convolutions take more time than products, and nothing attends: what such a program
  // decodes are pictures, not tokens.
  bool ReadsPictures() const {
    const auto shapes = [this](std::string_view name) {
      return run_.names.Shapes([name](const KernelClass& c) { return c.name == name; });
    };
    const ShapeSet convolutions = shapes("convolution");
    const ShapeSet products = shapes("matrix");
    const ShapeSet attention = shapes("attention");
    Nanos convolving = 0;
    Nanos multiplying = 0;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] == OpKind::kGraph) return false;
      if (trace_.ops.kind[op] != OpKind::kKernel) continue;
      const std::uint32_t shape = trace_.ops.detail[op];
      if (attention.Has(shape)) return false;
      if (convolutions.Has(shape)) convolving += Length(op);
      if (products.Has(shape)) multiplying += Length(op);
    }
    return convolving > multiplying;
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

  // When other threads than those that launch worked, of which a rest would have shown.
  IntervalSet OthersAtWork() const {
    std::vector<Interval> at_work;
    for (std::uint32_t t = 0; t < trace_.threads.size(); ++t) {
      if (std::binary_search(run_.launching_threads.begin(), run_.launching_threads.end(), t))
        continue;
      const Rests rests = RestsOf(run_, t);
      if (!rests.Recorded() || rests.waits.OverlapWith(run_.window.start, run_.window.end) == 0)
        continue;
      const IntervalSet works = rests.AtWork(rests.last);
      at_work.insert(at_work.end(), works.intervals().begin(), works.intervals().end());
    }
    return IntervalSet::Of(std::move(at_work));
  }

  // Whether most of what launching threads wait in the OS is beside no work of others. MPI waits
  // for ranks, which other reports show.
  bool WaitsForNobodySeen() const {
    if (trace_.mpi.size() > 0) return false;
    const IntervalSet others = OthersAtWork();
    const double enough = Number("input.awaited_share");
    Nanos all = 0;
    Nanos alone = 0;
    for (const GapPiece piece : basis_.idle.pieces) {
      if (piece.cause != IdleCause::kHostWait || piece.activity != Activity::kOsWait) continue;
      const Nanos length = piece.end - piece.start;
      const Nanos beside = others.OverlapWith(piece.start, piece.end);
      all += length;
      if (static_cast<double>(beside) < enough * static_cast<double>(length)) alone += length;
    }
    return 2 * alone > all;
  }

  // Steps with a long pause for code of the host in a gap before an upload: how many, and how long.
  void FindPauses() {
    const Steps& steps = run_.steps;
    if (!steps.known()) return;
    std::vector<Nanos> longest(steps.all.size(), 0);
    for (const GapPiece piece : basis_.idle.pieces) {
      if (piece.cause != IdleCause::kHostCompute || piece.activity != Activity::kCode) continue;
      const std::uint32_t op = basis_.idle.gaps[piece.gap].op;
      const std::uint32_t step = steps.At(piece.start);
      if (op == kNone || step == kNone || step < steps.first_steady || !IsOfHost(op)) continue;
      if (trace_.DirectionOfCopy(op) != CopyDirection::kHostToDevice) continue;
      longest[step] = std::max(longest[step], piece.Length());
    }
    std::erase_if(longest, [&](Nanos pause) { return pause < Time("launch.long_gap"); });
    in_most_steps_ = 2 * longest.size() > steps.steady_count();
    if (longest.size() < CountOf("step.uneven_count")) return;
    constexpr double kQuarter = 0.25;
    const auto shorter = static_cast<double>(Quantile(longest, kQuarter));
    result_.uneven_pauses =
        static_cast<double>(Quantile(std::move(longest), 1 - kQuarter)) / shorter;
  }

  // What takes in data each time, when that comes, and neither learns nor exchanges messages.
  bool MayServe() const {
    return in_most_steps_ && !result_.trains && !Speaks("MPI") && signs_.Says("solver").empty() &&
           result_.uneven_pauses >= Number("input.uneven_requests");
  }

  RequestWaits FindRequestWaits() const {
    if (trace_.os_calls.size() == 0 && MayServe()) return RequestWaits::kAsCode;
    if (result_.kind != KindOfRun::kInference) return RequestWaits::kNone;
    if (trace_.os_calls.size() == 0) return RequestWaits::kAsCode;
    return !serves_ && WaitsForNobodySeen() ? RequestWaits::kAsWait : RequestWaits::kSeen;
  }

  bool Speaks(const char* language) const { return IsIn(language, result_.languages); }

  void Set(KindOfRun kind, std::string why) {
    result_.kind = kind;
    result_.why = std::move(why);
  }

  void Decide() {
    if (trace_.ops.size() == 0) return Set(KindOfRun::kNoGpu, "no GPU activity was recorded");
    if (LacksKernels(run_)) return Set(KindOfRun::kNoGpu, support_.reason);
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
    const auto few = CountOf("kind.few_kernels");
    const auto many = static_cast<std::int64_t>(Number("kind.many_launches"));
    const std::string solver = signs_.Says("solver");
    if (serves_ && loops && solver.empty() && !Speaks("MPI"))
      return Set(KindOfRun::kInference, "the thread that launches receives requests");
    // Nobody writes directives to time a kernel.
    const bool marked =
        loops && (run_.steps.source != "period" || Speaks("OpenACC") || Speaks("OpenMP"));
    if (!graphs_ && result_.kernels > 0 && result_.kernels <= few && result_.launches < many &&
        !marked && solver.empty() && !Speaks("MPI")) {
      return Set(KindOfRun::kKernels,
                 fmt::format("{} kernel{} ran, counted by name", result_.kernels,
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

  // Whether ranges that are called steps, iterations or batches tell the steps.
  bool NamesSteps() const {
    const std::vector<StringId>& names = trace_.ranges.name;
    return run_.steps.known() && run_.steps.source != "period" &&
           std::any_of(names.begin(), names.end(),
                       [this](StringId name) { return run_.names.IsStepRange(name); });
  }

  // Whether most steps read prompts, be it beside others that generate: such a step is for many
  // tokens.
  bool ReadsPrompts() const {
    if (!result_.prefill || !run_.steps.known()) return false;
    const auto says = [&](const char* in, StringId name, std::uint32_t blocks_wide = 0) {
      const std::vector<std::size_t> signs = run_.knowledge.RunSignsOf(in, trace_.strings[name]);
      return std::any_of(signs.begin(), signs.end(), [&](std::size_t sign) {
        const RunSign& found = run_.knowledge.run_signs()[sign];
        return found.about == RunSign::About::kKind && found.rule.value == "prefill" &&
               found.Fits(blocks_wide);
      });
    };
    std::vector<std::uint8_t> reads(trace_.shapes.size(), 0);
    for (std::size_t shape = 0; shape < reads.size(); ++shape)
      reads[shape] =
          says("kernel", trace_.shapes[shape].name, trace_.shapes[shape].grid[0]) ? 1 : 0;
    std::set<std::uint32_t> steps;
    for (const std::uint32_t op : run_.OpsInWindow()) {
      if (trace_.ops.kind[op] == OpKind::kKernel && reads[trace_.ops.detail[op]] != 0)
        steps.insert(StepOf(run_, op));
    }
    std::map<StringId, bool> of_name;
    for (std::size_t range = 0; range < trace_.ranges.size(); ++range) {
      const StringId name = trace_.ranges.name[range];
      const auto [at, is_new] = of_name.try_emplace(name, false);
      if (is_new) at->second = says("range", name);
      if (at->second) steps.insert(run_.steps.At(trace_.ranges.start[range]));
    }
    steps.erase(kNone);
    return static_cast<double>(steps.size()) >=
           Number("kind.reading_steps") * static_cast<double>(run_.steps.steady_count());
  }

  void Units() {
    // Steps that are marked outside of a part that was asked for are none of its own.
    const bool whole = run_.window.mode != "given";
    const std::size_t steps = run_.steps.known() ? run_.steps.steady_count()
                              : whole            ? FindMarkedSteps(run_).count
                                                 : 0;
    switch (result_.kind) {
      case KindOfRun::kTraining:
        result_.unit = "step";
        result_.units = std::max<std::size_t>(1, steps);
        break;
      case KindOfRun::kInference:
        result_.unit = result_.decode && !ReadsPrompts()   ? "token"
                       : !signs_.Says("diffusion").empty() ? "iteration"
                       // Nobody asks for a step; what names its steps counts them. Engines that
                       // batch work on many requests in each.
                       : result_.serves && !NamesSteps() && signs_.Says("batching").empty()
                           ? "request"
                           : "step";
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

  const Support& support_;
  RunSigns signs_;
  bool serves_;
  bool models_ = false;         // the framework is one of models
  bool in_most_steps_ = false;  // the host pauses for long before an upload
  bool graphs_ = false;         // traced as a whole: nobody knows how many kernels there are
  RunKind result_;
};

}  // namespace

const char* KindOfRunName(KindOfRun kind) {
  static constexpr std::array<const char*, 7> kNames = {
      "training", "inference", "one-pass", "solver", "kernels", "start-up", "no-gpu"};
  return kNames[static_cast<std::size_t>(kind)];
}

const char* RequestWaitsName(RequestWaits waits) {
  static constexpr std::array<const char*, 4> kNames = {"none", "seen", "as-code", "as-wait"};
  return kNames[static_cast<std::size_t>(waits)];
}

RunKind FindRunKind(const Basis& basis, const Support& support) {
  return KindFinder(basis, support).Find();
}

}  // namespace advise
