// Attention, both directions, by the schemas of PyTorch and of the libraries.
#include <fmt/format.h>

#include <algorithm>

#include "engine/metrics/kernels/shape_call.h"

namespace advise::work {
namespace {

// Pairs of a query and a key that are looked at. Nothing for masks whose rows see no key.
std::optional<double> Pairs(double queries, double keys, bool causal) {
  if (!causal) return queries * keys;
  if (queries > keys) return {};
  return queries * keys - queries * (queries - 1) / 2;
}

// Whether the mask is causal; nothing where what it hides is not known.
std::optional<bool> IsCausal(const Call& call, const AttentionFormula& formula) {
  if (call.count() == 0) {
    // Without values: the larger work. PyTorch's own always come with their values.
    if (call.name().starts_with("aten::")) return {};
    return false;
  }
  int at = formula.causal;
  if (formula.of_mask) {
    // The kind of mask: 0 none, 1 and 2 causal; behind the longest sequences, of which PyTorch
    // before 2.2 named one. A bias may hide more than the work tells.
    if (at < 0) at = call.count() == 14 ? 9 : call.count() == 13 ? 8 : -1;
    const std::string_view mask = call.Value(at);
    const int bias = formula.backward ? 4 : 3;
    if (mask.size() != 1 || !call.Tensor(bias).sizes.empty()) return {};
    if (!formula.backward && !call.Tensor(4).sizes.empty()) return {};
    return mask != "0";
  }
  const std::string_view flag = call.Value(at);
  if (flag != "True" && flag != "False") return {};
  if (formula.window != kNoArgument) {
    // A window of the sequence: "" and -1 are none.
    for (const int side : {formula.window, formula.window + 1}) {
      if (!call.Value(side).empty() && call.Value(side) != "-1") return {};
    }
  }
  return flag == "True";
}

struct Extents {
  double batch = 0, heads = 0, queries = 0, keys = 0, width = 0, value_width = 0;
};

std::optional<Extents> ExtentsOf(const Call& call, const AttentionFormula& formula) {
  const int q = formula.query;
  const Sizes& query = call.Tensor(q).sizes;
  const Sizes& key = call.Tensor(q + 1).sizes;
  const Sizes& value = call.Tensor(q + 2).sizes;
  const std::size_t rank = formula.layout == AttentionFormula::Layout::kPacked ? 3 : 4;
  for (int i = q; i < q + 3; ++i) {
    if (!call.HasRank(i, rank)) return {};
  }
  const auto number = [](std::int64_t size) { return static_cast<double>(size); };
  Extents e;
  if (formula.layout == AttentionFormula::Layout::kPacked) {
    // Sequences one behind the other; where each begins follows in a list of one more than there
    // are. Their lengths are taken to be equal.
    const Sizes& begins = call.Tensor(formula.backward ? q + 8 : q + 3).sizes;
    if (begins.size() != 1 || begins[0] < 2 || query[2] != key[2]) return {};
    e.batch = number(begins[0] - 1);
    e.queries = number(query[0]) / e.batch;
    e.keys = number(key[0]) / e.batch;
    e.heads = number(query[1]);
    e.width = number(query[2]);
    e.value_width = number(value[2]);
    return e;
  }
  const std::size_t sequence = formula.layout == AttentionFormula::Layout::kHeadsFirst ? 2 : 1;
  const std::size_t heads = 3 - sequence;
  if (query[0] != key[0] || query[3] != key[3] || key[sequence] != value[sequence]) return {};
  e.batch = number(query[0]);
  e.queries = number(query[sequence]);
  e.keys = number(key[sequence]);
  e.heads = number(query[heads]);
  e.width = number(query[3]);
  e.value_width = number(value[3]);
  return e;
}

}  // namespace

std::optional<AttentionSizes> AttentionSizesOf(const Call& call, const AttentionFormula& formula) {
  const std::optional<Extents> e = ExtentsOf(call, formula);
  if (!e || formula.backward || formula.layout == AttentionFormula::Layout::kPacked) return {};
  const auto number = [](double size) { return static_cast<std::int64_t>(size); };
  return AttentionSizes{number(e->batch * e->heads), number(e->width), number(e->queries),
                        number(e->keys)};
}

std::optional<ShapeWork> AttentionWork(const Call& call, const AttentionFormula& formula) {
  const std::optional<bool> causal = IsCausal(call, formula);
  const std::optional<Extents> e = ExtentsOf(call, formula);
  if (!causal || !e || !call.Tensor(formula.used).sizes.empty()) return {};
  const auto pairs = Pairs(e->queries, e->keys, *causal);
  ShapeWork work;
  work.kind = WorkKind::kAttention;
  const int q = formula.query;
  work.type = call.Type(q);
  const double bytes = ElementBytes(work.type);
  if (!pairs || bytes == 0) return {};
  const Sizes& query = call.Tensor(q).sizes;
  const double inputs =
      Product(query) + Product(call.Tensor(q + 1).sizes) + Product(call.Tensor(q + 2).sizes);
  const double result = Product(query) / e->width * e->value_width;
  const double forward = 2 * e->batch * e->heads * *pairs * (e->width + e->value_width);
  // Backward computes the scores again and has four more products of the same sizes.
  work.flops = formula.backward ? forward * 2.5 : forward;
  work.bytes = (formula.backward ? 2 * (inputs + result) : inputs + result) * bytes;
  work.tiles = e->batch * e->heads * call.limits().Tiles(e->queries, 1);
  work.depth = e->keys;
  work.shape = fmt::format("{} by {}{}", Words(query), Words(call.Tensor(q + 1).sizes),
                           *causal ? " causal" : "");
  if (e->queries == 1) {
    work.trait = "one-query";
  } else if (e->keys <= call.limits().short_sequence) {
    work.trait = "short-sequence";
  }
  return work;
}

}  // namespace advise::work
