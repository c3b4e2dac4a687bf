// memory.*: device memory and the calls that allocate it.
#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

// Layers of one pass keep memory, too, so that only marked steps tell.
bool OnlyLayers(const Host& h, const Analysis& a) {
  return a.run.steps.source == "period" && h.memory_reserved_peak > 0;
}

// Growth from step to step, if it can be told.
auto Growth(double Host::*growth) {
  return [growth](const Host& h, const Analysis& a) -> Value {
    if (OnlyLayers(h, a)) {
      return Absent{"no steps are marked, and the layers of one pass keep memory, too", "steps"};
    }
    if (h.memory_peak < 0) return Absent{"memory events were not recorded", "cuda-memory"};
    if (!a.run.steps.known()) return Absent{"too few steps were found", "steps"};
    return h.*growth;
  };
}

}  // namespace

void DeclareMemoryFacts(Catalog* catalog) {
  auto& host = catalog->Of(&Analysis::host);
  host.AddLoss("memory.alloc", kOfCalls,
               {"device and pinned-host allocations and frees in the window",
                "Idle time in allocations and frees, and until the host is ahead again.",
                "Allocations and frees of device and pinned memory are gone."},
               &Host::alloc);
  host.Add("memory.alloc.name", "name", "The allocating or freeing call that costs most.",
           &Host::alloc_name);
  host.Add("memory.alloc.late_share", "share",
           "Share of the allocations and frees that lie in the second half of the window.",
           &Host::alloc_late_share);
  catalog->Of(&Analysis::support)
      .Add("memory.alloc.recycled", "flag",
           "Whether the program frees device memory about as often as it allocates it, until the "
           "window ends.",
           &Support::recycles);
  host.AddLoss(
      "memory.free_burst", kOfGaps,
      {"runs of six or more frees of device memory, in the steady loop",
       "Idle time in runs of frees and in the allocations that take as many blocks again, and "
       "until "
       "the host is ahead again.",
       "Runs of frees are gone, and so are the allocations that take as many blocks again."},
      &Host::free_bursts);
  host.Add("memory.free_burst.retried", "share",
           "Share of the runs of frees that stand between two requests of an allocator: one that "
           "the driver refused, and the next.",
           &Host::retried_bursts);
  host.AddLoss("memory.kept", kOfGaps,
               {"allocations of device memory in the steady loop that nothing frees again; of all "
                "allocations and frees without the driver's memory events",
                "Idle time in allocations of device memory that nothing frees again, and until the "
                "host is ahead again.",
                "Allocations of device memory that nothing frees again are gone."},
               &Host::kept);
  host.Add("memory.peak", "bytes", "Highest device memory in use; absent without memory events.",
           IfPositive(&Host::memory_peak, "memory events were not recorded", "cuda-memory"));
  const char* const kNoAllocator = "the allocator's own figures were not recorded";
  host.Add("memory.reserved_peak", "bytes",
           "Most that a framework's caching allocator held of a device's memory.",
           IfPositive(&Host::memory_reserved_peak, kNoAllocator, "cuda-memory"));
  host.Add("memory.allocated_peak", "bytes",
           "Most that the tensors of a framework's caching allocator took at a time.",
           IfPositive(&Host::memory_allocated_peak, kNoAllocator, "cuda-memory"));
  catalog->Of(&Analysis::hardware)
      .AlsoWithoutTimeline()
      .Add("memory.capacity", "bytes", "Memory of the device, used or not.",
           IfPositive(&Hardware::memory_bytes, "the memory of the device is not known (see --gpu)",
                      "hardware"));
  auto& growth = catalog->Of(&Analysis::host);
  growth.Add(
      "memory.growth_per_step", "bytes",
      "Median rise of the lowest device memory in use of a step over that of the step before.",
      Growth(&Host::growth_per_step));
  growth.Add(
      "memory.growth_steps", "share",
      "Share of the steps whose lowest device memory in use is more than in the step before.",
      Growth(&Host::growth_steps));
}

}  // namespace advise::facts
