#include "engine/metrics/kernels/shapes.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/metrics/analysis.h"
#include "engine/metrics/kernels/roof.h"
#include "engine/timeline/operator_families.h"

namespace advise {
namespace {

// One call of an operator with known inputs that launched kernels itself.
struct Instance {
  std::uint32_t row = kNone;     // of the operator
  std::uint32_t output = kNone;  // inputs whose first tensor is its result
  bool has_inner = false;        // an operator inside it did the work
  bool others = false;           // a kernel does other operations than the sizes say
  std::uint32_t call = kNone;
  Nanos first = 0;  // start of its first kernel
  double kernels = 0;
  double products = 0;  // of them, those that multiply matrices on their own
  double time_ns = 0;
  double covered_ns = 0;  // in kernels of classes that multiply
  UsedUnits units;
  double longest_ns = 0;             // of one kernel
  std::uint32_t shape = kNone;       // its
  std::uint32_t result_row = kNone;  // -> rows, before they are sorted
};

class ShapeFinder : Finder {
 public:
  ShapeFinder(const Basis& basis, const Hardware& hardware)
      : Finder(basis),
        hardware_(hardware),
        roof_(basis.run.knowledge, hardware),
        limits_(basis.run.knowledge),
        operators_(trace_.operators.inputs.empty() ? trace_.ranges : trace_.operators),
        pools_(run_, {"pooling"}),
        near_(static_cast<int>(Number("work.result_near"))) {}

  ShapeRows Find() {
    result_.recorded = !operators_.inputs.empty();
    result_.below_limit = Number("roofline.below");
    instance_of_call_.assign(result_.recorded ? trace_.calls.size() : 0, kNone);
    if (result_.recorded) {
      const std::vector<RowRange> rows = RowsByThread(operators_.thread, trace_.threads.size());
      for (std::uint32_t t = 0; t < rows.size(); ++t) Thread(rows[t], run_.calls_of_thread[t]);
    }
    Kernels();
    Group();
    Losses();
    std::stable_sort(result_.rows.begin(), result_.rows.end(),
                     [](const ShapeRow& a, const ShapeRow& b) { return a.time_ns > b.time_ns; });
    return std::move(result_);
  }

 private:
  enum class Name : std::uint8_t { kUnread, kNoOperator, kPart, kMoves, kMultiplies, kUnnamed };

  // Ranges that the program opened itself are no operators.
  Name Kind(StringId name) {
    if (names_.empty()) names_.assign(trace_.strings.size(), Name::kUnread);
    Name& kind = names_[name];
    if (kind != Name::kUnread) return kind;
    const std::string& text = trace_.strings[name];
    const bool is_operator =
        &operators_ == &trace_.operators || text.find("::") != std::string::npos;
    if (!is_operator) return kind = Name::kNoOperator;
    switch (OperatorWorkOf(run_.knowledge.operators().Find(text))) {
      case OperatorWork::kPartOfCaller:
        return kind = Name::kPart;
      case OperatorWork::kMoves:
        return kind = Name::kMoves;
      case OperatorWork::kMultiplies:
        return kind = Name::kMultiplies;
      case OperatorWork::kUnnamed:
        break;
    }
    return kind = Name::kUnnamed;
  }

  struct Open {
    Nanos end;
    std::uint32_t row;
    std::uint32_t inputs;  // kNone: not recorded
    Name kind;
    std::uint32_t instance = kNone;
    bool inner_multiplies = false, inner_moves = false;
    std::uint32_t waiting = kNone;  // -> waiting_
  };

  void Close(std::vector<Open>* open) {
    const Open& one = open->back();
    const bool launched = one.instance != kNone;
    if (launched) {
      instances_[one.instance].has_inner =
          one.inner_multiplies || (one.kind != Name::kMultiplies && one.inner_moves);
    }
    const bool multiplies = one.inner_multiplies || (launched && one.kind == Name::kMultiplies);
    const bool moves = one.inner_moves || (launched && one.kind == Name::kMoves);
    open->pop_back();
    if (open->empty()) return;
    open->back().inner_multiplies |= multiplies;
    open->back().inner_moves |= moves;
  }

  // Who launches: the innermost operator around each call.
  void Thread(RowRange rows, RowRange calls) {
    std::vector<Open> open;
    waiting_.clear();
    const auto close_until = [&](Nanos time) {
      while (!open.empty() && open.back().end <= time) Close(&open);
    };
    const auto launch = [&](std::uint32_t call) {
      close_until(trace_.calls.start[call]);
      if (run_.first_op_of_call[call] == kNone) return;
      auto own = open.rbegin();
      while (own != open.rend() && own->kind == Name::kPart) ++own;
      if (own == open.rend() || own->inputs == kNone) return;
      if (own->instance == kNone) {
        own->instance = static_cast<std::uint32_t>(instances_.size());
        instances_.emplace_back();
        instances_.back().row = own->row;
        instances_.back().call = call;
      }
      instance_of_call_[call] = own->instance;
    };
    std::uint32_t call = calls.first;
    for (const std::uint32_t row : rows) {
      const Name kind = Kind(operators_.name[row]);
      if (kind == Name::kNoOperator) continue;
      const Nanos start = operators_.start[row];
      for (; call < calls.last && trace_.calls.start[call] < start; ++call) launch(call);
      close_until(start);
      const std::uint32_t inputs =
          row < operators_.inputs.size() ? operators_.inputs[row] : std::uint32_t{kNone};
      if (inputs != kNone) FollowsResult(row, inputs);
      open.push_back({.end = operators_.end[row], .row = row, .inputs = inputs, .kind = kind});
      if (inputs != kNone && kind != Name::kUnnamed) WaitForResult(row, inputs);
    }
    for (; call < calls.last && !open.empty(); ++call) launch(call);
    while (!open.empty()) Close(&open);
  }

  // Old profilers recorded no options, so that the size of a convolution's result is not known:
  // what works on it next tells.
  struct Waiting {
    std::uint32_t row;
    Nanos end;
    std::size_t rank;
    std::int64_t batch, channels;
    int tries = 0;
  };

  void WaitForResult(std::uint32_t row, std::uint32_t inputs) {
    const OperatorInputs& given = trace_.operator_inputs[inputs];
    if (!given.values.empty() || given.tensors.empty()) return;
    const StringId name = operators_.name[row];
    const bool pools = pools_.Of(name) >= 0;
    if (!pools && (!Convolves(name) || given.tensors.size() < 2)) return;
    const auto& image = given.tensors[0].sizes;
    if (image.size() < 3 || (!pools && given.tensors[1].sizes.size() != image.size())) return;
    waiting_.push_back({row, operators_.end[row], image.size(), image[0],
                        pools ? image[1] : given.tensors[1].sizes[0]});
  }

  bool Convolves(StringId name) {
    return Kind(name) == Name::kMultiplies &&
           run_.knowledge.operators().FindAs<ConvolutionFormula>(trace_.strings[name]) != nullptr;
  }

  void FollowsResult(std::uint32_t row, std::uint32_t inputs) {
    if (waiting_.empty()) return;
    const auto& tensors = trace_.operator_inputs[inputs].tensors;
    for (auto one = waiting_.begin(); one != waiting_.end();) {
      if (one->end > operators_.start[row]) {
        ++one;
        continue;
      }
      const bool is_result = !tensors.empty() && tensors[0].sizes.size() == one->rank &&
                             tensors[0].sizes[0] == one->batch &&
                             tensors[0].sizes[1] == one->channels;
      if (is_result) output_of_row_[one->row] = inputs;
      one = is_result || ++one->tries > near_ ? waiting_.erase(one) : one + 1;
    }
  }

  void Kernels() {
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] != OpKind::kKernel) continue;
      const bool inside = basis_.InWindow(trace_.ops.start[op]);
      const auto length = static_cast<double>(Length(op));
      const std::uint32_t shape = trace_.ops.detail[op];
      const KernelClass& kernel = run_.names.Kernel(shape);
      const bool multiplies = kernel.Multiplies();
      if (inside) {
        result_.kernel_ns += length;
        if (!run_.IsComm(op)) result_.compute_ns += length;
        if (multiplies) multiplied_ns_ += length;
      }
      const std::uint32_t number = InstanceOf(op);
      if (number == kNone) continue;
      if (inside) result_.operator_ns += length;
      Instance& instance = instances_[number];
      if (instance.time_ns == 0) instance.first = trace_.ops.start[op];
      instance.time_ns += length;
      ++instance.kernels;
      // The parts of a sum that was split are one product.
      if (kernel.name == "matrix" && !kernel.HasTrait("split-k")) ++instance.products;
      if (multiplies) instance.covered_ns += length;
      if (kernel.tensor_core == 1) instance.units.tensor_ns += length;
      if (kernel.tensor_core == 0) instance.units.plain_ns += length;
      if (kernel.precision == "tf32") instance.units.tf32_ns += length;
      instance.others = instance.others || kernel.HasTrait("other-operations");
      if (length > instance.longest_ns) {
        instance.longest_ns = length;
        instance.shape = shape;
      }
    }
  }

  std::uint32_t InstanceOf(std::uint32_t op) const {
    const std::uint32_t call = trace_.ops.call[op];
    const bool known = call < instance_of_call_.size() && trace_.ops.in_graph[op] == 0 &&
                       trace_.ops.kind[op] == OpKind::kKernel;
    return known && !run_.IsComm(op) ? instance_of_call_[call] : std::uint32_t{kNone};
  }

  struct Sum {
    ShapeRow row;
    ShapeWork work;
    UsedUnits units;
    double covered_ns = 0;
    std::map<StringId, double> kernels;  // time of calls, by their longest kernel
    std::vector<std::uint32_t> instances;
  };

  std::optional<ShapeWork> WorkOfInstance(const Instance& instance) {
    const StringId name = operators_.name[instance.row];
    const std::uint32_t inputs = operators_.inputs[instance.row];
    const KernelClass& kernel = run_.names.Kernel(instance.shape);
    CallHints hints;
    hints.type = TypeNamed(kernel.precision);
    if (hints.type == ElementType::kUnknown) {
      hints.type = TypeInKernelName(trace_.strings[trace_.shapes[instance.shape].name]);
    }
    hints.kernel_class = kernel.name;
    hints.products = instance.products;
    const auto output = output_of_row_.find(instance.row);
    if (output != output_of_row_.end()) {
      hints.output = &trace_.operator_inputs[output->second].tensors[0].sizes;
    }
    const Given key = {name,
                       inputs,
                       hints.type,
                       &kernel.name,
                       instance.products > 1,
                       output == output_of_row_.end() ? std::uint32_t{kNone} : output->second};
    const auto [found, is_new] = works_.try_emplace(key);
    if (is_new) {
      found->second = WorkOf(trace_.strings[name], trace_.operator_inputs[inputs], limits_, hints);
    }
    return found->second;
  }

  void Group() {
    std::map<std::tuple<std::string, std::string, std::string>, Sum> sums;
    for (std::uint32_t i = 0; i < instances_.size(); ++i) {
      const Instance& instance = instances_[i];
      if (instance.time_ns <= 0 || instance.has_inner || !basis_.InWindow(instance.first)) continue;
      const std::optional<ShapeWork> work = WorkOfInstance(instance);
      if (!work || work->flops <= 0 || work->bytes <= 0) continue;
      const std::string& name = trace_.strings[operators_.name[instance.row]];
      if (instance.others) {
        Drop(name + " " + work->shape, 1, instance.time_ns);
        continue;
      }
      Sum& sum = sums[{name, work->shape, TypeName(work->type)}];
      ShapeRow& row = sum.row;
      if (row.count == 0) sum.work = *work;
      row.kind = work->kind;
      row.flops = work->flops;
      row.bytes = std::max(row.bytes, work->bytes);
      row.uses = work->uses;
      row.odd = std::max(row.odd, work->odd);
      row.tiles = work->tiles;
      row.time_ns += instance.time_ns;
      row.kernels += instance.kernels;
      row.call = instance.call;
      ++row.count;
      sum.units.tensor_ns += instance.units.tensor_ns;
      sum.units.plain_ns += instance.units.plain_ns;
      sum.units.tf32_ns += instance.units.tf32_ns;
      sum.covered_ns += instance.covered_ns;
      sum.kernels[trace_.shapes[instance.shape].name] += instance.time_ns;
      sum.instances.push_back(i);
    }
    double covered = 0;
    for (auto& [key, sum] : sums) {
      std::tie(sum.row.op, sum.row.shape, sum.row.type) = key;
      sum.row.kernels /= static_cast<double>(sum.row.count);
      if (!roof_.Place(sum.work, sum.units, &sum.row)) {
        Drop(sum.row.op + " " + sum.row.shape, sum.row.count, sum.row.time_ns);
        continue;
      }
      covered += sum.covered_ns;
      const auto longest =
          std::max_element(sum.kernels.begin(), sum.kernels.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      sum.row.kernel = trace_.strings[longest->first];
      if (sum.row.peak > 0) {
        result_.rated_ns += sum.row.time_ns;
        sum.row.reason = ReasonOf(sum.work, sum.row, run_.knowledge, hardware_.sm_count);
      }
      result_.time_ns += sum.row.time_ns;
      for (const std::uint32_t i : sum.instances) {
        instances_[i].result_row = static_cast<std::uint32_t>(result_.rows.size());
      }
      result_.rows.push_back(std::move(sum.row));
    }
    result_.covered = multiplied_ns_ > 0 ? std::min(1.0, covered / multiplied_ns_) : 0;
  }

  void Losses() {
    std::vector<LossBuilder> groups;  // each with a loss of its own: copies would share one
    groups.reserve(result_.below.size());
    for (std::size_t i = 0; i < result_.below.size(); ++i) groups.emplace_back(basis_);
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      const std::uint32_t number = InstanceOf(op);
      if (number == kNone || instances_[number].result_row == kNone) continue;
      const ShapeRow& row = result_.rows[instances_[number].result_row];
      if (row.peak <= 0 || !basis_.InWindow(trace_.ops.start[op])) continue;
      const Nanos length = Length(op);
      result_.rated_of_kernel[trace_.shapes[trace_.ops.detail[op]].name] +=
          static_cast<double>(length);
      if (!result_.IsBelow(row)) continue;
      LossBuilder& loss = groups[static_cast<std::size_t>(GroupOf(row.kind))];
      const auto kept = static_cast<Nanos>(static_cast<double>(length) * row.reached);
      loss.Count(trace_.ops.start[op], 0, length);
      loss.AddOpBeyond(op, kept);
      loss.ScaleOp(op, row.reached);
    }
    for (std::size_t i = 0; i < groups.size(); ++i) result_.below[i] = groups[i].Build();
  }

  void Drop(const std::string& what, std::int64_t count, double time_ns) {
    if (result_.dropped_example.empty()) result_.dropped_example = what;
    result_.dropped += count;
    result_.dropped_ns += time_ns;
  }

  // What tells the work of a call.
  using Given =
      std::tuple<StringId, std::uint32_t, ElementType, const std::string*, bool, std::uint32_t>;

  const Hardware& hardware_;
  Roof roof_;
  SizeLimits limits_;
  const RangeTable& operators_;
  OperatorFamilies pools_;
  int near_;  // operators between a result and its next use
  std::vector<Name> names_;
  std::vector<Instance> instances_;
  std::vector<std::uint32_t> instance_of_call_;  // whose launch it is; kNone
  std::vector<Waiting> waiting_;
  std::map<std::uint32_t, std::uint32_t> output_of_row_;  // operator -> inputs of the next one
  std::map<Given, std::optional<ShapeWork>> works_;
  double multiplied_ns_ = 0;  // of kernels of classes that multiply
  ShapeRows result_;
};

}  // namespace

RoofGroup GroupOf(WorkKind kind) {
  switch (kind) {
    case WorkKind::kProduct:
      return RoofGroup::kProducts;
    case WorkKind::kConvolution:
      return RoofGroup::kConvolutions;
    case WorkKind::kAttention:
      return RoofGroup::kAttention;
    case WorkKind::kExperts:
      return RoofGroup::kExperts;
    default:
      return RoofGroup::kMemory;
  }
}

ShapeRows FindShapes(const Basis& basis, const Hardware& hardware) {
  return ShapeFinder(basis, hardware).Find();
}

}  // namespace advise
