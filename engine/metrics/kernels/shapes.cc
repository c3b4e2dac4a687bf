#include "engine/metrics/kernels/shapes.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/metrics/analysis.h"
#include "engine/metrics/kernels/shape_work.h"

namespace advise {
namespace {

// One call of an operator with known inputs.
struct Instance {
  std::uint32_t row = kNone;
  std::uint32_t outer = kNone;  // the instance around it
  bool has_inner = false;       // an instance inside it did the work
  bool fewer = false;           // a kernel does fewer operations than the sizes say
  Nanos first = 0;              // start of its first kernel
  double time_ns = 0;
  double covered_ns = 0;                        // in kernels of classes that do such work
  double tensor_ns = 0;                         // in kernels that are known to use tensor cores
  double plain_ns = 0;                          // in kernels that are known not to
  double longest_ns = 0;                        // of one kernel
  StringId kernel = 0;                          // its name
  ElementType longest = ElementType::kUnknown;  // the precision that its name tells
};

// Peaks of one element type, 0 unknown.
struct Peaks {
  double plain = 0;
  double tensor = 0;
};

class ShapeFinder {
 public:
  ShapeFinder(const Basis& basis, const Hardware& hardware)
      : basis_(basis),
        run_(basis.run),
        trace_(basis.run.trace),
        hardware_(hardware),
        operators_(trace_.operators.inputs.empty() ? trace_.ranges : trace_.operators),
        tolerance_(run_.knowledge.Number("roofline.peak_tolerance")),
        near_(run_.knowledge.Number("roofline.near_limit")) {}

  ShapeRows Find() {
    result_.recorded = !operators_.inputs.empty();
    if (!result_.recorded) return std::move(result_);
    const std::vector<RowRange> rows = RowsByThread(operators_.thread, trace_.threads.size());
    instance_of_call_.assign(trace_.calls.size(), kNone);
    for (std::uint32_t t = 0; t < rows.size(); ++t) Thread(rows[t], run_.calls_of_thread[t]);
    Kernels();
    Group();
    return std::move(result_);
  }

 private:
  enum class Name : std::uint8_t { kUnread, kOther, kOperator, kKnown };

  // Ranges that the program opened itself are no operators.
  Name Kind(StringId name) {
    if (names_.empty()) names_.assign(trace_.strings.size(), Name::kUnread);
    Name& kind = names_[name];
    if (kind == Name::kUnread) {
      const std::string& text = trace_.strings[name];
      const bool is_operator =
          &operators_ == &trace_.operators || text.find("::") != std::string::npos;
      kind = !is_operator ? Name::kOther : HasShapeWork(text) ? Name::kKnown : Name::kOperator;
    }
    return kind;
  }

  // Who launches: the innermost operator around each call.
  void Thread(RowRange rows, RowRange calls) {
    struct Open {
      Nanos end;
      std::uint32_t instance;  // kNone for an operator whose work is not known
      std::uint32_t around;    // the innermost instance, itself included
    };
    std::vector<Open> open;
    const auto close_until = [&](Nanos time) {
      while (!open.empty() && open.back().end <= time) open.pop_back();
    };
    std::uint32_t call = calls.first;
    const auto calls_until = [&](Nanos time) {
      for (; call < calls.last && trace_.calls.start[call] < time; ++call) {
        close_until(trace_.calls.start[call]);
        if (!open.empty()) instance_of_call_[call] = open.back().instance;
      }
    };
    for (std::uint32_t row = rows.first; row < rows.last; ++row) {
      const Name kind = Kind(operators_.name[row]);
      if (kind == Name::kOther) continue;
      calls_until(operators_.start[row]);
      close_until(operators_.start[row]);
      const std::uint32_t around = open.empty() ? kNone : open.back().around;
      if (kind == Name::kKnown && operators_.inputs[row] != kNone) {
        const auto number = static_cast<std::uint32_t>(instances_.size());
        instances_.push_back({.row = row, .outer = around});
        open.push_back({operators_.end[row], number, number});
      } else {
        open.push_back({operators_.end[row], kNone, around});
      }
    }
    for (; call < calls.last; ++call) {
      close_until(trace_.calls.start[call]);
      if (open.empty()) break;
      instance_of_call_[call] = open.back().instance;
    }
  }

  void Kernels() {
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] != OpKind::kKernel) continue;
      const auto length = static_cast<double>(trace_.ops.end[op] - trace_.ops.start[op]);
      const KernelClass& kernel = run_.names.Kernel(trace_.ops.detail[op]);
      const bool expected =
          kernel.name == "matrix" || kernel.name == "convolution" || kernel.name == "attention";
      if (basis_.InWindow(trace_.ops.start[op])) {
        result_.kernel_ns += length;
        if (expected) expected_ns_ += length;
      }
      const std::uint32_t call = trace_.ops.call[op];
      if (call == kNone || instance_of_call_[call] == kNone || trace_.ops.in_graph[op] != 0) {
        continue;
      }
      Instance& instance = instances_[instance_of_call_[call]];
      if (instance.time_ns == 0) instance.first = trace_.ops.start[op];
      instance.time_ns += length;
      if (expected) instance.covered_ns += length;
      if (kernel.tensor_core == 1) instance.tensor_ns += length;
      if (kernel.tensor_core == 0) instance.plain_ns += length;
      instance.fewer = instance.fewer || kernel.Has("fewer-operations");
      if (length > instance.longest_ns) {
        instance.longest_ns = length;
        instance.longest = TypeNamed(kernel.precision);
        instance.kernel = trace_.shapes[trace_.ops.detail[op]].name;
      }
    }
    // Outer instances come before inner ones.
    for (auto inner = instances_.rbegin(); inner != instances_.rend(); ++inner) {
      if ((inner->time_ns > 0 || inner->has_inner) && inner->outer != kNone) {
        instances_[inner->outer].has_inner = true;
      }
    }
  }

  struct Sum {
    ShapeRow row;
    ElementType type = ElementType::kUnknown;
    double tensor_ns = 0, plain_ns = 0, covered_ns = 0;
    std::map<StringId, double> kernels;  // time of calls, by their longest kernel
  };

  void Group() {
    using Given = std::tuple<StringId, std::uint32_t, ElementType>;  // what tells the work
    std::map<Given, std::optional<ShapeWork>> works;
    std::map<std::tuple<std::string, std::string, std::string>, Sum> sums;
    for (const Instance& instance : instances_) {
      if (instance.time_ns <= 0 || instance.has_inner || !basis_.InWindow(instance.first)) continue;
      const StringId name = operators_.name[instance.row];
      const std::uint32_t inputs = operators_.inputs[instance.row];
      const auto [found, is_new] = works.try_emplace({name, inputs, instance.longest});
      if (is_new) {
        found->second =
            WorkOf(trace_.strings[name], trace_.operator_inputs[inputs], instance.longest);
      }
      const auto& work = found->second;
      if (!work || work->flops <= 0) continue;
      if (instance.fewer) {
        Drop(trace_.strings[name] + " " + work->shape, 1, instance.time_ns);
        continue;
      }
      Sum& sum = sums[{trace_.strings[name], work->shape, TypeName(work->type)}];
      ShapeRow& row = sum.row;
      row.flops = work->flops;
      row.bytes = std::max(row.bytes, work->bytes);
      row.uses = work->uses;
      row.odd = std::max(row.odd, work->odd);
      row.time_ns += instance.time_ns;
      ++row.count;
      sum.type = work->type;
      sum.tensor_ns += instance.tensor_ns;
      sum.plain_ns += instance.plain_ns;
      sum.covered_ns += instance.covered_ns;
      sum.kernels[instance.kernel] += instance.time_ns;
    }
    double covered = 0;
    for (auto& [key, sum] : sums) {
      std::tie(sum.row.op, sum.row.shape, sum.row.type) = key;
      if (!Place(sum)) {
        Drop(sum.row.op + " " + sum.row.shape, sum.row.count, sum.row.time_ns);
        continue;
      }
      covered += sum.covered_ns;
      const auto longest =
          std::max_element(sum.kernels.begin(), sum.kernels.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      sum.row.kernel = trace_.strings[longest->first];
      result_.time_ns += sum.row.time_ns;
      result_.rows.push_back(std::move(sum.row));
    }
    result_.covered = expected_ns_ > 0 ? std::min(1.0, covered / expected_ns_) : 0;
    std::stable_sort(result_.rows.begin(), result_.rows.end(),
                     [](const ShapeRow& a, const ShapeRow& b) { return a.time_ns > b.time_ns; });
  }

  void Drop(const std::string& what, std::int64_t count, double time_ns) {
    if (result_.dropped_example.empty()) result_.dropped_example = what;
    result_.dropped += count;
    result_.dropped_ns += time_ns;
  }

  Peaks PeaksOf(ElementType type) const {
    const HardwareEntry* entry = run_.knowledge.FindHardware(hardware_.name);
    const auto fact = [entry](const char* name) {
      if (entry == nullptr) return 0.0;
      const auto found = entry->facts.find(name);
      return found == entry->facts.end() ? 0.0 : found->second.value;
    };
    switch (type) {
      case ElementType::kFloat64:
        return {fact("peak_fp64_flops"), fact("peak_fp64_tensor_flops")};
      case ElementType::kFloat32:
        return {fact("peak_fp32_flops"), fact("peak_tf32_flops")};
      case ElementType::kFloat16:
        return {0, fact("peak_fp16_flops")};
      case ElementType::kBFloat16:
        return {0, fact("peak_bf16_flops")};
      case ElementType::kFloat8:
        return {0, fact("peak_fp8_flops")};
      default:
        return {};
    }
  }

  // Under its roof. False when that contradicts what the kernels did.
  bool Place(Sum& sum) const {
    ShapeRow& row = sum.row;
    const double calls_per_s = static_cast<double>(row.count) / (row.time_ns / kNanosPerSecond);
    row.intensity = row.flops / row.bytes;
    row.achieved = row.flops * calls_per_s;
    const Peaks peaks = PeaksOf(sum.type);
    // Where names do not tell, the plain pipes: unless these could not have done it.
    const bool beyond_plain = row.achieved > peaks.plain * tolerance_;
    row.tensor = peaks.tensor > 0 && (peaks.plain <= 0 || (sum.tensor_ns > sum.plain_ns) ||
                                      (sum.tensor_ns == 0 && sum.plain_ns == 0 && beyond_plain));
    const double peak = row.tensor ? peaks.tensor : peaks.plain;
    const double bandwidth = hardware_.memory_bytes_per_s;
    if (peak <= 0 || bandwidth <= 0) return true;
    if (row.achieved > peak * tolerance_) return false;
    row.peak = peak;
    row.balance = peak / bandwidth;
    row.achieved_share = row.achieved / peak;
    row.side = row.intensity < row.balance ? "memory" : "compute";
    const bool cached = row.bytes * calls_per_s > bandwidth * tolerance_;
    row.attainable = cached ? peak : std::min(peak, row.intensity * bandwidth);
    row.attained = row.achieved / row.attainable;
    row.bound = cached ? "cache" : row.attained >= near_ ? row.side : "neither";
    return true;
  }

  const Basis& basis_;
  const Run& run_;
  const Trace& trace_;
  const Hardware& hardware_;
  const RangeTable& operators_;
  double tolerance_;
  double near_;
  std::vector<Name> names_;
  std::vector<Instance> instances_;
  std::vector<std::uint32_t> instance_of_call_;  // whose launch it is; kNone
  double expected_ns_ = 0;                       // of kernels of classes that do such work
  ShapeRows result_;
};

}  // namespace

ShapeRows FindShapes(const Basis& basis, const Hardware& hardware) {
  return ShapeFinder(basis, hardware).Find();
}

}  // namespace advise
