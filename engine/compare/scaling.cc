#include "engine/compare/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/base/is_in.h"
#include "engine/compare/compare.h"
#include "engine/compare/work_match.h"

namespace advise {

constexpr const char* kScaleRuns = "scale.runs";

Speedup SpeedupOf(double time_before, double devices_before, double time_after,
                  double devices_after) {
  Speedup result;
  if (time_before <= 0 || time_after <= 0 || devices_before <= 0 || devices_after <= 0)
    return result;
  result.speedup = time_before / time_after;
  result.efficiency = result.speedup / (devices_after / devices_before);
  return result;
}

namespace {

// Kernel launches and sizes tell the work of a step of one device; nullopt when the runs have too
// little in common.
std::optional<double> WorkOfStep(const Report& base, const Report& other, const WorkMatch& match,
                                 const Knowledge& knowledge) {
  const auto steps_a = FactNumber(base, "steps.count");
  const auto steps_b = FactNumber(other, "steps.count");
  const auto devices_a = FactNumber(base, "run.devices");
  const auto devices_b = FactNumber(other, "run.devices");
  if (!steps_a || !steps_b || !devices_a || !devices_b || *steps_a <= 0 || *steps_b <= 0 ||
      *devices_a <= 0 || *devices_b <= 0) {
    return std::nullopt;
  }
  const double per_step = (*steps_a * *devices_a) / (*steps_b * *devices_b);
  if (match.same && match.even) {
    const double work = match.count_ratio * per_step;
    return std::abs(work - 1) <= knowledge.Number("compare.same_work") ? 1 : work;
  }
  if (match.other_pieces) return *devices_a / *devices_b;
  // Kernels do not show another batch where libraries give each the same grid; its upload does.
  const auto bytes_a = FactNumber(base, "work.upload_bytes");
  const auto bytes_b = FactNumber(other, "work.upload_bytes");
  if (match.other_batch && bytes_a && bytes_b && *bytes_a > 0) return *bytes_b / *bytes_a;
  // Another batch a device: kernels of the same names on other sizes.
  if (match.problem.empty() || match.size_ratio == 1) return std::nullopt;
  return match.size_ratio;
}

const Finding* Bottleneck(const Report& report) {
  for (const Finding& finding : report.findings) {
    if (finding.rule != nullptr && finding.severity != Severity::kInfo &&
        finding.rule->kind == RuleKind::kRoot)
      return &finding;
  }
  return nullptr;
}

double ShareOf(const Report& report, const std::string& rule) {
  double share = 0;
  for (const Finding& finding : report.findings) {
    if (finding.rule != nullptr && finding.rule->id == rule) share += finding.saving_share;
  }
  return share;
}

}  // namespace

Scaling ScaleRuns(const std::vector<ScalingRun>& runs, const Knowledge& knowledge) {
  Scaling scaling;
  const bool given = std::all_of(runs.begin(), runs.end(),
                                 [](const ScalingRun& run) { return run.given_s.has_value(); });
  scaling.source = given ? "given" : "step";
  const Report& base = *runs.front().report;
  const std::string gpu = FactWord(base, "hw.name", "");
  for (const ScalingRun& run : runs) {
    ScalingRow row;
    row.label = run.label;
    row.devices = FactNumber(*run.report, "run.devices").value_or(0);
    row.step_ns = FactNumber(*run.report, "steps.median").value_or(0);
    row.batch_bytes = FactNumber(*run.report, "work.upload_bytes").value_or(0);
    const bool is_base = &run == &runs.front();
    const std::string name = FactWord(*run.report, "hw.name", "");
    if (!gpu.empty() && !name.empty() && name != gpu) {
      scaling.problems.push_back(
          fmt::format("{} ran on different GPUs: {} instead of {}", run.label, name, gpu));
    }
    if (HasCare(*run.report, Care::kSomeRanks)) {
      scaling.problems.push_back(fmt::format(
          "{} shows only some ranks of its job: give the reports of all of them", run.label));
    } else if (row.devices <= 0) {
      scaling.problems.push_back(fmt::format("{} holds no GPU work", run.label));
    } else if (given) {
      row.time_ns = *run.given_s * kNanosPerSecond;
    } else if (row.step_ns <= 0) {
      scaling.problems.push_back(fmt::format(
          "no steps were found in {}: give the measured times with --seconds", run.label));
    } else {
      const WorkMatch match = MatchWork(base, *run.report, knowledge);
      const auto work = is_base ? 1 : WorkOfStep(base, *run.report, match, knowledge);
      if (!is_base && match.other_program) {
        scaling.problems.push_back(fmt::format(
            "{} and {} seem to be different programs: {}. If they do the same work, give the "
            "measured times with --seconds",
            runs.front().label, run.label, match.problem));
      } else if (!work) {
        scaling.notes.push_back(
            fmt::format("The kernels do not show how much work a step of {} does: the table "
                        "assumes the same batch per GPU as in the first run",
                        run.label));
      }
      row.work = work.value_or(1);
      if (row.work != 1) {
        scaling.notes.push_back(
            fmt::format("A step of {} does {:.2f} times the work per GPU of the first run",
                        run.label, row.work));
      }
      const double base_devices = FactNumber(base, "run.devices").value_or(1);
      row.time_ns = row.step_ns * base_devices / (row.devices * row.work);
    }
    scaling.rows.push_back(row);
  }
  const ScalingRow& first = scaling.rows.front();
  for (ScalingRow& row : scaling.rows) {
    const Speedup gain = SpeedupOf(first.time_ns, first.devices, row.time_ns, row.devices);
    row.speedup = gain.speedup;
    row.efficiency = gain.efficiency;
    row.known = scaling.problems.empty() && gain.speedup > 0;
  }
  return scaling;
}

bool JudgesScaling(const RuleInfo& rule) { return IsIn(kScaleRuns, rule.needs); }

std::unique_ptr<Facts> ScaleFacts(const Scaling& scaling, std::size_t row,
                                  const std::vector<ScalingRun>& runs) {
  std::map<std::string, Fact, std::less<>> facts;
  const ScalingRow& base = scaling.rows.front();
  const ScalingRow& one = scaling.rows[row];
  const auto number = [&](const char* name, double value) { facts[name].value = value; };
  number(kScaleRuns, static_cast<double>(runs.size()));
  number("scale.devices_before", base.devices);
  number("scale.devices_after", one.devices);
  const Absent unknown{scaling.problems.empty() ? "no times are known" : scaling.problems.front(),
                       "steps"};
  for (const auto& [name, value] : {std::pair{"scale.time_before", base.time_ns},
                                    {"scale.time_after", one.time_ns},
                                    {"scale.speedup", one.speedup},
                                    {"scale.efficiency", one.efficiency}}) {
    if (one.known) {
      number(name, value);
    } else {
      facts[name].value = unknown;
    }
  }
  const Finding* bottleneck = Bottleneck(*runs.front().report);
  const double after = bottleneck == nullptr ? 0 : ShareOf(*runs[row].report, bottleneck->rule->id);
  if (bottleneck != nullptr && scaling.problems.empty()) {
    facts["scale.bottleneck"].value = bottleneck->rule->id;
    facts["scale.bottleneck_title"].value = bottleneck->rule->title;
    number("scale.bottleneck_before", bottleneck->saving_share);
    number("scale.bottleneck_after", after);
  } else {
    for (const char* name : {"scale.bottleneck", "scale.bottleneck_title",
                             "scale.bottleneck_before", "scale.bottleneck_after"}) {
      facts[name].value = Absent{"the smaller run has no finding", ""};
    }
  }
  return std::make_unique<MapFacts>(std::move(facts));
}

}  // namespace advise
