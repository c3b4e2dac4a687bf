// Real captures, which are not part of the project.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace advise {

// The path of a capture in a folder ("nsys", "kineto"); "" with a message when it is not at hand.
inline std::string FindCapture(const std::string& folder, const std::string& file) {
  const char* root = std::getenv("ADVISE_TRACES");
  const std::filesystem::path traces =
      root != nullptr ? std::filesystem::path(root)
                      : std::filesystem::path(ADVISE_SOURCE_DIR) / ".." / "shared" / "traces";
  std::error_code failed;
  const std::filesystem::path path =
      std::filesystem::weakly_canonical(traces / folder / file, failed);
  if (!failed && std::filesystem::exists(path, failed)) return path.string();
  WARN("skipped: no capture " << folder << "/" << file
                              << " (set ADVISE_TRACES to the folder that holds it)");
  return "";
}

}  // namespace advise
