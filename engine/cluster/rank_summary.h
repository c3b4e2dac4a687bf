// What a distributed run needs to know of one of its ranks: who it is, where its time went step by
// step, and its collectives. Small and self-contained: it outlives the trace it was taken from, is
// kept by facts files, and is all that the comparison of ranks reads, so that reports and facts
// files of the same run give the same answer.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/metrics/losses/unseen_time.h"
#include "engine/timeline/idle.h"
#include "engine/timeline/run.h"
#include "engine/trace/collectives.h"

namespace advise {

// Where one rank's time went in a span: whole nanoseconds, the five states add up to its length.
struct RankTime {
  Nanos compute = 0;
  Nanos comm_exposed = 0;
  Nanos copy_exposed = 0;
  Nanos memset_exposed = 0;
  Nanos idle = 0;
  // Of comm_exposed: meanwhile the launching thread waits for data or loads it.
  Nanos loading_beside_comm = 0;
  Nanos copying_beside_comm = 0;  // the same: meanwhile its copies run
  Nanos writing = 0;  // idle while the launching thread writes files: part of the cause kFileIo
  std::array<Nanos, kIdleCauseCount> causes{};  // add up to idle
  Nanos Total() const { return compute + comm_exposed + copy_exposed + memset_exposed + idle; }
  Nanos Cause(IdleCause cause) const { return causes[static_cast<std::size_t>(cause)]; }
  // Waiting for data, by whatever means.
  Nanos Loading() const {
    return Cause(IdleCause::kDataLoading) + Cause(IdleCause::kFileIo) - writing;
  }
};

struct RankStep {
  Nanos start = 0;  // on the clock of the rank's report
  Nanos end = 0;
  RankTime time;
  Nanos Length() const { return end - start; }
};

// Communication kernels of the window in time order; columns of equal length.
struct RankCollectives {
  std::vector<Nanos> start;
  std::vector<Nanos> end;
  std::vector<Nanos> exposed;       // part with no compute beside it
  std::vector<Nanos> bare_end;      // of it, what reaches to the end; of sends only, else -1
  std::vector<std::uint8_t> kind;   // -> RankSummary::kinds
  std::vector<std::uint8_t> phase;  // enum Phase of the launching call
  std::vector<std::uint16_t> lane;  // numbered stream, in order of first use
  std::vector<std::int16_t> group;  // -> RankSummary::groups; -1 unknown
  std::vector<std::int64_t> bytes;  // per rank, the larger of in and out; -1 unknown
  std::vector<std::int32_t> peer;   // of send and receive; -1 unknown
  std::size_t size() const { return start.size(); }
  // -1 where it is not known.
  Nanos BareEnd(std::size_t row) const { return row < bare_end.size() ? bare_end[row] : -1; }
};

// A kernel name of the window, those with most time.
struct RankKernel {
  std::string name;
  std::int64_t count = 0;
  Nanos total = 0;
  Nanos median = 0;
};

// A call of MPI in which its GPU idled, on the clock of the rank's report.
struct RankMessage {
  Nanos start = 0;
  Nanos end = 0;
  Nanos late = 0;  // idle in it for longer than its messages need at a usual rate
};

struct RankSummary {
  // Who it is. -1, 0 and "" unknown.
  int rank = -1;
  std::string rank_source;  // "report", "environment", "file name", "device order"
  // Other ranks whose processes share its GPU: their reports were put together with its own. -1
  // where a number is not known.
  std::vector<int> shares_gpu_with;
  int local_rank = -1;
  int world_size = 0;
  std::string host;
  std::string job;           // what tells runs apart: "SLURM_JOB_ID 4711"
  std::string path;          // of the report
  std::uint32_t clock = 0;   // ranks of one report share a clock
  std::uint32_t report = 0;  // number of the report in the run
  std::int64_t pid = 0;
  int device = 0;                  // ordinal
  std::uint32_t device_index = 0;  // -> Trace::devices of its report
  int devices_listed = 0;          // GPUs that the report knows of
  std::string device_name;
  std::string device_uuid;
  std::int64_t utc_origin_ns = 0;  // UTC of time 0 of the clock; 0 unknown
  // Environment that decides communication paths (NCCL_…, CUDA_VISIBLE_DEVICES …): allowed names.
  std::vector<std::pair<std::string, std::string>> switches;

  // When its first kernels began, from the first on, and how long they took, as one number: no two
  // ranks agree to the nanosecond. 0: too few kernels.
  std::uint64_t work_print = 0;

  // Where its time went.
  Nanos window_start = 0;
  Nanos window_end = 0;
  RankTime time;
  std::string steps_source;
  std::vector<RankStep> steps;  // steady ones inside the window
  double window_steps = 0;      // in its window; 0: as many as are in `steps`
  bool keeps_waits = false;     // its window begins with slow steps that wait, and are no warm-up
  // By step: its host launches, computes or waits for data, and not for the GPU or other ranks.
  // Empty where nothing communicates.
  std::vector<Nanos> host_works;
  // The same of what it exchanges with other ranks by code of the host, such as objects: work for
  // as long as the rank that is shortest in it, and a wait for others beyond that.
  std::vector<Nanos> host_exchanges;
  Nanos launch_call = 0;           // median of kernel launches that were not held back; 0 unknown
  Nanos before_uploads = 0;        // idle for host code right before copies to the GPU; 0 unknown
  std::int64_t kernels_count = 0;  // compute kernels of the window
  std::vector<RankKernel> kernels;
  double blocks = 0;                  // of all these kernels
  std::vector<double> kernel_blocks;  // of `kernels`, of a launch on average; empty: unknown
  double copied_bytes = 0;  // between host and device, by copies as long as tell the rate of a link
  Nanos copied_time = 0;    // that these copies took
  Nanos wrote_files = 0;    // idle while the launching thread wrote files
  Nanos queued_sums = 0;    // exposed, of gradient sums that could not begin earlier (Comm::queued)
  // What kernels it runs: "attention", "embedding", "moe_routing", "one-kernel-all-reduce";
  // "tokens": it generates them; "few-rows": its products are of a few rows.
  std::vector<std::string> traits;
  std::string languages;  // of its program, as the fact run.languages

  // Communication.
  std::vector<std::string> kinds;  // "allreduce", "allgather" …, "" when the name does not tell
  std::vector<CommGroup> groups;
  RankCollectives collectives;
  std::vector<RankMessage> messages;  // in order of time

  double backwards = 0;         // backward passes a step; 0 when no ranges name them
  double backwards_synced = 0;  // of them with gradient collectives

  double memory_peak = -1;     // bytes, -1 unknown
  double memory_capacity = 0;  // bytes, 0 unknown
  UnseenTime unseen;           // of the idle time without a cause
  bool supports_verdict = true;

  Nanos Window() const { return window_end - window_start; }
  double StepsInWindow() const {  // 1 where it has no steps
    if (window_steps > 0) return window_steps;
    return steps.empty() ? 1 : static_cast<double>(steps.size());
  }
};

}  // namespace advise
