// Facts that are not declared yet (declare.h): one Write… function a subject, all into one map.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/facts/facts.h"

namespace advise {
struct Analysis;
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

void WriteRunFacts(const Analysis& a, FactWriter* w);      // window, run, budget, idle, hw
void WriteStepFacts(const Analysis& a, FactWriter* w);     // steps
void WriteLaunchFacts(const Analysis& a, FactWriter* w);   // launch
void WriteKernelFacts(const Analysis& a, FactWriter* w);   // kernel, precision
void WriteInputFacts(const Analysis& a, FactWriter* w);    // input
void WriteHostFacts(const Analysis& a, FactWriter* w);     // host, memory
void WriteCommFacts(const Analysis& a, FactWriter* w);     // comm, rank
void WriteCaptureFacts(const Analysis& a, FactWriter* w);  // capture

// The catalogue of these facts.
std::vector<FactInfo> ListedFacts();
// Those that only a timeline can give are said to be absent: zeros would read like measurements.
void LeaveOutTimeline(FactWriter* w);

// Subjects with a list of their own: the catalogue's part stands in the file that writes it.
std::vector<FactInfo> OperatorFactList();
void WriteOperatorFacts(const Analysis& a, FactWriter* w);  // op: framework operators
std::vector<FactInfo> CounterFactList();
void WriteCounterFacts(const Analysis& a, FactWriter* w);  // counter, roofline, sample
std::vector<FactInfo> ShapeFactList();
void WriteShapeFacts(const Analysis& a, FactWriter* w);  // roofline.shapes
std::vector<FactInfo> MonitorFactList();
void WriteMonitorFacts(const Analysis& a, FactWriter* w);  // monitor
std::vector<FactInfo> TopologyFactList();
void WriteTopologyFacts(const Analysis& a, FactWriter* w);  // topology, nccl
std::vector<FactInfo> WorkFactList();
void WriteWorkFacts(const Analysis& a, FactWriter* w);  // work, driver, gemm, phase, collective, …
std::vector<FactInfo> ScaleFactList();
void WriteScaleFacts(FactWriter* w);  // scale: of one run alone

std::vector<FactInfo> RunKindFactList();
void WriteRunKindFacts(const Analysis& a, FactWriter* w);  // run.kind and its kin, startup
std::vector<FactInfo> SummaryFactList();
void WriteSummaryFacts(const Analysis& a, FactWriter* w);  // summary
std::vector<FactInfo> HabitFactList();
void WriteHabitFacts(const Analysis& a, FactWriter* w);  // graph, phase, efficiency, …
std::vector<FactInfo> EnvironmentFactList();
void WriteEnvironmentFacts(const Analysis& a, FactWriter* w);  // environment

std::vector<FactInfo> CommHabitFactList();
void WriteCommHabitFacts(const Analysis& a, FactWriter* w);  // comm.micro, comm.replicate, …
std::vector<FactInfo> ClusterFactList();
// cluster, rank.imbalance, rank.node, strategy, pipeline, comm.path; spans by device of the one
// report, else by rank.
void WriteClusterFacts(const Cluster& cluster, bool one_report, FactWriter* w);

}  // namespace advise::facts
