// Hardware counters of kernels, tied to the run: what share of the run's kernel time each counted
// kernel stands for, what limits it, and how much of its time the nearest limit leaves to win.
//
// A counted kernel's *headroom* is the share of its time that it would save if it ran at
// counter.achievable of the limit that it meets first. It is one number a kernel: whatever reason
// a rule finds, all reasons together cannot win more.
#pragma once

#include <string>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

struct Hardware;

// One kernel by name: means of its instances, weighted by their time. -1: not counted. Shares are
// 0 to 1.
struct CountedKernel {
  std::string name;
  std::string kernel_class;
  std::string source;  // of the first instance
  std::int64_t instances = 0;
  double time_ns = 0;      // counted, summed
  double run_time_ns = 0;  // of the timeline's window, summed over devices; 0 when not in it
  double weight = 0;       // of the run's kernel time; without a timeline of the counted time
  double sm = -1, memory = -1, dram = -1, l2 = -1, l1 = -1;  // throughput over peak
  double occupancy = -1, theoretical = -1;                   // of the warps an SM holds
  std::string limiter;  // of occupancy: registers, shared memory, warps, blocks; "" unknown
  double ipc = -1;      // instructions a cycle and SM
  double issue = -1;    // issue slots used
  double stall_memory = -1, stall_barrier = -1, stall_not_selected = -1;  // of a warp's latency
  double stall_fence = -1;           // of a warp's latency, at memory fences
  double stall_queue = -1;           // a part of stall_memory: the queue of memory accesses is full
  double l2_hit = -1, sectors = -1;  // sectors a request of global loads and stores, the worse one
  double useful = -1;                // part of the sectors that was asked for
  double lanes = -1;                 // of a warp's 32 threads, those that execute an instruction
  double local = -1;                 // of the executed instructions, those on local memory
  double conflicts = -1;             // of the passes over shared memory, those of bank conflicts
  double atomics = -1;               // of the sectors of the second-level cache, those of atomics
  double registers = -1, waves = -1, tensor = -1;
  double blocks = -1, threads = -1;  // of the grid, of a block
  double sms = -1, at_work = -1;     // of the GPU; part of the time in which one holds a warp
  double flops = -1, bytes = -1, intensity = -1, balance = -1;  // totals; FLOP/byte
  double achieved = -1, attainable = -1;                        // FLOP/s
  bool tensor_estimated = false;  // tensor work was taken from the activity of the pipes
  // "memory", "compute", "latency", "launch" (as short as a start); "" unknown
  std::string bound;
  bool on_chip = false;  // what bounds it is memory of the chip: caches, shared memory
  double headroom = 0;   // share of its time
  // Of headroom, what it would save by moving no more than was asked for, as fast as it does now.
  double scattered = 0;
  double lost_ns = 0;  // headroom of run_time_ns (of time_ns without a timeline)
};

struct Counters {
  std::vector<CountedKernel> kernels;  // by weight, largest first
  std::int64_t instances = 0;
  double time_ns = 0;    // counted, summed
  double coverage = -1;  // part of the run's kernel time that counted kernels stand for; -1 no run
  // The headroom of kernels of each bound, on devices. Without a timeline: on the counted time, one
  // instance after the other, on the first device.
  std::vector<IntervalSet> memory, compute, latency;
};

// O(instances x metrics + ops).
Counters FindCounters(const Basis& basis, const Hardware& hardware);

// How two tools' spellings of a kernel's name compare: without parameters, casts, blanks.
std::string PlainKernelName(const std::string& name);

}  // namespace advise
