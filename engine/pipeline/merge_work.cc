#include "engine/pipeline/merge_work.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>

#include "engine/base/is_in.h"
#include "engine/facts/rows.h"

namespace advise {
namespace {

constexpr std::size_t kMostRows = 500;

// Texts: the run has those of all parts.
constexpr std::array kWords = {"hw.name",         "work.upload_memory", "work.top_class",
                               "phase.most_idle", "link.kind",          "launch.thread",
                               "launch.process"};

// Numbers of which the run has the sum, the mean or the maximum.
bool IsMergedNumber(const std::string& name) {
  return name.starts_with("collective.") || name.starts_with("gemm.") ||
         name.starts_with("phase.") || name == "work.upload_bytes" || name == "run.processes" ||
         name == "input.workers" || name == "memory.peak" || name == "nic.rate";
}

class Merger {
 public:
  Merger(const std::vector<const Report*>& parts, const std::vector<Nanos>& steps, Report* run)
      : parts_(parts), steps_(steps), run_(run) {}

  void Merge() {
    Steps();
    Kernels();
    Origins();
    Uploads();
    Numbers();
    Words();
  }

 private:
  void Put(const std::string& name, Value value) {
    for (NamedFact& fact : run_->facts) {
      if (fact.info->name != name) continue;
      if (std::holds_alternative<Absent>(fact.fact.value)) fact.fact.value = std::move(value);
      return;
    }
  }

  // Facts that are not merged may be gone from the parts (ReadParts).
  static const Report& Checked(const Report& part, const std::string& fact) {
    if (!IsMerged(fact)) throw std::logic_error("the run keeps no " + fact + " of its parts");
    return part;
  }

  // From the steps of one report to those of the run.
  double Factor(const Report& part) const {
    const double own = FactNumber(Checked(part, "steps.count"), "steps.count").value_or(0);
    return own > 0 && !steps_.empty() ? static_cast<double>(steps_.size()) / own : 1;
  }

  void Steps() {
    if (steps_.empty()) return;
    std::vector<TimedStep> steps;
    for (std::size_t i = 0; i < steps_.size(); ++i)
      steps.push_back({i, static_cast<double>(steps_[i])});
    Put("work.steps", StepRows(steps));
    if (const auto idle = FactNumber(*run_, "budget.idle")) {
      Put("work.idle_per_step", *idle / static_cast<double>(steps_.size()));
    }
  }

  void Kernels() {
    struct Sum {
      std::string kind;
      double count = 0, time = 0;
    };
    std::map<std::tuple<std::string, double, double>, Sum> sums;
    for (const Report* part : parts_) {
      const Rows* rows = FactRows(Checked(*part, "work.kernels"), "work.kernels");
      if (rows == nullptr) continue;
      for (const Row& row : *rows) {
        Sum& sum = sums[{TextIn(row, "name"), NumberIn(row, "blocks"), NumberIn(row, "threads")}];
        sum.kind = TextIn(row, "class");
        sum.count += NumberIn(row, "count") * Factor(*part);
        sum.time += NumberIn(row, "time") * Factor(*part);
      }
    }
    if (sums.empty()) return;
    Rows rows;
    for (const auto& [key, sum] : sums) {
      rows.push_back({{"name", std::get<0>(key)},
                      {"class", sum.kind},
                      {"blocks", std::get<1>(key)},
                      {"threads", std::get<2>(key)},
                      {"count", sum.count},
                      {"time", sum.time}});
    }
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
      return NumberIn(a, "time") > NumberIn(b, "time");
    });
    rows.resize(std::min(rows.size(), kMostRows));
    Put("work.kernels", std::move(rows));
  }

  // Ranks launch the same work from the same places.
  void Origins() {
    std::map<std::string, Row> sums;
    for (const Report* part : parts_) {
      const Rows* own = FactRows(Checked(*part, "work.origins"), "work.origins");
      if (own == nullptr) continue;
      for (Row row : *own) {
        std::string key;
        for (const char* column : {"name", "blocks", "threads", "op", "sizes", "range", "class"}) {
          key += TextIn(row, column) + std::to_string(NumberIn(row, column)) + "\n";
        }
        const auto [at, first] = sums.try_emplace(std::move(key), row);
        Row& sum = at->second;
        for (std::size_t i = 0; i < row.size(); ++i) {
          if (row[i].first != "count" && row[i].first != "time") continue;
          const double more = std::get<double>(row[i].second) * Factor(*part);
          sum[i].second = first ? more : std::get<double>(sum[i].second) + more;
        }
      }
    }
    if (sums.empty()) return;
    Rows rows;
    for (auto& [key, row] : sums) rows.push_back(std::move(row));
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
      return NumberIn(a, "time") > NumberIn(b, "time");
    });
    rows.resize(std::min(rows.size(), kMostRows));
    Put("work.origins", std::move(rows));
  }

  void Uploads() {
    std::map<double, double> counts;
    for (const Report* part : parts_) {
      const Rows* rows = FactRows(Checked(*part, "work.uploads"), "work.uploads");
      if (rows == nullptr) continue;
      for (const Row& row : *rows) {
        counts[NumberIn(row, "bytes")] += NumberIn(row, "count") * Factor(*part);
      }
    }
    if (counts.empty()) return;
    Rows rows;
    for (const auto& [bytes, count] : counts) {
      const auto steps = static_cast<double>(steps_.size());
      rows.push_back(
          {{"bytes", bytes}, {"count", count}, {"per_step", steps > 0 ? count / steps : 0.0}});
    }
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
      return NumberIn(a, "bytes") * NumberIn(a, "count") >
             NumberIn(b, "bytes") * NumberIn(b, "count");
    });
    Put("work.uploads", std::move(rows));
  }

  void Numbers() {
    for (const NamedFact& fact : std::vector<NamedFact>(run_->facts)) {
      const std::string& name = fact.info->name;
      if (!std::holds_alternative<Absent>(fact.fact.value)) continue;
      const bool counted = name.ends_with(".count") || name.ends_with(".ranges");
      if (!IsMergedNumber(name)) continue;
      double sum = 0, most = 0, known = 0;
      for (const Report* part : parts_) {
        const auto value = FactNumber(Checked(*part, name), name);
        if (!value) continue;
        sum += *value * (counted ? Factor(*part) : 1);
        most = std::max(most, *value);
        known += 1;
      }
      if (known == 0) continue;
      const bool total = counted || name == "run.processes" || name == "input.workers";
      Put(name, total ? sum : name == "memory.peak" ? most : sum / known);
    }
  }

  void Words() {
    for (const char* name : kWords) {
      std::set<std::string> words;
      for (const Report* part : parts_) {
        const std::string word = FactWord(Checked(*part, name), name, "");
        if (!word.empty()) words.insert(word);
      }
      std::string joined;
      for (const std::string& word : words) joined += (joined.empty() ? "" : ", ") + word;
      if (!joined.empty()) Put(name, joined);
    }
  }

  const std::vector<const Report*>& parts_;
  const std::vector<Nanos>& steps_;
  Report* run_;
};

}  // namespace

bool IsMerged(const std::string& fact) {
  return fact == "steps.count" || fact == "work.kernels" || fact == "work.origins" ||
         fact == "work.uploads" || IsMergedNumber(fact) || IsIn(fact, kWords);
}

void MergeWork(const std::vector<const Report*>& parts, const std::vector<Nanos>& steps,
               Report* run) {
  Merger(parts, steps, run).Merge();
}

}  // namespace advise
