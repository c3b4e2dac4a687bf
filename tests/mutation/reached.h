// Which mutants does each test case reach? tests/mutation/mutate.py puts this behind
// tests/support/main.cc: with ADVISE_MUTANTS_REACHED, each test case adds a line to the file of
// that name, with the numbers behind a tab.
#pragma once

#include <fstream>

#include "tests/mutation/mutant.h"

namespace mutant {

class Reached : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo& test) override {
    TestEventListenerBase::testCaseStarting(test);
    for (auto& mutant : reached) mutant = false;
  }

  void testCaseEnded(const Catch::TestCaseStats& test) override {
    TestEventListenerBase::testCaseEnded(test);
    const char* const path = std::getenv("ADVISE_MUTANTS_REACHED");
    if (path == nullptr) return;
    std::ofstream file(path, std::ios::app);
    file << test.testInfo.name << '\t';
    for (std::size_t i = 0; i < reached.size(); ++i) {
      if (reached[i]) file << ' ' << i;
    }
    file << '\n';
  }
};

CATCH_REGISTER_LISTENER(Reached)

}  // namespace mutant
