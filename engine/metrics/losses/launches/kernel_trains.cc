#include "engine/metrics/losses/launches/kernel_trains.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/metrics/losses/launches/piece_series.h"

namespace advise {
namespace {

// The light kernels between two products, by shape.
struct Between {
  std::array<std::uint32_t, 2> shapes{};
  std::size_t count = 0;

  bool operator==(const Between&) const = default;
};

class TrainFinder : Finder {
 public:
  TrainFinder(const Basis& basis, const std::vector<std::uint32_t>& kernels)
      : Finder(basis),
        small_ns_(Number("kernel.train_small")),
        train_length_(CountOf("kernel.train_length")),
        room_(Number("kernel.room_share")),
        matrix_(run_.names.Shapes([](const KernelClass& c) { return c.name == "matrix"; })),
        elementwise_(
            run_.names.Shapes([](const KernelClass& c) { return c.name == "elementwise"; })),
        kernels_(kernels) {}

  KernelTrains Find() {
    LossBuilder matrix(basis_);
    LossBuilder repeats(basis_);
    StepCounter matrix_whens(run_);
    StepCounter repeat_whens(run_);
    const Names& names = run_.names;
    const ShapeSet attention =
        names.Shapes([](const KernelClass& c) { return c.name == "attention"; });
    const ShapeSet heavy = names.Shapes([](const KernelClass& c) {
      return c.name == "matrix" || c.name == "optimizer" || c.name == "convolution";
    });
    // By stream; damaged reports have kernels of no stream.
    std::vector<std::pair<Train, Train>> open(trace_.streams.size() + 1);
    for (const std::uint32_t op : kernels_) {
      auto& [products, same] = open[std::min<std::size_t>(trace_.ops.stream[op], open.size() - 1)];
      const bool small = LengthNs(op) <= small_ns_ && trace_.ops.in_graph[op] == 0;
      if (small && In(matrix_, op)) {
        // Layers alternate between shapes of products, or between what follows them; a loop over
        // pieces does not.
        if (!products.GoesOnWith(trace_.ops.detail, op)) Close(&products, &matrix, &matrix_whens);
        products.Add(op);
      } else if (!small || In(attention, op) || !products.PutBetween(trace_.ops.detail[op])) {
        Close(&products, &matrix, &matrix_whens);
      }
      const bool like =
          !same.ops.empty() && trace_.ops.detail[same.ops.back()] == trace_.ops.detail[op];
      const bool counts = small && !In(heavy, op);
      if (!like || !counts) Close(&same, &repeats, &repeat_whens);
      if (counts) same.ops.push_back(op);
    }
    for (auto& [products, same] : open) {
      Close(&products, &matrix, &matrix_whens);
      Close(&same, &repeats, &repeat_whens);
    }
    result_.product_kernels = matrix_whens.PerStep();
    result_.repeat_kernels = repeat_whens.PerStep();
    // Steps of one or a few such kernels are pieces themselves: then the whole run of them counts.
    const auto runs = static_cast<double>(repeats.count());
    if (runs > 0 && result_.repeat_kernels < static_cast<double>(train_length_))
      result_.repeat_kernels = static_cast<double>(repeat_whens.all()) / runs;
    result_.products = matrix.Build();
    result_.repeats = repeats.Build();
    return std::move(result_);
  }

 private:
  struct Train {
    std::vector<std::uint32_t> ops;  // that count
    Between between{};               // since the last that counts
    Between usual{};                 // between the first two of them
    bool alone = true;               // nothing is between any two of them

    // Whether the next round of the same loop ends with `op`.
    bool GoesOnWith(const std::vector<std::uint32_t>& shapes, std::uint32_t op) const {
      if (ops.empty() || shapes[ops.back()] != shapes[op]) return false;
      return ops.size() == 1 || between == usual;
    }

    void Add(std::uint32_t op) {
      if (ops.size() == 1) usual = between;
      alone = ops.empty() || (alone && between == Between{});
      ops.push_back(op);
      between = {};
    }

    // False: there are more than a loop over pieces has.
    bool PutBetween(std::uint32_t shape) {
      if (between.count == between.shapes.size()) return false;
      between.shapes[between.count++] = shape;
      return true;
    }
  };

  // Layers of a network: an activation, or its gradient, makes each product's input from the result
  // of the one before.
  bool IsChain(const Train& train) const {
    return train.usual.count == 1 && elementwise_.Has(train.usual.shapes[0]);
  }

  // Of the SMs, those that a block of one of the kernels is on; 1 where that is not known.
  double Filled(const Train& train) const {
    const std::uint32_t first = train.ops.front();
    const double sms = trace_.devices[trace_.ops.device[first]].sm_count;
    const auto blocks = static_cast<double>(trace_.shapes[trace_.ops.detail[first]].Blocks());
    return sms > 0 && blocks > 0 ? std::min(1.0, blocks / sms) : 1;
  }

  // The part of the time of products that is left when one launch does all. They read weights, for
  // whose bandwidth part of the SMs is enough. What runs between them may prepare the next one from
  // the last: then they stay one after the other.
  double Batched(const Train& train) const {
    const double filled = Filled(train);
    if (!train.alone || filled >= room_) return 1;
    return std::max(filled / room_, 1 / static_cast<double>(train.ops.size()));
  }

  void Close(Train* train, LossBuilder* loss, StepCounter* whens) const {
    if (train->ops.size() >= train_length_ && !IsChain(*train)) {
      const std::uint32_t first = train->ops.front();
      loss->Count(trace_.ops.start[first], 0, 0);
      // One launch for all of them does not make the work itself less, but the blocks of small ones
      // run side by side.
      const double left = Batched(*train);
      const std::uint32_t device = trace_.ops.device[first];
      loss->AddSpans(device, basis_.times[device].idle.Clip(trace_.ops.end[first],
                                                            trace_.ops.end[train->ops.back()]));
      for (std::size_t i = 0; i < train->ops.size(); ++i) {
        const std::uint32_t op = train->ops[i];
        whens->Count(trace_.ops.start[op]);
        if (i > 0 && trace_.ops.call[op] != kNone) {
          loss->remedy().vanished_calls.push_back(trace_.ops.call[op]);
        }
        if (i == 0 || left >= 1 || !matrix_.Has(trace_.ops.detail[op])) continue;
        loss->AddSpan(device, trace_.ops.end[op] - static_cast<Nanos>((1 - left) * LengthNs(op)),
                      trace_.ops.end[op]);
        loss->ScaleOp(op, left);
      }
    }
    *train = {};
  }

  double small_ns_;
  std::size_t train_length_;
  double room_;
  const ShapeSet matrix_;
  const ShapeSet elementwise_;
  const std::vector<std::uint32_t>& kernels_;
  KernelTrains result_;
};

}  // namespace

KernelTrains FindKernelTrains(const Basis& basis, const std::vector<std::uint32_t>& kernels) {
  KernelTrains trains = TrainFinder(basis, kernels).Find();
  PieceSeries series = FindPieceSeries(basis, kernels);
  trains.pieces = std::move(series.loss);
  trains.pieces_mean = series.pieces;
  trains.pieces_body = series.body;
  return trains;
}

}  // namespace advise
