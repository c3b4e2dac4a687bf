// op.*: framework operators, and which of them waits come from; convolution.trials, checks,
// embedding.dense, one_hot and tokens.recomputed: what operators do that a program can do without;
// forward_only: passes without gradients.
#include <algorithm>
#include <map>

#include "engine/facts/declare.h"
#include "engine/metrics/kernels/cpu_operators.h"

namespace advise::facts {
namespace {

constexpr const char* kNotRecorded = "framework operators were not recorded";
constexpr const char* kNoSizes =
    "sizes of operators' tensors were not recorded (record_shapes=True)";

double StepCount(const Analysis& a) {
  return a.run.steps.known() ? static_cast<double>(a.run.steps.steady_count()) : 1;
}

// The operator that the program called for this call: of "aten::is_nonzero" > "aten::item" >
// "aten::_local_scalar_dense" the first.
std::string OperatorOfCall(const Analysis& a, std::uint32_t call) {
  const OperatorTable& operators = a.run.trace.operators;
  if (call >= a.operators.of_call.size() || a.operators.of_call[call] == kNone) return "";
  std::uint32_t row = a.operators.of_call[call];
  std::uint32_t best = row;
  constexpr int kNear = 64;  // operators that one call of a tensor method runs
  for (int tries = 0; row > 0 && tries < kNear; ++tries) {
    --row;
    if (operators.thread[row] != operators.thread[best]) break;
    if (operators.end[row] < operators.end[best]) continue;
    if (a.run.trace.strings[operators.name[row]].rfind("aten::", 0) != 0) break;
    best = row;
  }
  return a.run.trace.strings[operators.name[best]];
}

// The text that most of the calls give; "" when they give none.
template <typename Of>
std::string Commonest(const std::vector<std::uint32_t>& calls, Of of) {
  std::map<std::string, std::size_t> counts;
  for (const std::uint32_t call : calls) ++counts[of(call)];
  std::string best;
  std::size_t most = 0;
  for (const auto& [text, count] : counts) {
    if (!text.empty() && count > most) most = count, best = text;
  }
  return best;
}

void DeclareOrigins(Catalog* catalog) {
  auto& all = catalog->OfAll();
  const auto origin = [&](const char* op, const char* source, const std::string& waits,
                          Loss Syncs::*loss) {
    all.Add(op, "name", "The operator that most " + waits + " come from.",
            UnlessEmpty(
                [loss](const Analysis& a) {
                  return Commonest((a.syncs.*loss).remedy->unblocked_calls,
                                   [&](std::uint32_t call) { return OperatorOfCall(a, call); });
                },
                kNotRecorded, "operators"));
    all.Add(source, "name", "The line of the program that most " + waits + " come from.",
            UnlessEmpty(
                [loss](const Analysis& a) {
                  return Commonest((a.syncs.*loss).remedy->unblocked_calls,
                                   [&](std::uint32_t call) {
                                     return SourceOfCall(a.run.trace, a.operators, call);
                                   });
                },
                "python functions around these calls were not recorded", ""));
  };
  origin("sync.item.operator", "sync.item.source", "waits for tiny copies", &Syncs::item);
  origin("sync.forward.operator", "sync.forward.source", "waits in the forward pass",
         &Syncs::forward);
}

struct Totals {
  double count = 0;
  const OperatorStat* heavy = nullptr;  // most host time, of those that take the host longer
  Rows rows;
};

Totals FindTotals(const Analysis& a) {
  Totals totals;
  for (const OperatorStat& stat : a.operators.by_name) {
    totals.count += static_cast<double>(stat.count);
    if (totals.rows.size() < 50) {
      totals.rows.push_back({{"name", a.run.trace.strings[stat.name]},
                             {"count", static_cast<double>(stat.count)},
                             {"host", stat.host_ns},
                             {"host_self", stat.host_self_ns},
                             {"gpu", stat.gpu_ns},
                             {"gpu_self", stat.gpu_self_ns}});
    }
    if (totals.heavy == nullptr && stat.host_self_ns > stat.gpu_self_ns) totals.heavy = &stat;
  }
  return totals;
}

std::string OperatorOfTopKernel(const Analysis& a) {
  if (a.kernels.top.empty()) return "";
  for (const KernelShape& shape : a.run.trace.shapes) {
    if (a.run.trace.strings[shape.name] != a.kernels.top.front().name) continue;
    if (shape.name >= a.operators.main_of_kernel.size()) return "";
    return a.run.trace.strings[a.operators.main_of_kernel[shape.name]];
  }
  return "";
}

bool Recorded(const Analysis& a) { return a.run.trace.operators.size() > 0; }

void DeclareCpuOperator(Catalog* catalog) {
  catalog->OfAll().Add(
      "op.of_cpu", "name",
      "The operator of a CPU library (oneDNN, MKL) that takes most time; absent when the trace has "
      "none, or work on a GPU.",
      UnlessEmpty(
          [](const Analysis& a) {
            return a.run.active_devices.empty() ? FindCpuOperator(a.run).name : "";
          },
          "no operator of a CPU library was recorded without work on a GPU", ""));
}

void DeclareOperatorTotals(Catalog* catalog) {
  auto& totals = catalog->Of(FindTotals);
  totals.Needs(Recorded, kNotRecorded, "operators");
  totals.Add("op.per_step", "count", "Operators per step, nested ones included.",
             [](const Totals& t, const Analysis& a) { return t.count / StepCount(a); });
  totals.Add("op.top", "rows",
             "Operators by their own host time: name, count, host (with operators inside), "
             "host_self, gpu and gpu_self (time of what was launched inside).",
             &Totals::rows);
  totals.Add("op.host_heavy", "name",
             "The operator with the most own host time among those that take the host longer than "
             "the GPU.",
             [](const Totals& t, const Analysis& a) -> Value {
               if (t.heavy == nullptr) {
                 return Absent{"every operator takes the GPU longer than the host", ""};
               }
               return std::string(a.run.trace.strings[t.heavy->name]);
             });
  totals.Add("op.host_heavy_time", "ns",
             "Own host time of the operator op.host_heavy, summed over the window.",
             [](const Totals& t) { return t.heavy == nullptr ? 0 : t.heavy->host_self_ns; });
  catalog->OfAll()
      .Needs(Recorded, kNotRecorded, "operators")
      .Add("op.of_top_kernel", "name", "The operator that launches the kernel with most time.",
           UnlessEmpty(OperatorOfTopKernel, "no operator launched the kernel with most time", ""));
}

// By family of kb/families.toml.
using FamilyStats = std::vector<OperatorStat>;

FamilyStats FindFamilyStats(const Analysis& a) {
  const Knowledge& knowledge = a.run.knowledge;
  FamilyStats stats(knowledge.families(FamilyKind::kOperator).size());
  for (const OperatorStat& stat : a.operators.by_name) {
    for (const std::size_t family :
         knowledge.FamiliesOf(FamilyKind::kOperator, a.run.trace.strings[stat.name])) {
      stats[family].count += stat.count;
      stats[family].host_ns += stat.host_ns;
      stats[family].gpu_ns += stat.gpu_ns;
    }
  }
  return stats;
}

void DeclareFamilies(const Knowledge& knowledge, Catalog* catalog) {
  auto& subject = catalog->Of(FindFamilyStats);
  subject.Needs(Recorded, kNotRecorded, "operators");
  const std::vector<NameFamily>& families = knowledge.families(FamilyKind::kOperator);
  for (std::size_t i = 0; i < families.size(); ++i) {
    const std::string& things = families[i].things;
    if (things.empty()) continue;
    const std::string group =
        std::string(FactGroupOf(FamilyKind::kOperator)) + "." + families[i].name;
    subject.Add(group + ".count", "count", "Number of " + things + ".",
                [i](const FamilyStats& stats) { return stats[i].count; });
    subject.Add(group + ".per_step", "count", "Number of " + things + ", per step.",
                [i](const FamilyStats& stats, const Analysis& a) {
                  return static_cast<double>(stats[i].count) / StepCount(a);
                });
    subject.Add(group + ".host", "ns", "Summed host time of " + things + ".",
                [i](const FamilyStats& stats) { return stats[i].host_ns; });
    subject.Add(group + ".gpu", "ns", "Summed GPU time of work launched by " + things + ".",
                [i](const FamilyStats& stats) { return stats[i].gpu_ns; });
  }
}

// What operators do that a program can do without.
void DeclareOperatorLosses(Catalog* catalog) {
  auto& trials = catalog->Of(&Analysis::algorithm_trials);
  trials.AddLoss(
      "convolution.trials", kOfCalls,
      {"convolutions of the steady loop that try algorithms out, one after the other",
       "Time of the trials of algorithms on the GPU, and idle time while they are prepared and "
       "timed.",
       "Convolutions try no algorithms out."},
      &AlgorithmTrials::loss);
  trials.Add("convolution.trials.tried", "count",
             "Algorithms that such a convolution tries, on average.", &AlgorithmTrials::mean);
  auto& checks = catalog->Of(&Analysis::value_checks);
  checks.AddLoss(
      "checks", kOfCalls,
      {"checks for wrong values: kernels by name, or operators that test a tensor for NaN "
       "or infinity and reduce the answer",
       "Time of kernels that check for wrong values, and idle time while the host does.",
       "There are no checks for wrong values."},
      &ValueChecks::loss);
  checks.Add("checks.reads", "count", "Checks whose answer the host reads, per step.",
             &ValueChecks::reads);
  checks.Add("checks.anomaly_mode", "flag",
             "Whether the anomaly mode of autograd makes most of the checks.",
             &ValueChecks::anomaly_mode);
  checks.Add("checks.stack_traces", "ns",
             "Summed host time of the stack traces that the anomaly mode of autograd keeps.",
             &ValueChecks::stack_traces_ns);
  catalog->OfAll().Add(
      "checks.where", "name",
      "The Python function of the program's own files that makes most of the checks.",
      UnlessEmpty(
          [](const Analysis& a) {
            std::vector<std::uint32_t> calls;
            for (const auto& [op, left] : a.value_checks.loss.remedy->scaled_ops) {
              const std::uint32_t call = a.run.trace.ops.call[op];
              if (call != kNone) calls.push_back(call);
            }
            return Commonest(calls, [&](std::uint32_t call) {
              return SourceOfCall(a.run.trace, a.operators, call);
            });
          },
          "python functions around these calls were not recorded", ""));
  auto& breaks = catalog->Of(&Analysis::graph_breaks);
  breaks.AddLoss("compile.breaks", kPerStep | kChange,
                 {"times between two pieces of a step that torch.compile compiled apart",
                  "Idle time for which the launching thread is responsible between such pieces.",
                  "The compiled pieces follow each other without Python between them."},
                 &GraphBreaks::loss);
  breaks.Add("compile.breaks.pieces", "count",
             "Pieces that torch.compile compiled apart and that ran in the steps.",
             &GraphBreaks::pieces);
  auto& dense = catalog->Of(&Analysis::dense_gradients);
  dense.Needs([](const Analysis& a) { return a.dense_gradients.recorded; }, kNoSizes, "shapes");
  dense.AddLoss(
      "embedding.dense", kOfCalls,
      {"backward passes that make a dense gradient of a table of which few rows were looked up",
       "Time of passes over whole tables for dense gradients of few rows, and idle time while the "
       "host launches them.",
       "Gradients of tables hold only the rows that were looked up."},
      &DenseGradients::loss);
  dense.Add("embedding.dense.rows", "count", "Rows of the largest such table.",
            &DenseGradients::rows);
  dense.Add("embedding.dense.lookups", "count",
            "Rows of the largest such table that one backward pass adds to, at most.",
            &DenseGradients::lookups);
}

// What operators do for a second time, or could look up, by their sizes.
void DeclareSizedLosses(Catalog* catalog) {
  auto& one_hot = catalog->Of(&Analysis::one_hot);
  one_hot.Needs([](const Analysis& a) { return a.one_hot.recorded; }, kNoSizes, "shapes");
  one_hot.AddLoss(
      "one_hot", kOfCalls,
      {"products whose first operand is a one-hot matrix that was just made",
       "Time in which one-hot matrices are cleared, filled and cast, and multiplied for longer "
       "than looking rows up would take.",
       "Rows are looked up, and no one-hot matrix is made."},
      &OneHotProducts::loss);
  one_hot.Add("one_hot.rows", "count", "Rows of the largest one-hot matrix: look-ups.",
              &OneHotProducts::rows);
  one_hot.Add("one_hot.classes", "count",
              "Columns of the largest one-hot matrix: rows that a look-up chooses from.",
              &OneHotProducts::classes);
  auto& gathered = catalog->Of(&Analysis::gathered);
  gathered.Needs([](const Analysis& a) { return a.gathered.recorded; }, kNoSizes, "shapes");
  gathered.AddLoss("moe.gathered", kOfCalls,
                   {"gathers that copy a matrix for each row of the products behind them",
                    "Time of gathers that copy matrices more than once, and of products of one "
                    "row each for as long as they read more than each matrix once.",
                    "Each matrix is read once where it lies, for all of its rows."},
                   &GatheredProducts::loss);
  gathered.Add("moe.gathered.copies", "count",
               "Copies of matrices that the largest such gather makes.", &GatheredProducts::copies);
  gathered.Add("moe.gathered.matrices", "count", "Matrices that it chooses from.",
               &GatheredProducts::matrices);
  auto& tokens = catalog->Of(&Analysis::recomputed);
  tokens.Needs([](const Analysis& a) { return a.recomputed.recorded; }, kNoSizes, "shapes");
  tokens.AddLoss(
      "tokens.recomputed", kOfCalls,
      {"passes of a generation over sequences that grow by a few tokens, all of which are computed "
       "again",
       "Time of such passes beyond what their new tokens need, with keys and values kept.",
       "Passes compute their new tokens alone, and read keys and values of the others."},
      &RecomputedTokens::loss);
  tokens.Add("tokens.recomputed.length", "count", "Tokens of a sequence in the longest such pass.",
             &RecomputedTokens::tokens);
  tokens.Add("tokens.recomputed.added", "count",
             "Tokens of a sequence that are new in the longest such pass.",
             &RecomputedTokens::added);
}

// The forward pass of training: without gradients, and computed again for them.
void DeclareForwardPasses(Catalog* catalog) {
  auto& again = catalog->Of(&Analysis::recomputed_forward);
  again.Needs([](const Analysis& a) { return a.recomputed_forward.known; },
              "neither operators nor ranges of the forward pass were recorded", "nvtx");
  again.AddLoss(
      "activations.recomputed", kCount | kPerStep | kLost | kRemedy,
      {"stretches of the forward pass that run again inside the backward pass",
       "Time of work of the forward pass inside the backward pass: of its operators, where they "
       "were "
       "recorded, with idle time while the host launches it; else of kernels in the order of the "
       "forward pass.",
       "Activations are kept, and the forward pass runs once."},
      &RecomputedForward::loss);
  again.Add(
      "activations.recomputed.bytes", "bytes",
      "What the operators that run again read, per step: an estimate of what keeping their "
      "activations takes. Without operators, what their kernels other than products can move.",
      UnlessNegative(&RecomputedForward::bytes, kNoSizes, "shapes"));
  auto& forward = catalog->Of(&Analysis::forward_only);
  forward.Needs(Recorded, kNotRecorded, "operators");
  forward.AddLoss("forward_only", kCount | kPerStep | kLost,
                  {"forward passes of training that autograd does not record",
                   "Time of forward passes that no backward pass follows, from the start of their "
                   "first product to the end of their last.",
                   ""},
                  &ForwardOnly::loss);
  forward.Add("forward_only.same_layers", "share",
              "Part of the time of products in such passes whose weights have the sizes of weights "
              "that are trained.",
              UnlessNegative(&ForwardOnly::same_layers,
                             "sizes of weights were not recorded (record_shapes=True)", "shapes"));
}

}  // namespace

void DeclareOperatorFacts(const Knowledge& knowledge, Catalog* catalog) {
  DeclareOrigins(catalog);
  DeclareOperatorTotals(catalog);
  DeclareCpuOperator(catalog);
  DeclareFamilies(knowledge, catalog);
  DeclareOperatorLosses(catalog);
  DeclareSizedLosses(catalog);
  DeclareForwardPasses(catalog);
}

}  // namespace advise::facts
