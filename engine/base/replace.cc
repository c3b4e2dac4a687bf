#include "engine/base/replace.h"

#include <filesystem>

namespace advise {

Result<void> MoveIntoPlace(const std::string& finished, const std::string& place) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::file_status there = fs::symlink_status(place, failed);
  if (fs::exists(there) && !fs::is_regular_file(there) && !fs::is_symlink(there)) {
    fs::remove(finished, failed);
    return Fail("is no file that could be replaced", place);
  }
  fs::rename(finished, place, failed);
  if (!failed) return {};
  std::error_code ignored;
  fs::remove(finished, ignored);
  return Fail("cannot be written: " + failed.message(), place);
}

}  // namespace advise
