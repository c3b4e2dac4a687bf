// input.*: the data pipeline.
#include <algorithm>

#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

void BatchesOfWorkers(Catalog* catalog) {
  auto& input = catalog->Of(&Analysis::input);
  input.Needs([](const Analysis& a) { return a.input.batches.known; },
              "no worker was seen to load a few batches", "osrt");
  input.Add("input.batch.median", "ns", "Median time that a loader worker is at work on a batch.",
            In(&Input::batches, &LoaderBatches::median_ns));
  input.Add("input.batch.count", "count",
            "Batches that loader workers loaded in the capture, by the work that they do per step.",
            In(&Input::batches, &LoaderBatches::count));
  input.Add("input.batch.slow_count", "count",
            "Batches that take a loader worker more than three times the median.",
            In(&Input::batches, &LoaderBatches::slow_count));
  input.Add("input.batch.slow_part", "share",
            "Share of the idle time that loading causes in which a loader worker is at work on a "
            "slow batch.",
            In(&Input::batches, &LoaderBatches::slow_part));
  input.Add("input.batch.usual", "ns",
            "Time that the loader workers would be at work in the window, mean over the workers, "
            "if slow batches took as long as the median one.",
            In(&Input::batches, &LoaderBatches::usual_ns));
}

}  // namespace

void DeclareInputFacts(Catalog* catalog) {
  BatchesOfWorkers(catalog);
  auto& input = catalog->Of(&Analysis::input);
  input.AddLoss(
      "input", kChange,
      {"",
       "Idle time of gaps in which the launching thread loads data or waits for it, and the "
       "time of uploads that come late because it loads, and overlap with no kernel.",
       "Batches arrive in time, as far as parallel loading can achieve that."},
      &Input::loss);
  input.Add("input.own", "ns",
            "Idle time in which the launching thread itself loads data (reads, decodes).",
            &Input::own_ns);
  input.Add("input.waiting", "ns", "Idle time in which the launching thread waits for a loader.",
            &Input::waiting_ns);
  input.Add("input.workers", "count", "Loader worker processes or threads seen.", &Input::workers);
  input.Add(
      "input.workers_busy", "share",
      "Share of the time from their first to their last call in the OS that loader workers are at "
      "work; absent when not seen.",
      UnlessNegative(&Input::workers_busy, "no OS calls of loader workers were recorded", "osrt"));
  input.Add("input.steps_affected", "share",
            "Share of the steps with idle time, or a wait for another GPU, in which data is "
            "loaded or waited for.",
            &Input::steps_affected);
  input.Add("input.steps_affected_later", "share",
            "Share of the steps after the first one that waits for data that wait, too; 0 where "
            "none follows it.",
            &Input::steps_affected_later);
  input.Add("input.load.count", "count", "Loads of a batch on the launching thread, one per step.",
            &Input::loads);
  input.Add("input.load.median", "ns", "Median time of a load or of a wait for one.",
            &Input::load_median_ns);
  input.Add("input.load.max", "ns", "Longest time of a load or of a wait for one.",
            &Input::load_max_ns);
  input.Add("input.load.slow_count", "count", "Loads of more than three times the median.",
            In(&Input::slow, &Loss::count));
  input.Add("input.load.slow_lost", "spans",
            "Idle time of loads of more than three times the median.",
            In(&Input::slow, &Loss::lost));
  input.Add("input.load.slow_remedy", "remedy", "Slow loads take as long as the median one.",
            In(&Input::slow, &Loss::remedy));
  input.Add("input.file.share", "share",
            "Share of the load time inside file calls (of the launching thread, or of the "
            "workers).",
            &Input::file_share);
  input.Add("input.map.time", "ns",
            "Idle while the launching thread maps or unmaps memory, mean over the devices.",
            [](const Input& in, const Analysis& a) {
              const std::size_t devices = a.run.active_devices.size();
              return static_cast<double>(in.map.lost->Total()) /
                     static_cast<double>(std::max<std::size_t>(1, devices));
            });
  input.AddLoss("input.map", kOfGaps,
                {"gaps in which the launching thread maps or unmaps memory",
                 "Idle time while the launching thread maps or unmaps memory, device by device.",
                 "Calls that map or unmap memory are gone."},
                &Input::map);
  input.Add("input.on_demand", "share",
            "Share of the loads that begin only when the program asks for the batch.",
            &Input::on_demand);
  input.Add(
      "input.loader", "name",
      "What the framework's loader shows of itself: own or workers; empty if it shows nothing.",
      &Input::loader);
  input.Add("input.background", "flag",
            "A thread or process other than the launching one loads data.", &Input::background);
}

}  // namespace advise::facts
