// Facts of products, convolutions and attention whose sizes were recorded: the list and the values.
#include <algorithm>

#include "engine/facts/fact_writer.h"
#include "engine/metrics/analysis.h"

namespace advise::facts {
namespace {

constexpr const char* kNotRecorded =
    "sizes of operators' tensors were not recorded (record_shapes=True)";
constexpr const char* kNoRows =
    "no operator whose work follows from its recorded sizes launched kernels in the window";
constexpr const char* kNoPeaks = "the peaks of the device are not known (see --gpu)";

constexpr const char* kOfSizes[] = {"roofline.shapes.rows", "roofline.shapes.time",
                                    "roofline.shapes.share", "roofline.shapes.covered"};
constexpr const char* kOfPeaks[] = {
    "roofline.shapes.achieved",     "roofline.shapes.attained",     "roofline.shapes.memory.share",
    "roofline.shapes.memory.top",   "roofline.shapes.few.share",    "roofline.shapes.few.uses",
    "roofline.shapes.slow.share",   "roofline.shapes.slow.top",     "roofline.shapes.slow.attained",
    "roofline.shapes.hot.top",      "roofline.shapes.hot.attained", "roofline.shapes.hot.side",
    "roofline.shapes.few.per_step", "roofline.shapes.odd.share",    "roofline.shapes.odd.top",
    "roofline.shapes.odd.elements"};

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

void WritePlaces(const Analysis& a, FactWriter* w) {
  const ShapeRows& shapes = a.shapes;
  const double few_uses = a.run.knowledge.Number("roofline.few_uses");
  const double slow_below = a.run.knowledge.Number("roofline.near_limit");
  Part all, memory, few, slow, odd, hot;
  double peak_work = 0;
  double work = 0;
  for (const ShapeRow& row : shapes.rows) {
    if (row.peak <= 0 || !IsArithmetic(row.kind)) continue;
    all.Add(row);
    work += row.flops * static_cast<double>(row.count);
    peak_work += row.peak * row.time_ns / kNanosPerSecond;
    if (row.bound == "memory") memory.Add(row);
    const bool moves = row.bound == "memory" || row.bound == "cache";
    if (moves && row.uses > 0 && row.uses <= few_uses) few.Add(row);
    if (!a.kernels.top.empty() && row.kernel == a.kernels.top.front().name) hot.Add(row);
    if (row.attained < slow_below) slow.Add(row);
    if (row.odd > 0 && row.tensor) odd.Add(row);
  }
  if (all.top == nullptr) {
    for (const char* name : kOfPeaks) w->Missing(name, kNoPeaks, "hardware");
    return;
  }
  const auto share = [&](const Part& part) {
    return shapes.kernel_ns > 0 ? std::min(1.0, part.time_ns / shapes.kernel_ns) : 0;
  };
  const auto top = [&](const char* name, const Part& part) {
    if (part.top != nullptr) {
      w->Text(name, Words(*part.top));
    } else {
      w->Missing(name, "there is none of it", "");
    }
  };
  // A little above the peak is the clock above that of the data sheet.
  w->Number("roofline.shapes.achieved", std::min(1.0, work / peak_work));
  w->Number("roofline.shapes.attained", std::min(1.0, all.ideal_ns / all.time_ns));
  w->Number("roofline.shapes.memory.share", share(memory));
  top("roofline.shapes.memory.top", memory);
  w->Number("roofline.shapes.few.share", share(few));
  w->Number("roofline.shapes.few.uses", few.top == nullptr ? 0 : few.weighted_uses / few.time_ns);
  const bool steps = a.run.steps.known();
  w->Number("roofline.shapes.few.per_step",
            steps ? few.count / static_cast<double>(a.run.steps.steady_count()) : few.count);
  w->Number("roofline.shapes.slow.share", share(slow));
  top("roofline.shapes.slow.top", slow);
  w->Number("roofline.shapes.slow.attained",
            slow.top == nullptr ? 0 : slow.ideal_ns / slow.time_ns);
  w->Number("roofline.shapes.odd.share", share(odd));
  top("roofline.shapes.odd.top", odd);
  w->Number("roofline.shapes.odd.elements", odd.top == nullptr ? 0 : odd.top->odd);
  top("roofline.shapes.hot.top", hot);
  if (hot.top == nullptr) {
    for (const char* name : {"roofline.shapes.hot.attained", "roofline.shapes.hot.side"}) {
      w->Missing(name, "the sizes behind the kernel with most time are not known", "");
    }
    return;
  }
  w->Number("roofline.shapes.hot.attained", std::min(1.0, hot.ideal_ns / hot.time_ns));
  w->Text("roofline.shapes.hot.side", hot.top->side);
}

}  // namespace

std::vector<FactInfo> ShapeFactList() {
  return {
      {"roofline.shapes.rows", "rows",
       "An estimate from recorded sizes of operators: op, shape, dtype, kernel (with most time), "
       "kind (product, convolution, attention, experts, normalization, softmax, reduction, "
       "elementwise, index, pooling, optimizer), pipe (whose peak it is: tensor, plain), count, "
       "time (of "
       "the kernels that the operator launched itself), flops and bytes (the least) a call, "
       "intensity, balance, achieved, achieved_share (of the peak), attainable, attained (achieved"
       " over attainable), side (the limit that these sizes meet first: memory, compute), bound "
       "(the side where the kernels come near it, else neither; cache when memory could not have "
       "moved the bytes in the time), uses (of single products: the smaller of rows and columns of"
       " the result), odd (of products: a distance between rows that is no multiple of 16 bytes, "
       "in elements); -1 is unknown."},
      {"roofline.shapes.time", "ns",
       "Kernel time of the rows that multiply (products, convolutions, attention, experts), "
       "summed."},
      {"roofline.shapes.share", "share", "Part of the kernel time in rows that multiply."},
      {"roofline.shapes.covered", "share",
       "Part of the time of matrix, convolution and attention kernels that the rows hold."},
      {"roofline.shapes.achieved", "share",
       "Estimate: the rows' operations over what the peaks allow in their time."},
      {"roofline.shapes.attained", "share",
       "Estimate: part of the rows' time that the nearer limit, peak or bandwidth, explains."},
      {"roofline.shapes.memory.share", "share",
       "Estimate: part of the kernel time in rows that memory limits."},
      {"roofline.shapes.memory.top", "name", "The one of them with most time."},
      {"roofline.shapes.few.share", "share",
       "Estimate: part of the kernel time in products below the balance whose result has so few "
       "rows or columns that each weight is read for little work (roofline.few_uses)."},
      {"roofline.shapes.few.uses", "count", "Their rows or columns, on average over time."},
      {"roofline.shapes.few.per_step", "count", "How many of them a step."},
      {"roofline.shapes.slow.share", "share",
       "Estimate: part of the kernel time in rows that stay far from both limits."},
      {"roofline.shapes.slow.top", "name", "The one of them with most time."},
      {"roofline.shapes.slow.attained", "share",
       "Part of their time that the nearer limit explains."},
      {"roofline.shapes.odd.share", "share",
       "Part of the kernel time in products on tensor cores with a distance between rows that is "
       "no "
       "multiple of 16 bytes."},
      {"roofline.shapes.odd.top", "name", "The one of them with most time."},
      {"roofline.shapes.odd.elements", "count", "Its distance, in elements."},
      {"roofline.shapes.hot.top", "name",
       "Of the sizes that the kernel with most time works on, those with most time."},
      {"roofline.shapes.hot.attained", "share",
       "Part of its time on such sizes that the nearer limit explains."},
      {"roofline.shapes.hot.side", "name", "Which limit that is, of the sizes with most time."},
      {"roofline.shapes.dropped.count", "count",
       "Calls left out because the estimate fails: faster than the peak (another GPU, sparsity), "
       "or "
       "kernels that need fewer operations (Winograd, FFT)."},
      {"roofline.shapes.dropped.share", "share", "Their part of the kernel time."},
      {"roofline.shapes.dropped.example", "name", "One of them."},
  };
}

void WriteShapeFacts(const Analysis& a, FactWriter* w) {
  const ShapeRows& shapes = a.shapes;
  const bool none = shapes.rows.empty() && shapes.dropped == 0;
  if (!shapes.recorded || none) {
    const char* reason = shapes.recorded ? kNoRows : kNotRecorded;
    for (const FactInfo& info : ShapeFactList()) {
      w->Missing(info.name, reason, shapes.recorded ? "" : "shapes");
    }
    return;
  }
  w->Number("roofline.shapes.dropped.count", static_cast<double>(shapes.dropped));
  w->Number("roofline.shapes.dropped.share",
            shapes.kernel_ns > 0 ? std::min(1.0, shapes.dropped_ns / shapes.kernel_ns) : 0);
  if (shapes.dropped > 0) {
    w->Text("roofline.shapes.dropped.example", shapes.dropped_example);
  } else {
    w->Missing("roofline.shapes.dropped.example", "no call was left out", "");
  }
  if (shapes.rows.empty()) {
    constexpr const char* kAll = "all calls whose work is known were left out: see the example";
    for (const char* name : kOfSizes) w->Missing(name, kAll, "");
    for (const char* name : kOfPeaks) w->Missing(name, kAll, "");
    return;
  }
  Rows rows;
  for (const ShapeRow& row : shapes.rows) rows.push_back(RowOf(row));
  w->Table("roofline.shapes.rows", std::move(rows));
  double time_ns = 0;
  for (const ShapeRow& row : shapes.rows) {
    if (IsArithmetic(row.kind)) time_ns += row.time_ns;
  }
  w->Number("roofline.shapes.time", time_ns);
  w->Number("roofline.shapes.share",
            shapes.kernel_ns > 0 ? std::min(1.0, time_ns / shapes.kernel_ns) : 0);
  w->Number("roofline.shapes.covered", shapes.covered);
  WritePlaces(a, w);
}

}  // namespace advise::facts
