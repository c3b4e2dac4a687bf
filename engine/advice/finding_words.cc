// The words of what is one of a few: severities, kinds and topics of rules, risks, outcomes.
#include <algorithm>
#include <array>
#include <utility>

#include "engine/advice/finding.h"

namespace advise {

const char* SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kCritical:
      return "critical";
    case Severity::kHigh:
      return "high";
    case Severity::kMedium:
      return "medium";
    case Severity::kLow:
      return "low";
    case Severity::kInfo:
      break;
  }
  return "info";
}

const char* RuleKindName(RuleKind kind) {
  switch (kind) {
    case RuleKind::kRoot:
      return "root";
    case RuleKind::kSymptom:
      return "symptom";
    case RuleKind::kInfo:
      break;
  }
  return "info";
}

namespace {

constexpr std::array<std::pair<Topic, const char*>, 18> kTopics = {
    {{Topic::kHostCode, "host-code"},
     {Topic::kHostOperators, "host-operators"},
     {Topic::kWaits, "waits"},
     {Topic::kLateRank, "late-rank"},
     {Topic::kCollectives, "collectives"},
     {Topic::kLateMessages, "late-messages"},
     {Topic::kMessages, "messages"},
     {Topic::kCopies, "copies"},
     {Topic::kSingleSteps, "single-steps"},
     {Topic::kDisplayRate, "display-rate"},
     {Topic::kMissingRanks, "missing-ranks"},
     {Topic::kUnnamedSteps, "unnamed-steps"},
     {Topic::kTooShort, "too-short"},
     {Topic::kLostLaunches, "lost-launches"},
     {Topic::kMissingSources, "missing-sources"},
     {Topic::kClosedGraphs, "closed-graphs"},
     {Topic::kHottestKernel, "hottest-kernel"},
     {Topic::kSwitch, "switch"}}};

}  // namespace

std::vector<std::string> TopicNames() {
  std::vector<std::string> names;
  for (const auto& [topic, name] : kTopics) names.emplace_back(name);
  return names;
}

Topic TopicOf(const std::string& name) {
  const auto found = std::find_if(kTopics.begin(), kTopics.end(),
                                  [&](const auto& one) { return name == one.second; });
  return found == kTopics.end() ? Topic::kNoTopic : found->first;
}

const char* RiskName(Risk risk) {
  switch (risk) {
    case Risk::kOutOfMemory:
      return "out-of-memory";
    case Risk::kWrongResults:
      return "wrong-results";
    case Risk::kHardware:
      return "hardware";
    case Risk::kLimit:
      return "limit";
    case Risk::kNothing:
      break;
  }
  return "none";
}

const char* ObservedName(Observed observed) {
  switch (observed) {
    case Observed::kMeasured:
      return "measured";
    case Observed::kRecorded:
      return "recorded";
    case Observed::kInferred:
      break;
  }
  return "inferred";
}

const char* OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kFired:
      return "fired";
    case Outcome::kFine:
      return "fine";
    case Outcome::kNotApplicable:
      return "not applicable";
    case Outcome::kCannotTell:
      return "cannot tell";
    case Outcome::kBroken:
      break;
  }
  return "broken";
}

}  // namespace advise
