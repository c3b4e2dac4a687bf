// Rules that the build made ready are those of the source tree: what they say of themselves, and
// their functions.
#include "engine/script/embedded_rules.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <lua.hpp>
#include <sstream>

#include "engine/facts/catalog.h"
#include "engine/knowledge/embedded.h"
#include "engine/script/packed_rule.h"
#include "engine/script/sandbox.h"
#include "tests/script/rule_text.h"

using namespace advise;

namespace {

std::string SourceOf(const std::string& path) {
  std::ifstream stream(std::filesystem::path(ADVISE_SOURCE_DIR) / path);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

// The bytecode of the functions in the table on the stack top, with the numbers of their lines.
std::map<std::string, std::string> FunctionsIn(lua_State* state) {
  std::map<std::string, std::string> functions;
  for (const char* name : {"applies", "detect", "saving"}) {
    if (lua_getfield(state, -1, name) == LUA_TFUNCTION) {
      const auto append = [](lua_State*, const void* piece, std::size_t size, void* into) {
        static_cast<std::string*>(into)->append(static_cast<const char*>(piece), size);
        return 0;
      };
      lua_dump(state, append, &functions[name], 0);
    }
    lua_pop(state, 1);
  }
  return functions;
}

template <typename Load>
std::map<std::string, std::string> Functions(const Load& load) {
  Sandbox sandbox;
  std::map<std::string, std::string> functions;
  const auto problem = sandbox.Protect([&](lua_State* state) {
    sandbox.CallChunk(state, load(sandbox, state));
    functions = FunctionsIn(state);
  });
  CHECK(problem.value_or("") == "");
  return functions;
}

}  // namespace

TEST_CASE("embedded rules have the functions of the source tree, on the same lines") {
  const Knowledge knowledge = *Knowledge::Load(EmbeddedKnowledge());
  FactCatalog catalog;
  for (const FactInfo& fact : FactList(knowledge)) catalog.emplace(fact.name, fact);
  int functions = 0;
  for (const Knowledge::File& file : EmbeddedRules()) {
    INFO(file.path);
    if (!IsRule(file.path)) {
      CHECK(file.prepared.empty());
      CHECK(file.text == SourceOf(file.path));
      continue;
    }
    CHECK(file.text.empty());
    std::string_view packed = file.prepared;
    CHECK(UnpackRule(packed).path == file.path);
    UnpackDeclaration(packed, catalog);
    const auto embedded = Functions(
        [&](Sandbox& sandbox, lua_State* state) { return sandbox.LoadBytecode(state, packed); });
    const auto source = Functions([&](Sandbox& sandbox, lua_State* state) {
      return sandbox.Compile(state, SourceOf(file.path), file.path);
    });
    CHECK((embedded == source));
    functions += static_cast<int>(source.size());
  }
  CHECK(functions > 400);
}

TEST_CASE("embedded rules say of themselves what their files say") {
  const Knowledge knowledge = *Knowledge::Load(EmbeddedKnowledge());
  std::vector<RuleFile> texts, built_in;
  for (const Knowledge::File& file : EmbeddedRules()) {
    if (!IsRule(file.path)) continue;
    texts.push_back({file.path, SourceOf(file.path)});
    built_in.push_back({file.path, "", false, 0, file.prepared});
  }
  const std::vector<FactInfo> catalog = FactList(knowledge);
  const auto of_texts = RuleSet::Load(texts, knowledge, catalog);
  const auto of_build = RuleSet::Load(built_in, knowledge, catalog);
  REQUIRE(of_texts);
  REQUIRE(of_build);
  REQUIRE(of_build->rules().size() == texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    INFO(texts[i].path);
    const RuleInfo& rule = of_texts->rules()[i];
    REQUIRE(rule.path == built_in[i].path);
    CHECK(of_build->rules()[i].id == rule.id);
    CHECK(of_build->rules()[i].needs == rule.needs);
    CHECK(of_build->rules()[i].cause == rule.cause);
    CHECK(of_build->rules()[i].source.empty());
    CHECK((of_texts->Packed(rule) == built_in[i].prepared));
  }
}

TEST_CASE("a text keeps its functions, what they use, and its lines") {
  const std::string text =
      "-- return { in a comment }\n"
      "local limit = { 1, 2 }\n"
      "local function own(f) if f then return { f } end return nil end\n"
      "return {\n"
      "  id = \"a/b\", -- applies = function\n"
      "  symptom = [[\n two lines, }\n]],\n"
      "  applies = \"copy.count\",\n"
      "  detect = function(f) for _, x in ipairs(limit) do own(x) end return { n = 1 } end;\n"
      "  fixes = { { action = \"end }\" } },\n"
      "  saving = own,\n"
      "  risk = \"limit\"\n"
      "}\n";
  CHECK(FunctionsOf(text) ==
        "-- return { in a comment }\n"
        "local limit = { 1, 2 }\n"
        "local function own(f) if f then return { f } end return nil end\n"
        "return {\n"
        "  \n\n\n\n\n"
        "detect = function(f) for _, x in ipairs(limit) do own(x) end return { n = 1 } end;\n"
        "  \n"
        "saving = own,\n"
        "  \n"
        "}\n");
}

TEST_CASE("a rule that the build compiled says on which line it breaks") {
  const Knowledge knowledge = SampleKnowledge();
  RuleFile file = MakeRule({{"detect", "\n\nfunction(f)\n return f.copy.lost.x.y end"}});
  const BothWays rules({file}, knowledge, SampleCatalog());
  auto spans = std::make_shared<Spans>();
  const Verdict verdict =
      rules.Run("transfer/sample", MapFacts({{"window.time", {1e9}},
                                             {"copy.bytes", {5.0}},
                                             {"copy.lost", {std::shared_ptr<const Spans>(spans)}},
                                             {"copy.groups", {Rows()}}}));
  CHECK(verdict.outcome == Outcome::kBroken);
  CHECK(verdict.reason.starts_with("rules/transfer/sample.lua:"));
}

TEST_CASE("the text of a rule is never taken for bytecode") {
  const Knowledge knowledge = SampleKnowledge();
  const auto rules = RuleSet::Load({MakeRule()}, knowledge, SampleCatalog());
  REQUIRE(rules);
  const std::string packed = rules->Packed(rules->rules()[0]);
  const std::string code = packed.substr(packed.find(LUA_SIGNATURE));
  const std::vector<std::string> problems = LoadProblems({{"site/b.lua", code, true}});
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].find("attempt to load a binary chunk") != std::string::npos);
}
