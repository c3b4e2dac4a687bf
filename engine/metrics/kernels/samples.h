// What the GPU's sampled counters say of the kernels that ran: samples explain kernels, they never
// replace them.
#pragma once

#include <string>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

// Means of sampled quantities over some time of the devices, as shares of their peaks; -1 where no
// sample of the quantity fell into it. Names of the samples differ by generation of GPU.
struct SampledMeans {
  double gr_active = -1;  // anything at all runs
  double sm_active = -1;  // SMs with work
  double sm_issue = -1;   // issue slots used
  double tensor = -1;
  double dram = -1;  // reads and writes together
  double pcie = -1;  // the busier direction
  double nvlink = -1;
  double clock = -1;        // of the SMs, over the highest one of the GPU
  std::size_t samples = 0;  // of the quantity with most
};

// A port of a network card while communication ran and no compute.
struct PortTraffic {
  std::string port;     // "mlx5_0 port 1"
  std::string link;     // "InfiniBand", "Ethernet"; "" not said
  double rate = 0;      // mean bytes per second of the busier direction
  double without = -1;  // the same while no communication ran; -1 without such samples
  bool idle = false;    // hardly a byte beside what the busiest port moved
};

// Kernels, each a good part of the compute time, in which few SMs have work.
struct LowSmKernels {
  double share = 0;    // of the compute time; 0: none
  double active = -1;  // SMs with work, weighted by the time of the kernels
  std::string name;    // of the one that takes most time
  std::size_t samples = 0;
  std::vector<IntervalSet> spans;  // by device
};

struct Samples {
  // Means over the samples that fell into the named time of the same device, as shares; -1 without
  // such samples.
  double tensor_in_matrix = -1;  // "Tensor Active" while matrix and convolution kernels ran
  std::size_t tensor_samples = 0;

  SampledMeans window;   // all of the window
  SampledMeans compute;  // while compute kernels ran
  LowSmKernels low_sm;
  SampledMeans comm;  // while communication kernels ran and no compute
  // Mean of all network cards, both directions, while communication kernels ran and no compute.
  double nic_in_comm = -1;
  std::vector<PortTraffic> ports;  // the busiest first
};

// O(samples + kernels) a quantity.
Samples FindSamples(const Basis& basis);

// The mean of the samples of these series (sums of several are built first, sample by sample) whose
// period lies at least half inside the time of their device. `count`: of such samples.
double MeanDuring(const Series& series, const IntervalSet& time, std::size_t* count);

}  // namespace advise
