// A site ties names to a mechanism and asks for it in a rule, without any code of the program.
#include <catch2/catch.hpp>

#include "tests/app/json.h"
#include "tests/app/simulated.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

const char* const kSettings = R"([[families.kernel]]
family = "site_ours"
things = "kernels called gemm"
any = ["*gemm*"]

[[families.call]]
family = "site_launch"
things = "launches, as a mechanism of the site"
any = ["cudaLaunchKernel"]

[thresholds."site/ours".min_share]
value = 0.01
unit = "share"
range = [0.0, 1.0]
why = "a test"
source = "a test"
)";

const char* const kRule = R"(return {
  id = "site/ours", title = "Look at our kernels", status = "stable", since = "0.1",
  kind = "info", effort = "code",
  measure = "family.site_ours",
  evidence = { "share", count = "per_step" },
  thresholds = { "min_share" },
  symptom = "{share:pct} of the time is ours, {count:count} kernels per step.",
  cause = "They are ours.",
  fixes = { { action = "Look" } },
  false_positives = "None.",
  references = { "cuda-best-practices/pinned-memory" },
  tests = {
    { name = "half", facts = { family = { site_ours = { share = 0.5, per_step = 2 } } }, expect = { share = 0.5 } },
    { name = "none", facts = { family = { site_ours = { share = 0, per_step = 0 } } }, expect = "not_applicable" },
    { name = "little", facts = { family = { site_ours = { share = 0.001, per_step = 1 } } }, expect = "silent" },
  },
}
)";

double SiteNumber(const Json& facts, const std::string& name) {
  for (const Json& fact : facts["facts"]) {
    if (fact["name"] == name) return fact["value"];
  }
  FAIL("no fact " << name);
  return 0;
}

TEST_CASE("a rule of a site asks for kernels by a name that only the site knows") {
  const Folder folder;
  folder.Write("site.toml", kSettings);
  folder.Write("site/ours.lua", kRule);
  const std::string trace = "'" + Simulated("scenarios/healthy/cnn-a100") + "'";
  const std::string with = " --config site.toml";

  const Ran test = RunAdvise(folder, "rules test site/ours.lua" + with);
  INFO(test.out << test.err);
  REQUIRE(test.status == 0);

  const Ran ran = RunAdvise(folder, "facts " + trace + " --format json" + with);
  REQUIRE(ran.status == 0);
  const Json facts = ParseJson(ran.out);
  // Independent of the engine: the rows of the trace itself.
  const Ran counted =
      RunAdvise(folder,
                trace +
                    " \"select count(*) from CUPTI_ACTIVITY_KIND_KERNEL join StringIds on "
                    "StringIds.id = demangledName where value like '%gemm%'\"",
                "sqlite3");
  REQUIRE(counted.status == 0);
  const double all = std::stod(counted.out);
  CHECK(all > 0);
  CHECK(SiteNumber(facts, "family.site_ours.count") > 0);
  CHECK(SiteNumber(facts, "family.site_ours.count") <= all);
  CHECK(SiteNumber(facts, "family.site_ours.share") > 0.01);
  CHECK(SiteNumber(facts, "calls.site_launch.count") > 0);

  const Ran why = RunAdvise(folder, "why site/ours " + trace + " --rules site" + with);
  CHECK_THAT(why.out, Contains("family.site_ours.share"));
  const Ran report = RunAdvise(folder, trace + " --only site --no-color --rules site" + with);
  CHECK_THAT(report.out, Contains("site/ours"));
  CHECK_THAT(report.out, Contains("family.site_ours has names of the site"));
}

TEST_CASE("a facts file keeps what a site named") {
  const Folder folder;
  folder.Write("site.toml", kSettings);
  const std::string trace = "'" + Simulated("scenarios/healthy/cnn-a100") + "'";
  REQUIRE(RunAdvise(folder, "facts " + trace + " -o run.facts --config site.toml").status == 0);
  const Ran with = RunAdvise(folder, "facts run.facts --format json --config site.toml");
  CHECK_THAT(with.out, Contains("family.site_ours.count"));
  const Ran without = RunAdvise(folder, "facts run.facts --format json");
  CHECK(without.status == 0);
  CHECK(without.out.find("site_ours") == std::string::npos);
}

}  // namespace
}  // namespace advise
