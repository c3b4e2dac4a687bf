#include "engine/metrics/losses/operators/one_hot.h"

#include <algorithm>
#include <map>
#include <optional>

#include "engine/metrics/analysis.h"
#include "engine/timeline/operator_families.h"

namespace advise {
namespace {

class OneHotFinder : Finder {
 public:
  OneHotFinder(const Basis& basis, const SizedOperators& operators, const Hardware& hardware)
      : Finder(basis),
        operators_(operators),
        near_(static_cast<int>(Number("one_hot.near"))),
        bytes_per_s_(hardware.memory_bytes_per_s * Number("reach.elementwise")),
        start_ns_(Number("roofline.kernel_start")),
        does_(run_, {"clear", "scatter", "one_hot", "cast"}),
        loss_(basis) {}

  OneHotProducts Find() {
    result_.recorded = operators_.recorded();
    if (result_.recorded) {
      for (const std::uint32_t thread : run_.launching_threads) Thread(thread);
      if (!found_.empty()) Ops();
    }
    result_.loss = loss_.Build();
    return std::move(result_);
  }

 private:
  // What an operator does, as does_ has its families.
  enum Does { kOther = OperatorFamilies::kNoFamily, kClears, kMarks, kMakes, kCasts, kMultiplies };

  // A matrix with one mark in each row.
  struct Matrix {
    std::int64_t rows = 0, classes = 0;
    Nanos start = 0, end = 0;     // of making it
    std::vector<Interval> spans;  // operators that only it needs
    bool integers = false;        // to be cast before anything is multiplied by it
    int left = 0;                 // operators after which it is forgotten
  };
  // What its making and its product span on the thread.
  struct Found {
    Nanos start = 0, end = 0;
    std::int64_t rows = 0, classes = 0;
    std::int64_t width = 0;       // of the rows that are looked up
    const OperatorTensor* table;  // whose rows they are
    bool counted = false;
  };

  int Of(std::uint32_t row) {
    const int does = does_.Of(operators_.table().name[row]);
    if (does != kOther) return does;
    return SecondOperand(operators_.FormulaOf(row)) >= 0 ? kMultiplies : kOther;
  }

  void Thread(std::uint32_t thread) {
    const RangeTable& table = operators_.table();
    const RowRange rows = operators_.of_thread()[thread];
    std::optional<Matrix> matrix;
    Interval makes;            // the last operator that makes such matrices by itself
    Interval clears;           // the last one that clears a tensor …
    std::int64_t cleared = 0;  // … of so many elements
    std::uint32_t cleared_at = 0;
    Nanos skip_until = 0;  // inside an operator that is done with
    for (const std::uint32_t row : rows) {
      const Interval when = {table.start[row], table.end[row]};
      if (when.start < skip_until) continue;
      if (operators_.IsBackward(row)) {
        skip_until = when.end;
        matrix.reset();
        continue;
      }
      if (matrix && when.start >= matrix->end && --matrix->left < 0) matrix.reset();
      const int does = Of(row);
      if (does == kMakes) makes = when;
      const OperatorInputs* inputs = operators_.Of(row);
      if (does == kOther || inputs == nullptr || inputs->tensors.empty()) continue;
      const OperatorTensor& first = inputs->tensors.front();
      switch (does) {
        case kClears:
          if (when.start >= clears.end) clears = when;
          cleared = first.Elements();
          cleared_at = row;
          break;
        case kMarks:
          if (auto made = Marked(*inputs, when, makes)) {
            const bool is_near = row - cleared_at <= static_cast<std::uint32_t>(near_);
            if (is_near && cleared == made->rows * made->classes && clears.start < made->start) {
              made->spans.push_back(clears);
              made->start = clears.start;
            }
            matrix = std::move(made);
          }
          break;
        case kCasts:
          if (matrix && first.Elements() == matrix->rows * matrix->classes) {
            matrix->spans.push_back(when);
            matrix->integers = matrix->integers && first.type != ElementType::kInt64;
          }
          break;
        case kMultiplies:
          if (matrix && Multiplies(row, *inputs, *matrix)) {
            Add(thread, when, inputs->tensors[Second(row)], *matrix);
            skip_until = when.end;
            matrix.reset();
          }
          break;
        default:
          break;
      }
    }
  }

  // A single value is written to one place of each row.
  std::optional<Matrix> Marked(const OperatorInputs& inputs, Interval when, Interval makes) const {
    constexpr std::size_t kIndex = 2;
    constexpr std::size_t kValue = 3;
    if (inputs.tensors.size() <= kIndex) return {};
    const auto& sizes = inputs.tensors[0].sizes;
    const auto& index = inputs.tensors[kIndex].sizes;
    if (sizes.size() < 2 || index.size() != sizes.size() || index.back() != 1) return {};
    if (!std::equal(sizes.begin(), sizes.end() - 1, index.begin())) return {};
    if (inputs.tensors.size() > kValue && !inputs.tensors[kValue].sizes.empty()) return {};
    Matrix matrix;
    matrix.classes = sizes.back();
    if (matrix.classes < 2) return {};
    matrix.rows = inputs.tensors[0].Elements() / matrix.classes;
    const bool inside = when.start >= makes.start && when.end <= makes.end;
    const Interval whole = inside ? makes : when;
    matrix.start = whole.start;
    matrix.end = whole.end;
    matrix.spans.push_back(whole);
    matrix.integers = inputs.tensors[0].type == ElementType::kInt64;
    matrix.left = near_;
    return matrix;
  }

  std::size_t Second(std::uint32_t row) const {
    return static_cast<std::size_t>(SecondOperand(operators_.FormulaOf(row)));
  }

  bool Multiplies(std::uint32_t row, const OperatorInputs& inputs, const Matrix& matrix) const {
    const std::size_t second = Second(row);
    if (matrix.integers || second >= inputs.tensors.size()) return false;
    const auto& left = inputs.tensors[second - 1].sizes;
    return !left.empty() && left.back() == matrix.classes &&
           inputs.tensors[second - 1].Elements() == matrix.rows * matrix.classes &&
           inputs.tensors[second].sizes.size() == 2;
  }

  void Add(std::uint32_t thread, Interval when, const OperatorTensor& table, const Matrix& matrix) {
    const std::int64_t width = table.Elements() / matrix.classes;
    found_[thread].push_back({matrix.start, when.end, matrix.rows, matrix.classes, width, &table});
    for (const Interval& span : matrix.spans) spans_[thread].push_back(span);
  }

  // By the time of the GPU, which may be far behind the host.
  void Count(Nanos when, Found* found) {
    if (found->counted || !basis_.InLoop(when)) return;
    found->counted = true;
    loss_.Count(when, 0, 0);
    const auto rows = static_cast<double>(found->rows);
    const auto classes = static_cast<double>(found->classes);
    if (rows * classes <= result_.rows * result_.classes) return;
    result_.rows = rows;
    result_.classes = classes;
  }

  Found* FoundAt(std::uint32_t thread, Nanos time) {
    const auto of_thread = found_.find(thread);
    if (of_thread == found_.end()) return nullptr;
    const auto after =
        std::partition_point(of_thread->second.begin(), of_thread->second.end(),
                             [&](const Found& found) { return found.start <= time; });
    if (after == of_thread->second.begin()) return nullptr;
    return time < (after - 1)->end ? &*(after - 1) : nullptr;
  }

  void Ops() {
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      const std::uint32_t row = operators_.OfOp(op);
      if (row == kNone) continue;
      const std::uint32_t call = trace_.ops.call[op];
      const Nanos time = trace_.calls.start[call];
      Found* found = FoundAt(trace_.calls.thread[call], time);
      if (found == nullptr) continue;
      const auto& tensors = operators_.Of(row)->tensors;
      const bool is_of = std::any_of(tensors.begin(), tensors.end(), [&](const auto& tensor) {
        return tensor.Elements() == found->rows * found->classes;
      });
      if (!is_of) continue;
      if (SecondOperand(operators_.FormulaOf(row)) < 0) {
        Take(op, 0);
      } else {
        Count(trace_.ops.start[op], found);
        LookUp(op, *found);
      }
    }
    loss_.RemoveFromHost(Joined(std::move(spans_)));
  }

  // Instead of a product: each row that is looked up is read and written.
  void LookUp(std::uint32_t op, const Found& found) {
    const double bytes = 2 * static_cast<double>(found.rows * found.width) *
                         operators_.ElementBytesOf(*found.table, op);
    if (bytes_per_s_ <= 0 || bytes <= 0) return;  // how long that takes is not known
    Take(op, bytes / bytes_per_s_ * kNanosPerSecond + start_ns_);
  }

  void Take(std::uint32_t op, double left) {
    const Nanos length = Length(op);
    if (left >= static_cast<double>(length)) return;
    loss_.AddToCounted(0, length);
    loss_.AddOpBeyond(op, static_cast<Nanos>(left));
    loss_.ScaleOp(op, left / static_cast<double>(length));
  }

  const SizedOperators& operators_;
  int near_;
  double bytes_per_s_;  // that copies reach; 0 unknown
  double start_ns_;     // of a kernel
  OperatorFamilies does_;
  LossBuilder loss_;
  std::map<std::uint32_t, std::vector<Found>> found_;     // by thread, in time order
  std::map<std::uint32_t, std::vector<Interval>> spans_;  // operators that are gone
  OneHotProducts result_;
};

}  // namespace

OneHotProducts FindOneHotProducts(const Basis& basis, const SizedOperators& operators,
                                  const Hardware& hardware) {
  return OneHotFinder(basis, operators, hardware).Find();
}

}  // namespace advise
