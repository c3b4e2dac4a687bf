#include "engine/advice/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/facts/rows.h"

namespace advise {
namespace {

constexpr std::size_t kTimelines = 60;
constexpr std::size_t kTimelineEvents = 500;
constexpr std::size_t kKernels = 5000;
constexpr std::size_t kPoints = 600;
constexpr std::size_t kOperators = 300;  // of the roofline
constexpr std::size_t kColumns = 120;    // of the lateness map
constexpr Nanos kNarrowest = 2'000;  // a timeline shows no less: launches lie microseconds apart
constexpr Nanos kFinest = 700;       // events below this part of a timeline are less than a pixel

}  // namespace

Roofline RooflineOfShapes(const Report& report) {
  Roofline roofline;
  const Rows* rows = FactRows(report, "roofline.shapes.rows");
  if (rows == nullptr) return roofline;
  roofline.estimated = true;
  for (const Row& row : *rows) {
    const double intensity = NumberIn(row, "intensity");
    const double achieved = NumberIn(row, "achieved");
    const double share = NumberIn(row, "achieved_share");
    const double balance = NumberIn(row, "balance");
    if (intensity <= 0 || achieved <= 0 || share <= 0 || balance <= 0) {
      ++roofline.without_place;
    } else if (roofline.points.size() < kOperators) {
      roofline.points.push_back(
          {fmt::format("{} {} {}", TextIn(row, "op"), TextIn(row, "shape"), TextIn(row, "dtype")),
           intensity, achieved, NumberIn(row, "time")});
      roofline.AddRoof({achieved / share, achieved / share / balance});
    } else {
      ++roofline.left_out;
    }
  }
  return roofline;
}

WorstExample FindWorstExample(const Analysis& analysis, const Report& report,
                              const Finding& finding) {
  WorstExample worst;
  const Window& window = analysis.run.window;
  for (const Verdict& verdict : report.verdicts) {
    if (verdict.rule != finding.rule || verdict.outcome != Outcome::kFired) continue;
    if (!verdict.saving.claims) continue;
    const auto& by_device = verdict.saving.claims->by_device;
    for (std::uint32_t d = 0; d < by_device.size(); ++d) {
      const IntervalSet claim = by_device[d].Clip(window.start, window.end);
      for (const Interval& i : claim.intervals()) {
        if (i.Length() > worst.end - worst.start) worst = {d, i.start, i.end, ""};
      }
    }
  }
  // Evidence says it better: the whole gap or op, where the claim may be a part of it.
  for (const Evidence& item : finding.evidence) {
    const bool points =
        item.end_ns > item.start_ns && (item.start_ns > window.start || item.end_ns < window.end);
    if (!points) continue;
    const bool same =
        worst.end <= worst.start || (item.start_ns < worst.end && item.end_ns > worst.start);
    if (!same) continue;
    worst.start = item.start_ns;
    worst.end = item.end_ns;
    worst.what = item.what;
    break;
  }
  return worst;
}

Interval Surroundings(const Analysis& analysis, const WorstExample& example) {
  const Window& window = analysis.run.window;
  const Nanos length = example.end - example.start;
  const Nanos room = std::max(length / 2, kNarrowest);
  // Of an example that fills the window, there is nothing around it to show.
  const Nanos start = std::max(std::min(window.start, example.start), example.start - room);
  const Nanos end = std::min(std::max(window.end, example.end), example.end + room);
  return {start, end};
}

ReportViews BuildViews(const Analysis& analysis, const Report& report) {
  ReportViews views;
  const Basis basis = analysis.basis();
  for (const Finding& finding : report.findings) {
    // Those that stand under another finding, or only inform, are a line of the report.
    if (finding.UnderCause() || finding.severity == Severity::kInfo) continue;
    if (views.timelines.size() >= kTimelines) {
      views.without_timeline.emplace_back(
          finding.rank,
          fmt::format("only the first {} findings have a timeline; see advise slice --finding {}",
                      kTimelines, finding.rank));
      continue;
    }
    const WorstExample worst = FindWorstExample(analysis, report, finding);
    if (worst.end <= worst.start) continue;
    const Interval around = Surroundings(analysis, worst);
    ExcerptOptions options;
    options.device = worst.device;
    options.merge_below = around.Length() / kFinest;
    options.most_events = kTimelineEvents;
    FindingTimeline timeline;
    timeline.finding = finding.rank;
    if (finding.rule != nullptr) timeline.rule = finding.rule->id;
    timeline.start_ns = worst.start;
    timeline.end_ns = worst.end;
    timeline.what = worst.what;
    timeline.excerpt = CutExcerpt(analysis.run, analysis.idle, around.start, around.end, options);
    if (!timeline.excerpt.rows.empty()) views.timelines.push_back(std::move(timeline));
  }
  views.sources = FindSources(analysis, report);
  views.steps = StepPoints(analysis.run, kPoints);
  views.copy_sizes = CopySizes(basis);
  views.kernels = TabulateKernels(basis);
  if (views.kernels.size() > kKernels) {
    views.kernels_left_out = views.kernels.size() - kKernels;
    views.kernels.resize(kKernels);
  }
  views.samples = ThinSamples(analysis.run, kPoints);
  views.lateness = LatenessByStep(analysis.run, kColumns);
  views.roofline = RooflineOf(analysis.counters);
  if (views.roofline.points.empty()) views.roofline = RooflineOfShapes(report);
  return views;
}

FindingSlice BuildSlice(const Analysis& analysis, const Report& report, const Finding& finding) {
  return BuildSliceAround(analysis, report, finding.rank,
                          FindWorstExample(analysis, report, finding));
}

FindingSlice BuildSliceAround(const Analysis& analysis, const Report& report, int number,
                              const WorstExample& worst) {
  FindingSlice slice;
  slice.finding = number;
  for (const Device& device : analysis.run.trace.devices) {
    slice.devices.push_back(
        fmt::format("GPU {}{}{}", device.ordinal, device.name.empty() ? "" : ", ", device.name));
  }
  if (worst.end <= worst.start) return slice;
  const Interval around = Surroundings(analysis, worst);
  ExcerptOptions options;
  options.thread_rows = options.stream_rows = std::numeric_limits<std::size_t>::max();
  options.most_events = kSliceEvents;
  options.launching_calls = true;
  options.python = true;
  slice.excerpt = CutExcerpt(analysis.run, analysis.idle, around.start, around.end, options);
  for (const Finding& other : report.findings) {
    if (other.rule == nullptr) continue;
    const auto mark = [&](const std::string& text, std::uint32_t device, Nanos start, Nanos end) {
      if (start < around.end && end > around.start) {
        slice.marks.push_back({other.rank, other.Title(), text, device, start, end});
      }
    };
    const WorstExample example = FindWorstExample(analysis, report, other);
    mark(example.what.empty() ? "worst example" : example.what, kNone, example.start, example.end);
    for (const Verdict& verdict : report.verdicts) {
      if (verdict.rule != other.rule || !verdict.saving.claims) continue;
      const auto& by_device = verdict.saving.claims->by_device;
      for (std::uint32_t d = 0; d < by_device.size(); ++d) {
        const IntervalSet inside = by_device[d].Clip(around.start, around.end);
        for (const Interval& i : inside.intervals()) mark("", d, i.start, i.end);
      }
    }
  }
  return slice;
}

}  // namespace advise
