#include "engine/metrics/losses/operators/recomputed_tokens.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "engine/metrics/analysis.h"
#include "engine/timeline/operator_families.h"

namespace advise {
namespace {

class TokenFinder : Finder {
 public:
  TokenFinder(const Basis& basis, const SizedOperators& operators, const Hardware& hardware)
      : Finder(basis),
        operators_(operators),
        limits_(run_.knowledge),
        min_passes_(CountOf("tokens.min_passes")),
        max_added_(static_cast<std::int64_t>(Number("tokens.max_added"))),
        bytes_per_s_(hardware.memory_bytes_per_s * Number("reach.elementwise")),
        start_ns_(Number("roofline.kernel_start")),
        loss_(basis),
        softmax_names_(run_, {"softmax"}) {}

  RecomputedTokens Find() {
    result_.recorded = operators_.recorded();
    if (result_.recorded) {
      for (const std::uint32_t thread : run_.launching_threads) Thread(thread);
      std::sort(passes_.begin(), passes_.end(), [](const Pass& a, const Pass& b) {
        return std::tie(a.thread, a.from, a.tokens, a.batch) <
               std::tie(b.thread, b.from, b.tokens, b.batch);
      });
      if (!passes_.empty()) Ops();
    }
    result_.loss = loss_.Build();
    return std::move(result_);
  }

 private:
  // Layers that look alike: operator, sequences times heads, width of a head.
  using Layers = std::tuple<StringId, std::int64_t, std::int64_t>;

  // What these layers do on the same sizes, one after the other.
  struct Stretch {
    std::int64_t queries = 0, keys = 0;
    std::int64_t calls = 0;
    Nanos start = 0;
  };

  // A pass over tokens of which all but the last few were there before.
  struct Pass {
    std::uint32_t thread = kNone;
    std::int64_t tokens = 0;  // of a sequence
    Nanos from = 0, to = 0;   // it lies between these launches, with parts of other passes
    std::int64_t added = 0;   // tokens that are new
    std::int64_t batch = 0;   // sequences times heads
  };

  void Thread(std::uint32_t thread) {
    std::map<Layers, std::vector<Stretch>> all;
    const RangeTable& table = operators_.table();
    const RowRange rows = operators_.of_thread()[thread];
    Nanos inside_until = 0;
    softmaxes_.clear();
    for (const std::uint32_t row : rows) {
      const Does does = DoesOf(row);
      if (does == Does::kOther || table.start[row] < inside_until) continue;
      const OperatorInputs* inputs = operators_.Of(row);
      if (inputs == nullptr) continue;
      if (does == Does::kSoftmax) {
        Softmax(*inputs);
        continue;
      }
      const auto sizes = AttentionSizesOf(operators_.FormulaOf(row), *inputs, limits_);
      if (!sizes) continue;
      inside_until = table.end[row];  // what it calls is the same again
      std::vector<Stretch>& stretches = all[{table.name[row], sizes->batch, sizes->width}];
      if (stretches.empty() || stretches.back().queries != sizes->queries ||
          stretches.back().keys != sizes->keys) {
        stretches.push_back({sizes->queries, sizes->keys, 0, table.start[row]});
      }
      ++stretches.back().calls;
    }
    for (const auto& [layers, stretches] : all) {
      const bool by_hand = does_[std::get<0>(layers)] == Does::kMultiplies;
      Generations(thread, std::get<1>(layers), stretches, by_hand);
    }
  }

  enum class Does : std::uint8_t { kUnread, kOther, kAttends, kMultiplies, kSoftmax };

  Does DoesOf(std::uint32_t row) {
    const StringId name = operators_.table().name[row];
    if (does_.empty()) does_.assign(trace_.strings.size(), Does::kUnread);
    Does& does = does_[name];
    if (does != Does::kUnread) return does;
    const OperatorFormula* formula = operators_.FormulaOf(row);
    does = KeysOfAttention(formula) >= 0  ? Does::kAttends
           : SecondOperand(formula) >= 0  ? Does::kMultiplies
           : softmax_names_.Of(name) >= 0 ? Does::kSoftmax
                                          : Does::kOther;
    return does;
  }

  // A product of a batch is that of queries and keys where a softmax takes the result.
  void Softmax(const OperatorInputs& inputs) {
    if (inputs.tensors.empty() || inputs.tensors[0].sizes.size() < 2) return;
    const auto& sizes = inputs.tensors[0].sizes;
    softmaxes_.insert({sizes[sizes.size() - 2], sizes.back()});
  }

  // A generation: sequences grow by the same few tokens, each time in as many layers.
  void Generations(std::uint32_t thread, std::int64_t batch, const std::vector<Stretch>& all,
                   bool by_hand) {
    for (std::size_t first = 0; first < all.size();) {
      std::size_t last = first;
      if (by_hand && !softmaxes_.contains({all[first].queries, all[first].keys})) {
        ++first;
        continue;
      }
      while (last + 1 < all.size() && Follows(all, first, last + 1)) ++last;
      if (last - first + 1 >= min_passes_) {
        // What the first pass computes may be the prompt, which was not there before.
        for (std::size_t i = first + 1; i <= last; ++i) {
          const Nanos to = i + 1 < all.size() ? all[i + 1].start : run_.window.end;
          passes_.push_back({thread, all[i].queries, all[i - 1].start, to,
                             all[i].queries - all[i - 1].queries, batch});
        }
      }
      first = std::max(last, first + 1);
    }
  }

  bool Follows(const std::vector<Stretch>& all, std::size_t first, std::size_t at) const {
    const Stretch& before = all[at - 1];
    const Stretch& now = all[at];
    const Stretch& second = all[first + 1];
    const std::int64_t added = now.queries - before.queries;
    if (added < 1 || added > max_added_ || added != second.queries - all[first].queries) {
      return false;
    }
    if (now.keys - before.keys != added || now.keys < now.queries) return false;
    // The capture may cut its first and its last pass short.
    const bool ends = at + 1 == all.size();
    const bool begins = at == 1;
    if (ends ? now.calls > second.calls : now.calls != second.calls) return false;
    if (!ends && !begins && before.calls != now.calls) return false;
    if (begins && before.calls > now.calls) return false;
    // Training on ever longer sequences has a backward pass in between.
    return !operators_.BackwardIn(before.start, now.start);
  }

  // By the time of the GPU, which may be far behind the host. Layers of two kinds make the same
  // passes.
  void Count(Nanos when, const Pass& pass) {
    const auto last = counted_.find(pass.thread);
    const bool same = last != counted_.end() && last->second.first == pass.tokens &&
                      pass.from < last->second.second;
    if (same || !basis_.InLoop(when)) return;
    counted_[pass.thread] = {pass.tokens, pass.to};
    loss_.Count(when, 0, 0);
    if (static_cast<double>(pass.tokens) <= result_.tokens) return;
    result_.tokens = static_cast<double>(pass.tokens);
    result_.added = static_cast<double>(pass.added);
  }

  // Whether one of its sizes counts these tokens of a sequence.
  static bool HasSize(const OperatorInputs& inputs, const Pass& pass) {
    return std::any_of(inputs.tensors.begin(), inputs.tensors.end(), [&](const auto& tensor) {
      return std::find(tensor.sizes.begin(), tensor.sizes.end(), pass.tokens) != tensor.sizes.end();
    });
  }

  // Whether its rows, or a list of tensors, can hold these tokens of several sequences.
  static bool HasRows(const OperatorInputs& inputs, const Pass& pass) {
    return std::any_of(inputs.tensors.begin(), inputs.tensors.end(), [&](const auto& tensor) {
      if (tensor.list_elements > 0) return tensor.list_elements % pass.tokens == 0;
      if (tensor.sizes.size() < 2 || tensor.sizes[0] < 1) return false;
      return tensor.sizes[0] % pass.tokens == 0 &&
             pass.batch % (tensor.sizes[0] / pass.tokens) == 0;
    });
  }

  // Passes overlap: a pass begins before its first attention.
  const Pass* PassOf(std::uint32_t thread, Nanos time, const OperatorInputs& inputs) const {
    const auto after = std::partition_point(passes_.begin(), passes_.end(), [&](const Pass& pass) {
      return std::tie(pass.thread, pass.from) <= std::tie(thread, time);
    });
    constexpr std::ptrdiff_t kNear = 4;  // of two kinds of layers: this pass, and the one before
    const auto near = after - std::min(kNear, after - passes_.begin());
    for (const auto holds : {HasSize, HasRows}) {
      for (auto pass = near; pass != after; ++pass) {
        if (pass->thread == thread && time < pass->to && holds(inputs, *pass)) return &*pass;
      }
    }
    return nullptr;
  }

  // What stays when there are few rows: the weights of a product, the keys and values of attention.
  // How long reading it takes; -1 unknown.
  double HeldNs(const OperatorFormula* formula, const OperatorInputs& inputs,
                std::uint32_t op) const {
    const int keys = KeysOfAttention(formula);
    const int first = keys >= 0 ? keys : SecondOperand(formula);
    if (first < 0) return 0;
    if (bytes_per_s_ <= 0) return -1;
    double bytes = 0;
    for (int at = first; at <= (keys >= 0 ? first + 1 : first); ++at) {
      if (static_cast<std::size_t>(at) >= inputs.tensors.size()) return -1;
      const OperatorTensor& held = inputs.tensors[static_cast<std::size_t>(at)];
      double part = operators_.ElementBytesOf(held, op);
      for (const std::int64_t size : held.sizes) part *= static_cast<double>(size);
      if (part <= 0) return -1;
      bytes += part;
    }
    return bytes / bytes_per_s_ * kNanosPerSecond;
  }

  void Ops() {
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      const std::uint32_t row = operators_.OfOp(op);
      if (row == kNone) continue;
      const OperatorInputs& inputs = *operators_.Of(row);
      const std::uint32_t call = trace_.ops.call[op];
      const Pass* pass = PassOf(trace_.calls.thread[call], trace_.calls.start[call], inputs);
      if (pass == nullptr) continue;
      if (DoesOf(row) != Does::kOther) Count(trace_.ops.start[op], *pass);
      const double held_ns = HeldNs(operators_.FormulaOf(row), inputs, op);
      if (held_ns < 0) continue;
      const Nanos length = Length(op);
      const double fresh = static_cast<double>(length) * static_cast<double>(pass->added) /
                           static_cast<double>(pass->tokens);
      const double left = std::max(fresh, held_ns) + start_ns_;
      if (left >= static_cast<double>(length)) continue;
      loss_.AddToCounted(0, length);
      loss_.AddOpBeyond(op, static_cast<Nanos>(left));
      loss_.ScaleOp(op, left / static_cast<double>(length));
    }
  }

  const SizedOperators& operators_;
  SizeLimits limits_;
  std::size_t min_passes_;
  std::int64_t max_added_;
  double bytes_per_s_;  // that copies reach; 0 unknown
  double start_ns_;     // of a kernel
  LossBuilder loss_;
  OperatorFamilies softmax_names_;
  std::vector<Does> does_;                                     // by name
  std::set<std::pair<std::int64_t, std::int64_t>> softmaxes_;  // queries and keys, of a thread
  std::vector<Pass> passes_;                                   // by thread and time
  // By thread, of the pass that was counted last: its tokens, and its end.
  std::map<std::uint32_t, std::pair<std::int64_t, Nanos>> counted_;
  RecomputedTokens result_;
};

}  // namespace

RecomputedTokens FindRecomputedTokens(const Basis& basis, const SizedOperators& operators,
                                      const Hardware& hardware) {
  return TokenFinder(basis, operators, hardware).Find();
}

}  // namespace advise
