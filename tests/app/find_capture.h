// Real captures, which are not part of the project: $ADVISE_TRACES, or shared/traces beside the
// source tree. Tests skip what is not there: one message for the whole run where there is no such
// folder, one for each capture that is missing from it.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace advise {

// "" with a message when there is none.
inline std::string CapturesFolder() {
  const char* named = std::getenv("ADVISE_TRACES");
  const std::string folder =
      named != nullptr ? std::string(named) : ADVISE_SOURCE_DIR "/../shared/traces";
  std::error_code failed;
  if (std::filesystem::is_directory(folder, failed)) return folder;
  static bool said = false;
  if (!said) {
    WARN("skipped: what needs real captures: no folder " << folder << " (set ADVISE_TRACES)");
  }
  said = true;
  return "";
}

// The path of "nsys/OWNER__REPOSITORY/FILE"; "" with a message when it is not at hand.
inline std::string FindCapture(const std::string& kind, const std::string& file) {
  const std::string root = CapturesFolder();
  if (root.empty()) return "";
  std::error_code failed;
  const auto path =
      std::filesystem::weakly_canonical(std::filesystem::path(root) / kind / file, failed);
  if (!failed && std::filesystem::exists(path, failed)) return path.string();
  WARN("skipped: no capture " << kind << "/" << file << " in " << root);
  return "";
}

// All files below a folder of captures ("nsys", "kineto"), in order; none, with a message, where
// there are none.
inline std::vector<std::string> FindCaptures(const std::string& kind) {
  const std::string root = CapturesFolder();
  std::vector<std::string> files;
  if (root.empty()) return files;
  std::error_code absent;
  for (auto it = std::filesystem::recursive_directory_iterator(root + "/" + kind, absent);
       !absent && it != std::filesystem::recursive_directory_iterator(); it.increment(absent)) {
    if (it->is_regular_file()) files.push_back(it->path().string());
  }
  if (files.empty()) WARN("skipped: no captures in " << root << "/" << kind);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace advise
