// The catalog, and the facts of a run: what is declared (declare.h).
#include "engine/facts/catalog.h"

#include "engine/facts/declare.h"

namespace advise {

namespace facts {
namespace {

Catalog Declare(const Knowledge& knowledge) {
  Catalog catalog;
  DeclareRunFacts(&catalog);
  DeclareRunKindFacts(&catalog);
  DeclareStepFacts(&catalog);
  DeclareCopyFacts(&catalog);
  DeclareSyncFacts(&catalog);
  DeclareLaunchFacts(&catalog);
  DeclareKernelFacts(&catalog);
  DeclarePrecisionFacts(&catalog);
  DeclareFamilyFacts(knowledge, &catalog);
  DeclareMemoryFacts(&catalog);
  DeclareInputFacts(&catalog);
  DeclareHostFacts(&catalog);
  DeclareCommFacts(&catalog);
  DeclareMpiFacts(&catalog);
  DeclareCaptureFacts(&catalog);
  DeclareEnvironmentFacts(knowledge, &catalog);
  DeclareHardwareFacts(&catalog);
  DeclareOperatorFacts(knowledge, &catalog);
  DeclareWorkFacts(&catalog);
  DeclareCounterFacts(&catalog);
  DeclareSampleFacts(&catalog);
  DeclareShapeFacts(&catalog);
  DeclareRoofFacts(&catalog);
  DeclareMonitorFacts(&catalog);
  DeclareMonitorGpuFacts(&catalog);
  DeclareMonitorErrorFacts(&catalog);
  DeclareServerFacts(&catalog);
  DeclareProfileFacts(&catalog);
  DeclareTopologyFacts(&catalog);
  DeclareSummaryFacts(&catalog);
  DeclareScaleFacts(&catalog);
  DeclareClusterFacts(&catalog);
  DeclareStrategyFacts(&catalog);
  return catalog;
}

std::unique_ptr<Facts> Evaluate(const Knowledge& knowledge, const Known& known) {
  FactMap facts;
  const Catalog catalog = Declare(knowledge);
  for (const auto& subject : catalog.subjects()) subject->Evaluate(known, &facts);
  return std::make_unique<MapFacts>(std::move(facts));
}

}  // namespace
}  // namespace facts

std::vector<FactInfo> FactList(const Knowledge& knowledge) {
  std::vector<FactInfo> all;
  const facts::Catalog catalog = facts::Declare(knowledge);
  for (const auto& subject : catalog.subjects()) {
    all.insert(all.end(), subject->list().begin(), subject->list().end());
  }
  return all;
}

std::unique_ptr<Facts> MakeFacts(const Analysis& analysis, const Cluster& ranks,
                                 const FactNames* asked) {
  return facts::Evaluate(analysis.run.knowledge, {&analysis, ranks, asked});
}

std::unique_ptr<Facts> MakeRunFacts(const Cluster& cluster, const Knowledge& knowledge) {
  return facts::Evaluate(knowledge, {nullptr, cluster});
}

bool IsAboutRanks(const std::string& fact) {
  const auto begins = [&](const char* subject) { return fact.starts_with(subject); };
  return begins("cluster.") || begins("rank.") || begins("strategy.") || begins("pipeline.") ||
         begins("comm.path.") || fact == "capture.world_size";
}

}  // namespace advise
