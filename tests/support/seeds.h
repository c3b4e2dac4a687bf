// Inputs that tests read are a good start for fuzzing: with ADVISE_SEEDS set to a folder, small
// ones are kept there, in a folder for each format (scripts/fuzz.sh).
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "engine/import/importer.h"

namespace advise::testing {

inline void KeepAsSeed(const std::string& path) {
  constexpr std::uintmax_t kLargest = 100'000;
  const char* const folder = std::getenv("ADVISE_SEEDS");
  std::error_code error;
  if (folder == nullptr || !std::filesystem::is_regular_file(path, error) ||
      std::filesystem::file_size(path, error) > kLargest) {
    return;
  }
  std::ifstream file(path, std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(file)), {});
  const std::string_view kind = ImporterNameOf(path);
  const auto into = std::filesystem::path(folder) / (kind.empty() ? "unknown" : std::string(kind));
  std::filesystem::create_directories(into, error);
  std::ofstream(into / std::to_string(std::hash<std::string>()(content)), std::ios::binary)
      << content;
}

}  // namespace advise::testing
