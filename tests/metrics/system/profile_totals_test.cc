// Tables that other tools print: totals by what they are of.
#include "engine/metrics/system/profile_totals.h"

#include <catch2/catch.hpp>

#include "tests/support/analyzed.h"

namespace advise {
namespace {

ProfileTotals TotalsOfTables(std::vector<ProfileTable> tables,
                             std::vector<AllocatorPage> allocators = {}) {
  Trace trace;
  trace.profile.tables = std::move(tables);
  trace.profile.allocators = std::move(allocators);
  return SumProfile(trace, ShippedKnowledge());
}

TEST_CASE("rows of one name in several tables are one row, the largest first") {
  const ProfileTotals totals =
      TotalsOfTables({{ProfileOf::kKernels, {{"a", 100, 2, 50}, {"b", 300, 3, 100}}},
                      {ProfileOf::kKernels, {{"a", 250, 4, 60}}},
                      {ProfileOf::kCopies, {{"a", 7, 1, 7}}}});
  const TotalsOf& kernels = totals.Of(ProfileOf::kKernels);
  CHECK(kernels.total == 650);
  CHECK(kernels.count == 9);
  REQUIRE(kernels.rows.size() == 2);
  CHECK(kernels.rows[0].name == "a");
  CHECK(kernels.rows[0].total == 350);
  CHECK(kernels.rows[0].count == 6);
  CHECK(kernels.rows[0].median == -1);  // of two tables nobody knows it
  CHECK(kernels.rows[1].median == 100);
  CHECK(totals.Of(ProfileOf::kCopies).total == 7);
  CHECK(totals.Of(ProfileOf::kCalls).rows.empty());
  CHECK_FALSE(totals.empty());
  CHECK(TotalsOfTables({}).empty());
}

TEST_CASE("calls are summed by what they do") {
  const ProfileTotals totals = TotalsOfTables({{ProfileOf::kCalls,
                                                {{"cudaLaunchKernel", 1000, 100, 8},
                                                 {"cuLaunchKernel", 900, 20, 40},
                                                 {"cudaGraphLaunch", 50, 5, 10},
                                                 {"cudaDeviceSynchronize", 700, 7, 100},
                                                 {"cudaStreamSynchronize", 30, 3, 10},
                                                 {"cudaMalloc", 500, 50, 10},
                                                 {"cudaFree", 60, 6, 10},
                                                 {"cudaMallocHost", 200, 2, 100},
                                                 {"cudaFreeHost", 10, 1, 10},
                                                 {"cudaHostRegister", 5, 1, 5},
                                                 {"cudaGetDevice", 11, 11, 1}}}});
  CHECK(totals.launches == 125);
  CHECK(totals.launch_time == 1950);
  CHECK(totals.launch_median == 8);  // of the call that launches most
  CHECK(totals.waits == 10);
  CHECK(totals.wait_time == 730);
  CHECK(totals.allocations == 60);
  CHECK(totals.allocation_time == 775);
  const ProfileTotals other = TotalsOfTables(
      {{ProfileOf::kCalls, {{"cudaLaunchKernel", 1000, 1, 8}, {"cuLaunchKernel", 900, 20, 40}}}});
  CHECK(other.launch_median == 40);
  CHECK(TotalsOfTables({{ProfileOf::kCalls, {{"cudaMalloc", 5, 1, 5}}}}).launch_median == -1);
}

TEST_CASE("copies between host and GPU, in the words of several tools") {
  const ProfileTotals totals = TotalsOfTables({{ProfileOf::kCopies,
                                                {{"[CUDA memcpy Host-to-Device]", 1, 1},
                                                 {"[CUDA memcpy Device-to-Host]", 20, 1},
                                                 {"[CUDA memcpy HtoD]", 300, 1},
                                                 {"[CUDA memcpy DtoH]", 4000, 1},
                                                 {"[CUDA memcpy Device-to-Device]", 50'000, 1},
                                                 {"[CUDA memset]", 600'000, 1}}}});
  CHECK(totals.host_copies == 4321);
}

TEST_CASE("of several devices the allocator of the fullest one is told") {
  AllocatorPage first, second;
  first.device = 0;
  first.reserved_peak = 100;
  second.device = 1;
  second.reserved_peak = 200;
  CHECK(TotalsOfTables({}, {first, second}).allocator.device == 1);
  CHECK(TotalsOfTables({}, {second, first}).allocator.device == 1);
  CHECK_FALSE(TotalsOfTables({}, {first}).empty());
}

}  // namespace
}  // namespace advise
