// What kb/families.toml and the site name: family.*, calls.*, ranges.*, os.*, one loss for each
// family of names; environment.*, switches that the program was started with.
#include <algorithm>

#include "engine/base/text.h"
#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

// The value of a variable; the last one holds.
Value Switch(const Trace& trace, const std::string& variable) {
  const auto& environment = trace.environment;
  const auto found = std::find_if(environment.rbegin(), environment.rend(),
                                  [&](const auto& entry) { return entry.first == variable; });
  if (environment.empty()) return Absent{"the report holds no environment", ""};
  if (found == environment.rend() || found->second.empty()) {
    return Absent{variable + " is not set", ""};
  }
  return SafeText(found->second);
}

void DeclareKernels(const Knowledge& knowledge, Catalog* catalog) {
  auto& subject = catalog->Of(&Analysis::families);
  const std::vector<NameFamily>& families = knowledge.families(FamilyKind::kKernel);
  for (std::size_t i = 0; i < families.size(); ++i) {
    const std::string group = "family." + families[i].name;
    const std::string& things = families[i].things;
    subject.AddLoss(group, kCount | kPerStep | kShare | kLost | kRemedy,
                    {things, "Time of " + things + ".", "There are no " + things + "."},
                    [i](const Families& f) -> const Loss& { return f.kernels[i].loss; });
    subject.Add(group + ".halved", "remedy", "Half the time of " + things + " is saved.",
                [i](const Families& f) { return f.kernels[i].halved; });
  }
}

// What threads do in the steady loop.
void DeclareHost(const Knowledge& knowledge, FamilyKind kind, std::vector<Loss> Families::*losses,
                 Catalog* catalog) {
  auto& subject = catalog->Of(&Analysis::families);
  const std::vector<NameFamily>& families = knowledge.families(kind);
  for (std::size_t i = 0; i < families.size(); ++i) {
    const std::string& things = families[i].things;
    subject.AddLoss(std::string(FactGroupOf(kind)) + "." + families[i].name, kOfGaps,
                    {things + ", in the steady loop",
                     "Idle time while the launching thread is inside " + things + ".",
                     "The steady loop has no " + things + "."},
                    [losses, i](const Families& f) -> const Loss& { return (f.*losses)[i]; });
  }
}

}  // namespace

void DeclareFamilyFacts(const Knowledge& knowledge, Catalog* catalog) {
  DeclareKernels(knowledge, catalog);
  DeclareHost(knowledge, FamilyKind::kCall, &Families::calls, catalog);
  DeclareHost(knowledge, FamilyKind::kRange, &Families::ranges, catalog);
  DeclareHost(knowledge, FamilyKind::kOs, &Families::os, catalog);
}

// Only the variables named in the knowledge base are ever read: other values may be secrets.
void DeclareEnvironmentFacts(const Knowledge& knowledge, Catalog* catalog) {
  auto& trace = catalog->Of([](const Analysis& a) -> const Trace& { return a.run.trace; });
  trace.Add("environment.recorded", "flag", "The report holds the environment of the program.",
            [](const Trace& t) { return !t.environment.empty(); });
  for (const EnvironmentSwitch& one : knowledge.environment_switches()) {
    trace.Add("environment." + one.name, "name",
              one.variable + ": " + one.meaning + "; absent when it is not set.",
              [variable = one.variable](const Trace& t) { return Switch(t, variable); });
  }
}

}  // namespace advise::facts
