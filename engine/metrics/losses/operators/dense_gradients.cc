#include "engine/metrics/losses/operators/dense_gradients.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "engine/base/parse_number.h"
#include "engine/metrics/kernels/shape_work.h"
#include "engine/timeline/operator_families.h"

namespace advise {
namespace {

constexpr double kRounding = 1e-3;  // of a number of tables

class DenseFinder : Finder {
 public:
  DenseFinder(const Basis& basis, const Operators& operators)
      : Finder(basis),
        table_(trace_.operators),
        of_call_(operators.of_call),
        loss_(basis),
        lookups_(run_, {"row_lookup"}),
        left_(Number("embedding.sparse_left")) {}

  DenseGradients Find() {
    result_.recorded = !table_.inputs.empty();
    if (result_.recorded) Read();
    if (!sizes_.empty() && !of_call_.empty()) {
      for (const auto& [rows, width] : sizes_) elements_ += static_cast<double>(rows * width);
      elements_ /= static_cast<double>(sizes_.size());
      result_.tables = std::max(1.0, calls_.PerStep());
      Host();
      Ops();
    }
    result_.loss = loss_.Build();
    return std::move(result_);
  }

 private:
  using Size = std::pair<std::int64_t, std::int64_t>;  // rows, width

  const OperatorInputs* InputsOf(std::uint32_t row) const {
    const std::uint32_t at = table_.inputs[row];
    return at == kNone ? nullptr : &trace_.operator_inputs[at];
  }

  static std::int64_t RowsOf(const OperatorInputs& inputs, std::size_t at) {
    return at < inputs.values.size() ? NumberAtStart<std::int64_t>(inputs.values[at]) : 0;
  }

  // The tables, and the backward passes that belong to each.
  void Read() {
    const double most = Number("embedding.touched");
    std::vector<std::pair<std::uint32_t, Size>> found;
    std::set<Size> multiplied;  // by a product: tied to the last layer, whose gradient is dense
    std::vector<std::int8_t> kind(trace_.strings.size(), -1);
    for (std::uint32_t row = 0; row < table_.size(); ++row) {
      std::int8_t& of = kind[table_.name[row]];
      if (of < 0) of = KindOf(table_.name[row]);
      if (of == kNothing || !basis_.InLoop(table_.start[row])) continue;
      const OperatorInputs* inputs = InputsOf(row);
      if (inputs == nullptr || inputs->tensors.size() < 2) continue;
      if (of == kProduct) {
        for (const OperatorTensor& tensor : inputs->tensors) {
          if (tensor.sizes.size() != 2) continue;
          multiplied.insert({tensor.sizes[0], tensor.sizes[1]});
          multiplied.insert({tensor.sizes[1], tensor.sizes[0]});
        }
        continue;
      }
      const std::int64_t rows = RowsOf(*inputs, static_cast<std::size_t>(of));
      const auto lookups = static_cast<double>(inputs->tensors[1].Elements());
      if (inputs->tensors[0].sizes.empty() || lookups <= 0) continue;
      if (lookups > most * static_cast<double>(rows)) continue;
      found.push_back({row, {rows, inputs->tensors[0].sizes.back()}});
    }
    for (const auto& [row, size] : found) {
      if (multiplied.contains(size)) continue;
      sizes_.insert(size);
      backward_.push_back(row);
      calls_.Count(table_.start[row]);
      if (static_cast<double>(size.first) < result_.rows) continue;
      result_.rows = static_cast<double>(size.first);
      result_.lookups = static_cast<double>(InputsOf(row)->tensors[1].Elements());
    }
  }

  enum : std::int8_t { kProduct = 100, kNothing = 101 };  // else where the rows of a table stand
  std::int8_t KindOf(StringId name) const {
    const OperatorFormula* formula = run_.knowledge.operators().Find(trace_.strings[name]);
    if (SecondOperand(formula) >= 0) return kProduct;
    const auto* moved = formula == nullptr ? nullptr : std::get_if<MemoryFormula>(formula);
    const bool is_gradient =
        moved != nullptr && moved->flow == MemoryFormula::Flow::kTableGrad && moved->at >= 0;
    if (!is_gradient) return kNothing;
    return static_cast<std::int8_t>(moved->at);
  }

  // The rows that were looked up still have gradients: a part of the backward pass is left.
  void Host() {
    std::map<std::uint32_t, std::vector<Interval>> spans;
    for (const std::uint32_t row : backward_) {
      const Nanos start = table_.start[row];
      const Nanos end = table_.end[row];
      loss_.Count(start, 0, end - start);
      const double left = left_ * static_cast<double>(end - start);
      spans[table_.thread[row]].push_back({start + static_cast<Nanos>(left), end});
    }
    when_ = Joined(std::move(spans));
    loss_.RemoveFromHost(when_);
  }

  // What of the op is no longer needed.
  void Ops() {
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      const std::uint32_t call = trace_.ops.call[op];
      if (call == kNone) continue;
      double gone = 0;
      if (IsLaunchedIn(when_, op)) {
        gone = 1;
      } else if (of_call_[call] != kNone) {
        gone = OverTables(of_call_[call]);
      }
      if (gone <= 0) continue;
      loss_.AddOp(op);
      loss_.ScaleOp(op, 1 - gone);
    }
  }

  // Which part of what the operator does is a pass over whole tables: of lists of tensors, all know
  // only how many elements they have.
  double OverTables(std::uint32_t row) {
    const OperatorInputs* inputs = InputsOf(row);
    if (inputs == nullptr || inputs->tensors.empty()) return 0;
    const OperatorTensor& first = inputs->tensors.front();
    if (first.list_elements > 0) {
      // Where gradients are added up over several passes, one table has several of them in a step.
      const auto all = static_cast<double>(first.list_elements);
      const double fit = std::floor(all / elements_ + kRounding);
      const double tables = std::min({result_.tables, static_cast<double>(first.list_count), fit});
      return std::min(1.0, tables * elements_ / all);
    }
    if (first.sizes.size() != 2 || !sizes_.contains({first.sizes[0], first.sizes[1]})) return 0;
    return lookups_.Of(table_.name[row]) >= 0 ? 0 : 1;
  }

  const OperatorTable& table_;
  const std::vector<std::uint32_t>& of_call_;
  LossBuilder loss_;
  OperatorFamilies lookups_;
  double left_;
  StepCounter calls_{run_};
  std::set<Size> sizes_;                 // of the tables
  std::vector<std::uint32_t> backward_;  // rows of operators
  double elements_ = 0;                  // of a table
  HostTime when_;
  DenseGradients result_;
};

}  // namespace

DenseGradients FindDenseGradients(const Basis& basis, const Operators& operators) {
  return DenseFinder(basis, operators).Find();
}

}  // namespace advise
