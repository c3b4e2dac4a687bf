// Words of findings and of the run that the renderers share.
#pragma once

#include <string>

#include "engine/advice/report_model.h"

namespace advise {

// Whether the findings before it win most of what it could: it is printed in short.
bool IsMostlyTaken(const Finding& finding);

// "training, 3 steps" for the headline; "" unknown.
std::string RunText(const Report& report);
// The finding whose fix leaves nothing worth telling of what this one saves; null for none.
const Finding* MadeNeedlessBy(const Report& report, const Finding& finding);
// What repeats in the run, as its plural: "steps", "requests", "tokens".
std::string StepsInWords(const RunInfo& run);
// "2 × NVIDIA H100", one text for each model.
std::vector<std::string> GpuModels(const Report& report);
// "MFU 41 %, 30 % of the memory bandwidth" for the headline; "" where less than half of the kernel
// time was measured: what the rest does would be missing in both. `says_of_what`: of which peak.
std::string EfficiencyText(const EfficiencyInfo& efficiency, bool says_of_what = true);
// Why findings are tentative, in a sentence; "" when they are not.
std::string DoubtText(const Report& report);
// Whether a note only repeats what stands above the findings: why they are tentative, what is to be
// read with care, or the next thing to do.
bool SaysAgain(const Report& report, const Finding& finding);
// What a saving assumes, and what limits the run then.
std::string BasisText(const Finding& finding);
// What this fix of the finding asks for: "flag", "code" or "design", as the fix or its rule says;
// "" of a command, which says so itself, and of what only looks for the thing to change.
std::string EffortOf(const Finding& finding, const Fix& fix);
// The same of the fix that this program shows first.
std::string EffortOfFirst(const Report& report, const Finding& finding);
// "a setting", "a code change" or "a design change"; "" of "".
std::string EffortWords(const std::string& effort);
// A finding before this one that says this fix first; nullptr when there is none.
const Finding* WithTheSameFix(const Report& report, const Finding& finding, const Fix& fix);
// "tentative"; "recorded" or "measured" of what promises nothing; "" of other findings.
std::string StandingText(const Finding& finding);
// "critical, tentative, confidence 48 %"; "medium, recorded, confidence 95 %".
std::string SeverityText(const Finding& finding);

// "0.90 s", "42.0 s", "830 µs": two numbers that are compared in one line get the same unit.
std::string SecondsText(double seconds);

// "0.02 s (2 %; 22 % by itself)": beyond the findings before it, and, where that is something else,
// if only this were fixed. "" when the saving is not known.
std::string SavingAmount(const Finding& finding);

// "needless after 1; 14 % by itself": of what another fix takes along; else "".
std::string NeedlessText(const Report& report, const Finding& finding);

// "2 %; 22 % by itself": the same without seconds.
std::string SavingShares(const Finding& finding);

// "saves up to 0.90 s of 0.97 s (93 %)".
std::string SavingText(const Report& report, const Finding& finding);

// What to search for where sqlite3 does not open the input: name, time, file.
std::string SearchText(const Evidence& item);

// What stands in the list by itself, although another finding explains a part of it; or null.
const Finding* OwnFinding(const Report& report, const std::string& rule);

// What a folded finding is: its own words when it is in the report, else its title; with the rule.
std::string ExplainedText(const Report& report, const std::string& rule);

}  // namespace advise
