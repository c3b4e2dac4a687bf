// Snippets of fixes are code: they parse, or compile, in the language that they name, and what any
// program may be told names no Python program.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <map>
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
  static const std::set<std::string> python = {"python", "pytorch",  "tensorflow",
                                               "jax",    "vllm",     "sglang",
                                               "cupy",   "numba",    "hugging face transformers",
                                               "rapids", "deepspeed"};
  const auto is_python = [](const std::string& program) { return python.contains(program); };
  const auto narrows = [](const std::string& program) {
    return program == "nvidia" || program == "amd" || program == "training" ||
           program == "inference";
  };
  return std::any_of(fix.programs.begin(), fix.programs.end(), is_python) &&
         std::all_of(fix.programs.begin(), fix.programs.end(), [&](const std::string& program) {
           return is_python(program) || narrows(program);
         });
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
  static const std::regex placeholder(R"(\{\w+:\w+\})");
  std::size_t count = 0;
  for (const auto& [rule, fix] : Snippets()) {
    if (fix->language != language) continue;
    const std::string name = std::regex_replace(rule, std::regex("/"), ".");
    const std::string filled = std::regex_replace(fix->snippet, placeholder, "Name");
    scratch.Write(fmt::format("{}.{:03}", name, count++), filled + "\n");
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

TEST_CASE("what calls the tools of a maker of GPUs is for these GPUs") {
  static const std::regex nvidia(R"(\b(nsys|ncu|nvidia-smi|dcgmi|nvcc)\b)");
  static const std::regex amd(R"(\b(rocprof|rocprof-compute|rocm-smi|amd-smi)\b)");
  const auto is_for = [](const Fix& fix, const char* maker) {
    return std::find(fix.programs.begin(), fix.programs.end(), maker) != fix.programs.end();
  };
  for (const auto& [rule, fix] : Snippets()) {
    INFO(rule << ":\n" << fix->snippet);
    if (std::regex_search(fix->snippet, nvidia)) CHECK(is_for(*fix, "nvidia"));
    if (std::regex_search(fix->snippet, amd)) CHECK(is_for(*fix, "amd"));
  }
}

TEST_CASE("snippets use today's names of what was renamed") {
  static const std::regex old(
      R"(torch_dtype=|clocks_throttle_reasons|fp8_autocast\(|matmul\.allow_tf32|torch\.cuda\.amp\.|)"
      R"(_all_gather_base|_reduce_scatter_base|--gpu-metrics-device=|use_cuda_graph_memory)");
  for (const auto& [rule, fix] : Snippets()) {
    // A comment may say what the name was before.
    const std::string code =
        std::regex_replace(fix->snippet, std::regex("#[^\n]*before[^\n]*"), "");
    INFO(rule << ":\n" << fix->snippet);
    CHECK_FALSE(std::regex_search(code, old));
  }
}

TEST_CASE("fixes whose code trains are for training") {
  static const std::regex trains(
      R"(\b(loss|losses|optimizer|optim|GradScaler)\b|\.backward\(|no_sync|grad_norm)");
  for (const auto& [rule, fix] : Snippets()) {
    if (fix->language != "python") continue;
    const std::string code = std::regex_replace(fix->snippet, std::regex("#[^\n]*"), "");
    if (!std::regex_search(code, trains)) continue;
    INFO(rule << ":\n" << fix->snippet);
    CHECK(std::find(fix->programs.begin(), fix->programs.end(), "training") != fix->programs.end());
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

// Where a name of snippet_stubs.h stands for something else.
const std::map<std::string, std::string>& OwnNames() {
  static const std::map<std::string, std::string> names = {
      {"kernel/compute-bound", "nvcuda::wmma::fragment acc, a, b;"},
      {"kernel/dropout-random", "const unsigned long long seed = 0, index = 0, offset = 0;"},
      {"kernel/register-spill", "float b = 0, sum[8] = {};"},
      {"kernel/stall-memory", "float tile[32];"},
      {"kernel/uncoalesced", "const unsigned x = 0, y = 0;"},
      {"launch/bound", "const Callable step;"},
      {"launch/graph-candidate", "const Callable step;"},
      {"precision/fp64-on-slow-units", "float x = 0, y = 0;"},
      {"sync/event-wait-chain", "cudaStream_t a = nullptr, b = nullptr;"},
      {"transfer/blocking-copy", "float* device = nullptr;"},
      {"transfer/pageable-copy", "float* device = nullptr;"},
      {"comm/mpi-small-messages", "MPI_Comm graph;"},
      {"graph/updated-in-loop", "cudaGraphNode_t node = nullptr; cudaKernelNodeParams parameters;"},
      {"kernel/on-chip-memory",
       "float tile[32][32]; const int row = 0, column = 0, value = 0, stride = 1; int* total = "
       "nullptr; const unsigned char* keys = nullptr;"},
      {"kernel/stall-queue", "const int stride = 1; const unsigned char* keys = nullptr;"},
      {"launch/tiny-pieces",
       "double** matrices = nullptr; int *pivots = nullptr, *infos = nullptr;"},
  };
  return names;
}

// A snippet as C++ that g++ reads: launches become calls, and "..." what it stands for: nothing.
// Declarations stand by themselves, statements in a function.
std::string AsProgram(const std::string& rule, const std::string& snippet, std::size_t number) {
  static const std::regex comment(R"(//[^\n]*)");
  static const std::regex launch(R"((\w+)<<<(.*?)>>>\()");
  static const std::regex left_out(R"((^|\n)\.\.\.[^\n]*)");
  static const std::regex include(R"(#include <[^>]*>)");
  std::string code = std::regex_replace(snippet, comment, "");
  code = std::regex_replace(code, left_out, "$1");
  code = std::regex_replace(code, include, "");
  const bool declares = code.find("__global__") != std::string::npos;
  if (!declares) {
    code = std::regex_replace(code, std::regex(R"(\(\.\.\.\))"), "()");
    code = std::regex_replace(code, launch, "LaunchConfiguration($2), $1(");
  }
  while (!code.empty() && std::isspace(static_cast<unsigned char>(code.back())) != 0)
    code.pop_back();
  if (declares && !code.ends_with(';')) code += ';';
  const std::string id = std::regex_replace(rule, std::regex("^rules/|\\.lua$"), "");
  const auto own = OwnNames().find(id);
  const std::string names = own == OwnNames().end() ? "" : own->second;
  return declares
             ? fmt::format("namespace snippet{} {{\n#line 1 \"{}\"\n{}\n}}\n", number, id, code)
             : fmt::format("void Snippet{}() {{ {}\n{{\n#line 1 \"{}\"\n{}\n}} }}\n", number, names,
                           id, code);
}

TEST_CASE("snippets in C++ compile") {
  if (Shell("command -v c++").status != 0) {
    WARN("c++ is not installed: snippets in C++ are not checked");
    return;
  }
  std::string program = "#include \"" ADVISE_SOURCE_DIR "/tests/conventions/snippet_stubs.h\"\n";
  std::size_t count = 0;
  for (const auto& [rule, fix] : Snippets()) {
    if (fix->language == "cpp") program += AsProgram(rule, fix->snippet, count++);
  }
  REQUIRE(count > 50);
  const Scratch scratch;
  scratch.Write("snippets.cc", program);
  const Output output = Shell(fmt::format("cd '{}' && c++ -std=c++20 -w -fsyntax-only snippets.cc",
                                          scratch.path().string()));
  INFO(output.text);
  CHECK(output.status == 0);
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
