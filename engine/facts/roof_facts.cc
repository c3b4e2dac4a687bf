// efficiency.* of kernels, roofline.below.* and roofline.well.*: how well kernels run, which of
// them stay far below what good libraries reach, and which should be left alone. kernel.unknown.*:
// kernels that nobody here knows.
#include <algorithm>

#include "engine/base/text.h"
#include "engine/facts/declare.h"
#include "engine/metrics/kernels/kernel_table.h"

namespace advise::facts {
namespace {

constexpr std::size_t kMostRoofRows = 20;
constexpr const char* kNoRoof =
    "neither sizes of operators nor counters of kernels were recorded, or the GPU is not known";

Rows UnmeasuredRows(const KernelEfficiency& efficiency, const Analysis& a) {
  return RowsOf(
      efficiency.unmeasured,
      [&](const UnmeasuredKernel& kernel) {
        return Row{{"name", kernel.name},
                   {"short_name", ShortKernelName(kernel.name, a.run.knowledge)},
                   {"class", kernel.kernel_class},
                   {"count", static_cast<double>(kernel.count)},
                   {"time", kernel.time_ns},
                   {"share", kernel.share}};
      },
      kMostRoofRows);
}

// Where the calls come from tells more than the end of a long name.
std::string PlaceOf(const std::string& kernel, const std::string& source) {
  constexpr std::size_t kEnough = 36;  // layout only
  if (source.empty()) return kernel;
  const std::string name =
      kernel.size() <= kEnough ? kernel : SafeText(kernel.substr(0, kEnough - 1)) + "…";
  return name + ", called from " + source;
}

Row RoofRow(const ShapeRow& row, const Analysis& a) {
  const std::string kernel = ShortKernelName(row.kernel, a.run.knowledge);
  const std::string source =
      row.call == kNone ? "" : SourceOfCall(a.run.trace, a.operators, row.call);
  const double good = row.reached > 0 ? std::min(1.0, row.attained / row.reached) : 0;
  return {{"op", row.op},
          {"shape", row.shape},
          {"dtype", row.type},
          {"kernel", kernel},
          {"kernel_name", row.kernel},
          {"source", source},
          {"place", PlaceOf(kernel, source)},
          {"kind", WorkKindName(row.kind)},
          {"count", static_cast<double>(row.count)},
          {"time", row.time_ns},
          {"recoverable", row.recoverable_ns},
          {"attained", row.attained},
          {"of_measured", row.of_measured},
          {"reached", row.reached},
          {"good", good},
          {"flop_rate", row.achieved},
          {"byte_rate", row.bandwidth},
          {"side", row.side},
          {"roof", row.side == "memory" ? "the memory bandwidth"
                   : row.tensor         ? "the compute peak"
                                        : "the compute peak without tensor cores"},
          {"reason", row.reason}};
}

// Most to win first.
Rows BelowRows(const Analysis& a, RoofGroup group) {
  std::vector<const ShapeRow*> chosen;
  for (const ShapeRow& row : a.shapes.rows) {
    if (GroupOf(row.kind) == group && a.shapes.IsBelow(row)) chosen.push_back(&row);
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](const ShapeRow* x, const ShapeRow* y) {
    return x->recoverable_ns > y->recoverable_ns;
  });
  if (chosen.size() > kMostRoofRows) chosen.resize(kMostRoofRows);
  Rows rows;
  for (const ShapeRow* row : chosen) rows.push_back(RoofRow(*row, a));
  return rows;
}

std::vector<const ShapeRow*> WellRun(const Analysis& a) {
  const double well = a.run.knowledge.Number("roofline.well");
  const double attained = a.run.knowledge.Number("roofline.well_attained");
  std::vector<const ShapeRow*> chosen;
  for (const ShapeRow& row : a.shapes.rows) {
    const bool runs_well = row.reached >= well && row.attained >= attained;
    if (runs_well && row.bound != "cache") chosen.push_back(&row);
  }
  return chosen;
}

double UnknownShare(const Analysis& a) {
  double share = 0;
  for (const KernelTotal& kernel : UnknownKernels(a.basis())) share += kernel.share;
  return share;
}

Rows UnknownRows(const Analysis& a) {
  return RowsOf(
      UnknownKernels(a.basis()),
      [](const KernelTotal& kernel) {
        return Row{{"name", kernel.name},
                   {"count", static_cast<double>(kernel.count)},
                   {"time", static_cast<double>(kernel.total_ns)},
                   {"share", kernel.share}};
      },
      kMostRoofRows);
}

void DeclareBelow(Catalog* catalog, const std::string& group, RoofGroup which, const char* what) {
  const std::string words = what;
  auto& below = catalog->OfAll();
  below.Needs([](const Analysis& a) { return a.shapes.rated_ns > 0; }, kNoRoof, "shapes");
  below.Add(
      group + ".rows", "rows",
      "Estimate from recorded sizes: " + words +
          " that stay far below what good libraries reach, most to win first: op, shape, "
          "dtype, kernel (short), kernel_name, source (line of the program), place (kernel and "
          "source in words), kind, count, time, recoverable (ns), attained (of the data "
          "sheet's roof), of_measured (of what was measured for large products or copies), "
          "reached (of what good libraries reach for these sizes), good (what good libraries "
          "attain), flop_rate, byte_rate, side, roof (side in words), reason.",
      [which](const Analysis& a) { return BelowRows(a, which); });
  below.AddLoss(group, kCount | kTime | kChange,
                {"kernels of " + words + " that stay far below what good libraries reach",
                 "Time beyond what kernels of good libraries take, for " + words + ".",
                 "Kernels take as long as those of good libraries, for " + words + "."},
                [which](const Analysis& a) -> const Loss& {
                  return a.shapes.below[static_cast<std::size_t>(which)];
                });
}

}  // namespace

void DeclareRoofFacts(Catalog* catalog) {
  auto& efficiency = catalog->Of(&Analysis::efficiency).AlsoWithoutTimeline();
  efficiency
      .Add("efficiency.measured_share", "share",
           "Part of the compute kernels' time whose efficiency is known, from recorded sizes of "
           "operators or from a kernel profiler.",
           &KernelEfficiency::measured_share)
      .Add("efficiency.source", "name",
           "Where most of what is known of the kernels' efficiency comes from: shapes, counters; "
           "samples when only the GPU as a whole was sampled; none.",
           &KernelEfficiency::source)
      .Add("efficiency.mfu", "share",
           "Part of the window that the measured operations of products, convolutions and "
           "attention would take at the data sheet's peak of their type; a lower bound where not "
           "all was measured.",
           UnlessNegative(&KernelEfficiency::mfu, kNoRoof, "shapes"))
      .Add("efficiency.bandwidth", "share",
           "Part of the window that the measured bytes would take at the data sheet's memory "
           "bandwidth; a lower bound where not all was measured.",
           UnlessNegative(&KernelEfficiency::bandwidth, kNoRoof, "shapes"))
      .Add("efficiency.reached", "share",
           "Of kernels whose sizes were recorded: time that good libraries take for the same work "
           "over the time that they took.",
           UnlessNegative(&KernelEfficiency::kernels_reached, kNoRoof, "shapes"))
      .Add("efficiency.unmeasured", "rows",
           "Compute kernels whose efficiency is not known, most time first: name, short_name, "
           "class, count, time, share (of the compute kernels' time).",
           UnmeasuredRows);
  DeclareBelow(catalog, "roofline.below.products", RoofGroup::kProducts, "products");
  DeclareBelow(catalog, "roofline.below.convolutions", RoofGroup::kConvolutions, "convolutions");
  DeclareBelow(catalog, "roofline.below.attention", RoofGroup::kAttention, "attention");
  DeclareBelow(catalog, "roofline.below.experts", RoofGroup::kExperts, "mixtures of experts");
  DeclareBelow(catalog, "roofline.below.memory", RoofGroup::kMemory,
               "operators that only move data");
  auto& well = catalog->OfAll();
  well.Needs([](const Analysis& a) { return a.shapes.rated_ns > 0; }, kNoRoof, "shapes");
  well.Add("roofline.rated.share", "share",
           "Part of the time of kernels that operators with recorded sizes launched whose roof is "
           "known.",
           [](const Analysis& a) { return ShareOf(a.shapes.rated_ns, a.shapes.operator_ns); });
  well.Add("roofline.rated.time", "ns", "Time of kernels whose roof is known from sizes, summed.",
           [](const Analysis& a) { return a.shapes.rated_ns; });
  well.Add("roofline.well.share", "share",
           "Part of the compute kernels' time in operators that run as well as good libraries do.",
           [](const Analysis& a) {
             double time_ns = 0;
             for (const ShapeRow* row : WellRun(a)) time_ns += row->time_ns;
             return ShareOf(time_ns, a.shapes.compute_ns);
           });
  well.Add("roofline.well.rows", "rows",
           "Operators that run as well as good libraries do, most time first; columns as in "
           "roofline.below.products.rows.",
           [](const Analysis& a) {
             Rows rows;
             for (const ShapeRow* row : WellRun(a)) {
               if (rows.size() < kMostRoofRows) rows.push_back(RoofRow(*row, a));
             }
             return rows;
           });
  auto& unknown = catalog->OfAll();
  unknown.Add("kernel.unknown.share", "share",
              "Part of the kernel time in kernels whose names the knowledge base does not know.",
              UnknownShare);
  unknown.Add("kernel.unknown.rows", "rows",
              "Kernels whose names the knowledge base does not know, most time first: name, count, "
              "time, share (of all kernel time).",
              UnknownRows);
}

}  // namespace advise::facts
