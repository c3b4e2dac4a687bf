// Reports of many ranks stand in the order of their numbers.
#include "engine/base/natural_order.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

namespace advise {
namespace {

TEST_CASE("numbers in names count as numbers") {
  using Names = std::vector<std::string>;
  Names names = {"r/rank_10.json", "r/rank_2.json", "r/rank_1.json", "r/rank_02.json", "r/all",
                 "r/rank_9",       "r/rank_10",     "r/rank",        "q/rank_3"};
  std::sort(names.begin(), names.end(), NaturalLess);
  CHECK(names == Names{"q/rank_3", "r/all", "r/rank", "r/rank_1.json", "r/rank_02.json",
                       "r/rank_2.json", "r/rank_9", "r/rank_10", "r/rank_10.json"});
}

TEST_CASE("the order is one: nothing stands before itself, and no two before each other") {
  const std::vector<std::string> names = {"",
                                          "0",
                                          "00",
                                          "1",
                                          "01",
                                          "a",
                                          "a0",
                                          "a00",
                                          "a1b2",
                                          "a01b1",
                                          "99999999999999999999",
                                          "100000000000000000000",
                                          "é"};
  for (const std::string& a : names) {
    CHECK_FALSE(NaturalLess(a, a));
    for (const std::string& b : names) {
      if (a != b) CHECK(NaturalLess(a, b) != NaturalLess(b, a));
      for (const std::string& c : names) {
        if (NaturalLess(a, b) && NaturalLess(b, c)) CHECK(NaturalLess(a, c));
      }
    }
  }
}

}  // namespace
}  // namespace advise
