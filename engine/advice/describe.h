// Pieces that both rankings share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/advice/finding.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

Severity SeverityOfShare(double share, const Knowledge& knowledge);

// By what its fix adds to those before it, without the profiler where that is known: a symptom that
// is mostly the profiler's cost is a note. A fix that only those before it make needless is still
// worth a line.
Severity SeverityInPlan(const Finding& finding, const Knowledge& knowledge);

// What may break is never a remark, whatever time it costs.
void RaiseByRisk(const Knowledge& knowledge, Finding* finding);

// A rule's template with the evidence of its verdict filled in.
std::string FilledTemplate(const std::string& text, const Verdict& verdict);

// The rule's fixes with the evidence filled in and the addresses of its references.
std::vector<Fix> FilledFixes(const Verdict& verdict, const Knowledge& knowledge);

// What this fix of the rule asks for: "flag", "code" or "design", as the fix or its rule says; ""
// of a command, which says so itself, and of what only looks for the thing to change.
std::string EffortOfFix(const RuleInfo& rule, const Fix& fix);

// The same of the first of these fixes, or what the rule says.
std::string FirstEffort(const RuleInfo& rule, const std::vector<Fix>& fixes);

// The smallest share of the time that a text names; nothing where it names none.
std::optional<double> ShareNamed(const std::string& text);

// The share that the words of a rule of kind info name; 0 where they name none.
double ToldShare(const Verdict& verdict);

// Fills Finding::falls_short from the shares that the finding touches and saves.
void CompareWithSaving(const Knowledge& knowledge, Finding* finding);

// Findings in the order to work on them, numbered from 1; info last.
void OrderFindings(std::vector<Finding>* findings, const Knowledge& knowledge);

// How common causes of the rule's area are, to break ties (K-C9); 0 where nothing is known, less
// where a fix changes no program.
double PriorOf(const RuleInfo& rule, const Knowledge& knowledge);

}  // namespace advise
