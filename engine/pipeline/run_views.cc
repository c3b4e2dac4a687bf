#include "engine/pipeline/run_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "engine/advice/rank_timeline.h"
#include "engine/advice/views.h"
#include "engine/base/median.h"
#include "engine/pipeline/run_rules.h"

namespace advise {
namespace {

constexpr std::size_t kPoints = 600;
constexpr std::size_t kColumns = 120;
constexpr std::size_t kRows = 96;  // of the lateness map: more are no picture
constexpr std::size_t kExamples = 8;
constexpr const char* kFactsHoldNoEvents =
    "a facts file keeps no single events; name the report itself to see them";

// The kernels with most time of all ranks together. Shapes, shortest and longest are not kept.
std::vector<KernelTotal> KernelsOfRanks(const std::vector<RankSummary>& ranks) {
  std::map<std::string, KernelTotal> by_name;
  std::map<std::string, std::vector<Nanos>> medians;
  Nanos all = 0;
  for (const RankSummary& rank : ranks) {
    for (const RankKernel& kernel : rank.kernels) {
      KernelTotal& total = by_name[kernel.name];
      total.name = kernel.name;
      total.count += kernel.count;
      total.total_ns += kernel.total;
      medians[kernel.name].push_back(kernel.median);
      all += kernel.total;
    }
  }
  std::vector<KernelTotal> kernels;
  for (auto& [name, total] : by_name) {
    total.share = all > 0 ? static_cast<double>(total.total_ns) / static_cast<double>(all) : 0;
    total.median_ns = Median(medians[name]);
    kernels.push_back(std::move(total));
  }
  std::stable_sort(kernels.begin(), kernels.end(), [](const KernelTotal& a, const KernelTotal& b) {
    return a.total_ns > b.total_ns;
  });
  return kernels;
}

// The longest example of a rule in any report.
const FindingTimeline* LongestExample(const std::vector<PartViews>& parts, const std::string& rule,
                                      const PartViews** from) {
  const FindingTimeline* longest = nullptr;
  for (const PartViews& part : parts) {
    for (const FindingTimeline& timeline : part.views->timelines) {
      const bool longer = longest == nullptr ||
                          timeline.end_ns - timeline.start_ns > longest->end_ns - longest->start_ns;
      if (timeline.rule != rule || !longer) continue;
      longest = &timeline;
      *from = &part;
    }
  }
  return longest;
}

std::vector<StepPoint> JobSteps(const Job& job) {
  if (!job.has_steps) return {};
  std::vector<Step> steps;
  Nanos at = job.start;
  for (const Nanos length : job.job_length) {
    steps.push_back({at, at + length});
    at += length;
  }
  return GroupSteps(steps, 0, {}, kPoints);
}

}  // namespace

LatenessMatrix JointLateness(const Cluster& cluster, std::size_t most_columns,
                             std::size_t most_rows) {
  LatenessMatrix matrix;
  const Job& job = cluster.job;
  if (!job.has_steps || job.steps == 0 || cluster.joint.all.empty()) return matrix;
  const std::size_t wide = (job.steps + most_columns - 1) / most_columns;
  const std::size_t columns = (job.steps + wide - 1) / wide;
  const std::size_t ranks = cluster.ranks.size();
  std::vector<std::vector<double>> sum(ranks, std::vector<double>(columns, 0));
  std::vector<std::vector<std::size_t>> count(ranks, std::vector<std::size_t>(columns, 0));
  std::vector<double> total(ranks, 0);
  for (const JointCollective& joint : cluster.joint.all) {
    for (const JointMember& member : joint.members) {
      const RankSummary& rank = cluster.ranks[member.rank];
      const Nanos start = rank.collectives.start[member.row];
      const std::size_t step = job.StepAt(cluster.ranks, member.rank, start);
      if (step >= job.steps) continue;
      const auto late =
          static_cast<double>(start + cluster.clocks.offset[rank.clock] - joint.first_start);
      sum[member.rank][step / wide] += late;
      ++count[member.rank][step / wide];
      total[member.rank] += late;
    }
  }
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < ranks; ++r) rows.push_back(r);
  if (ranks > most_rows) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](std::size_t a, std::size_t b) { return total[a] > total[b]; });
    rows.resize(most_rows);
    std::sort(rows.begin(), rows.end());
  }
  for (std::size_t c = 0; c < columns; ++c) matrix.steps.push_back(c * wide);
  for (const std::size_t r : rows) {
    matrix.devices.push_back(static_cast<std::uint32_t>(r));
    matrix.names.push_back(cluster.Label(r));
    for (std::size_t c = 0; c < columns; ++c) {
      double& cell = sum[r][c];
      cell = count[r][c] == 0 ? std::numeric_limits<double>::quiet_NaN()
                              : cell / static_cast<double>(count[r][c]);
    }
    matrix.mean_ns.push_back(std::move(sum[r]));
  }
  return matrix;
}

std::shared_ptr<const ReportViews> MergeViews(const std::vector<PartViews>& parts,
                                              const Cluster& cluster, const Report& report) {
  ReportViews views;
  const bool only_facts = parts.empty();
  for (const Finding& finding : report.findings) {
    if (finding.rule == nullptr || finding.UnderCause()) continue;
    if (finding.severity == Severity::kInfo) continue;
    if (AboutRanks(*finding.rule)) {
      auto timeline = RankTimeline(cluster, finding);
      if (timeline) {
        views.timelines.push_back(std::move(*timeline));
      } else {
        views.without_timeline.emplace_back(
            finding.rank, "the ranks have neither common steps nor collectives to draw");
      }
      continue;
    }
    const PartViews* from = nullptr;
    const FindingTimeline* example = LongestExample(parts, finding.rule->id, &from);
    if (example == nullptr) {
      if (only_facts) views.without_timeline.emplace_back(finding.rank, kFactsHoldNoEvents);
      continue;
    }
    FindingTimeline timeline = *example;
    timeline.finding = finding.rank;
    if (timeline.what.empty()) timeline.what = "the longest time that this finding claims";
    timeline.what += " (" + from->label + ")";
    views.timelines.push_back(std::move(timeline));
    for (const FindingSource& source : from->views->sources) {
      if (source.rule != finding.rule->id) continue;
      views.sources.push_back(source);
      views.sources.back().finding = finding.rank;
    }
  }
  if (only_facts) {
    views.kernels = KernelsOfRanks(cluster.ranks);
    views.roofline = RooflineOfShapes(report);
    views.not_drawn.push_back(fmt::format(
        "Not drawn: sizes of copies, samples,{} and host threads and streams around single "
        "findings. Facts files keep sums, steps, collectives and the kernels with most time; for "
        "the rest, name the reports themselves.",
        views.roofline.points.empty() ? " roofline," : ""));
  } else {
    const ReportViews& first = *parts.front().views;
    views.charts_of = parts.front().label;
    views.copy_sizes = first.copy_sizes;
    views.kernels = first.kernels;
    views.kernels_left_out = first.kernels_left_out;
    views.samples = first.samples;
    views.roofline = first.roofline;
  }
  views.steps = JobSteps(cluster.job);
  views.lateness = JointLateness(cluster, kColumns, kRows);
  return std::make_shared<const ReportViews>(std::move(views));
}

void TrimViews(Report* report) {
  if (report->views == nullptr) return;
  ReportViews kept;
  kept.timelines = report->views->timelines;
  if (kept.timelines.size() > kExamples) kept.timelines.resize(kExamples);
  kept.sources = report->views->sources;
  report->views = std::make_shared<const ReportViews>(std::move(kept));
}

}  // namespace advise
