// A small rule as text, whole or with some fields replaced, and what it needs to be loaded.
#pragma once

#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/script/runner.h"

namespace advise {

// Field → Lua text. An empty text leaves the field out.
using RuleFields = std::map<std::string, std::string>;

inline RuleFile MakeRule(const RuleFields& changes = {}, const std::string& id = "transfer/sample",
                         bool of_site = false) {
  RuleFields fields = {
      {"id", "\"" + id + "\""},
      {"title", "\"Pin the memory\""},
      {"status", "\"stable\""},
      {"since", "\"0.1\""},
      {"kind", "\"root\""},
      {"effort", "\"flag\""},
      {"knowledge", "{ \"K-H11\" }"},
      {"needs", "{ \"window.time\", \"copy.bytes\", \"copy.lost\", \"copy.groups\" }"},
      {"optional", "{ \"copy.rate\", \"copy.kind\", \"copy.pinned\", \"copy.remedy\" }"},
      {"thresholds", "{ \"min_share\", \"max_rate\" }"},
      {"references", "{ \"guide/pinned\" }"},
      {"symptom", "\"{share:pct} of the time\""},
      {"cause", "\"Because of {kind:text}\""},
      {"fixes", "{ { action = \"Pin it\" } }"},
      {"false_positives", "\"A one-off upload.\""},
      {"applies", "function(f) return f.copy.bytes > 0, \"there are no copies\" end"},
      {"detect",
       "function(f, t)\n"
       "  local lost = share(f.copy.lost.time, f.window.time)\n"
       "  if not at_least(lost, t.min_share) then return nil end\n"
       "  return { share = lost, kind = f.copy.kind or \"unknown\", rows = top(f.copy.groups, "
       "\"time\", 1) }\n"
       "end"},
      {"saving", "function(f) return { claims = f.copy.lost, basis = \"lost time\" } end"},
      {"tests",
       "{\n"
       "  { name = \"fires\", facts = { window = { time = 1e9 }, copy = { bytes = 5, lost = 5e8,\n"
       "      groups = { { name = \"a\", time = 1 }, { name = \"b\", time = 2 } } } },\n"
       "    expect = { share = 0.5 } },\n"
       "  { name = \"near miss\", facts = { window = { time = 1e9 }, copy = { bytes = 5, lost = 1, "
       "groups = {} } }, expect = \"silent\" },\n"
       "  { name = \"no copies\", facts = { copy = { bytes = 0 } }, expect = \"not_applicable\" "
       "},\n"
       "}"},
  };
  for (const auto& [name, text] : changes) fields[name] = text;
  std::string text = "return {\n";
  for (const auto& [name, value] : fields) {
    if (!value.empty()) text += name + " = " + value + ",\n";
  }
  const std::string folder = of_site ? "" : "rules/";
  return {folder + id + ".lua", text + "}\n", of_site};
}

inline std::vector<FactInfo> SampleCatalog() {
  return {{"window.time", "ns", ""},   {"copy.bytes", "bytes", ""},      {"copy.lost", "spans", ""},
          {"copy.groups", "rows", ""}, {"copy.rate", "bytes_per_s", ""}, {"copy.kind", "name", ""},
          {"copy.pinned", "flag", ""}, {"copy.remedy", "remedy", ""},    {"copy.time", "ns", ""}};
}

inline Knowledge SampleKnowledge() {
  const std::string number = "unit = \"share\"\nrange = [0, 1]\nwhy = \"w\"\nsource = \"K-H11\"\n";
  return *Knowledge::Load(
      {{"kb/knowledge.toml",
        "[K-H11]\narea = \"a\"\ntext = \"t\"\n[K-H12]\narea = \"a\"\ntext = \"t\"\n"},
       {"kb/references.toml", "[\"guide/pinned\"]\ntitle = \"t\"\nurl = \"https://example.org\"\n"},
       {"kb/thresholds/transfer.toml", "[sample.min_share]\nvalue = 0.02\n" + number +
                                           "[sample.max_rate]\nvalue = 0.5\n" + number}});
}

// The lines of all problems, or the empty list when the rules load.
inline std::vector<std::string> LoadProblems(const std::vector<RuleFile>& files) {
  const Knowledge knowledge = SampleKnowledge();
  const auto rules = RuleSet::Load(files, knowledge, SampleCatalog());
  std::vector<std::string> lines;
  if (!rules) {
    for (const Error& error : rules.error()) lines.push_back(error.Line());
  }
  return lines;
}

// Rules that were read from texts, and the same as they come when they are built into the program:
// what they say must not differ.
class BothWays {
 public:
  BothWays(const std::vector<RuleFile>& files, const Knowledge& knowledge,
           const std::vector<FactInfo>& catalog)
      : texts_(Loaded(files, knowledge, catalog)) {
    std::vector<RuleFile> built_in;
    for (const RuleInfo& rule : texts_.rules()) {
      built_in.push_back({rule.path, "", false, 0, packed_.emplace_back(texts_.Packed(rule))});
    }
    built_in_.emplace(Loaded(built_in, knowledge, catalog));
  }

  // What the rule says, as text; of the built-in one, the same.
  Verdict Run(std::string_view id, const Facts& facts) const {
    const Verdict verdict = texts_.Run(*texts_.Find(id), facts);
    const Verdict other = built_in_->Run(*built_in_->Find(id), facts);
    CHECK(other.outcome == verdict.outcome);
    CHECK(other.reason == verdict.reason);
    CHECK(other.missing == verdict.missing);
    CHECK(other.evidence == verdict.evidence);
    CHECK(other.tables == verdict.tables);
    CHECK((other.saving.claims == nullptr) == (verdict.saving.claims == nullptr));
    CHECK(other.saving.basis == verdict.saving.basis);
    CHECK(other.reads.size() == verdict.reads.size());
    CHECK(other.comparisons.size() == verdict.comparisons.size());
    return verdict;
  }

  const std::vector<RuleInfo>& rules() const { return texts_.rules(); }

 private:
  static RuleSet Loaded(const std::vector<RuleFile>& files, const Knowledge& knowledge,
                        const std::vector<FactInfo>& catalog) {
    auto rules = RuleSet::Load(files, knowledge, catalog);
    for (const Error& error : rules ? std::vector<Error>() : rules.error())
      UNSCOPED_INFO(error.Line());
    REQUIRE(rules);
    return std::move(*rules);
  }

  RuleSet texts_;
  std::deque<std::string> packed_;
  std::optional<RuleSet> built_in_;
};

}  // namespace advise
