// Environment variables by which launchers tell a process which one of a run it is: torchrun, Open
// MPI, PMIx, PMI (MPICH and Intel MPI's Hydra), MVAPICH and Slurm, in this order of trust. Who
// starts a process last knows best: torchrun runs below mpirun, and mpirun below srun.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace advise {

inline constexpr std::array<std::string_view, 6> kRankVariables = {
    "RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};
inline constexpr std::array<std::string_view, 6> kLocalRankVariables = {
    "LOCAL_RANK",     "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
    "PMI_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK",  "SLURM_LOCALID"};
// Slurm's is that of the job step: a job script itself is one process, however many tasks the job
// has.
inline constexpr std::array<std::string_view, 5> kWorldSizeVariables = {
    "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
    "SLURM_STEP_NUM_TASKS"};
// What only launchers of MPI set.
inline constexpr std::array<std::string_view, 4> kMpiRankVariables = {
    "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK"};
// Others that say how a run is laid out.
inline constexpr std::array<std::string_view, 7> kLayoutVariables = {"LOCAL_WORLD_SIZE",
                                                                     "NODE_RANK",
                                                                     "OMPI_COMM_WORLD_LOCAL_SIZE",
                                                                     "MV2_COMM_WORLD_LOCAL_SIZE",
                                                                     "SLURM_NTASKS",
                                                                     "SLURM_NODEID",
                                                                     "SLURM_NNODES"};

// A whole number of at most seven digits; -1 otherwise.
int WholeNumberIn(std::string_view text);

// What the first of `names` that holds a whole number holds; -1 when none does.
template <std::size_t kSize>
int NumberAmong(const std::vector<std::pair<std::string, std::string>>& environment,
                const std::array<std::string_view, kSize>& names) {
  for (const std::string_view name : names) {
    for (const auto& [key, value] : environment) {
      const int number = key == name ? WholeNumberIn(value) : -1;
      if (number >= 0) return number;
    }
  }
  return -1;
}

}  // namespace advise
