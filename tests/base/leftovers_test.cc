#include "engine/base/leftovers.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

namespace advise {

TEST_CASE("what is left over is removed as long as it is named, files before their folder") {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "advise-left-XXXXXX").string();
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  const auto write = [&](const std::string& name) {
    std::ofstream(folder + "/" + name) << "x";
    return folder + "/" + name;
  };
  const std::string kept = write("kept");
  const std::string finished = write("finished");
  {
    const Leftover none(folder + "/none");
    const Leftover long_ago(finished);
  }
  auto place = std::make_unique<Leftover>(folder);
  const std::string unfinished = write("unfinished");
  const Leftover file(unfinished);
  const Leftover missing(folder + "/missing");
  RemoveLeftovers();
  CHECK_FALSE(fs::exists(unfinished));
  CHECK(fs::exists(finished));
  CHECK(fs::exists(kept));  // and with it the folder
  fs::remove(kept);
  fs::remove(finished);
  RemoveLeftovers();
  CHECK_FALSE(fs::exists(folder));
}

}  // namespace advise
