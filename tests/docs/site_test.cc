// The static site: built where Sphinx is installed, and readable without any server or network.
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/app/program.h"

namespace advise {
namespace {

namespace fs = std::filesystem;

TEST_CASE("the site is built from the pages, and fetches nothing") {
  const Folder folder;
  const Ran ran = RunAdvise(
      folder, ADVISE_SOURCE_DIR "/scripts/make-site.sh '" + folder.path() + "/site'", "/bin/bash");
  if (ran.status == 77) {
    WARN("skipped: " + ran.err);
    return;
  }
  INFO(ran.out << ran.err);
  REQUIRE(ran.status == 0);
  CHECK(ran.err.find("WARNING") == std::string::npos);
  const std::string search = ReadAll(folder / "site/searchindex.js");
  CHECK(search.find("Search.setIndex(") != std::string::npos);
  CHECK(search.find("howto/first-rule") != std::string::npos);
  CHECK(fs::exists(folder / "site/search.html"));
  CHECK(fs::exists(folder / "site/rules.html"));
  int pages = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder / "site")) {
    if (entry.path().extension() != ".html") continue;
    const std::string page = ReadAll(entry.path().string());
    INFO(entry.path());
    for (const char* fetched :
         {"src=\"http", "src=\"//", "rel=\"stylesheet\" href=\"http", "@import url(http"}) {
      CHECK(page.find(fetched) == std::string::npos);
    }
    ++pages;
  }
  CHECK(pages > 10);
  // Without a server: the search script and the index are files beside the page.
  CHECK(ReadAll(folder / "site/search.html").find("searchindex.js") != std::string::npos);
}

}  // namespace
}  // namespace advise
