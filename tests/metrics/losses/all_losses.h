// Every loss that is computed of a trace, by name.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/metrics/analysis.h"

namespace advise {

inline std::vector<std::pair<std::string, const Loss*>> AllLosses(const Analysis& run) {
  std::vector<std::pair<std::string, const Loss*>> losses = {
      {"copies.pageable", &run.copies.pageable},
      {"copies.blocking", &run.copies.blocking},
      {"copies.small", &run.copies.small},
      {"copies.slow", &run.copies.slow},
      {"copies.repeated", &run.copies.repeated},
      {"copies.roundtrip", &run.copies.roundtrip},
      {"copies.migration", &run.copies.migration},
      {"copies.through_host", &run.copies.through_host},
      {"copies.serial", &run.copies.serial},
      {"copies.separate", &run.copies.separate},
      {"kernels.small_grid", &run.kernels.small_grid},
      {"kernels.tail", &run.kernels.tail},
      {"kernels.elementwise", &run.kernels.elementwise},
      {"kernels.attention", &run.kernels.attention},
      {"kernels.optimizer", &run.kernels.optimizer},
      {"kernels.zeroing", &run.kernels.zeroing},
      {"kernels.layout", &run.kernels.layout},
      {"kernels.fp32", &run.kernels.fp32},
      {"kernels.cast", &run.kernels.cast},
      {"kernels.unaligned", &run.kernels.unaligned},
      {"kernels.waiting", &run.kernels.waiting},
      {"syncs.loop", &run.syncs.loop},
      {"syncs.item", &run.syncs.item},
      {"syncs.forward", &run.syncs.forward},
      {"syncs.memset", &run.syncs.memset},
      {"syncs.default_stream", &run.syncs.default_stream},
      {"syncs.event_chain", &run.syncs.event_chain},
      {"syncs.host_function", &run.syncs.host_function},
      {"syncs.optimizer", &run.syncs.optimizer},
      {"syncs.backward", &run.syncs.backward},
      {"launches.bound", &run.launches.bound},
      {"launches.graph", &run.launches.graph},
      {"launches.framework", &run.launches.framework},
      {"launches.slow", &run.launches.slow},
      {"launches.trains", &run.launches.trains},
      {"launches.waiting", &run.launches.waiting},
      {"input.loss", &run.input.loss},
      {"input.slow", &run.input.slow},
      {"input.map", &run.input.map},
      {"host.alloc", &run.host.alloc},
      {"host.jit", &run.host.jit},
      {"host.lock", &run.host.lock},
      {"host.preempted", &run.host.preempted},
      {"host.gpu_switch", &run.host.gpu_switch},
      {"host.free_bursts", &run.host.free_bursts},
      {"host.kept", &run.host.kept},
      {"host_code.time", &run.host_code->time},
      {"step_stats.outlier", &run.step_stats.outlier},
      {"step_stats.stall", &run.step_stats.stall},
      {"comm.serial", &run.comm.serial},
      {"comm.no_overlap", &run.comm.no_overlap},
      {"comm.small", &run.comm.small},
      {"late_device", &run.late_device.loss},
      {"kernel_trains.products", &run.kernel_trains->products},
      {"kernel_trains.repeats", &run.kernel_trains->repeats},
      {"kernel_trains.pieces", &run.kernel_trains->pieces},
      {"kernel_variation.varying", &run.kernel_variation->varying},
      {"kernel_variation.slowing", &run.kernel_variation->slowing},
      {"kernel_variation.slices", &run.kernel_variation->slices},
      {"block_shapes.partial_warps", &run.block_shapes->partial_warps},
      {"block_shapes.tiny_blocks", &run.block_shapes->tiny_blocks},
      {"number_formats.fp64", &run.number_formats->fp64},
      {"number_formats.doubles", &run.number_formats->doubles},
      {"number_formats.bf16", &run.number_formats->bf16},
      {"graphs.gaps", &run.graphs.gaps},
      {"graphs.misses", &run.graphs.misses},
      {"moves.memsets", &run.moves->memsets},
      {"moves.device", &run.moves->device},
      {"moves.peer", &run.moves->peer},
      {"moves.one_way", &run.moves->one_way},
      {"mpi.late", &run.mpi.late},
      {"mpi.uneven", &run.mpi.uneven},
      {"mpi.transfer", &run.mpi.transfer},
      {"mpi.small", &run.mpi.small},
      {"mpi.staged", &run.mpi.staged},
      {"mpi.file", &run.mpi.file},
      {"stalls.sleep", &run.stalls.sleep},
      {"stalls.network", &run.stalls.network},
      {"stalls.file_write", &run.stalls.file_write},
      {"stalls.os_wait", &run.stalls.os_wait},
      {"stalls.exchange", &run.stalls.exchange},
      {"stalls.input", &run.stalls.input},
      {"accumulation.early", &run.accumulation.early},
      {"algorithm_trials.loss", &run.algorithm_trials.loss},
      {"value_checks.loss", &run.value_checks.loss},
      {"graph_breaks.loss", &run.graph_breaks->loss},
      {"dense_gradients.loss", &run.dense_gradients.loss},
      {"one_hot.loss", &run.one_hot.loss},
      {"gathered.loss", &run.gathered.loss},
      {"recomputed.loss", &run.recomputed.loss},
      {"recomputed_forward.loss", &run.recomputed_forward.loss},
      {"forward_only.loss", &run.forward_only.loss},
      {"replication.loss", &run.replication->loss},
      {"single_operations.loss", &run.single_operations.loss},
      {"turns.waiting", &run.turns->waiting},
      {"contention.loss", &run.contention->loss},
      {"unseen_ranks.loss", &run.unseen_ranks->loss},
      {"start_up.loss", &run.start_up.loss},
      {"serving.no_request", &run.serving.no_request},
      {"serving.tokenizer", &run.serving.tokenizer},
      {"serving.sampling", &run.serving.sampling},
      {"serving.scheduler", &run.serving.scheduler},
      {"serving.launch", &run.serving.launch},
  };
  const auto all = [&](const char* name, const std::vector<Loss>& list) {
    for (std::size_t i = 0; i < list.size(); ++i)
      losses.emplace_back(name + std::to_string(i), &list[i]);
  };
  all("stalls.phases ", run.stalls.phases);
  all("families.calls ", run.families->calls);
  all("families.ranges ", run.families->ranges);
  all("families.os ", run.families->os);
  for (const KernelFamily& family : run.families->kernels)
    losses.emplace_back("families.kernels", &family.loss);
  return losses;
}

}  // namespace advise
