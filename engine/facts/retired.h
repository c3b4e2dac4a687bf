// Facts that were and are no more. A name is never used again for another meaning: rules of sites
// and readers of old reports may still hold it.
#pragma once

namespace advise {

inline constexpr const char* kRetiredFacts[] = {
    "counter.top",
    "driver.pid",
    "driver.tid",
    "family.fill.count",
    "family.fill.halved",
    "family.fill.lost",
    "family.fill.per_step",
    "family.fill.remedy",
    "family.fill.share",
    "family.fused_update.count",
    "family.fused_update.halved",
    "family.fused_update.lost",
    "family.fused_update.per_step",
    "family.fused_update.remedy",
    "family.fused_update.share",
    "family.normalisation.count",
    "family.normalisation.halved",
    "family.normalisation.lost",
    "family.normalisation.per_step",
    "family.normalisation.remedy",
    "family.normalisation.share",
    "gemm.rows",
    "host.compute.share",
    "input.load.slow_excess",
    "precision.cast.count",
    "precision.matrix.time",
    "precision.tensor.sampled",
    "ranges.sampling.count",
    "ranges.sampling.lost",
    "ranges.sampling.per_step",
    "ranges.sampling.remedy",
    "ranges.sampling.time",
    "sample.idle.dram",
    "sample.idle.gr_active",
    "sample.idle.nvlink",
    "sample.idle.pcie",
    "sample.idle.samples",
    "sample.idle.sm_active",
    "sample.idle.sm_issue",
    "sample.idle.tensor",
};

}  // namespace advise
