// Rules that the build compiled are what a text would be compiled to, and say where they break.
#include <filesystem>
#include <fstream>
#include <lua.hpp>
#include <memory>
#include <sstream>

#include "engine/knowledge/embedded.h"
#include "engine/script/sandbox.h"
#include "tests/script/rule_text.h"

using namespace advise;

namespace {

std::string Bytecode(const std::string& text, const std::string& path) {
  const std::unique_ptr<lua_State, decltype(&lua_close)> state(luaL_newstate(), lua_close);
  REQUIRE(luaL_loadbufferx(state.get(), text.data(), text.size(), ("@" + path).c_str(), "t") ==
          LUA_OK);
  std::string code;
  const auto append = [](lua_State*, const void* piece, std::size_t size, void* into) {
    static_cast<std::string*>(into)->append(static_cast<const char*>(piece), size);
    return 0;
  };
  REQUIRE(lua_dump(state.get(), append, &code, 0) == 0);
  return code;
}

}  // namespace

TEST_CASE("embedded rules are those of the source tree without their tests") {
  int rules = 0;
  for (const Knowledge::File& file : EmbeddedFiles()) {
    if (!IsRule(file.path)) continue;
    INFO(file.path);
    ++rules;
    std::ifstream stream(std::filesystem::path(ADVISE_SOURCE_DIR) / file.path);
    std::stringstream read;
    read << stream.rdbuf();
    const std::string text = read.str();
    const std::size_t tests = text.find("\n  tests = {\n");
    REQUIRE(tests != std::string::npos);
    CHECK(file.text.empty());
    CHECK(file.prepared == Bytecode(text.substr(0, tests) + "\n}\n", file.path));
  }
  CHECK(rules > 200);
}

TEST_CASE("a rule that the build compiled says on which line it breaks") {
  const std::string code = Bytecode("local x\n\nreturn x.y", "rules/a/b.lua");
  Sandbox sandbox;
  const auto problem = sandbox.Protect([&](lua_State* state) {
    sandbox.LoadBytecode(state, code);
    sandbox.CallChunk(state);
  });
  REQUIRE(problem);
  CHECK(problem->starts_with("rules/a/b.lua:3:"));
}

TEST_CASE("the text of a rule is never taken for bytecode") {
  const std::string code = Bytecode("return {}", "site/b.lua");
  const std::vector<std::string> problems = LoadProblems({{"site/b.lua", code, true}});
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].find("attempt to load a binary chunk") != std::string::npos);
}
