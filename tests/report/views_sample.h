// Views made by hand for the sample report: one timeline, and something for every chart.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/advice/report_views.h"
#include "tests/support/fact_infos.h"

namespace advise {

// Facts of a run of two ranks.
inline std::vector<NamedFact> RankFacts() {
  const auto share = [](const char* name, double value) {
    return NamedFact{InfoOf(name, "share", "What it means."), {value}};
  };
  Rows rows;
  for (const double rank : {0.0, 1.0}) {
    rows.push_back({{"rank", rank},
                    {"host", std::string("node<1>")},
                    {"step", 2e6},
                    {"compute", 1.5e6},
                    {"late", 0.25 * rank}});
  }
  return {NamedFact{InfoOf("cluster.ranks", "count"), {2.0}},
          share("cluster.efficiency.parallel", 0.72),
          share("cluster.efficiency.load_balance", 0.9),
          share("cluster.efficiency.communication", 0.8),
          share("cluster.efficiency.orchestration", 1.0),
          NamedFact{InfoOf("cluster.table", "rows"), {rows}}};
}

inline std::shared_ptr<const ReportViews> SampleViews(const std::string& kernel = "gemm") {
  ReportViews views;
  FindingTimeline timeline;
  timeline.finding = 1;
  timeline.start_ns = 3'000;
  timeline.end_ns = 7'000;
  timeline.what = "the longest such copy";
  timeline.excerpt.start = 1'000;
  timeline.excerpt.end = 9'000;
  ExcerptRow stream;
  stream.kind = ExcerptRow::Kind::kStream;
  stream.name = "GPU 0, stream 7";
  stream.device = 0;
  ExcerptEvent copy;
  copy.start = 3'000;
  copy.end = 7'000;
  copy.kind = ExcerptKind::kCopy;
  copy.name = "copy host to device";
  copy.bytes = 4096;
  copy.call = 1;
  copy.op = 0;
  ExcerptEvent op;
  op.start = 7'500;
  op.end = 8'500;
  op.kind = ExcerptKind::kKernel;
  op.name = kernel;
  op.op = 1;
  stream.events = {copy, op};
  ExcerptRow thread;
  thread.name = "main: calls";
  ExcerptEvent call;
  call.start = 1'500;
  call.end = 2'500;
  call.kind = ExcerptKind::kCall;
  call.name = "cudaMemcpyAsync";
  call.call = 1;
  thread.events = {call};
  timeline.excerpt.rows = {stream, thread};
  views.timelines.push_back(timeline);
  views.sources = {{1, "transfer/repeated-upload", "train.py", 12, "load"}};
  views.steps = {{0, 1, 0, 300'000, 300'000, true, false},
                 {1, 1, 300'000, 100'000, 100'000, false, true}};
  views.copy_sizes = {{"host to device", 4096, 3, 15'000, 9'000}};
  views.kernels = {{kernel, "matrix", "fp32", 3, 9'000, 0.9, 3'000, 2'000, 4'000, 128, 256, 64}};
  views.samples = {{"SMs Active", "percent", "GPU 0", 100, {10, std::nan(""), 90}}};
  views.lateness.devices = {0, 1};
  views.lateness.names = {"rank 0", "rank 1"};
  views.lateness.steps = {0, 1};
  views.lateness.mean_ns = {{0, 0}, {5'000, std::nan("")}};
  views.roofline.points = {{kernel, 2, 1e12, 5'000}};
  views.roofline.roofs = {{2e13, 3e12}, {3e14, 3e12}};
  return std::make_shared<const ReportViews>(std::move(views));
}

}  // namespace advise
