// The catalogue and what is computed name the same facts: none is undocumented, none is promised
// only.
#include <set>
#include <string>

#include "engine/cluster/cluster.h"
#include "engine/cluster/summarize.h"
#include "engine/facts/fact_writer.h"
#include "engine/metrics/analysis.h"
#include "tests/facts/runs.h"

namespace advise {
namespace {

TEST_CASE("the facts that are written are those of the catalogue") {
  std::set<std::string> promised;
  for (const FactInfo& info : FactList()) promised.insert(info.name);
  for (const std::uint32_t devices : {0U, 1U, 2U}) {
    const Analysed run(devices == 0 ? TraceBuilder() : TrainingRun(devices));
    facts::FactWriter writer;
    facts::WriteRunFacts(*run, &writer);
    facts::WriteStepFacts(*run, &writer);
    facts::WriteCopyFacts(*run, &writer);
    facts::WriteSyncFacts(*run, &writer);
    facts::WriteLaunchFacts(*run, &writer);
    facts::WriteKernelFacts(*run, &writer);
    facts::WriteInputFacts(*run, &writer);
    facts::WriteHostFacts(*run, &writer);
    facts::WriteCommFacts(*run, &writer);
    facts::WriteCaptureFacts(*run, &writer);
    facts::WriteWorkFacts(*run, &writer);
    facts::WriteScaleFacts(&writer);
    facts::WriteFamilyFacts(*run, &writer);
    facts::WriteHabitFacts(*run, &writer);
    facts::WriteEnvironmentFacts(*run, &writer);
    facts::WriteOperatorFacts(*run, &writer);
    facts::WriteCounterFacts(*run, &writer);
    facts::WriteShapeFacts(*run, &writer);
    facts::WriteMonitorFacts(*run, &writer);
    facts::WriteTopologyFacts(*run, &writer);
    facts::WriteCommHabitFacts(*run, &writer);
    facts::WriteSummaryFacts(*run, &writer);
    facts::WriteClusterFacts(Cluster(SummarizeRanks(*run), ShippedKnowledge()), true, &writer);
    std::set<std::string> written;
    for (const auto& [name, fact] : writer.Take()) written.insert(name);
    INFO("devices: " << devices);
    CHECK(written == promised);
  }
}

}  // namespace
}  // namespace advise
