// The static site: built where Sphinx is installed, and readable without any server or network.
#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "tests/app/program.h"

namespace advise {
namespace {

namespace fs = std::filesystem;

// What a browser without a network shows for a search in the built site, opened as a file; nothing
// where no browser is installed.
std::string Searched(const Folder& folder, const std::string& words) {
  if (std::system("command -v chromium >/dev/null 2>&1") != 0) {
    WARN("skipped: no Chromium is installed (scripts/setup.sh --browser)");
    return "";
  }
  return RunAdvise(folder,
                   "HOME='" + folder.path() +
                       "' timeout 120 chromium --headless --no-sandbox --disable-gpu "
                       "--disable-dev-shm-usage --user-data-dir=profile --proxy-server=127.0.0.1:9 "
                       "--virtual-time-budget=15000 --dump-dom 'file://" +
                       folder.path() + "/site/search.html?q=" + words + "'",
                   "/usr/bin/env")
      .out;
}

TEST_CASE("the site is built from the pages, and fetches nothing") {
  const Folder folder;
  const Ran ran = RunAdvise(
      folder,
      ADVISE_SOURCE_DIR "/scripts/make-site.sh '" + folder.path() + "/site' " ADVISE_PROGRAM,
      "/bin/bash");
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
  CHECK(fs::exists(folder / "site/facts.html"));
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
  // A word of a symptom, a variable, a fact.
  const std::array<std::pair<const char*, const char*>, 3> searches = {
      {{"pageable", "rules/transfer/pageable-copy.html"},
       {"CUDA_LAUNCH_BLOCKING", "rules/environment/launch-blocking.html"},
       {"cudaMalloc", "rules/memory/alloc-in-loop.html"}}};
  for (const auto& [words, page] : searches) {
    const std::string shown = Searched(folder, words);
    if (shown.empty()) break;
    INFO(words << "\n" << shown.substr(shown.size() / 2, 2000));
    CHECK(shown.find("href=\"" + std::string(page) + "\" data-score") != std::string::npos);
  }
}

}  // namespace
}  // namespace advise
