#include "engine/compare/work_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "engine/base/text.h"
#include "engine/compare/compare.h"
#include "engine/facts/rows.h"

namespace advise {
namespace {

struct Kernel {
  double count = 0;
  double time = 0;
  double threads = 0;  // summed over launches
};
using BySize = std::map<std::tuple<std::string, double, double>, Kernel>;
using ByName = std::map<std::string, Kernel>;

struct Kernels {
  BySize by_size;
  ByName by_name;
  double time = 0;
};

Kernels KernelsOf(const Report& report) {
  Kernels kernels;
  const Rows* rows = FactRows(report, "work.kernels");
  if (rows == nullptr) return kernels;
  for (const Row& row : *rows) {
    const std::string name = TextIn(row, "name");
    const double blocks = NumberIn(row, "blocks");
    const double threads = NumberIn(row, "threads");
    const double count = NumberIn(row, "count");
    const double time = NumberIn(row, "time");
    for (Kernel* kernel : {&kernels.by_size[{name, blocks, threads}], &kernels.by_name[name]}) {
      kernel->count += count;
      kernel->time += time;
      kernel->threads += count * blocks * threads;
    }
    kernels.time += time;
  }
  return kernels;
}

// Sizes of the uploads that come in every step: the batch shows itself in them (K-M4).
double LargestUpload(const Report& report, const Knowledge& knowledge) {
  const Rows* rows = FactRows(report, "work.uploads");
  const double each_step = knowledge.Number("compare.each_step");
  double largest = 0;
  if (rows == nullptr) return 0;
  for (const Row& row : *rows) {
    if (NumberIn(row, "per_step") >= each_step) largest = std::max(largest, NumberIn(row, "bytes"));
  }
  return largest;
}

bool Near(double ratio, double tolerance) {
  return ratio <= 1 + tolerance && ratio >= 1 / (1 + tolerance);
}

// What two runs have in common beside their kernels.
struct Surroundings {
  double upload_before = 0, upload_after = 0;  // the largest of each step; 0 none
  bool one_process = false;                    // programs of one name
  bool UploadsKnown() const { return upload_before > 0 && upload_after > 0; }
};

bool OneProcess(const Report& before, const Report& after) {
  const std::string name = FactWord(before, "launch.process", "");
  return !name.empty() && name == FactWord(after, "launch.process", "");
}

// Why the runs are of different programs; "" when they share enough. Of either run: what is fixed
// may have held nearly all the time of the other.
std::string OtherPrograms(const LevelMatch& match, const Surroundings& around,
                          const Knowledge& knowledge) {
  const double sure = std::max(match.sure_before, match.sure_after);
  if (sure >= knowledge.Number("compare.least_matched")) return "";
  const double tolerance = knowledge.Number("compare.same_work");
  const bool like_uploads =
      !around.UploadsKnown() || Near(around.upload_after / around.upload_before, tolerance);
  const double all = std::min(match.all_before, match.all_after);
  // What is inside a whole graph is not seen: nothing speaks against its being the same.
  const bool told = match.tells || (match.graphs && (around.UploadsKnown() || around.one_process));
  if (told && like_uploads && all >= knowledge.Number("compare.weak_matched")) return "";
  return fmt::format(
      "the runs have hardly any kernels in common, by name or by operator and shapes ({} of the "
      "kernel time of BEFORE, {} of AFTER){}",
      FormatQuantity(match.sure_before, "share"), FormatQuantity(match.sure_after, "share"),
      match.graphs ? "; CUDA graphs were recorded as a whole (nsys profile --cuda-graph-trace=node)"
                   : "");
}

// Whether the kernels that changed their size changed it as the uploads of a step did. Those of
// libraries may fill the GPU with blocks that work on until all is done, however much it is.
bool ShowsOtherBatch(const std::vector<std::pair<double, double>>& sizes,
                     const Surroundings& around, const Knowledge& knowledge) {
  const double tolerance = knowledge.Number("compare.same_work");
  if (!around.UploadsKnown()) return false;
  const double ratio = around.upload_after / around.upload_before;
  if (Near(ratio, tolerance)) return false;
  double changed = 0, as_uploads = 0;
  for (const auto& [size, weight] : sizes) {
    if (Near(size, tolerance)) continue;
    changed += weight;
    if (Near(size / ratio, tolerance)) as_uploads += weight;
  }
  return changed > 0 && as_uploads >= knowledge.Number("compare.agree_share") * changed;
}

// A kernel of both runs: AFTER over BEFORE.
struct Changes {
  double size = 1;      // threads of a launch
  double launches = 1;  // in the window
  double weight = 0;
};

// Whether both do the same work in a step, in launches of another size and number: those whose size
// changed make up for it by their number, and the others, which may fill the GPU with blocks that
// work on until all is done, come as much oftener or more seldom. `steps`: BEFORE over AFTER.
bool InOtherPieces(const std::vector<Changes>& kernels, double steps, const Knowledge& knowledge) {
  const double tolerance = knowledge.Number("compare.same_work");
  double changed = 0, made_up = 0, rest = 0, as_often = 0;
  std::vector<std::pair<double, double>> sizes;
  for (const Changes& kernel : kernels) {
    if (Near(kernel.size, tolerance)) continue;
    changed += kernel.weight;
    if (Near(kernel.size * kernel.launches * steps, tolerance)) made_up += kernel.weight;
    sizes.emplace_back(kernel.size, kernel.weight);
  }
  const double size = WeightedMedian(sizes);
  for (const Changes& kernel : kernels) {
    if (!Near(kernel.size, tolerance)) continue;
    rest += kernel.weight;
    if (Near(kernel.launches * steps * size, tolerance)) as_often += kernel.weight;
  }
  const double agree = knowledge.Number("compare.agree_share");
  return changed > 0 && !Near(size, tolerance) && made_up >= agree * changed &&
         as_often >= agree * rest;
}

// "2.50 times as many", "1/256 as many".
std::string TimesAsMany(double ratio) {
  constexpr double kSmall = 0.1;  // below, two digits behind the point say little
  return ratio > 0 && ratio < kSmall ? fmt::format("1/{:.0f} as many", 1 / ratio)
                                     : fmt::format("{:.2f} times as many", ratio);
}

bool OfAmd(const Report& report) { return FactWord(report, "hw.name", "").starts_with("AMD"); }

}  // namespace

double WeightedMedian(std::vector<std::pair<double, double>> values) {
  std::sort(values.begin(), values.end());
  double all = 0;
  for (const auto& [value, weight] : values) all += weight;
  double sum = 0;
  for (const auto& [value, weight] : values) {
    sum += weight;
    if (2 * sum >= all) return value;
  }
  return 1;
}

WorkMatch MatchWork(const Report& before, const Report& after, const Knowledge& knowledge) {
  const double tolerance = knowledge.Number("compare.same_work");
  const Kernels a = KernelsOf(before);
  const Kernels b = KernelsOf(after);
  WorkMatch match;
  const std::vector<WorkRow> rows_before = WorkRowsOf(before);
  const std::vector<WorkRow> rows_after = WorkRowsOf(after);
  if (rows_before.empty() || rows_after.empty()) {
    match.problem =
        fmt::format("{} holds no compute kernels", rows_before.empty() ? "BEFORE" : "AFTER");
    return match;
  }
  match.levels = MatchLevels(rows_before, rows_after, knowledge);
  // A kernel that does the same in both runs has one size in both; one whose sizes vary says
  // nothing by them.
  std::vector<std::pair<double, double>> sizes;
  std::vector<Changes> changes;
  for (const auto& [name, kernel] : a.by_name) {
    const auto other = b.by_name.find(name);
    if (other == b.by_name.end() || kernel.threads <= 0 || kernel.count <= 0) continue;
    const double launches = other->second.count / kernel.count;
    changes.push_back({other->second.threads / kernel.threads / launches, launches,
                       std::sqrt(kernel.time * other->second.time)});
    sizes.emplace_back(changes.back().size, changes.back().weight);
  }
  std::vector<std::pair<double, double>> counts;
  double matched_before = 0, matched_after = 0;
  for (const auto& [key, kernel] : a.by_size) {
    const auto other = b.by_size.find(key);
    if (other == b.by_size.end()) continue;
    matched_before += kernel.time;
    matched_after += other->second.time;
    counts.emplace_back(other->second.count / kernel.count,
                        std::sqrt(kernel.time * other->second.time));
  }
  match.matched_before = a.time > 0 ? matched_before / a.time : 0;
  match.matched_after = b.time > 0 ? matched_after / b.time : 0;
  match.size_ratio = WeightedMedian(sizes);
  match.count_ratio = WeightedMedian(counts);
  const double steps_before = FactNumber(before, "steps.count").value_or(0);
  const double steps_after = FactNumber(after, "steps.count").value_or(0);
  const bool steps = steps_before > 0 && steps_after > 0;
  std::vector<std::pair<double, double>> totals;
  for (const Changes& kernel : changes)
    totals.emplace_back(kernel.size * kernel.launches, kernel.weight);
  if (steps) match.step_ratio = WeightedMedian(totals) * steps_before / steps_after;
  double agree = 0, all = 0;
  for (const auto& [ratio, weight] : counts) {
    all += weight;
    if (Near(ratio / match.count_ratio, tolerance)) agree += weight;
  }
  match.even = all > 0 && agree >= knowledge.Number("compare.agree_share") * all;

  const double upload_before = LargestUpload(before, knowledge);
  const double upload_after = LargestUpload(after, knowledge);
  match.problem = OtherPrograms(
      match.levels, {upload_before, upload_after, OneProcess(before, after)}, knowledge);
  match.other_program = !match.problem.empty();
  if (match.other_program) return match;
  if (!Near(match.size_ratio, tolerance) && steps && Near(match.step_ratio, tolerance)) {
    match.same = match.other_pieces = true;
    match.even = false;
    return match;
  }
  if (steps && InOtherPieces(changes, steps_before / steps_after, knowledge)) {
    match.same = match.other_pieces = true;
    match.even = false;
    match.step_ratio = 1;
    return match;
  }
  const bool other_batch = ShowsOtherBatch(sizes, {upload_before, upload_after}, knowledge);
  match.other_batch = other_batch;
  if (!Near(match.size_ratio, tolerance) || other_batch) {
    match.problem =
        other_batch ? fmt::format(
                          "another batch size: kernels whose size follows the batch work "
                          "on {} threads",
                          TimesAsMany(upload_after / upload_before))
        : OfAmd(before) != OfAmd(after)
            ? "the GPUs are of two makers, whose kernels of one name divide work among threads in "
              "other ways: the kernels do not show whether both runs did the same work"
            : fmt::format("another batch or model size: the same kernels work on {} threads",
                          TimesAsMany(match.size_ratio));
    if (upload_before > 0 && upload_after > 0 && !Near(upload_after / upload_before, tolerance)) {
      match.problem += fmt::format(", and each step uploads {} instead of {}",
                                   FormatQuantity(upload_after, "bytes"),
                                   FormatQuantity(upload_before, "bytes"));
    }
    return match;
  }
  match.same = true;
  return match;
}

}  // namespace advise
