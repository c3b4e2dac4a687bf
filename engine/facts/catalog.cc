// The catalogue, and the facts of a run: what is declared (declare.h), and facts of ranks together.
#include "engine/facts/catalog.h"

#include "engine/cluster/cluster.h"
#include "engine/facts/declare.h"
#include "engine/facts/fact_writer.h"
#include "engine/metrics/analysis.h"

namespace advise {

namespace facts {

void FactWriter::Number(std::string name, double value) { facts_[std::move(name)].value = value; }
void FactWriter::Flag(std::string name, bool value) { facts_[std::move(name)].value = value; }
void FactWriter::Text(std::string name, std::string value) {
  facts_[std::move(name)].value = std::move(value);
}
void FactWriter::Table(std::string name, Rows rows) {
  facts_[std::move(name)].value = std::move(rows);
}
void FactWriter::Missing(std::string name, std::string reason, std::string needs) {
  facts_[std::move(name)].value = Absent{std::move(reason), std::move(needs)};
}
void FactWriter::KnownNumber(std::string name, double value, std::string reason,
                             std::string needs) {
  if (value > 0) {
    Number(std::move(name), value);
  } else {
    Missing(std::move(name), std::move(reason), std::move(needs));
  }
}
void FactWriter::Lost(const std::string& group, const Loss& loss) {
  facts_[group + ".lost"].value = std::shared_ptr<const Spans>(loss.lost);
  facts_[group + ".remedy"].value = std::shared_ptr<const Remedy>(loss.remedy);
}
void FactWriter::Remedied(std::string name, const Loss& loss) {
  facts_[std::move(name)].value = std::shared_ptr<const Remedy>(loss.remedy);
}
void FactWriter::SpansOf(std::string name, std::vector<IntervalSet> by_device) {
  auto spans = std::make_shared<Spans>();
  spans->by_device = std::move(by_device);
  facts_[std::move(name)].value = std::shared_ptr<const Spans>(std::move(spans));
}

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
  DeclareCaptureFacts(&catalog);
  DeclareEnvironmentFacts(knowledge, &catalog);
  DeclareHardwareFacts(&catalog);
  DeclareOperatorFacts(&catalog);
  DeclareWorkFacts(&catalog);
  DeclareCounterFacts(&catalog);
  DeclareSampleFacts(&catalog);
  DeclareShapeFacts(&catalog);
  DeclareRoofFacts(&catalog);
  DeclareMonitorFacts(&catalog);
  DeclareTopologyFacts(&catalog);
  DeclareSummaryFacts(&catalog);
  DeclareScaleFacts(&catalog);
  return catalog;
}

}  // namespace
}  // namespace facts

std::vector<FactInfo> FactList(const Knowledge& knowledge) {
  std::vector<FactInfo> all;
  const facts::Catalog catalog = facts::Declare(knowledge);
  for (const auto& subject : catalog.subjects()) {
    all.insert(all.end(), subject->list().begin(), subject->list().end());
  }
  const std::vector<FactInfo> listed = facts::ClusterFactList();
  all.insert(all.end(), listed.begin(), listed.end());
  return all;
}

std::unique_ptr<Facts> MakeFacts(const Analysis& analysis, const Cluster& ranks) {
  facts::FactMap facts;
  const facts::Catalog catalog = facts::Declare(analysis.run.knowledge);
  for (const auto& subject : catalog.subjects()) subject->Evaluate(analysis, &facts);
  facts::FactWriter ranks_together;
  if (analysis.run.trace.HasTimeline()) {
    facts::WriteClusterFacts(ranks, true, &ranks_together);
  } else {
    for (const FactInfo& info : facts::ClusterFactList()) {
      ranks_together.Missing(info.name, facts::NoTimeline().reason, facts::NoTimeline().needs);
    }
  }
  facts.merge(ranks_together.Take());
  return std::make_unique<MapFacts>(std::move(facts));
}

}  // namespace advise
