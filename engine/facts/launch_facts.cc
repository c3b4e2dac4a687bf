// launch.*, graph.*: launching work, call by call or as CUDA graphs.
#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

bool HasLaunchSteps(const Analysis& a) { return a.run.steps.known(); }

void DeclareCosts(Catalog* catalog) {
  catalog->Of(&Analysis::launches)
      .Needs(
          [](const Analysis& a) {
            return a.run.trace.HasTable("calls") || a.run.trace.calls.size() > 0;
          },
          "no CUDA calls were recorded", "cuda")
      .Add("launch.count", "count", "Launching calls of kernels and graphs in the window.",
           &Launches::count);
  auto& launches = catalog->Of(&Analysis::launches);
  launches.Add("launch.kernels_per_step", "count", "Number of kernels per step.",
               &Launches::kernels_per_step);
  launches.Add("launch.queue_empty", "share", "Share of the launches that found the device idle.",
               &Launches::queue_empty);
  launches.Add("launch.call.median", "ns",
               "Median length of a launching call that was not held back.",
               &Launches::call_median_ns);
  launches.Add("launch.kernel.median", "ns", "Median time of a kernel.",
               &Launches::kernel_median_ns);
  launches.Add("launch.gap.median", "ns", "Median length of the short gaps between kernels.",
               &Launches::gap_median_ns);
  launches.Add("launch.tiny.share", "share", "Share of the kernels that run for less than 10 µs.",
               &Launches::tiny_share);
  launches.Add("launch.tiny.time", "ns", "Summed time of kernels that run for less than 10 µs.",
               &Launches::tiny_ns);
  launches.Add("launch.threads", "count",
               "Threads that launch at the same time on one device or process.",
               &Launches::threads);
}

void DeclareLosses(Catalog* catalog) {
  auto& launches = catalog->Of(&Analysis::launches);
  launches.AddLoss("launch.bound", kCount | kChange,
                   {"short gaps between kernels that launching causes",
                    "Short gaps between kernels, spread over the step, that launching causes.",
                    "Launches that come late cost the host nothing, nor does the code between."},
                   &Launches::bound);
  launches.AddLoss("launch.graph", kChange,
                   {"", "Short gaps between kernels that one launch for all of them would close.",
                    "All launches of kernels are in a graph: one call, no code between."},
                   &Launches::graph);
  launches.AddLoss(
      "launch.nodes", kChange,
      {"",
       "Short gaps between kernels that launching causes, and what less a device needs between "
       "two nodes of a graph than between two kernels in the queue.",
       "All launches of kernels are in a graph, whose nodes follow each other sooner."},
      &Launches::nodes);
  launches.Add("launch.slow.median", "ns",
               "Median launching call, when kernel launches are slow though the queue is not full.",
               IfPositive(&Launches::slow_median_ns, "kernel launches are not slow", ""));
  launches.Add("launch.slow.contended", "share",
               "Share of slow kernel launches that overlap a CUDA call of another thread of the "
               "process.",
               &Launches::slow_contended);
  launches.AddLoss(
      "launch.slow", kOfGaps,
      {"kernel launches that are slow though the queue is not full",
       "Idle time inside slow kernel launches, and what the GPU waits for later because the thread "
       "was late behind them.",
       "Slow kernel launches take the usual time."},
      &Launches::slow);
  launches.AddLoss(
      "launch.trains", kOfGaps,
      {"series of tiny device copies or memsets",
       "Time of tiny device copies and memsets in series, and of the gaps between them.",
       "One operation replaces each series of tiny copies or memsets."},
      &Launches::trains);
  launches.Add("launch.trains.ops", "count", "Tiny device copies and memsets in series, per step.",
               &Launches::trains_ops_per_step);
  launches.AddLoss(
      "launch.framework", kLost,
      {"", "Idle time in gaps with more host code than launching, spread over the step.", ""},
      &Launches::framework);
  launches.Add("launch.waiting.share", "share",
               "Share of the time of longer kernels whose launches return only when the kernel has "
               "ended.",
               &Launches::waiting_share);
  launches.Add("launch.waiting.alone", "ns",
               "Time of small kernels that ran by themselves because their launch waited for them, "
               "where the next kernel was for another stream.",
               &Launches::waiting_alone_ns);
  launches.AddLoss("launch.waiting", kOfGaps,
                   {"launches of longer kernels that return only when the kernel has ended",
                    "Idle time before the launch that follows one that waited for its kernel, and "
                    "time of small kernels that another stream could have shared.",
                    "Launches return without waiting for their kernel."},
                   &Launches::waiting);
}

void DeclareSequence(Catalog* catalog) {
  catalog->Of(&Analysis::launches)
      .Needs(HasLaunchSteps, "too few steps were found", "steps")
      .Add("launch.sequence.length", "count",
           "Kernels that the host launches one by one in the sequence that repeats every step.",
           &Launches::sequence_length)
      .Add("launch.sequence.same", "share",
           "Share of the steps with exactly the sequence of kernels and grids that repeats.",
           &Launches::sequence_same)
      .Add("launch.sequence.breaks", "count",
           "Places inside the sequence of kernels with calls that a graph capture would not allow "
           "(waits, allocations, pageable copies), median per step, in the process with most. The "
           "one place at which the sequence ends and begins anew does not count.",
           &Launches::sequence_breaks);
}

void DeclarePrograms(Catalog* catalog) {
  auto& programs = catalog->Of(&Analysis::single_operations);
  programs.Add("launch.programs.per_step", "count",
               "Compiled programs (XLA modules) that the host calls, per step.",
               &SingleOperations::programs_per_step);
  programs.Add("launch.programs.single", "share",
               "Share of the compiled programs that hold a single operation.",
               &SingleOperations::single_share);
  programs.AddLoss(
      "launch.single", kOfGaps,
      {"compiled programs of a single operation, in series",
       "Idle time in series of compiled programs of a single operation, and time of kernels "
       "there that work on as many elements as the one before: XLA fuses them.",
       "One call replaces each series of compiled programs."},
      &SingleOperations::loss);
}

void DeclareGraphs(Catalog* catalog) {
  auto& graphs = catalog->Of(&Analysis::graphs);
  graphs.Add("graph.launches", "count", "Launches of CUDA graphs in the window.",
             &Graphs::launches);
  graphs.Add("graph.per_step", "count", "Launches of CUDA graphs per step.", &Graphs::per_step);
  graphs.Add("graph.call.median", "ns", "Median launching call of a CUDA graph.",
             &Graphs::call_median_ns);
  graphs.Add("graph.gpu.median", "ns",
             "Median time from the first to the last operation of a graph launch.",
             &Graphs::gpu_median_ns);
  graphs.AddLoss("graph.gap", kCount | kPerStep | kChange,
                 {"gaps before a graph that the host causes",
                  "Idle time of gaps before a graph that the host causes.",
                  "Graphs of a step that follow each other are one, with no code between."},
                 &Graphs::gaps);
  graphs.AddLoss("graph.slow", kChange,
                 {"", "Idle time before graphs in the calls that launch them.",
                  "Launches of graphs take their usual time."},
                 &Graphs::slow);
  graphs.Add("graph.miss.share", "share",
             "Share of the steps without a graph launch, where most steps have one.",
             &Graphs::miss_share);
  graphs.AddLoss("graph.miss", kLost,
                 {"", "Idle time of steps without a graph launch beyond that of the others.", ""},
                 &Graphs::misses);
  graphs.Add("graph.whole.share", "share",
             "Share of the compute time in graphs that were traced as a whole.",
             [](const Graphs& g, const Analysis& a) {
               return ShareOfDevice(g.traced_whole_ns, a.kernels.compute_ns);
             });
}

}  // namespace

void DeclareLaunchFacts(Catalog* catalog) {
  DeclareCosts(catalog);
  DeclareLosses(catalog);
  DeclareSequence(catalog);
  DeclarePrograms(catalog);
  DeclareGraphs(catalog);
}

}  // namespace advise::facts
