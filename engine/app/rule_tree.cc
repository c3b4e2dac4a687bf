#include "engine/app/rule_tree.h"

#include <algorithm>
#include <filesystem>
#include <regex>

#include "engine/facts/catalog.h"
#include "engine/pipeline/session.h"
#include "engine/pipeline/site_files.h"

namespace advise {
namespace {

namespace fs = std::filesystem;

// "a/b/rules/x/y.lua" → {"a/b", "rules/x/y.lua"}; {"", path} when no folder is called rules.
std::pair<std::string, std::string> SplitAtRules(const std::string& path) {
  const std::string normal = fs::path(path).lexically_normal().generic_string();
  const std::size_t at = normal.starts_with("rules/") ? 0 : normal.rfind("/rules/");
  if (at == std::string::npos) return {"", normal};
  return at == 0 ? std::pair{std::string("."), normal}
                 : std::pair{normal.substr(0, at), normal.substr(at + 1)};
}

bool IsOfSite(const std::string& text) {
  static const std::regex id(R"re((^|[\s{,])id\s*=\s*["']site/)re");
  return std::regex_search(text, id);
}

Result<std::vector<Knowledge::File>> NamedFiles(const std::string& path) {
  std::error_code failed;
  if (fs::is_directory(path, failed)) {
    auto files = ReadTree(path, path + "/", ".lua");
    if (files && files->empty()) return Fail("the folder holds no rule", path, "*.lua");
    return files;
  }
  auto text = ReadTextFile(path);
  if (!text) return Fail("no such rule file", path, "rules/<area>/<name>.lua");
  return std::vector<Knowledge::File>{{path, *text}};
}

// Ids by path are enough here: a wrong id is an error of its own.
std::string IdByPath(const std::string& path) {
  const std::size_t start = path.rfind("rules/");
  const std::string tail = start == std::string::npos ? path : path.substr(start + 6);
  return tail.substr(0, tail.rfind(".lua"));
}

}  // namespace

tl::expected<RuleTree, std::vector<Error>> LoadRuleTree(const std::string& path,
                                                        const DiagnoseOptions& options) {
  const auto fail = [](const Error& error) {
    return tl::make_unexpected(std::vector<Error>{error});
  };
  const auto named = NamedFiles(path);
  if (!named) return fail(named.error());
  std::vector<RuleFile> mine;
  bool any_of_site = false;
  std::string root;
  for (RuleFile& file : RuleFilesOf(*named, false)) {
    const auto [tree, inside] = SplitAtRules(fs::absolute(file.path).generic_string());
    file.of_site = IsOfSite(file.text);
    if (!file.of_site) {
      file.path = inside;
      root = tree;
    }
    any_of_site = any_of_site || file.of_site;
    mine.push_back(std::move(file));
  }
  if (mine.empty()) return fail({"there is no rule here", path, "rules/<area>/<name>.lua"});

  const auto shipped = !root.empty() && HoldsShare(root) ? ReadShare(root) : ShippedFiles();
  if (!shipped) return fail(shipped.error());
  std::vector<Knowledge::File> site;
  if (any_of_site) {
    std::error_code failed;
    const fs::path folder = fs::is_directory(path, failed)     ? fs::path(path)
                            : fs::path(path).has_parent_path() ? fs::path(path).parent_path()
                                                               : fs::path(".");
    auto files = ReadSite(options, folder.string());
    if (!files) return fail(files.error());
    site = std::move(files->settings);
  }
  auto knowledge =
      LoadKnowledge(*shipped, site, any_of_site ? options.set : std::vector<std::string>());
  if (!knowledge) return tl::make_unexpected(knowledge.error());

  std::set<std::string> known;
  std::vector<RuleFile> files = mine;
  for (const RuleFile& other : RuleFilesOf(*shipped, false)) {
    known.insert(IdByPath(other.path));
    const bool named_too = std::any_of(
        mine.begin(), mine.end(), [&](const RuleFile& file) { return file.path == other.path; });
    // A site's rule may replace a shipped one, so those must be there to be replaced.
    if (any_of_site && !named_too) files.push_back(other);
  }
  // Beside a site's rules the shipped ones only stand to be replaced; built in, they have no tests.
  const InlineTests shipped_tests = any_of_site ? InlineTests::kNotRead : InlineTests::kChecked;
  auto rules = RuleSet::Load(std::move(files), **knowledge, FactList(**knowledge), shipped_tests);
  if (!rules) return tl::make_unexpected(rules.error());
  RuleTree tree{std::move(*knowledge), std::move(*rules), {}, std::move(known)};
  for (const RuleInfo& rule : tree.rules.rules()) {
    tree.ids.insert(rule.id);
    const bool is_named = std::any_of(mine.begin(), mine.end(),
                                      [&](const RuleFile& file) { return file.path == rule.path; });
    if (is_named) tree.named.push_back(&rule);
  }
  return tree;
}

}  // namespace advise
