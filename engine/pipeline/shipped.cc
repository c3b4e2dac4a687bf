// Finds the files that a session is made of: shipped rules and knowledge, site settings.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/knowledge/embedded.h"
#include "engine/pipeline/session.h"

namespace advise {
namespace {

namespace fs = std::filesystem;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The directory of the running program; "" when the system does not say.
std::string ProgramDirectory() {
  std::array<char, PATH_MAX> path = {};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0 || length >= static_cast<ssize_t>(path.size())) return "";
  return fs::path(std::string(path.data(), static_cast<std::size_t>(length)))
      .parent_path()
      .string();
}

bool IsDirectory(const std::string& path) {
  std::error_code failed;
  return fs::is_directory(path, failed);
}

}  // namespace

bool HoldsShare(const std::string& directory) {
  return IsDirectory(directory + "/rules") && IsDirectory(directory + "/kb");
}

Result<std::vector<Knowledge::File>> ReadShare(const std::string& directory) {
  auto rules = ReadTree(directory + "/rules", "rules/", ".lua");
  if (!rules) return rules;
  auto kb = ReadTree(directory + "/kb", "kb/", ".toml");
  if (!kb) return kb;
  std::vector<Knowledge::File> files = std::move(*kb);
  std::move(rules->begin(), rules->end(), std::back_inserter(files));
  return files;
}

Result<std::string> ReadTextFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail("cannot be read", path);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) return Fail("cannot be read", path);
  return text;
}

Result<std::vector<Knowledge::File>> ReadTree(const std::string& directory,
                                              const std::string& prefix,
                                              const std::string& ending) {
  std::vector<Knowledge::File> files;
  std::error_code failed;
  for (fs::recursive_directory_iterator it(directory, failed), end; !failed && it != end;
       it.increment(failed)) {
    const std::string path = it->path().string();
    if (!path.ends_with(ending) || IsDirectory(path)) continue;
    auto text = ReadTextFile(path);
    if (!text) return tl::make_unexpected(text.error());
    files.push_back({prefix + fs::path(path).lexically_relative(directory).string(), *text});
  }
  if (failed) return Fail(failed.message(), directory);
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

Result<std::vector<Knowledge::File>> ShippedFiles() {
  const std::string named = Environment("ADVISE_SHARE");
  if (!named.empty()) {
    if (HoldsShare(named)) return ReadShare(named);
    return Fail("holds no rules/ and kb/", named, "ADVISE_SHARE names this directory");
  }
  const std::string beside = ProgramDirectory() + "/../share/advise";
  return HoldsShare(beside) ? ReadShare(beside) : EmbeddedFiles();
}

Result<std::vector<Knowledge::File>> SiteFiles(const std::string& config, bool here) {
  std::string home = Environment("XDG_CONFIG_HOME");
  if (home.empty() && !Environment("HOME").empty()) home = Environment("HOME") + "/.config";
  std::vector<std::string> paths;
  std::vector<Knowledge::File> files;
  std::vector<std::string> folders = {"/etc/advise"};
  if (!home.empty()) folders.push_back(home + "/advise");
  for (const std::string& folder : folders) {
    std::error_code failed;
    if (fs::is_directory(folder + "/hardware", failed)) {
      auto gpus = ReadTree(folder + "/hardware", folder + "/hardware/", ".toml");
      if (!gpus) return tl::make_unexpected(gpus.error());
      std::move(gpus->begin(), gpus->end(), std::back_inserter(files));
    }
    paths.push_back(folder + "/site.toml");
  }
  if (here) paths.emplace_back("advise.toml");
  for (const std::string& path : paths) {
    std::error_code failed;
    if (!fs::exists(path, failed) || failed) continue;
    auto text = ReadTextFile(path);
    if (!text) return tl::make_unexpected(text.error());
    files.push_back({path, *text});
  }
  if (!config.empty()) {
    auto text = ReadTextFile(config);
    if (!text) return Fail("the configuration file cannot be read", config, "given with --config");
    files.push_back({config, *text});
  }
  return files;
}

}  // namespace advise
