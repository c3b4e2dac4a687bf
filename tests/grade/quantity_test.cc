// What people write for a number, and what it means.
#include "engine/grade/quantity.h"

#include <catch2/catch.hpp>

namespace advise {
namespace {

double Read(const std::string& text, const std::string& unit, const std::string& assumed = "") {
  const auto quantity = ParseQuantity(text);
  INFO(text);
  REQUIRE(quantity);
  const auto value = ToFactUnit(*quantity, unit, assumed);
  REQUIRE(value);
  return *value;
}

TEST_CASE("times in any unit become nanoseconds") {
  CHECK(Read("12.5 ms", "ns") == Approx(12.5e6));
  CHECK(Read("12,5ms", "ns") == Approx(12.5e6));
  CHECK(Read("0.0125 s", "ns") == Approx(12.5e6));
  CHECK(Read("12500 us", "ns") == Approx(12.5e6));
  CHECK(Read("12500 µs", "ns") == Approx(12.5e6));
  CHECK(Read("2 min", "ns") == Approx(120e9));
  CHECK(Read("12.5", "ns", "ms") == Approx(12.5e6));
}

TEST_CASE("bytes by tens and by twos, rates and shares") {
  CHECK(Read("1 GiB", "bytes") == Approx(1073741824));
  CHECK(Read("1 GB", "bytes") == Approx(1e9));
  CHECK(Read("2 MiB/s", "bytes_per_s") == Approx(2097152));
  CHECK(Read("37 %", "share") == Approx(0.37));
  CHECK(Read("0.37", "share") == Approx(0.37));
  CHECK(Read("37", "share", "%") == Approx(0.37));
  CHECK(Read("1.21x", "num") == Approx(1.21));
  CHECK(Read("4 workers", "count") == 4);
  CHECK(Read("1e3", "count") == 1000);
}

TEST_CASE("a comma is a decimal point or separates thousands") {
  CHECK(Read("1,234", "count") == 1234);
  CHECK(Read("0,234", "num") == Approx(0.234));
  CHECK(Read("1,234,567", "count") == 1234567);
  CHECK(Read("1,234.5", "num") == Approx(1234.5));
  CHECK(Read("1'000", "count") == 1000);
}

TEST_CASE("units that do not fit, and what is no number, are told") {
  CHECK_FALSE(ToFactUnit(*ParseQuantity("12 ms"), "bytes", ""));
  CHECK_FALSE(ToFactUnit(*ParseQuantity("12 apples"), "ns", ""));
  for (const char* text : {"", "fast", "nan", "inf", "--5", "1 2", "12 ms 3", "9e999", "1.2.3"}) {
    INFO(text);
    CHECK_FALSE(ParseQuantity(text));
  }
}

}  // namespace
}  // namespace advise
