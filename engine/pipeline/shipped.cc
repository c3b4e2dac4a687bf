// Finds the files that every session is made of: shipped rules and knowledge.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/base/environment.h"
#include "engine/knowledge/embedded.h"
#include "engine/pipeline/session.h"
#include "engine/script/embedded_rules.h"

namespace advise {
namespace {

namespace fs = std::filesystem;

// The directory of the running program; "" when the system does not say.
std::string ProgramDirectory() {
  std::array<char, PATH_MAX> path = {};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0 || length >= static_cast<ssize_t>(path.size())) return "";
  return fs::path(std::string(path.data(), static_cast<std::size_t>(length)))
      .parent_path()
      .string();
}

// A named pipe would be waited for, and a device may never end. What a shell passes (`<(command)`)
// has its writer.
Result<void> CheckFile(const std::string& path) {
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (!fs::exists(status) || fs::is_regular_file(status) || fs::is_directory(status)) return {};
  const bool of_shell = path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
  if (path == "/dev/null" || (of_shell && fs::is_fifo(status))) return {};
  return Fail("a pipe or a device, not a file", path, "save what comes out of it in a file first");
}

}  // namespace

bool IsFolder(const std::string& path) {
  std::error_code failed;
  return fs::is_directory(path, failed);
}

bool HoldsShare(const std::string& directory) {
  return IsFolder(directory + "/rules") && IsFolder(directory + "/kb");
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
  if (auto plain = CheckFile(path); !plain) return tl::make_unexpected(plain.error());
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail("cannot be read", path);
  std::string text;
  std::array<char, 1U << 16U> piece;
  while (file.read(piece.data(), piece.size()) || file.gcount() > 0)
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
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
    std::error_code gone;
    if (!path.ends_with(ending) || it->is_directory(gone)) continue;
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
  const std::string named = EnvironmentVariable("ADVISE_SHARE");
  if (!named.empty()) {
    if (HoldsShare(named)) return ReadShare(named);
    return Fail("holds no rules/ and kb/", named, "ADVISE_SHARE names this directory");
  }
  const std::string beside = ProgramDirectory() + "/../share/advise";
  if (HoldsShare(beside)) return ReadShare(beside);
  std::vector<Knowledge::File> files = EmbeddedKnowledge();
  for (Knowledge::File& rule : EmbeddedRules()) files.push_back(std::move(rule));
  return files;
}

}  // namespace advise
