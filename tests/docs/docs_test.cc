// The documentation says what is true: its commands run, its links lead somewhere, and what it
// takes from the program is what the program says now.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>

#include "tests/app/program.h"
#include "tests/conventions/source_tree.h"

namespace advise {
namespace {

namespace fs = std::filesystem;

std::vector<SourceFile> Documents() {
  std::vector<SourceFile> documents = SourceFiles({"docs"}, {".md"});
  for (const char* path : {"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}) {
    SourceFile file{path, {}};
    std::istringstream text(ReadAll(std::string(ADVISE_SOURCE_DIR "/") + path));
    for (std::string line; std::getline(text, line);) file.lines.push_back(line);
    documents.push_back(std::move(file));
  }
  return documents;
}

// The `advise …` lines of the fences that hold commands (sh, bash, or no language), in order. A
// line that ends in "# not run" is left out.
std::vector<std::string> CommandsOf(const SourceFile& document) {
  static const std::regex kCommand("^([$] )?(([A-Z_]+=[^ ]+ )*advise( .*)?)$");
  std::vector<std::string> commands;
  bool fenced = false;
  bool of_commands = false;
  for (const std::string& line : document.lines) {
    if (line.starts_with("```")) {
      fenced = !fenced;
      const std::string language = line.substr(3);
      of_commands = fenced && (language.empty() || language == "sh" || language == "bash");
      continue;
    }
    std::smatch match;
    if (!of_commands || !std::regex_match(line, match, kCommand)) continue;
    if (!line.ends_with("# not run")) commands.push_back(match[2]);
  }
  return commands;
}

// Tables, code and statements in code marks stay whole; these two are written by programs.
bool IsWritten(const SourceFile& document) {
  return document.path == "docs/accuracy.md" || document.path == "docs/examples/report.md";
}

TEST_CASE("prose stays within 120 columns") {
  for (const SourceFile& document : Documents()) {
    if (IsWritten(document)) continue;
    bool code = false;
    for (std::size_t i = 0; i < document.lines.size(); ++i) {
      const std::string& line = document.lines[i];
      if (line.find("```") != std::string::npos) code = !code;
      if (code || line.starts_with("|")) continue;
      const auto columns = std::count_if(line.begin(), line.end(),
                                         [](char c) { return (c & 0xC0) != 0x80; });  // UTF-8
      const std::size_t mark = line.find('`');
      const bool statement = mark != std::string::npos && line.find('`', mark + 1) - mark > 80;
      INFO(document.path << ":" << i + 1);
      CHECK((columns <= 120 || statement));
    }
  }
}

TEST_CASE("the README gives the figures of docs/accuracy.md") {
  std::string all;
  std::string count;
  const std::regex runs(R"(on \d+ simulated runs)");
  std::smatch found;
  std::istringstream page(ReadAll(ADVISE_SOURCE_DIR "/docs/accuracy.md"));
  for (std::string line; std::getline(page, line);) {
    if (line == "<!-- end of population -->") break;
    if (line.starts_with("| **all**")) all = line;
    if (count.empty() && std::regex_search(line, found, runs)) count = found[0];
  }
  REQUIRE_FALSE(all.empty());
  REQUIRE_FALSE(count.empty());
  const std::string readme = ReadAll(ADVISE_SOURCE_DIR "/README.md");
  CHECK(readme.find(all) != std::string::npos);
  CHECK(readme.find(count) != std::string::npos);
}

// Where the links of a page lead, but for those to the web and within the page.
std::vector<std::pair<std::size_t, std::string>> LinksOf(const SourceFile& document) {
  static const std::regex kLink(R"(\]\(([^)#]+)(#[^)]*)?\))");
  std::vector<std::pair<std::size_t, std::string>> links;
  bool code = false;
  for (std::size_t i = 0; i < document.lines.size(); ++i) {
    const std::string& line = document.lines[i];
    if (line.find("```") != std::string::npos) code = !code;
    if (code) continue;
    for (std::sregex_iterator at(line.begin(), line.end(), kLink), end; at != end; ++at) {
      const std::string target = (*at)[1];
      if (target.find("://") == std::string::npos) links.emplace_back(i + 1, target);
    }
  }
  return links;
}

TEST_CASE("links between documents lead to files that exist") {
  for (const SourceFile& document : Documents()) {
    const fs::path folder = (fs::path(ADVISE_SOURCE_DIR) / document.path).parent_path();
    for (const auto& [line, target] : LinksOf(document)) {
      INFO(document.path << ":" << line << ": " << target);
      CHECK(fs::exists(folder / target));
    }
  }
}

TEST_CASE("the reference that the program writes is whole, linked, and the same each time") {
  const Folder folder;
  for (const char* where : {"first", "second"}) {
    // Examples come from the tests of the rules, which only the source tree has.
    const Ran ran =
        RunAdvise(folder,
                  "ADVISE_SHARE='" ADVISE_SOURCE_DIR "' '" ADVISE_PROGRAM "' rules docs -o " +
                      std::string(where),
                  "/usr/bin/env");
    INFO(ran.err);
    REQUIRE(ran.status == 0);
  }
  int pages = 0;
  for (const SourceFile& page : FilesBelow(folder.path(), {"first"}, {".md", ".d.lua"})) {
    INFO(page.path);
    const std::string name = page.path.substr(std::string("first/").size());
    CHECK(ReadAll(folder / page.path) == ReadAll(folder / ("second/" + name)));
    for (const auto& [line, target] : LinksOf(page)) {
      INFO(line << ": " << target);
      CHECK(fs::exists(fs::path(folder / page.path).parent_path() / target));
    }
    if (!name.starts_with("rules/")) continue;
    ++pages;
    CHECK(ReadAll(folder / "first/rules.md").find("(" + name + ")") != std::string::npos);
    for (const char* part : {"\n## Symptom\n", "\n## Cause\n", "\n## Fixes\n", "\n## Example\n",
                             "\n## When the advice is wrong\n", "\n## Background\n"}) {
      INFO(part);
      CHECK(ReadAll(folder / page.path).find(part) != std::string::npos);
    }
  }
  CHECK(pages > 100);
  // Every fact of the catalog stands on the page, and under its last name in the stubs.
  const std::string facts = ReadAll(folder / "first/facts.md");
  const std::string stubs = ReadAll(folder / "first/facts.d.lua");
  std::istringstream list(RunAdvise(folder, "facts --list --format json").out);
  const std::regex name(R"re("name": "([^"]+)")re");
  int count = 0;
  for (std::string line; std::getline(list, line);) {
    std::smatch found;
    if (!std::regex_search(line, found, name)) continue;
    const std::string fact = found[1];
    INFO(fact);
    CHECK(facts.find("\n| `" + fact + "` | ") != std::string::npos);
    const std::size_t dot = fact.rfind('.');
    const std::size_t owner = stubs.find("\n---@class Facts." + fact.substr(0, dot) + "\n");
    REQUIRE(owner != std::string::npos);
    const std::string fields = stubs.substr(owner, stubs.find("\n\n", owner) - owner) + "\n";
    CHECK(fields.find("\n---@field " + fact.substr(dot + 1) + " ") != std::string::npos);
    ++count;
  }
  CHECK(count > 100);
}

TEST_CASE("documents that comments of the code name exist, with their sections") {
  static const std::regex kReference(R"re((docs/[\w./-]+\.md)(, "([^"]+)")?)re");
  int references = 0;
  for (const SourceFile& file : SourceFiles({"engine", "rules", "kb"}, {".h", ".cc", ".lua"})) {
    std::string text;
    for (const std::string& line : file.lines) {
      // A reference may go on in the next line of its comment.
      const std::size_t start = line.find("// ");
      text += start == std::string::npos ? line + "\n" : line.substr(start + 3) + " ";
    }
    for (std::sregex_iterator at(text.begin(), text.end(), kReference), end; at != end; ++at) {
      INFO(file.path << ": " << (*at)[0]);
      const std::string path = ADVISE_SOURCE_DIR "/" + (*at)[1].str();
      REQUIRE(fs::exists(path));
      if ((*at)[3].matched) {
        CHECK(ReadAll(path).find("\n## " + (*at)[3].str() + "\n") != std::string::npos);
      }
      ++references;
    }
  }
  CHECK(references > 0);
}

// Decisions tell what was true when they were made.
bool IsOfItsTime(const SourceFile& document) {
  return document.path.starts_with("docs/decisions/") || document.path == "CHANGELOG.md";
}

TEST_CASE("files and folders of the source tree that documents name exist") {
  static const std::regex kPath(
      R"(`((engine|rules|kb|docs|scripts|tests|fixtures|cmake)/[\w./-]*(/|\.[a-z]+))`)");
  int paths = 0;
  for (const SourceFile& document : Documents()) {
    if (IsOfItsTime(document)) continue;
    for (std::size_t i = 0; i < document.lines.size(); ++i) {
      const std::string& line = document.lines[i];
      for (std::sregex_iterator at(line.begin(), line.end(), kPath), end; at != end; ++at) {
        INFO(document.path << ":" << i + 1 << ": " << (*at)[1]);
        CHECK(fs::exists(fs::path(ADVISE_SOURCE_DIR) / (*at)[1].str()));
        ++paths;
      }
    }
  }
  CHECK(paths > 50);
}

TEST_CASE("pages on the design are of a width that any window shows") {
  std::vector<SourceFile> pages = SourceFiles({"docs/design"}, {".md"});
  for (const SourceFile& page : Documents()) {
    if (page.path == "docs/architecture.md" || page.path == "CHANGELOG.md") pages.push_back(page);
  }
  REQUIRE(pages.size() > 5);
  for (const SourceFile& page : pages) {
    for (std::size_t i = 0; i < page.lines.size(); ++i) {
      const std::string& line = page.lines[i];
      INFO(page.path << ":" << i + 1);
      CHECK(std::count_if(line.begin(), line.end(), [](char c) {
              return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
            }) <= 120);
    }
  }
}

// A place as documents assume it: the source tree's rules and knowledge, a report, and the program
// on PATH.
void Furnish(const Folder& folder) {
  const fs::path root = ADVISE_SOURCE_DIR;
  for (const char* name : {"rules", "kb", "docs"}) {
    fs::copy(root / name, folder / name, fs::copy_options::recursive);
  }
  fs::create_directory(folder / "bin");
  fs::create_symlink(ADVISE_PROGRAM, folder / "bin/advise");
  const Ran made = RunAdvise(folder,
                             ADVISE_SOURCE_DIR
                             "/fixtures/scenarios/pairs/loading-over-pageable.toml -o run.sqlite",
                             ADVISE_SIM_PROGRAM);
  INFO(made.err);
  REQUIRE(made.status == 0);
  for (const char* name : {"REPORT", "demo.sqlite"}) {
    fs::create_symlink("run.sqlite", folder / name);
  }
}

TEST_CASE("the pictures of the README show what the program prints now") {
  const Folder folder;
  const bool accept = std::getenv("ADVISE_ACCEPT") != nullptr;
  std::string arguments = ADVISE_SOURCE_DIR "/scripts/pictures.sh ";
  arguments += accept ? "" : "--check ";
  arguments += ADVISE_PROGRAM " " ADVISE_SIM_PROGRAM;
  const Ran ran = RunAdvise(folder, arguments, "/bin/bash");
  INFO(ran.err);
  CHECK(ran.status == 0);
  const std::string picture = ReadAll(ADVISE_SOURCE_DIR "/docs/pictures/report.png");
  CHECK(picture.starts_with("\x89PNG"));
  CHECK(picture.size() < 300'000);
}

// The Markdown report is what the program prints now; the page says the same.
TEST_CASE("the sample page is of the same report as the sample in Markdown, and holds no script") {
  const std::string page = std::regex_replace(
      ReadAll(ADVISE_SOURCE_DIR "/docs/examples/report.html"), std::regex("&nbsp;"), " ");
  const std::string report = ReadAll(ADVISE_SOURCE_DIR "/docs/examples/report.md");
  CHECK(page.find("<script") == std::string::npos);
  std::istringstream lines(report);
  int said = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool title = line.starts_with("## ") || line.starts_with("### ");
    const bool sentence = line.starts_with("**Seen:** ") || line.starts_with("**Why:** ");
    if (!title && !sentence) continue;
    const std::string text =
        line.substr(line.find(". ") < 6 ? line.find(". ") + 2 : line.find(' ') + 1);
    INFO(text);
    CHECK(page.find(text) != std::string::npos);
    ++said;
  }
  CHECK(said >= 5);
}

TEST_CASE("every command that a document shows runs") {
  int commands = 0;
  for (const SourceFile& document : Documents()) {
    const std::vector<std::string> lines = CommandsOf(document);
    // The tutorial's commands need the files of the blocks before them: see tutorial_test.cc.
    if (lines.empty() || document.path == "docs/howto/first-rule.md") continue;
    const Folder folder;
    Furnish(folder);
    for (const std::string& line : lines) {
      folder.Write("command.sh", "PATH='" + (folder / "bin") + "':\"$PATH\"\n" + line + "\n");
      const Ran ran = RunAdvise(folder, "command.sh", "/bin/sh");
      INFO(document.path << ": " << line << "\n" << ran.err);
      CHECK(ran.status == 0);
      ++commands;
    }
  }
  CHECK(commands > 0);
}

}  // namespace
}  // namespace advise
