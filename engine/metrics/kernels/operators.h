// Framework operators, where the format records them: what each costs the host and the GPU, and
// which one a piece of GPU work belongs to.
#pragma once

#include <string>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

// All operators of one name in the window. Sums; nested operators of the same name count once in
// totals.
struct OperatorStat {
  StringId name = 0;
  std::int64_t count = 0;
  double host_ns = 0;       // on its thread, with what it calls
  double host_self_ns = 0;  // without the operators inside it
  double gpu_ns = 0;        // of the work launched inside it, with operators inside it
  double gpu_self_ns = 0;   // of the work that it launches itself
  std::int64_t launches = 0;
};

struct Operators {
  std::vector<OperatorStat> by_name;         // most host time by itself first
  std::vector<std::uint32_t> of_call;        // call -> its innermost operator, kNone; may be empty
  std::vector<StringId> main_of_kernel;      // kernel name -> the operator that launches most of it
  std::vector<std::uint32_t> frame_of_call;  // call -> innermost python frame, kNone; may be empty
  const OperatorStat* Find(const Trace& trace, std::string_view name) const;
};

// O((operators + calls) log nesting).
Operators FindOperators(const Basis& basis);

// The innermost python function of the user's own files around the call, "train.py(62): main"; ""
// when frames were not recorded.
std::string SourceOfCall(const Trace& trace, const Operators& operators, std::uint32_t call);

}  // namespace advise
