// The C functions, called as a program would that knows nothing of the engine.
#include <stdlib.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <string>

#include "engine/library/advise.h"

namespace advise {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

struct Free {
  void operator()(advise_run* run) const { advise_free(run); }
};
using Handle = std::unique_ptr<advise_run, Free>;

// A run without settings of a site.
Handle Opened() {
  Handle run(advise_open());
  REQUIRE(run != nullptr);
  REQUIRE(advise_set(run.get(), "no-site", "yes") == ADVISE_OK);
  return run;
}

// A trace of ten kernels, in a file that goes with it.
class SmallTrace {
 public:
  SmallTrace() {
    char name[] = "/tmp/advise-library-XXXXXX.json";
    const int file = mkstemps(name, 5);
    REQUIRE(file >= 0);
    close(file);
    path_ = name;
    std::ofstream text(path_);
    text << R"({"traceEvents":[)";
    for (int kernel = 0; kernel < 10; ++kernel) {
      text << (kernel > 0 ? "," : "")
           << R"({"ph":"X","cat":"kernel","name":"scale","pid":0,"tid":7,"dur":50,"ts":)"
           << 1000 + 100 * kernel
           << R"(,"args":{"device":0,"stream":7,"grid":[64,1,1],"block":[256,1,1]}})";
    }
    text << "]}";
  }
  ~SmallTrace() { unlink(path_.c_str()); }
  SmallTrace(const SmallTrace&) = delete;
  SmallTrace& operator=(const SmallTrace&) = delete;

  [[nodiscard]] const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

TEST_CASE("what is null is an error, and never read") {
  CHECK(advise_add(nullptr, "run.sqlite") == ADVISE_WRONG_USAGE);
  CHECK(advise_diagnose(nullptr) == ADVISE_WRONG_USAGE);
  CHECK_THAT(advise_json(nullptr), Catch::Equals(""));
  CHECK_THAT(advise_error(nullptr), Contains("null"));
  advise_free(nullptr);
  const Handle run = Opened();
  CHECK(advise_add(run.get(), nullptr) == ADVISE_WRONG_USAGE);
  CHECK_THAT(advise_error(run.get()), Contains("null as a path"));
  CHECK(advise_set(run.get(), "top", nullptr) == ADVISE_WRONG_USAGE);
  CHECK(advise_set(run.get(), nullptr, "1") == ADVISE_WRONG_USAGE);
}

TEST_CASE("values that make no sense are refused, and the next good call forgets it") {
  const Handle run = Opened();
  for (const auto& [option, value] :
       {std::pair{"jobs", "0"}, std::pair{"jobs", "2x"}, std::pair{"top", "-1"},
        std::pair{"top", ""}, std::pair{"facts", "maybe"}, std::pair{"window", "yesterday"},
        std::pair{"window", "5:2"}, std::pair{"no-site", "YES"}}) {
    INFO(option << " " << value);
    CHECK(advise_set(run.get(), option, value) == ADVISE_WRONG_USAGE);
    CHECK_THAT(advise_error(run.get()), Contains(option) && Contains("\"" + std::string(value)));
  }
  CHECK(advise_set(run.get(), "format", "html") == ADVISE_WRONG_USAGE);
  CHECK_THAT(advise_error(run.get()), Contains("there is no option \"format\""));
  CHECK(advise_set(run.get(), "top", "3") == ADVISE_OK);
  CHECK_THAT(advise_error(run.get()), Catch::Equals(""));
}

TEST_CASE("the problem of a run decides the status, and leaves no report of before") {
  const SmallTrace trace;
  const Handle run = Opened();
  CHECK(advise_diagnose(run.get()) == ADVISE_WRONG_USAGE);
  CHECK_THAT(advise_json(run.get()), Catch::Equals(""));

  REQUIRE(advise_add(run.get(), trace.path()) == ADVISE_OK);
  REQUIRE(advise_diagnose(run.get()) == ADVISE_OK);
  const std::string json = advise_json(run.get());
  CHECK_THAT(json, StartsWith("{") && Contains("\"version\": \"" + std::string(advise_version())));
  CHECK_THAT(advise_error(run.get()), Catch::Equals(""));
  // Again, the same.
  REQUIRE(advise_diagnose(run.get()) == ADVISE_OK);
  CHECK(json == advise_json(run.get()));

  SECTION("a rule that is not there") {
    advise_set(run.get(), "only", "no-such-rule");
    CHECK(advise_diagnose(run.get()) == ADVISE_WRONG_USAGE);
    CHECK_THAT(advise_error(run.get()), Contains("no-such-rule"));
  }
  SECTION("a GPU that is not there") {
    advise_set(run.get(), "gpu", "abacus");
    CHECK(advise_diagnose(run.get()) == ADVISE_WRONG_USAGE);
    CHECK_THAT(advise_error(run.get()), Contains("abacus"));
  }
  SECTION("settings that are broken") {
    advise_set(run.get(), "set", "no.such=1");
    CHECK(advise_diagnose(run.get()) == ADVISE_BROKEN_RULES);
    CHECK_THAT(advise_error(run.get()), Contains("no.such"));
  }
  SECTION("a report that is not there") {
    REQUIRE(advise_add(run.get(), "/none/none.sqlite") == ADVISE_OK);
    CHECK(advise_diagnose(run.get()) == ADVISE_UNREADABLE);
    CHECK_THAT(advise_error(run.get()), Contains("/none/none.sqlite"));
  }
  CHECK_THAT(advise_json(run.get()), Catch::Equals(""));
}

TEST_CASE("options reach the report") {
  const SmallTrace trace;
  const Handle run = Opened();
  REQUIRE(advise_add(run.get(), trace.path()) == ADVISE_OK);
  REQUIRE(advise_diagnose(run.get()) == ADVISE_OK);
  const std::string plain = advise_json(run.get());
  REQUIRE(advise_set(run.get(), "facts", "yes") == ADVISE_OK);
  REQUIRE(advise_diagnose(run.get()) == ADVISE_OK);
  CHECK_THAT(advise_json(run.get()), Contains("\"facts\""));
  CHECK_THAT(plain, !Contains("\"facts\""));
}

}  // namespace
}  // namespace advise
