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
  double longer = 1;    // time of a launch
  double weight = 0;
};

// Whether both do the same work in a step, in launches of another number: each makes up for it by
// its size. Kernels that fill the GPU with blocks which work on until all is done have one size
// whatever they do: they come as much oftener as the others are smaller, or a launch takes as much
// less time. What comes as often as before, such as the update of the weights, is the same work.
// `steps`: BEFORE over AFTER.
bool InOtherPieces(const std::vector<Changes>& kernels, double steps, const Knowledge& knowledge) {
  const double tolerance = knowledge.Number("compare.same_work");
  const double made_up = knowledge.Number("compare.pieces_made_up");
  const double least = std::log(knowledge.Number("compare.pieces_least"));
  std::vector<std::pair<double, double>> sizes, launches;
  double all = 0;
  for (const Changes& kernel : kernels) {
    launches.emplace_back(kernel.launches * steps, kernel.weight);
    if (!Near(kernel.size, tolerance)) sizes.emplace_back(kernel.size, kernel.weight);
    all += kernel.weight;
  }
  const double size = WeightedMedian(sizes);
  if (Near(WeightedMedian(launches), tolerance)) return false;
  double same = 0;
  for (const Changes& kernel : kernels) {
    const double oftener = kernel.launches * steps;
    const bool by_size =
        Near(oftener * (Near(kernel.size, tolerance) ? size : kernel.size), tolerance);
    const double change = std::abs(std::log(oftener));
    const bool by_time = Near(kernel.size, tolerance) && change >= least &&
                         std::abs(std::log(oftener * kernel.longer)) <= (1 - made_up) * change;
    if (by_size || by_time || Near(oftener * kernel.size, tolerance)) same += kernel.weight;
  }
  return same >= knowledge.Number("compare.agree_share") * all;
}

// How many times as much a launch does, where nearly all kernels of one grid take as much longer or
// shorter as the grids of the others changed: another batch or model. 1 where they do not.
double MoreInLaunch(const std::vector<Changes>& kernels, const Knowledge& knowledge) {
  const double tolerance = knowledge.Number("compare.same_work");
  std::vector<std::pair<double, double>> sizes, longer;
  for (const Changes& kernel : kernels) {
    const bool grows = !Near(kernel.size, tolerance);
    (grows ? sizes : longer).emplace_back(grows ? kernel.size : kernel.longer, kernel.weight);
  }
  if (sizes.empty() || longer.empty()) return 1;
  const double size = WeightedMedian(sizes);
  const double room = (1 - knowledge.Number("compare.pieces_made_up")) * std::abs(std::log(size));
  const auto as_size = [&](const std::vector<std::pair<double, double>>& values) {
    double all = 0, alike = 0;
    for (const auto& [value, weight] : values) {
      all += weight;
      if (std::abs(std::log(value / size)) <= room) alike += weight;
    }
    return alike >= knowledge.Number("compare.agree_share") * all;
  };
  const bool far = std::abs(std::log(size)) >= std::log(knowledge.Number("compare.pieces_least"));
  return far && as_size(sizes) && as_size(longer) ? size : 1;
}

// "2.50 times as many", "1/256 as many".
std::string TimesAsMany(double ratio) {
  constexpr double kSmall = 0.1;  // below, two digits behind the point say little
  return ratio > 0 && ratio < kSmall ? fmt::format("1/{:.0f} as many", 1 / ratio)
                                     : fmt::format("{:.2f} times as many", ratio);
}

// What both runs launch: each kernel by name, each by name and size, and the time of the latter.
struct Shared {
  std::vector<Changes> by_name, by_size;
  double before = 0, after = 0;
};

// A kernel that does the same in both runs has one size in both; one whose sizes vary says nothing
// by them.
Shared SharedBy(const Kernels& a, const Kernels& b) {
  Shared shared;
  const auto change = [](const Kernel& kernel, const Kernel& other) {
    const double launches = other.count / kernel.count;
    return Changes{other.threads / kernel.threads / launches, launches,
                   kernel.time > 0 ? other.time / kernel.time / launches : 1,
                   std::sqrt(kernel.time * other.time)};
  };
  for (const auto& [name, kernel] : a.by_name) {
    const auto other = b.by_name.find(name);
    if (other == b.by_name.end() || kernel.threads <= 0 || kernel.count <= 0) continue;
    shared.by_name.push_back(change(kernel, other->second));
  }
  for (const auto& [key, kernel] : a.by_size) {
    const auto other = b.by_size.find(key);
    if (other == b.by_size.end()) continue;
    shared.before += kernel.time;
    shared.after += other->second.time;
    shared.by_size.push_back(change(kernel, other->second));
  }
  return shared;
}

// Steps of BEFORE over those of AFTER; nothing where one of them has none.
std::optional<double> StepsOver(const Report& before, const Report& after) {
  const double a = FactNumber(before, "steps.count").value_or(0);
  const double b = FactNumber(after, "steps.count").value_or(0);
  if (a <= 0 || b <= 0) return std::nullopt;
  return a / b;
}

// How many times as often a step of AFTER uploads the same: the size of most bytes that both
// upload. 1 where there is none.
double UploadsOfStep(const Report& before, const Report& after) {
  const Rows* a = FactRows(before, "work.uploads");
  const Rows* b = FactRows(after, "work.uploads");
  if (a == nullptr || b == nullptr) return 1;
  double most = 0;
  double ratio = 1;
  for (const Row& row : *a) {
    for (const Row& other : *b) {
      const double bytes = NumberIn(row, "bytes");
      const double often = NumberIn(row, "per_step");
      if (bytes != NumberIn(other, "bytes") || often <= 0) continue;
      const double uploaded = bytes * std::sqrt(NumberIn(row, "count") * NumberIn(other, "count"));
      if (uploaded <= most) continue;
      most = uploaded;
      ratio = NumberIn(other, "per_step") / often;
    }
  }
  return ratio;
}

// How much work the launches of the same kernels count. Where they do not agree, a fix may have
// left out some of them, which a step then holds fewer of: what the uploads of the same data and a
// part of the kernels agree on is the work.
void CountLaunches(const std::vector<Changes>& kernels,
                   const std::pair<const Report&, const Report&>& runs, const Knowledge& knowledge,
                   WorkMatch* match) {
  const double tolerance = knowledge.Number("compare.same_work");
  const double enough = knowledge.Number("compare.agree_share");
  std::vector<std::pair<double, double>> counts;
  for (const Changes& kernel : kernels) counts.emplace_back(kernel.launches, kernel.weight);
  match->count_ratio = WeightedMedian(counts);
  double all = 0;
  for (const auto& [ratio, weight] : counts) all += weight;
  const auto agreeing = [&](double ratio) {
    std::vector<std::pair<double, double>> found;
    double sum = 0;
    for (const auto& [one, weight] : counts) {
      if (!Near(one / ratio, tolerance)) continue;
      found.emplace_back(one, weight);
      sum += weight;
    }
    return std::pair(WeightedMedian(std::move(found)), sum);
  };
  match->even = all > 0 && agreeing(match->count_ratio).second >= enough * all;
  const auto steps = StepsOver(runs.first, runs.second);
  if (match->even || !steps) return;
  const double uploads = UploadsOfStep(runs.first, runs.second);
  if (Near(uploads, tolerance)) return;
  const auto [ratio, weight] = agreeing(uploads / *steps);
  if (weight < (1 - enough) * all) return;
  match->count_ratio = ratio;
  match->even = match->by_uploads = true;
}

// By how much longer nearly all kernels of one name and size take, where it is one factor; else 1.
double LongerAlike(const std::vector<Changes>& kernels, const Knowledge& knowledge) {
  std::vector<std::pair<double, double>> longer;
  double all = 0;
  for (const Changes& kernel : kernels) {
    longer.emplace_back(kernel.longer, kernel.weight);
    all += kernel.weight;
  }
  const double usual = WeightedMedian(longer);
  double alike = 0;
  for (const auto& [one, weight] : longer) {
    if (Near(one / usual, knowledge.Number("compare.slower"))) alike += weight;
  }
  const bool one_factor =
      kernels.size() > 1 && alike >= knowledge.Number("compare.all_kernels") * all;
  return one_factor ? usual : 1;
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
    const bool first = rows_before.empty();
    const bool timeline = !(first ? before : after).devices.empty();
    match.problem = fmt::format("{} holds no {}", first ? "BEFORE" : "AFTER",
                                timeline ? "compute kernels"
                                         : "timeline: give recordings of Nsight Systems or of "
                                           "PyTorch's profiler");
    return match;
  }
  match.levels = MatchLevels(rows_before, rows_after, knowledge);
  const Shared shared = SharedBy(a, b);
  match.matched_before = a.time > 0 ? shared.before / a.time : 0;
  match.matched_after = b.time > 0 ? shared.after / b.time : 0;
  std::vector<std::pair<double, double>> sizes;
  for (const Changes& kernel : shared.by_name) sizes.emplace_back(kernel.size, kernel.weight);
  match.size_ratio = WeightedMedian(sizes);
  CountLaunches(shared.by_size, {before, after}, knowledge, &match);
  if (std::min(match.matched_before, match.matched_after) >=
      knowledge.Number("compare.all_kernels"))
    match.longer = LongerAlike(shared.by_size, knowledge);

  const double upload_before = LargestUpload(before, knowledge);
  const double upload_after = LargestUpload(after, knowledge);
  match.problem = OtherPrograms(
      match.levels, {upload_before, upload_after, OneProcess(before, after)}, knowledge);
  match.other_program = !match.problem.empty();
  if (match.other_program) return match;
  const auto steps = StepsOver(before, after);
  if (steps && InOtherPieces(shared.by_name, *steps, knowledge)) {
    match.same = match.other_pieces = true;
    match.even = false;
    return match;
  }
  if (const double size = MoreInLaunch(shared.by_name, knowledge); size != 1)
    match.size_ratio = size;
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
