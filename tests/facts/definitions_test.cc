// Definitions are read one at a time, in an editor or a search: each stands alone.
#include <map>
#include <regex>
#include <sstream>

#include "tests/facts/retired.h"
#include "tests/facts/runs.h"

namespace advise {
namespace {

std::vector<std::string> WordsOf(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

TEST_CASE("a definition is a sentence of its own: no back-reference, four words, a full stop") {
  for (const FactInfo& info : FactList(ShippedKnowledge())) {
    INFO(info.name << ": " << info.definition);
    const std::vector<std::string> words = WordsOf(info.definition);
    REQUIRE(words.size() >= 4);
    for (const char* back : {"Their", "They", "Them", "These", "Those", "Such", "Its", "It", "That",
                             "This", "Same", "Longest.", "…"}) {
      CHECK(words[0] != back);
    }
    for (const char* back : {"How many", "The same", "The one", "Of these", "Of them", "Of which",
                             "One of them", "The first of", "That idle"}) {
      CHECK_FALSE(info.definition.starts_with(back));
    }
    CHECK((info.definition.ends_with(".") || info.definition.ends_with("…")));
    CHECK(std::isupper(static_cast<unsigned char>(info.definition.front())) != 0);
    for (const char* inside :
         {" a step.", " a step,", " a step:", " a step)", "synchronis", "normalis", "quantis",
          "utilis", "analys", "neighbour", "serialis", "initialis", "  ", ".."}) {
      CHECK(info.definition.find(inside) == std::string::npos);
    }
  }
}

TEST_CASE("no two facts have one definition") {
  std::map<std::string, std::string> seen;
  for (const FactInfo& info : FactList(ShippedKnowledge())) {
    const auto [at, is_new] = seen.emplace(info.definition, info.name);
    INFO(info.name << " and " << at->second << ": " << info.definition);
    CHECK(is_new);
  }
}

TEST_CASE("a definition points at no other fact") {
  // "These sizes" are those of the row that the definition describes.
  const std::regex points(R"(\b(these (?!sizes)|such code|that (time|stretch|rank)\b|this call))");
  for (const FactInfo& info : FactList(ShippedKnowledge())) {
    INFO(info.name << ": " << info.definition);
    CHECK_FALSE(std::regex_search(info.definition, points));
  }
}

TEST_CASE("the name of a retired fact is never used again") {
  std::set<std::string> retired(std::begin(kRetiredFacts), std::end(kRetiredFacts));
  CHECK(retired.size() == std::size(kRetiredFacts));
  for (const FactInfo& info : FactList(ShippedKnowledge())) {
    INFO(info.name);
    CHECK(retired.count(info.name) == 0);
  }
}

TEST_CASE("what time is lost to has happened") {
  const Analyzed run(TrainingRun(2));
  const auto facts = FactsOf(run);
  std::size_t checked = 0;
  for (const FactInfo& info : FactList(ShippedKnowledge())) {
    if (!info.name.ends_with(".lost")) continue;
    const std::string group = info.name.substr(0, info.name.size() - 5);
    const auto* lost = std::get_if<std::shared_ptr<const Spans>>(&facts->Find(info.name)->value);
    const Fact* count = facts->Find(group + ".count");
    if (lost == nullptr || count == nullptr || (*lost)->Total() == 0) continue;
    INFO(group);
    CHECK(Number(*facts, group + ".count") > 0);
    ++checked;
  }
  CHECK(checked >= 7);
}

}  // namespace
}  // namespace advise
