// kernel.*: what runs on the GPU, and how well it fills the device.
#include <algorithm>

#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

constexpr std::size_t kMostRows = 20;
constexpr std::size_t kMostTotals = 50;

double Compute(const Analysis& a) { return a.kernels.compute_ns; }
// What shares of single kernels are of.
double Whole(const Kernels& k) { return std::max(k.time_ns, k.compute_ns); }

Row RowOf(const KernelRow& r, double whole) {
  return {{"name", r.name},
          {"class", r.kernel_class},
          {"count", static_cast<double>(r.count)},
          {"time", r.time_ns},
          {"share", ShareOf(r.time_ns, whole)},
          {"median", r.median_ns}};
}

template <typename Extend>
Rows RowsOfKernels(const std::vector<KernelRow>& rows, double whole, std::size_t most,
                   Extend extend) {
  Rows table;
  for (std::size_t i = 0; i < std::min(rows.size(), most); ++i) {
    table.push_back(RowOf(rows[i], whole));
    extend(rows[i], &table.back());
  }
  return table;
}

Rows PartialWarpRows(const BlockShapes& blocks) {
  return RowsOf(
      blocks.partial_warp_rows,
      [](const KernelRow& r) {
        return Row{{"name", r.name},
                   {"count", static_cast<double>(r.count)},
                   {"time", r.time_ns},
                   {"threads", r.blocks}};
      },
      kMostRows);
}

void DeclareTotals(Catalog* catalog) {
  auto& kernels = catalog->Of(&Analysis::kernels);
  const auto plain = [](const KernelRow&, Row*) {};
  kernels.Add("kernel.count", "count", "Number of kernels in the window.", &Kernels::count);
  kernels.Add("kernel.time", "ns", "Summed time of all kernels.", &Kernels::time_ns);
  kernels.Add(
      "kernel.top", "rows",
      "Kernels by time: name, class, count, time, share (of kernel time), median.",
      [plain](const Kernels& k) { return RowsOfKernels(k.top, Whole(k), kMostTotals, plain); });
  kernels.Add("kernel.top.name", "name", "Name of the kernel with most time.",
              [](const Kernels& k) { return k.top.empty() ? "" : k.top.front().name; });
  kernels.Add("kernel.top.share", "share", "Share of the kernel time in the kernel with most time.",
              [](const Kernels& k) {
                return k.top.empty() ? 0 : ShareOf(k.top.front().time_ns, Whole(k));
              });
  kernels.Add("kernel.unnamed.share", "share",
              "Share of the kernel time in kernels that the report gives no name.",
              [](const Kernels& k) { return ShareOf(k.unnamed.time_ns, Whole(k)); });
  kernels.Add("kernel.classes", "rows", "Classes of kernels by time: class, count, time, share.",
              [plain](const Kernels& k) {
                return RowsOfKernels(k.classes, k.time_ns, kMostTotals, plain);
              });
  kernels.Add("kernel.concurrency", "num", "Mean number of kernels running while any runs.",
              &Kernels::concurrency);
  kernels.Add("kernel.streams", "count", "Streams that kernels run on.", &Kernels::streams);
  kernels.Add("kernel.spilling.share", "share",
              "Share of the compute time in kernels that use local memory.",
              [](const Kernels& k) { return ShareOfDevice(k.spilling_ns, k.compute_ns); });
  kernels.Add("kernel.spilling.rows", "rows",
              "Kernels that use local memory: name, local_bytes, registers, count, time.",
              [](const Kernels& k) {
                return RowsOfKernels(k.spilling_rows, k.time_ns, kMostRows,
                                     [](const KernelRow& r, Row* row) {
                                       row->emplace_back("local_bytes", r.local_bytes);
                                       row->emplace_back("registers", r.registers);
                                     });
              });
}

// Grids against the number of SMs.
void DeclareGrids(Catalog* catalog) {
  auto& kernels = catalog->Of(&Analysis::kernels);
  kernels.Needs([](const Analysis& a) { return a.hardware.sm_count > 0; },
                "the number of SMs of the device is not known (see --gpu)", "hardware");
  kernels.Add(
      "kernel.small_grid.share", "share",
      "Share of the compute time in kernels with fewer blocks than SMs and nothing else running.",
      [](const Kernels& k) { return ShareOfDevice(k.small_grid.time_ns, k.compute_ns); });
  kernels.AddLoss(
      "kernel.small_grid", kChange,
      {"", "Time of kernels with fewer blocks than SMs and nothing else running.",
       "Kernels with fewer blocks than SMs are spread over more SMs, until memory is the limit."},
      &Kernels::small_grid);
  kernels.Add("kernel.small_grid.mean", "ns",
              "Mean length of kernels with fewer blocks than SMs and nothing else running.",
              [](const Kernels& k) {
                return k.small_grid.time_ns /
                       static_cast<double>(std::max<std::int64_t>(1, k.small_grid.count));
              });
  kernels.Add("kernel.small_grid.median_blocks", "count",
              "Median blocks of kernels with fewer blocks than SMs, weighted by time.",
              &Kernels::small_grid_blocks);
  kernels.Add("kernel.small_grid.median_threads", "count",
              "Median threads per block of kernels with fewer blocks than SMs, weighted by time.",
              &Kernels::small_grid_threads);
  kernels.Add("kernel.small_grid.sms", "count",
              "SMs of the device that small grids are measured by.",
              [](const Kernels&, const Analysis& a) { return a.hardware.sm_count; });
  kernels.Add("kernel.small_grid.rows", "rows",
              "Kernels with fewer blocks than SMs, by time: name, blocks, count, time.",
              [](const Kernels& k) {
                return RowsOfKernels(
                    k.small_grid_rows, k.time_ns, kMostRows,
                    [](const KernelRow& r, Row* row) { row->emplace_back("blocks", r.blocks); });
              });
  kernels.Add(
      "kernel.small_grid.fill", "share",
      "Blocks over SMs of kernels with fewer blocks than SMs, weighted by time. Where kernels "
      "written by hand have few warps per SM, it counts for less.",
      &Kernels::small_grid_fill);
  kernels.Add(
      "kernel.tail.share", "share",
      "Share of the compute time that the last partial wave of large kernels may waste, where "
      "no other kernel runs beside them (upper bound).",
      [](const Kernels& k) { return ShareOfDevice(k.tail_waste_ns, k.compute_ns); });
  kernels.Add("kernel.tail.counted", "share",
              "Part of the time of kernels with a partial last wave whose waves a kernel profiler "
              "counted; those of the rest are worked out from threads per block, which gives too "
              "few waves where registers or shared memory allow fewer blocks.",
              [](const Kernels& k) { return ShareOf(k.tail_counted_ns, k.tail.time_ns); });
  kernels.Add(
      "kernel.tail.rows", "rows",
      "Large kernels with a partial last wave: name, waves, count, time.", [](const Kernels& k) {
        return RowsOfKernels(k.tail_rows, k.time_ns, kMostRows, [](const KernelRow& r, Row* row) {
          row->emplace_back("waves", r.waves);
        });
      });
  kernels.AddLoss("kernel.tail", kLost, {"", "Time of large kernels with a partial last wave.", ""},
                  &Kernels::tail);
  kernels.Add("kernel.narrow.share", "share",
              "Share of the compute time in kernels that leave SMs free and run alone.",
              [](const Kernels& k) { return ShareOfDevice(k.narrow_ns, k.compute_ns); });
}

// The part of the time that the longest piece of each device takes.
double LongestPart(const Spans& spans) {
  Nanos longest = 0;
  for (const IntervalSet& device : spans.by_device) {
    Nanos of_device = 0;
    for (const Interval one : device.intervals()) of_device = std::max(of_device, one.Length());
    longest += of_device;
  }
  return ShareOf(static_cast<double>(longest), static_cast<double>(spans.Total()));
}

// Sequences that a better kernel would replace.
void DeclareSequences(Catalog* catalog) {
  auto& kernels = catalog->Of(&Analysis::kernels);
  kernels.AddLoss("kernel.elementwise", kOfKernels,
                  {"unfused element-wise and copy kernels, two or more in a row",
                   "Time of unfused element-wise and copy kernels that follow each other.",
                   "Runs of element-wise and copy kernels become one kernel each."},
                  &Kernels::elementwise);
  kernels.Add("kernel.elementwise.runs", "count",
              "Runs of two or more unfused element-wise kernels in a row, per step.",
              &Kernels::elementwise_runs);
  kernels.AddLoss("kernel.attention.unfused", kOfKernels,
                  {"matmul-softmax-matmul sequences", "Time of matmul-softmax-matmul sequences.",
                   "A fused attention kernel is launched once and does not write the scores."},
                  &Kernels::attention);
  kernels.AddLoss(
      "kernel.layout", kOfKernels,
      {"transposes and layout conversions", "Time of transposes and layout conversions.",
       "Transposes and layout conversions are gone."},
      &Kernels::layout);
  kernels.Add("kernel.layout.longest", "share",
              "Part of the time of transposes and layout conversions that the longest one of each "
              "device takes.",
              [](const Kernels& k) { return LongestPart(*k.layout.lost); });
  kernels.AddLoss(
      "kernel.waiting", kOfKernels,
      {"kernels that only wait for a time or a flag",
       "Time of kernels that only wait for a time or a flag.", "Kernels that only wait are gone."},
      &Kernels::waiting);
  kernels.AddLoss("kernel.optimizer", kPerStep | kChange,
                  {"small kernels of the optimizer phase (or of a per-tensor update pattern)",
                   "Time of small optimizer kernels, and of the gaps between them.",
                   "A few multi-tensor kernels replace the small optimizer kernels."},
                  &Kernels::optimizer);
  kernels.AddLoss(
      "kernel.zeroing", kPerStep | kChange,
      {"kernels in rows that each set one tensor to a constant",
       "Time of kernels in rows that each set one tensor to a constant, of the gaps between them, "
       "and of the kernels of the backward pass that add to a tensor so set.",
       "Kernels in rows that each set one tensor to a constant are gone, and what adds to these."},
      &Kernels::zeroing);
  kernels.Add("kernel.zeroing.added", "count",
              "Kernels of the backward pass that add to one of the tensors that were set to a "
              "constant one by one, per step.",
              &Kernels::zeroing_added);
  kernels.Add("kernel.optimizer.norms", "share",
              "Share of the small kernels for each tensor of the model that take its norm.",
              &Kernels::optimizer_norms);
  kernels.Add("kernel.optimizer.one_grid", "share",
              "Share of small optimizer kernels that have the commonest number of blocks: tensors "
              "of a model have many sizes, pieces of an array have one.",
              &Kernels::optimizer_one_grid);
  kernels.Add("kernel.optimizer.share", "share",
              "Share of the step that small optimizer kernels span.",
              [](const Kernels& k, const Analysis& a) {
                return ShareOf(static_cast<double>(k.optimizer.lost->Total()),
                               static_cast<double>(a.basis().Device()));
              });
}

void DeclareTrains(Catalog* catalog) {
  auto& trains = catalog->Of(&Analysis::kernel_trains);
  trains.AddLoss(
      "kernel.gemm_train", kCount | kChange,
      {"runs of eight or more launches of one small matrix kernel with one grid, with "
       "at most two others between, which are the same from launch to launch",
       "Idle time between the kernels of runs of one small matrix kernel, and kernel time that is "
       "gone when all blocks of a run are launched at once.",
       "The host launches each run of one small matrix kernel once."},
      &KernelTrains::products);
  trains.Add("kernel.gemm_train.kernels", "count",
             "Kernels in runs of one small matrix kernel, per step.",
             &KernelTrains::product_kernels);
  trains.AddLoss("kernel.repeated", kCount | kChange,
                 {"runs of eight or more launches of one small kernel with one grid, matrix "
                  "kernels left out",
                  "Idle time between the kernels of runs of one small kernel.",
                  "The host launches each run of one small kernel once."},
                 &KernelTrains::repeats);
  trains.Add("kernel.repeated.kernels", "count",
             "Kernels in runs of one small kernel, per step; per run, where steps are shorter.",
             &KernelTrains::repeat_kernels);
  trains.AddLoss("kernel.pieces", kCount | kChange,
                 {"series of 64 or more pieces: launches of one small kernel with one grid of a "
                  "few blocks, or of a few such kernels in the same order",
                  "Time of series of small kernels for a few SMs, and idle time between their "
                  "launches.",
                  "One launch takes the place of each such series, and its blocks run in "
                  "parallel; what the host reads after each piece comes once."},
                 &KernelTrains::pieces);
  trains.Add("kernel.pieces.kernels", "count", "Pieces in one such series, on average.",
             &KernelTrains::pieces_mean);
  trains.Add("kernel.pieces.body", "count", "Kernels of one piece of such a series, on average.",
             &KernelTrains::pieces_body);
  auto& experts = catalog->Of(&Analysis::looped_experts);
  experts.AddLoss(
      "kernel.expert_loop", kCount | kChange,
      {"eight or more rounds in a row in which small kernels gather rows, multiply them and add "
       "the result to rows",
       "Idle time between the rounds of loops that gather, multiply and add rows, and kernel time "
       "that is gone when all rounds are one launch each.",
       "One grouped launch takes the place of each kernel of such a loop."},
      &LoopedExperts::loss);
  experts.Add("kernel.expert_loop.experts", "count", "Rounds of one such loop, on average.",
              &LoopedExperts::experts);
}

// A compiler's search for the fastest form of a kernel.
void DeclareTuning(Catalog* catalog) {
  auto& tuning = catalog->Of(&Analysis::kernel_tuning);
  tuning.AddLoss(
      "kernel.tuning", kCount | kPerStep | kChange,
      {"series of runs of kernels in the loop, each run behind a memset of one large size",
       "Time of runs of kernels behind memsets of one large size, with the memsets and "
       "idle time between them.",
       "No kernels are tuned in the loop."},
      &KernelTuning::loss);
  tuning.Add("kernel.tuning.runs", "count", "Runs in one such series, on average.",
             &KernelTuning::runs);
}

// The same kernel and grid at the same place of the step.
void DeclareVariation(Catalog* catalog) {
  auto& variation = catalog->Of(&Analysis::kernel_variation);
  variation.AddLoss("kernel.varying", kCount | kChange,
                    {"kernels that took more than twice the median of the same kernel and grid at "
                     "the same place of the step",
                     "Time beyond the median of kernels that took more than twice the median.",
                     "Kernels that took more than twice the median take the median."},
                    &KernelVariation::varying);
  variation.AddLoss("kernel.slices", kCount | kTime | kChange,
                    {"kernels that the GPU put aside for another process, which was not recorded",
                     "Time of kernels beyond what the same kernel and grid takes, where single "
                     "launches of several kernels take longer by about as much.",
                     "Kernels are not put aside for another process."},
                    &KernelVariation::slices);
  variation.Add("kernel.slowing.ratio", "num",
                "Time of the same kernels in the second half of the window over the first; 0 when "
                "it cannot be compared.",
                &KernelVariation::slowing_ratio);
  variation.Add("kernel.slowing.share", "share",
                "Share of the kernel time in kernels that were compared between the halves of the "
                "window.",
                &KernelVariation::slowing_share);
  variation.Add(
      "kernel.slowing.sigma", "num",
      "By how many standard errors the kernel time of steps differs between the halves of "
      "the window, as it varies from step to step. Few steps count for less: it is the distance "
      "that would be as improbable in a normal distribution.",
      &KernelVariation::slowing_sigma);
  variation.Add("kernel.slowing.alike", "share",
                "Of the compared kernel time, the part in kernels that became slower by at least "
                "half of what all did together.",
                &KernelVariation::slowing_alike);
  variation.Add("kernel.slowing.data", "num",
                "Data of a step in the second half of the window over the first: blocks of kernels "
                "that come with several grids, or bytes uploaded, whichever grows more.",
                &KernelVariation::data_growth);
  variation.AddLoss("kernel.slowing", kChange,
                    {"",
                     "Time of kernels in the second half of the window beyond the median of the "
                     "first; where they take longer from step to step, beyond the first steps.",
                     "Kernels stay as fast as they were before they became slower."},
                    &KernelVariation::slowing);
}

void DeclareBlocks(Catalog* catalog) {
  auto& blocks = catalog->Of(&Analysis::block_shapes);
  blocks.AddLoss(
      "kernel.partial_warp", kShare | kChange,
      {"kernels whose block size is not a multiple of 32 threads, where the grid fills the "
       "device",
       "Time of kernels whose block size is not a multiple of 32 threads.",
       "Kernels with partial warps have threads in all lanes."},
      &BlockShapes::partial_warps);
  blocks.Add("kernel.partial_warp.waste", "share",
             "Share of the compute time in lanes without a thread.",
             [](const BlockShapes& b, const Analysis& a) {
               return ShareOf(b.partial_warp_waste_ns, Compute(a));
             });
  blocks.Add(
      "kernel.partial_warp.rows", "rows",
      "Kernels whose block size is not a multiple of 32 threads: name, count, time, threads.",
      PartialWarpRows);
  blocks.AddLoss(
      "kernel.tiny_block", kShare | kLost,
      {"kernels with at most 32 threads per block and more blocks than SMs",
       "Time of kernels with at most 32 threads per block and more blocks than SMs.", ""},
      &BlockShapes::tiny_blocks);
}

}  // namespace

void DeclareKernelFacts(Catalog* catalog) {
  DeclareTotals(catalog);
  DeclareGrids(catalog);
  DeclareSequences(catalog);
  DeclareTrains(catalog);
  DeclareTuning(catalog);
  DeclareVariation(catalog);
  DeclareBlocks(catalog);
}

}  // namespace advise::facts
