// Writes the facts of several ranks together, which come from rank summaries, not from one analysis
// (declare.h has those).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/facts/facts.h"

namespace advise {
struct Cluster;
struct Loss;
}  // namespace advise

namespace advise::facts {

class FactWriter {
 public:
  void Number(std::string name, double value);
  void Flag(std::string name, bool value);
  void Text(std::string name, std::string value);
  void Table(std::string name, Rows rows);
  void Missing(std::string name, std::string reason, std::string needs);
  void KnownNumber(std::string name, double value, std::string reason,
                   std::string needs);                    // absent unless > 0
  void Lost(const std::string& group, const Loss& loss);  // group.lost and group.remedy
  void Remedied(std::string name, const Loss& loss);      // a remedy under a name of its own
  void SpansOf(std::string name, std::vector<IntervalSet> by_device);
  std::map<std::string, Fact, std::less<>> Take() { return std::move(facts_); }

 private:
  std::map<std::string, Fact, std::less<>> facts_;
};

std::vector<FactInfo> ClusterFactList();
// cluster, rank.imbalance, rank.node, strategy, pipeline, comm.path; spans by device of the one
// report, else by rank.
void WriteClusterFacts(const Cluster& cluster, bool one_report, FactWriter* w);

}  // namespace advise::facts
