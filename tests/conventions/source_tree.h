// The files of the source tree, for tests that read the code itself.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace advise {

struct SourceFile {
  std::string path;  // from the root
  std::vector<std::string> lines;
};

// Every file below `folders` of `root` whose name ends in one of `endings`, by path.
inline std::vector<SourceFile> FilesBelow(const std::filesystem::path& root,
                                          const std::vector<std::string>& folders,
                                          const std::vector<std::string>& endings) {
  namespace fs = std::filesystem;
  std::vector<SourceFile> files;
  for (const std::string& folder : folders) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string path = entry.path().lexically_relative(root).string();
      const bool wanted = std::any_of(endings.begin(), endings.end(),
                                      [&](const std::string& end) { return path.ends_with(end); });
      if (!wanted || !entry.is_regular_file()) continue;
      SourceFile file{path, {}};
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) file.lines.push_back(line);
      files.push_back(std::move(file));
    }
  }
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

inline std::vector<SourceFile> SourceFiles(const std::vector<std::string>& folders,
                                           const std::vector<std::string>& endings) {
  return FilesBelow(ADVISE_SOURCE_DIR, folders, endings);
}

}  // namespace advise
