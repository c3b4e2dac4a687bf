// Each rule is proven by a simulated run: one in which it must speak, and where it only tells
// something, one in which it must stay silent will do. What the simulator cannot make stands here,
// with the test that proves it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>

#include "tests/conventions/rule_tree.h"
#include "tests/conventions/source_tree.h"

namespace advise {
namespace {

// Proven by other tests: two runs of different size are compared there.
const std::map<std::string, std::string> kProvenElsewhere = {
    {"scale/poor-efficiency", "tests/app/compare_test.cc"},
    {"scale/too-early", "tests/app/compare_test.cc"},
};

// The lines that name what must be told: what is planted, and what is told beside. What would be
// right as well ("also") proves nothing.
bool NamesWhatSpeaks(const std::string& line) {
  for (const char* key : {"rule = ", "tells = "})
    if (line.starts_with(key)) return true;
  return false;
}

std::set<std::string> RulesThatSpeak() {
  std::set<std::string> names;
  for (const SourceFile& file : SourceFiles({"fixtures/scenarios", "fixtures/scale"}, {".toml"})) {
    for (const std::string& line : file.lines) {
      if (!NamesWhatSpeaks(line)) continue;
      for (std::size_t at = line.find('"'); at != std::string::npos; at = line.find('"', at + 1)) {
        const std::size_t end = line.find('"', at + 1);
        if (end == std::string::npos) break;
        names.insert(line.substr(at + 1, end - at - 1));
        at = end;
      }
    }
  }
  return names;
}

}  // namespace

TEST_CASE("each rule speaks in a simulated run, or another test proves it") {
  const std::set<std::string> spoken = RulesThatSpeak();
  REQUIRE(spoken.size() > 200);
  for (const RuleInfo& rule : SourceTree().rules->rules()) {
    INFO(rule.id);
    const auto elsewhere = kProvenElsewhere.find(rule.id);
    if (elsewhere == kProvenElsewhere.end()) {
      CHECK(spoken.contains(rule.id));
      continue;
    }
    CHECK_FALSE(spoken.contains(rule.id));
    bool found = false;
    for (const SourceFile& file : SourceFiles({"tests/app"}, {".cc"}))
      found = found ||
              (file.path == elsewhere->second && TextOf(file).find(rule.id) != std::string::npos);
    CHECK(found);
  }
}

}  // namespace advise
