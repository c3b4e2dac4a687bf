// roofline.shapes.*: products, convolutions and attention whose sizes were recorded.
#include <algorithm>

#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

Row RowOf(const ShapeRow& row) {
  return {{"op", row.op},
          {"shape", row.shape},
          {"dtype", row.type},
          {"kernel", row.kernel},
          {"kind", WorkKindName(row.kind)},
          {"pipe", row.peak < 0 ? ""
                   : row.tensor ? "tensor"
                                : "plain"},
          {"count", static_cast<double>(row.count)},
          {"time", row.time_ns},
          {"flops", row.flops},
          {"bytes", row.bytes},
          {"intensity", row.intensity},
          {"balance", row.balance},
          {"achieved", row.achieved},
          {"achieved_share", row.achieved_share},
          {"attainable", row.attainable},
          {"attained", row.attained},
          {"side", row.side},
          {"bound", row.bound},
          {"uses", row.uses},
          {"odd", row.odd}};
}

std::string Words(const ShapeRow& row) { return row.op + " " + row.shape + " in " + row.type; }

double MultiplyingNs(const ShapeRows& shapes) {
  double time_ns = 0;
  for (const ShapeRow& row : shapes.rows) time_ns += IsArithmetic(row.kind) ? row.time_ns : 0;
  return time_ns;
}

// Rows of one kind: their time, and the first, which is the longest.
struct Part {
  double time_ns = 0;
  double weighted_uses = 0;
  double ideal_ns = 0;
  double count = 0;
  const ShapeRow* top = nullptr;
  void Add(const ShapeRow& row) {
    if (top == nullptr) top = &row;
    time_ns += row.time_ns;
    weighted_uses += row.uses * row.time_ns;
    ideal_ns += row.attained * row.time_ns;
    count += static_cast<double>(row.count);
  }
};

// What the rows hold, by the limit that they meet.
struct Parts {
  Part all, memory, few, slow, odd, hot;
  double peak_work = 0;
  double work = 0;
  double kernel_ns = 0;
};

Parts FindParts(const Analysis& a) {
  const double few_uses = a.run.knowledge.Number("roofline.few_uses");
  const double slow_below = a.run.knowledge.Number("roofline.near_limit");
  Parts parts;
  parts.kernel_ns = a.shapes.kernel_ns;
  for (const ShapeRow& row : a.shapes.rows) {
    if (row.peak <= 0 || !IsArithmetic(row.kind)) continue;
    parts.all.Add(row);
    parts.work += row.flops * static_cast<double>(row.count);
    parts.peak_work += row.peak * row.time_ns / kNanosPerSecond;
    if (row.bound == "memory") parts.memory.Add(row);
    const bool moves = row.bound == "memory" || row.bound == "cache";
    if (moves && row.uses > 0 && row.uses <= few_uses) parts.few.Add(row);
    if (!a.kernels.top.empty() && row.kernel == a.kernels.top.front().name) parts.hot.Add(row);
    if (row.attained < slow_below) parts.slow.Add(row);
    if (row.odd > 0 && row.tensor) parts.odd.Add(row);
  }
  return parts;
}

auto ShareOfKernels(Part Parts::*part) {
  return [part](const Parts& p) { return std::min(1.0, ShareOf((p.*part).time_ns, p.kernel_ns)); };
}

auto Top(Part Parts::*part) {
  return UnlessEmpty(
      [part](const Parts& p) {
        return (p.*part).top == nullptr ? std::string() : Words(*(p.*part).top);
      },
      "no rows with recorded sizes are of this kind", "");
}

// What the peaks of the device say of the rows.
void DeclareLimits(SubjectOf<Parts (*)(const Analysis&)>* parts) {
  // A little above the peak is the clock above that of the data sheet.
  parts->Add("roofline.shapes.achieved", "share",
             "Estimate: operations of the rows over what the peaks allow in their time.",
             [](const Parts& p) { return std::min(1.0, p.work / p.peak_work); });
  parts->Add("roofline.shapes.attained", "share",
             "Estimate: part of the rows' time that the nearer limit, peak or bandwidth, explains.",
             [](const Parts& p) { return std::min(1.0, p.all.ideal_ns / p.all.time_ns); });
  parts->Add("roofline.shapes.memory.share", "share",
             "Estimate: part of the kernel time in rows that memory limits.",
             ShareOfKernels(&Parts::memory));
  parts->Add("roofline.shapes.memory.top", "name", "The row with most time that memory limits.",
             Top(&Parts::memory));
  parts->Add("roofline.shapes.few.share", "share",
             "Estimate: part of the kernel time in products below the balance whose result has so "
             "few rows or columns that each weight is read for little work (roofline.few_uses).",
             ShareOfKernels(&Parts::few));
  parts->Add("roofline.shapes.few.uses", "count",
             "Rows or columns of products whose result has few, on average over time.",
             [](const Parts& p) { return ShareOf(p.few.weighted_uses, p.few.time_ns); });
  parts->Add("roofline.shapes.few.per_step", "count",
             "Number of products whose result has few rows or columns, per step.",
             [](const Parts& p, const Analysis& a) {
               const bool steps = a.run.steps.known();
               return p.few.count / (steps ? static_cast<double>(a.run.steps.steady_count()) : 1);
             });
  parts->Add("roofline.shapes.slow.share", "share",
             "Estimate: part of the kernel time in rows that stay far from both limits.",
             ShareOfKernels(&Parts::slow));
  parts->Add("roofline.shapes.slow.top", "name",
             "The row with most time that stays far from both limits.", Top(&Parts::slow));
  parts->Add("roofline.shapes.slow.attained", "share",
             "Part of the time of rows far from both limits that the nearer limit explains.",
             [](const Parts& p) { return ShareOf(p.slow.ideal_ns, p.slow.time_ns); });
  parts->Add("roofline.shapes.odd.share", "share",
             "Part of the kernel time in products on tensor cores with a distance between rows "
             "that is no multiple of 16 bytes.",
             ShareOfKernels(&Parts::odd));
  parts->Add("roofline.shapes.odd.top", "name",
             "The product with most time whose rows are no multiple of 16 bytes apart.",
             Top(&Parts::odd));
  parts->Add("roofline.shapes.odd.elements", "count",
             "Distance between rows, in elements, of the product roofline.shapes.odd.top.",
             [](const Parts& p) { return p.odd.top == nullptr ? 0 : p.odd.top->odd; });
  parts->Add("roofline.shapes.hot.top", "name",
             "Of the sizes that the kernel with most time works on, those with most time.",
             Top(&Parts::hot));
  const auto is_hot = [](const Parts& p) { return p.hot.top != nullptr; };
  const char* const kNoSizes = "the sizes behind the kernel with most time are not known";
  parts->Add(
      "roofline.shapes.hot.attained", "share",
      "Part of the time of the kernel with most time on known sizes that the nearer limit "
      "explains.",
      If(
          is_hot, [](const Parts& p) { return std::min(1.0, p.hot.ideal_ns / p.hot.time_ns); },
          kNoSizes, ""));
  parts->Add("roofline.shapes.hot.side", "name",
             "Limit that the sizes roofline.shapes.hot.top meet first: memory or compute.",
             If(
                 is_hot, [](const Parts& p) { return p.hot.top->side; }, kNoSizes, ""));
}

// Absent in this order.
template <typename Source>
SubjectOf<Source>& NeedRecordedSizes(SubjectOf<Source>* subject) {
  subject->AlsoWithoutTimeline();
  subject->Needs([](const Analysis& a) { return a.shapes.recorded; },
                 "sizes of operators' tensors were not recorded (record_shapes=True)", "shapes");
  subject->Needs(
      [](const Analysis& a) { return !a.shapes.rows.empty() || a.shapes.dropped > 0; },
      "no operator whose work follows from its recorded sizes launched kernels in the window", "");
  return *subject;
}
template <typename Source>
SubjectOf<Source>& NeedRows(SubjectOf<Source>* subject) {
  return NeedRecordedSizes(subject).Needs(
      [](const Analysis& a) { return !a.shapes.rows.empty(); },
      "all calls whose work is known were left out: see the example", "");
}

void DeclareDropped(Catalog* catalog) {
  auto& shapes = NeedRecordedSizes(&catalog->Of(&Analysis::shapes));
  shapes.Add("roofline.shapes.dropped.count", "count",
             "Calls left out because the estimate fails: faster than the peak (another GPU, "
             "sparsity), or kernels that need fewer operations (Winograd, FFT).",
             &ShapeRows::dropped);
  shapes.Add("roofline.shapes.dropped.share", "share",
             "Part of the kernel time in calls left out because the estimate fails.",
             [](const ShapeRows& s) { return std::min(1.0, ShareOf(s.dropped_ns, s.kernel_ns)); });
  shapes.Add("roofline.shapes.dropped.example", "name",
             "A call left out because the estimate fails.",
             If([](const ShapeRows& s) { return s.dropped > 0; }, &ShapeRows::dropped_example,
                "no call was left out", ""));
}

}  // namespace

void DeclareShapeFacts(Catalog* catalog) {
  auto& shapes = NeedRows(&catalog->Of(&Analysis::shapes));
  shapes.Add(
      "roofline.shapes.rows", "rows",
      "An estimate from recorded sizes of operators: op, shape, dtype, kernel (with most time), "
      "kind (product, convolution, attention, experts, normalization, softmax, reduction, "
      "elementwise, index, pooling, optimizer), pipe (whose peak it is: tensor, plain), count, "
      "time "
      "(of the kernels that the operator launched itself), flops and bytes (the least, of a "
      "call), intensity, balance, achieved, achieved_share (of the peak), attainable, "
      "attained (achieved over attainable), side (the limit that these sizes meet first: "
      "memory, compute), bound (the side where the kernels come near it, else neither; "
      "cache when memory could not have moved the bytes in the time), uses (of single "
      "products: the smaller of rows and columns of the result), odd (of products: a "
      "distance between rows that is no multiple of 16 bytes, in elements); -1 is unknown.",
      [](const ShapeRows& s) {
        Rows rows;
        for (const ShapeRow& row : s.rows) rows.push_back(RowOf(row));
        return rows;
      });
  shapes.Add(
      "roofline.shapes.time", "ns",
      "Summed kernel time of the rows that multiply (products, convolutions, attention, experts).",
      &MultiplyingNs);
  shapes.Add(
      "roofline.shapes.share", "share", "Part of the kernel time in rows that multiply.",
      [](const ShapeRows& s) { return std::min(1.0, ShareOf(MultiplyingNs(s), s.kernel_ns)); });
  shapes.Add("roofline.shapes.covered", "share",
             "Part of the time of matrix, convolution and attention kernels whose sizes are known.",
             &ShapeRows::covered);
  auto& parts = NeedRows(&catalog->Of(&FindParts));
  parts.Needs(
      [](const Analysis& a) {
        return std::any_of(a.shapes.rows.begin(), a.shapes.rows.end(), [](const ShapeRow& row) {
          return row.peak > 0 && IsArithmetic(row.kind);
        });
      },
      "the peaks of the device are not known (see --gpu)", "hardware");
  DeclareLimits(&parts);
  DeclareDropped(catalog);
}

}  // namespace advise::facts
