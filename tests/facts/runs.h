// Runs that hold a bit of everything, and readers of their facts.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "tests/support/fact_checks.h"

namespace advise {

// Steps of 4 ms on each of `devices` ranks: a pageable upload, work, a synchronize, an
// all-reduce, a read-back of four bytes, then loading until the next step.
inline TraceBuilder TrainingRun(std::uint32_t devices, int steps = 10) {
  TraceBuilder story;
  for (std::uint32_t d = 0; d < devices; ++d) {
    const std::string rank = std::to_string(d);
    story.Process("rank " + rank, static_cast<int>(d)).Thread("main").OnDevice(d);
    for (int i = 0; i < steps; ++i) {
      const Nanos at = i * 4_ms;
      story.Range("step " + std::to_string(i), {at, at + 3900_us});
      story.CopyToGpu(2_MiB, MemoryKind::kPageable, {at, at + 500_us}, {at + 20_us, at + 490_us});
      story.Range("forward", {at + 500_us, at + 540_us});
      story.Launch(kMatrixFp32, {at + 505_us, at + 510_us}, {at + 515_us, at + 1200_us});
      story.Launch(kElementwise, {at + 512_us, at + 516_us}, {at + 1200_us, at + 1300_us});
      story.Sync({at + 545_us, at + 1303_us});
      story.Range("backward", {at + 1400_us, at + 1440_us});
      story.Launch(kMatrixBf16, {at + 1405_us, at + 1410_us}, {at + 1415_us, at + 2000_us});
      story.Launch(kAllReduce, {at + 1415_us, at + 1419_us}, {at + 2000_us, at + 2400_us});
      story.CopyFromGpu(4, MemoryKind::kPageable, {at + 1425_us, at + 2404_us},
                        {at + 2401_us, at + 2403_us});
      story.Memset(1_KiB, {at + 2410_us, at + 2413_us}, {at + 2420_us, at + 2422_us});
      story.Range("load_batch", {at + 2450_us, at + 3850_us});
      story.OsCall("read", {at + 2500_us, at + 3000_us});
      story.Call("cudaMalloc", {at + 3860_us, at + 3880_us});
    }
  }
  return story;
}

inline std::unique_ptr<Facts> FactsOf(const Analyzed& run) { return FactsOf(*run); }

// A number, or a failed test.
inline double Number(const Facts& facts, const std::string& name) {
  const Fact* fact = facts.Find(name);
  INFO(name);
  REQUIRE(fact != nullptr);
  REQUIRE(std::holds_alternative<double>(fact->value));
  return std::get<double>(fact->value);
}

inline bool IsAbsent(const Facts& facts, const std::string& name) {
  const Fact* fact = facts.Find(name);
  INFO(name);
  REQUIRE(fact != nullptr);
  return std::holds_alternative<Absent>(fact->value);
}

inline Nanos Lost(const Facts& facts, const std::string& name) {
  const Fact* fact = facts.Find(name);
  INFO(name);
  REQUIRE(fact != nullptr);
  REQUIRE(std::holds_alternative<std::shared_ptr<const Spans>>(fact->value));
  return std::get<std::shared_ptr<const Spans>>(fact->value)->Total();
}

// A text, or a failed test.
inline std::string Text(const Facts& facts, const std::string& name) {
  const Fact* fact = facts.Find(name);
  INFO(name);
  REQUIRE(fact != nullptr);
  REQUIRE(std::holds_alternative<std::string>(fact->value));
  return std::get<std::string>(fact->value);
}

}  // namespace advise
