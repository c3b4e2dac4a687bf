#include "engine/base/cores.h"

#include <sched.h>

#include <catch2/catch.hpp>

namespace advise {

TEST_CASE("a process uses no more processors than it may run on") {
  cpu_set_t all;
  CPU_ZERO(&all);
  REQUIRE(sched_getaffinity(0, sizeof(all), &all) == 0);
  CHECK(UsableCores() >= 1);
  CHECK(UsableCores() <= CPU_COUNT(&all));
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
  CHECK(UsableCores() == 1);
  CHECK(sched_setaffinity(0, sizeof(all), &all) == 0);
}

}  // namespace advise
