// When a finding says what its fix saves alone: where that differs from what the plan leaves it.
#include <catch2/catch.hpp>

#include "engine/advice/finding.h"

namespace advise {
namespace {

bool Differs(double alone, double in_plan, int turn = 2) {
  Finding finding;
  finding.alone_share = alone;
  finding.saving_share = in_plan;
  finding.turn = turn;
  return finding.DiffersAlone();
}

TEST_CASE("what a fix saves alone is told from a point of the window on, either way") {
  CHECK(Differs(0.02, 0.01));
  CHECK_FALSE(Differs(0.0199, 0.01));
  CHECK(Differs(0.01, 0.02));
  CHECK_FALSE(Differs(0.02, 0.01, 1));  // first in the plan, it is alone
}

TEST_CASE("what a fix saves alone is told from a fifth of it on, where that is more than a point") {
  CHECK(Differs(0.5, 0.375));
  CHECK(Differs(0.625, 0.5));         // exactly a fifth
  CHECK_FALSE(Differs(0.625, 0.51));  // 11 points
}

}  // namespace
}  // namespace advise
