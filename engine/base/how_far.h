// How far a long piece of work is. The threads that do it write, another one reads and shows it.
#pragma once

#include <atomic>
#include <cstdint>

namespace advise {

class HowFar {
 public:
  enum class Unit : std::uint8_t { kRows, kBytes, kReports };

  // Work on `all` begins; 0: nobody knows how much it is.
  void Begin(Unit unit, std::uint64_t all) {
    all_ = 0;  // whoever reads in between sees work of unknown size
    done_ = 0;
    unit_ = unit;
    all_ = all;
  }
  void Did(std::uint64_t more) { done_ += more; }

  Unit unit() const { return unit_; }
  std::uint64_t done() const { return done_; }
  std::uint64_t all() const { return all_; }

 private:
  std::atomic<Unit> unit_ = Unit::kRows;
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<std::uint64_t> all_ = 0;
};

}  // namespace advise
