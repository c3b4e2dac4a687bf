// Finished reports made by hand: what a comparison reads of them, and nothing else.
#pragma once

#include <catch2/catch.hpp>
#include <deque>
#include <string>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/knowledge/embedded.h"
#include "engine/knowledge/knowledge.h"
#include "tests/support/fact_infos.h"

namespace advise {

inline const Knowledge& Shipped() {
  static const Knowledge knowledge = [] {
    auto loaded = Knowledge::Load(EmbeddedKnowledge());
    REQUIRE(loaded);
    return std::move(*loaded);
  }();
  return knowledge;
}

class ReportStory {
 public:
  ReportStory() {
    Number("run.devices", 1).Number("run.processes", 1).Text("hw.name", "NVIDIA A100");
  }

  ReportStory& Number(const std::string& name, double value, const std::string& unit = "ns") {
    return Put(name, unit, value);
  }
  ReportStory& Text(const std::string& name, const std::string& value) {
    return Put(name, "name", value);
  }
  // Steady steps in milliseconds, from the first to the last of the window.
  ReportStory& Steps(const std::vector<double>& lengths_ms) {
    Rows rows;
    double sum = 0;
    for (const double ms : lengths_ms) {
      rows.push_back(
          {{"index", static_cast<double>(rows.size())}, {"time", ms * 1e6}, {"outlier", 0.0}});
      sum += ms * 1e6;
    }
    Put("work.steps", "rows", rows);
    Number("steps.count", static_cast<double>(lengths_ms.size()));
    Number("steps.median", lengths_ms.front() * 1e6);
    report_.window = {"steady", 0, static_cast<Nanos>(sum)};
    return *this;
  }
  ReportStory& Window(double ms) {
    report_.window = {"all", 0, static_cast<Nanos>(ms * 1e6)};
    return *this;
  }
  ReportStory& Kernel(const std::string& name, double blocks, double count, double ms) {
    kernels_.push_back({{"name", name},
                        {"class", std::string("matrix")},
                        {"blocks", blocks},
                        {"threads", 128.0},
                        {"count", count},
                        {"time", ms * 1e6}});
    return *this;
  }
  // Uploads of so many bytes; by default one in each of ten steps.
  ReportStory& Uploads(double bytes, double count = 10, double per_step = 1) {
    return Put("work.uploads", "rows",
               Rows{{{"bytes", bytes}, {"count", count}, {"per_step", per_step}}});
  }
  // GPU work by where it was launched (the fact work.origins); without a kernel: a whole graph.
  ReportStory& Origin(const std::string& kernel, const std::string& op, const std::string& sizes,
                      const std::string& range, double place, double ms) {
    origins_.push_back({{"name", kernel},
                        {"class", std::string(kernel.empty() ? "graph" : "elementwise")},
                        {"blocks", 100.0},
                        {"threads", 128.0},
                        {"op", op},
                        {"sizes", sizes},
                        {"range", range},
                        {"place", place},
                        {"count", 10.0},
                        {"time", ms * 1e6}});
    return *this;
  }
  // What the fix of the last finding changes, and what it makes needless.
  ReportStory& Changes(const std::vector<std::string>& changes,
                       const std::vector<std::string>& needless = {}) {
    report_.findings.back().changes = changes;
    report_.findings.back().makes_needless = needless;
    return *this;
  }
  ReportStory& Fires(const std::string& rule, double saving_ms,
                     Severity severity = Severity::kHigh) {
    rules_.emplace_back();
    rules_.back().id = rule;
    rules_.back().title = "title of " + rule;
    Finding finding;
    finding.rule = &rules_.back();
    finding.severity = severity;
    finding.saving_s = saving_ms / 1e3;
    finding.saving_share = saving_ms * 1e6 / static_cast<double>(report_.window.end_ns);
    report_.findings.push_back(finding);
    return *this;
  }
  ReportStory& CannotTell(const std::string& rule) {
    report_.not_checked.push_back({rule, {"osrt"}, "", ""});
    return *this;
  }
  const Report& Done() {
    Put("work.kernels", "rows", kernels_);
    if (!origins_.empty()) Put("work.origins", "rows", origins_);
    return report_;
  }

 private:
  ReportStory& Put(const std::string& name, const std::string& unit, Value value) {
    for (NamedFact& fact : report_.facts) {
      if (fact.info->name != name) continue;
      fact.fact.value = std::move(value);
      return *this;
    }
    report_.facts.push_back({InfoOf(name, unit, "a fact of a test"), {std::move(value)}});
    return *this;
  }

  Report report_;
  Rows kernels_, origins_;
  std::deque<RuleInfo> rules_;
};

}  // namespace advise
