#include "engine/metrics/losses/kernels/kernel_grids.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/metrics/kernels/waves.h"
#include "engine/metrics/losses/kernels/kernel_tallies.h"
#include "engine/timeline/room.h"

namespace advise {
namespace {

class GridFinder : Finder {
 public:
  GridFinder(const Basis& basis, const std::vector<std::uint32_t>& kernels, Kernels* result)
      : Finder(basis),
        kernels_(kernels),
        room_(run_),
        by_hand_(run_.names.Shapes(
            [](const KernelClass& c) { return c.name == "application" || c.name == "other"; })),
        start_ns_(Number("roofline.kernel_start")),
        tail_waste_(Number("kernel.tail_waste")),
        result_(result) {}

  // Kernels with fewer blocks than the device has SMs, and the last partial wave of larger ones.
  void Find() {
    LossBuilder small(basis_);
    LossBuilder tail(basis_);
    Tallies small_rows(run_);
    Tallies tail_rows(run_);
    Tallies spilling(run_);
    const ShapeSet persistent =
        run_.names.Shapes([](const KernelClass& c) { return c.HasTrait("persistent"); });
    const ShapeSet waits = run_.names.Shapes([](const KernelClass& c) { return c.name == "wait"; });
    std::map<double, double> time_of_blocks;  // of the small ones, as the next
    std::map<double, double> time_of_threads;
    double fill = 0;
    double fill_time = 0;
    std::vector<Nanos> alone = Alone();
    const std::vector<double> per_wave = CountedBlocksPerWave(trace_, run_.knowledge);
    const std::vector<double> by_registers = BlocksByRegisters(trace_, run_.knowledge);
    const double alone_share = Number("kernel.alone_share");
    const double most_waves = Number("kernel.tail_waves");
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      const std::uint32_t op = kernels_[i];
      if (run_.IsComm(op)) continue;
      const int sms = trace_.devices[trace_.ops.device[op]].sm_count;
      const KernelShape& shape = Shape(op);
      const auto blocks = static_cast<double>(shape.Blocks());
      if (shape.local_bytes > 0) {
        KernelRow& row = spilling.Add(op);
        row.local_bytes = shape.local_bytes;
        row.registers = shape.registers;
        result_->spilling_ns += LengthNs(op);
      }
      if (sms <= 0 || blocks <= 0 || In(persistent, op) || In(waits, op)) continue;
      // Where another kernel runs beside it, that one's blocks take the SMs which it leaves.
      if (static_cast<double>(alone[i]) < alone_share * LengthNs(op)) continue;
      if (blocks < sms) {
        small.CountWhole(op);
        const double used = Fill(op, blocks, sms);
        small.ScaleOp(op, Widened(op, used, blocks / sms));
        small_rows.Add(op).blocks = blocks;
        time_of_blocks[blocks] += LengthNs(op);
        time_of_threads[static_cast<double>(shape.ThreadsPerBlock())] += LengthNs(op);
        fill += used * LengthNs(op);
        fill_time += LengthNs(op);
      } else {
        const std::uint32_t at = trace_.ops.detail[op];
        const double counted = per_wave[at];
        const double waves =
            blocks / (counted > 0 ? counted : BlocksAtOnce(op, sms, by_registers[at]));
        const double waste = waves > 1 ? (std::ceil(waves) - waves) / std::ceil(waves) : 0;
        if (waves <= 1 || waves > most_waves || waste < tail_waste_) continue;
        tail.CountWhole(op);
        tail_rows.Add(op).waves = waves;
        result_->tail_waste_ns += waste * LengthNs(op);
        if (counted > 0) result_->tail_counted_ns += LengthNs(op);
      }
    }
    result_->small_grid = small.Build();
    result_->tail = tail.Build();
    result_->small_grid_rows = small_rows.ByName();
    result_->tail_rows = tail_rows.ByName();
    result_->spilling_rows = spilling.ByName();
    result_->small_grid_fill = fill_time > 0 ? fill / fill_time : 0;
    result_->small_grid_blocks = MedianBy(time_of_blocks, fill_time);
    result_->small_grid_threads = MedianBy(time_of_threads, fill_time);
  }

 private:
  // Blocks that the device holds at once: by threads, and by registers, which hold so many per SM;
  // shared memory can only lower it.
  double BlocksAtOnce(std::uint32_t op, int sms, double by_registers) const {
    const double threads_per_sm =
        std::max(1024, trace_.devices[trace_.ops.device[op]].max_threads_per_sm);
    const auto threads = static_cast<double>(Shape(op).ThreadsPerBlock());
    const double by_threads = std::floor(threads_per_sm / std::max<double>(1, threads));
    return sms * std::clamp(std::min(by_threads, by_registers), 1.0, 32.0);
  }

  // How far a grid of less than a block per SM uses the GPU: the share of SMs that have a block. In
  // kernels written by hand, so few warps per SM hide no latency, so that its SMs are not busy
  // either; libraries tune the work of a warp to that.
  double Fill(std::uint32_t op, double blocks, int sms) const {
    const double fill = blocks / sms;
    if (!In(by_hand_, op)) return fill;
    constexpr double kWarp = 32;
    const double warps = std::ceil(static_cast<double>(Shape(op).ThreadsPerBlock()) / kWarp);
    return fill * std::min(1.0, warps / Number("kernel.hiding_warps"));
  }

  // What is left of a kernel's time when its work is spread over all SMs: until memory is at full
  // rate, and without what every kernel takes to start and end.
  float Widened(std::uint32_t op, double fill, double of_sms) const {
    const double least = std::max(of_sms, 1 - Number("kernel.widened_part"));
    const double left =
        std::clamp(fill / Number("kernel.saturating_fill"), std::min(1.0, least), 1.0);
    const double fixed = std::min(start_ns_, LengthNs(op));
    const double length = std::max(1.0, LengthNs(op));
    return static_cast<float>((fixed + (LengthNs(op) - fixed) * left) / length);
  }

  // Half of the time is in at most so many.
  static double MedianBy(const std::map<double, double>& time_of, double all) {
    double half = all / 2;
    double median = 0;
    for (const auto& [value, time] : time_of) {
      median = value;
      half -= time;
      if (half <= 0) break;
    }
    return median;
  }

  // For each kernel of kernels_: how long it ran with no other kernel beside it on its device.
  std::vector<Nanos> Alone() {
    std::vector<Nanos> alone(kernels_.size(), 0);
    struct Reached {
      Nanos end = 0;           // latest end so far
      std::size_t holder = 0;  // who reaches there
      bool any = false;
    };
    std::vector<Reached> devices(trace_.devices.size());
    double busy = 0;
    double sum = 0;
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      const std::uint32_t op = kernels_[i];
      const Nanos start = trace_.ops.start[op];
      const Nanos end = trace_.ops.end[op];
      Reached& reached = devices[trace_.ops.device[op]];
      sum += static_cast<double>(end - start);
      if (!reached.any || start >= reached.end) {
        alone[i] = end - start;
      } else {
        alone[reached.holder] -= std::min(reached.end, end) - start;
        alone[i] = std::max<Nanos>(0, end - reached.end);
      }
      busy += static_cast<double>(
          std::max<Nanos>(0, end - (reached.any ? std::max(start, reached.end) : start)));
      if (!reached.any || end > reached.end) reached = {end, i, true};
    }
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      // Collectives need few SMs by nature: what they leave is for computing beside them.
      if (room_.IsLeftBy(kernels_[i]) && !run_.IsComm(kernels_[i]))
        result_->narrow_ns += static_cast<double>(std::max<Nanos>(0, alone[i]));
    }
    result_->concurrency = busy > 0 ? sum / busy : 0;
    return alone;
  }

  const std::vector<std::uint32_t>& kernels_;
  Room room_;
  const ShapeSet by_hand_;  // kernels of the program, and those that no list knows
  const double start_ns_;
  const double tail_waste_;
  Kernels* result_;
};

}  // namespace

void FindGrids(const Basis& basis, const std::vector<std::uint32_t>& kernels, Kernels* result) {
  GridFinder(basis, kernels, result).Find();
}

}  // namespace advise
