#include "engine/metrics/losses/launches/piece_series.h"

#include <algorithm>

#include "engine/metrics/losses/copies/copy.h"

namespace advise {
namespace {

class SeriesFinder : Finder {
 public:
  explicit SeriesFinder(const Basis& basis)
      : Finder(basis),
        small_ns_(Time("kernel.train_small")),
        many_(CountOf("kernel.pieces_many")),
        rounds_(CountOf("kernel.pieces_rounds")),
        few_blocks_(Number("kernel.pieces_fill")),
        tiny_bytes_(BytesOf("copy.tiny_bytes")),
        optimizer_(Named("optimizer")),
        products_(run_.names.Shapes(
            [](const KernelClass& c) { return c.name == "matrix" || c.name == "convolution"; })),
        loss_(basis) {}

  PieceSeries Find(const std::vector<std::uint32_t>& kernels) {
    // By stream; damaged reports have kernels of no stream.
    std::vector<std::vector<std::uint32_t>> open(trace_.streams.size() + 1);
    for (const std::uint32_t op : kernels) {
      auto& series = open[std::min<std::size_t>(trace_.ops.stream[op], open.size() - 1)];
      if (IsPiece(op)) {
        series.push_back(op);
      } else {
        Close(&series);
      }
    }
    for (auto& series : open) Close(&series);
    PieceSeries result;
    const auto count = static_cast<double>(loss_.count());
    if (count > 0) {
      result.pieces = pieces_ / count;
      result.body = bodies_ / count;
    }
    result.loss = loss_.Build();
    return result;
  }

 private:
  // Launches of one piece.
  static constexpr std::size_t kLongestBody = 8;

  ShapeSet Named(std::string_view name) const {
    return run_.names.Shapes([name](const KernelClass& c) { return c.name == name; });
  }

  // Of the SMs, those that a block of the kernel is on; 1 where that is not known.
  double Filled(std::uint32_t op) const {
    const double sms = trace_.devices[trace_.ops.device[op]].sm_count;
    const auto blocks = static_cast<double>(Shape(op).Blocks());
    return sms > 0 && blocks > 0 ? std::min(1.0, blocks / sms) : 1;
  }

  bool IsPiece(std::uint32_t op) const {
    return Length(op) <= small_ns_ && trace_.ops.in_graph[op] == 0 &&
           !optimizer_.Has(trace_.ops.detail[op]) && Filled(op) <= few_blocks_;
  }

  // Parts of the series that repeat a body, the shortest that does.
  void Close(std::vector<std::uint32_t>* series) {
    const std::vector<std::uint32_t>& ops = *series;
    if (ops.size() >= many_) {
      // How far the launches from each on are those `body` places before them.
      std::vector<std::vector<std::size_t>> alike(kLongestBody + 1);
      for (std::size_t body = 1; body <= kLongestBody; ++body) {
        alike[body].assign(ops.size() + 1, 0);
        for (std::size_t i = ops.size(); i-- > body;) {
          const bool same = trace_.ops.detail[ops[i]] == trace_.ops.detail[ops[i - body]];
          alike[body][i] = same ? alike[body][i + 1] + 1 : 0;
        }
      }
      for (std::size_t i = 0; i < ops.size();) {
        std::size_t next = i + 1;
        for (std::size_t body = 1; body <= kLongestBody && i + body < ops.size(); ++body) {
          const std::size_t rounds = 1 + alike[body][i + body] / body;
          if (rounds < Least(&ops[i], body)) continue;
          // Products in a row, of one shape: see KernelTrains.
          if (body > 1 || !products_.Has(trace_.ops.detail[ops[i]])) Add(&ops[i], rounds, body);
          next = i + rounds * body;
          break;
        }
        i = next;
      }
    }
    series->clear();
  }

  // Rounds of this body that are pieces of one job. Few rounds with a product may be the steps of a
  // recurrent network, each of which needs the one before it.
  std::size_t Least(const std::uint32_t* ops, std::size_t body) const {
    const bool product = std::any_of(
        ops, ops + body, [&](std::uint32_t op) { return products_.Has(trace_.ops.detail[op]); });
    return product ? many_ : std::max(rounds_, (many_ + body - 1) / body);
  }

  // The blocks of all pieces are launched at once, one per SM at a time; the kernels of a piece
  // stay one after the other.
  void Add(const std::uint32_t* ops, std::size_t rounds, std::size_t body) {
    const std::uint32_t first = ops[0];
    const std::uint32_t last = ops[rounds * body - 1];
    const Nanos end = trace_.ops.end[last];
    loss_.Count(trace_.ops.start[first], 0, end - trace_.ops.start[first]);
    pieces_ += static_cast<double>(rounds);
    bodies_ += static_cast<double>(body);
    const std::uint32_t device = trace_.ops.device[first];
    loss_.AddSpans(device, basis_.times[device].idle.Clip(trace_.ops.end[first], end));
    for (std::size_t i = body; i < rounds * body; ++i) {
      const std::uint32_t op = ops[i];
      loss_.AddOp(op);
      loss_.ScaleOp(op, std::max(Filled(op), 1 / static_cast<double>(rounds)));
      loss_.RemoveCallOf(op);
    }
    if (body > 1) RemoveReads(trace_.ops.call[first], trace_.ops.call[last]);
  }

  // What the host reads after each piece comes once for all of them, with the wait for it.
  void RemoveReads(std::uint32_t from, std::uint32_t to) {
    if (from == kNone || to == kNone || trace_.calls.thread[from] != trace_.calls.thread[to])
      return;
    for (std::uint32_t call = from + 1; call < to; ++call) {
      const std::uint32_t op = run_.first_op_of_call[call];
      const bool reads =
          op != kNone && IsOfHost(op) && trace_.copies.bytes[trace_.ops.detail[op]] <= tiny_bytes_;
      if (reads) loss_.RemoveExposed(op);
      if (reads || IsSync(run_.ClassOfCall(call))) loss_.remedy().vanished_calls.push_back(call);
    }
  }

  Nanos small_ns_;
  std::size_t many_;
  std::size_t rounds_;
  double few_blocks_;
  std::int64_t tiny_bytes_;
  const ShapeSet optimizer_;
  const ShapeSet products_;
  LossBuilder loss_;
  double pieces_ = 0;
  double bodies_ = 0;
};

}  // namespace

PieceSeries FindPieceSeries(const Basis& basis, const std::vector<std::uint32_t>& kernels) {
  return SeriesFinder(basis).Find(kernels);
}

}  // namespace advise
