// What is said of work that takes long. tests/faults runs it in a terminal.
#include <catch2/catch.hpp>

#include "engine/app/output.h"

namespace advise {
namespace {

TEST_CASE("how far work is, and how long the rest may take") {
  HowFar how_far;
  CHECK(ShownHowFar(how_far, 5.6) == "6 s so far");  // nobody knows how much it is
  how_far.Begin(HowFar::Unit::kRows, 14'000'000);
  CHECK(ShownHowFar(how_far, 0.5) == "0 % of 14.0 million rows");
  how_far.Did(140'000);
  CHECK(ShownHowFar(how_far, 1) == "1 % of 14.0 million rows");  // too little to tell by
  how_far.Did(5'180'000);
  CHECK(ShownHowFar(how_far, 3.8) == "38 % of 14.0 million rows, 7 s left");
  how_far.Did(8'680'000);
  CHECK(ShownHowFar(how_far, 10) == "100 % of 14.0 million rows, 0 s left");
  how_far.Did(1);  // what there is may be less than what is done
  CHECK(ShownHowFar(how_far, 10) == "100 % of 14.0 million rows, 0 s left");
  how_far.Begin(HowFar::Unit::kRows, 4'200);
  CHECK(ShownHowFar(how_far, 1) == "0 % of 5 thousand rows");
  how_far.Begin(HowFar::Unit::kReports, 64);
  how_far.Did(16);
  CHECK(ShownHowFar(how_far, 2) == "25 % of 64 reports, 6 s left");
}

}  // namespace
}  // namespace advise
