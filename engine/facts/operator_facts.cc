// Facts of framework operators: the list and the values.
#include <algorithm>
#include <map>

#include "engine/facts/fact_writer.h"
#include "engine/metrics/analysis.h"

namespace advise::facts {
namespace {

constexpr const char* kNotRecorded = "framework operators were not recorded";

double Steps(const Analysis& a) {
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

Row RowOf(const Analysis& a, const OperatorStat& stat) {
  return {{"name", a.run.trace.strings[stat.name]},
          {"count", static_cast<double>(stat.count)},
          {"host", stat.host_ns},
          {"host_self", stat.host_self_ns},
          {"gpu", stat.gpu_ns},
          {"gpu_self", stat.gpu_self_ns}};
}

void Count(const Analysis& a, const std::string& fact, std::initializer_list<const char*> names,
           FactWriter* w) {
  double count = 0;
  double host = 0;
  double gpu = 0;
  for (const char* name : names) {
    const OperatorStat* stat = a.operators.Find(a.run.trace, name);
    if (stat == nullptr) continue;
    count += static_cast<double>(stat->count);
    host += stat->host_ns;
    gpu += stat->gpu_ns;
  }
  w->Number(fact + ".count", count);
  w->Number(fact + ".per_step", count / Steps(a));
  w->Number(fact + ".host", host);
  w->Number(fact + ".gpu", gpu);
}

}  // namespace

std::vector<FactInfo> OperatorFactList() {
  return {
      {"op.count", "count", "Framework operators in the window; absent when none were recorded."},
      {"op.per_step", "count", "Operators a step, nested ones included."},
      {"op.top", "rows",
       "Operators by host time of their own: name, count, host (with operators inside), host_self, "
       "gpu and gpu_self (time of what was launched inside)."},
      {"op.host_heavy", "name",
       "The operator with most host time of its own among those that take the host longer than the "
       "GPU."},
      {"op.host_heavy_time", "ns", "Its host time of its own, summed over the window."},
      {"op.gpu_top", "name", "The operator that itself launches most GPU time."},
      {"op.gpu_top_share", "share", "Its part of the GPU time that operators launch."},
      {"op.of_top_kernel", "name", "The operator that launches the kernel with most time."},
      {"op.copy.count", "count", "Calls of aten::copy_."},
      {"op.copy.per_step", "count", "How many a step."},
      {"op.copy.host", "ns", "Their host time, summed."},
      {"op.copy.gpu", "ns", "GPU time of what they launched, summed."},
      {"op.cast.count", "count", "Calls of aten::_to_copy: a tensor was cast or moved."},
      {"op.cast.per_step", "count", "How many a step."},
      {"op.cast.host", "ns", "Their host time, summed."},
      {"op.cast.gpu", "ns", "GPU time of what they launched, summed."},
      {"op.item.count", "count", "Calls of aten::_local_scalar_dense: a value was read."},
      {"op.item.per_step", "count", "How many a step."},
      {"op.item.host", "ns", "Their host time, summed."},
      {"op.item.gpu", "ns", "GPU time of what they launched, summed."},
      {"sync.item.operator", "name", "The operator that most waits for tiny copies come from."},
      {"sync.item.source", "name", "The line of the program that most of them come from."},
      {"sync.forward.operator", "name",
       "The operator that most waits in the forward pass come from."},
      {"sync.forward.source", "name", "The line of the program that most of them come from."},
  };
}

void WriteOperatorFacts(const Analysis& a, FactWriter* w) {
  const Trace& trace = a.run.trace;
  const auto text = [w](const char* name, std::string value, const char* reason,
                        const char* needs) {
    if (value.empty()) {
      w->Missing(name, reason, needs);
    } else {
      w->Text(name, std::move(value));
    }
  };
  const char* const kNoSource = "python functions around these calls were not recorded";
  for (const auto& [group, loss] : {std::pair<std::string, const Loss*>{"sync.item", &a.syncs.item},
                                    {"sync.forward", &a.syncs.forward}}) {
    const std::vector<std::uint32_t>& calls = loss->remedy->unblocked_calls;
    text((group + ".operator").c_str(),
         Commonest(calls, [&](std::uint32_t call) { return OperatorOfCall(a, call); }),
         kNotRecorded, "");
    text((group + ".source").c_str(),
         Commonest(calls,
                   [&](std::uint32_t call) { return SourceOfCall(trace, a.operators, call); }),
         kNoSource, "");
  }
  if (trace.operators.size() == 0) {
    for (const FactInfo& info : OperatorFactList()) {
      if (info.name.rfind("op.", 0) == 0) w->Missing(info.name, kNotRecorded, "");
    }
    return;
  }
  double count = 0;
  double gpu_all = 0;
  const OperatorStat* heavy = nullptr;
  const OperatorStat* busiest = nullptr;
  Rows rows;
  for (const OperatorStat& stat : a.operators.by_name) {
    count += static_cast<double>(stat.count);
    gpu_all += stat.gpu_self_ns;
    if (rows.size() < 50) rows.push_back(RowOf(a, stat));
    if (heavy == nullptr && stat.host_self_ns > stat.gpu_self_ns) heavy = &stat;
    if (busiest == nullptr || stat.gpu_self_ns > busiest->gpu_self_ns) busiest = &stat;
  }
  w->Number("op.count", count);
  w->Number("op.per_step", count / Steps(a));
  w->Table("op.top", std::move(rows));
  text("op.host_heavy", heavy == nullptr ? "" : trace.strings[heavy->name],
       "every operator takes the GPU longer than the host", "");
  w->Number("op.host_heavy_time", heavy == nullptr ? 0 : heavy->host_self_ns);
  const bool launches = busiest != nullptr && busiest->gpu_self_ns > 0;
  text("op.gpu_top", launches ? trace.strings[busiest->name] : "",
       "no operator launched GPU work in the window", "");
  w->Number("op.gpu_top_share", launches ? busiest->gpu_self_ns / gpu_all : 0);
  std::string hot;
  if (!a.kernels.top.empty()) {
    for (const KernelShape& shape : trace.shapes) {
      if (trace.strings[shape.name] != a.kernels.top.front().name) continue;
      if (shape.name < a.operators.main_of_kernel.size()) {
        hot = trace.strings[a.operators.main_of_kernel[shape.name]];
      }
      break;
    }
  }
  text("op.of_top_kernel", hot, "no operator launched the kernel with most time", "");
  Count(a, "op.copy", {"aten::copy_"}, w);
  Count(a, "op.cast", {"aten::_to_copy"}, w);
  Count(a, "op.item", {"aten::_local_scalar_dense"}, w);
}

}  // namespace advise::facts
