// Snippets of fixes are code: they parse in the language that they name, and what any program may
// be told names no Python program.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <regex>
#include <set>

#include "tests/conventions/rule_tree.h"

namespace advise {
namespace {

struct Snippet {
  std::string rule;
  const Fix* fix;
};

std::vector<Snippet> Snippets() {
  std::vector<Snippet> all;
  for (const RuleInfo& rule : SourceTree().rules->rules()) {
    for (const Fix& fix : rule.fixes) {
      if (!fix.snippet.empty()) all.push_back({rule.path, &fix});
    }
  }
  REQUIRE(all.size() > 300);
  return all;
}

bool ForPythonOnly(const Fix& fix) {
  static const std::set<std::string> python = {"python", "pytorch", "tensorflow",
                                               "jax",    "vllm",    "sglang"};
  return !fix.programs.empty() &&
         std::all_of(fix.programs.begin(), fix.programs.end(),
                     [](const std::string& program) { return python.contains(program); });
}

// Files in a folder of the test, gone with it.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "advise-test-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Scratch() {
    std::error_code failed;
    std::filesystem::remove_all(path_, failed);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Output {
  int status = -1;
  std::string text;
};

Output Shell(const std::string& command) {
  Output output;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[4096];
  for (std::size_t got = 0; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    output.text.append(buffer, got);
  const int status = pclose(pipe);
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

// Writes the snippets of a language, each as a file that is named after its rule and its place, and
// runs the checker there. It prints what does not parse, a line each.
void CheckParses(const std::string& language, const std::string& tool, const std::string& checker) {
  if (Shell("command -v " + tool).status != 0) {
    WARN(tool << " is not installed: snippets in " << language << " are not checked");
    return;
  }
  const Scratch scratch;
  std::size_t count = 0;
  for (const auto& [rule, fix] : Snippets()) {
    if (fix->language != language) continue;
    const std::string name = std::regex_replace(rule, std::regex("/"), ".");
    scratch.Write(fmt::format("{}.{:03}", name, count++), fix->snippet + "\n");
  }
  REQUIRE(count > 0);
  scratch.Write("check", checker);
  const Output output = Shell(fmt::format("cd '{}' && {} check", scratch.path().string(), tool));
  INFO(output.text);
  CHECK(output.status == 0);
  CHECK(output.text.empty());
}

TEST_CASE("what any program may be told names no Python program") {
  static const std::regex python(R"(\b(python3?|torchrun)\s|\w\.py\b)");
  for (const auto& [rule, fix] : Snippets()) {
    if (ForPythonOnly(*fix)) continue;
    INFO(rule << ":\n" << fix->snippet);
    CHECK(fix->language != "python");
    CHECK_FALSE(std::regex_search(fix->snippet, python));
  }
}

TEST_CASE("snippets in Python compile") {
  CheckParses("python", "python3", R"(import ast, glob
for name in sorted(glob.glob("rules.*")):
    try:
        ast.parse(open(name, encoding="utf-8").read())
    except SyntaxError as error:
        print(f"{name}: {error}")
)");
}

TEST_CASE("snippets in JSON parse") {
  CheckParses("json", "python3", R"(import glob, json
for name in sorted(glob.glob("rules.*")):
    try:
        json.load(open(name, encoding="utf-8"))
    except ValueError as error:
        print(f"{name}: {error}")
)");
}

TEST_CASE("snippets for the shell parse") {
  CheckParses("bash", "bash", "for name in rules.*; do bash -n \"$name\"; done\n");
}

TEST_CASE("snippets in C++ close what they open") {
  static const std::regex quiet(R"(//[^\n]*|"(\\.|[^"\\\n])*"|<<<|>>>)");
  const std::string open = "([{";
  const std::string close = ")]}";
  for (const auto& [rule, fix] : Snippets()) {
    if (fix->language != "cpp") continue;
    INFO(rule << ":\n" << fix->snippet);
    std::string pending;
    for (const char c : std::regex_replace(fix->snippet, quiet, "")) {
      CHECK(c != '"');
      if (const auto at = open.find(c); at != std::string::npos) pending += close[at];
      if (close.find(c) == std::string::npos) continue;
      REQUIRE_FALSE(pending.empty());
      CHECK(pending.back() == c);
      pending.pop_back();
    }
    CHECK(pending.empty());
  }
}

TEST_CASE("a snippet's language is one of those that are checked") {
  static const std::set<std::string> languages = {"python", "bash", "cpp", "json"};
  for (const auto& [rule, fix] : Snippets()) {
    INFO(rule << ":\n" << fix->snippet);
    CHECK(languages.contains(fix->language));
  }
}

}  // namespace
}  // namespace advise
