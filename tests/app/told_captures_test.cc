// What the program tells of real captures, against what a person found in them by hand: sentences
// that must be there, and such that were wrong. What is not there is skipped (find_capture.h).
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/app/find_capture.h"
#include "tests/app/program.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

// The report in one line: lines break where the text is full.
std::string Told(const std::vector<std::string>& files) {
  std::string arguments = "-v";
  for (const std::string& file : files) arguments += " '" + file + "'";
  const Ran ran = RunAdvise(Folder(), arguments);
  std::string text;
  for (const char c : ran.out) {
    const bool space = c == '\n' || c == ' ';
    if (!space || (!text.empty() && text.back() != ' ')) text += space ? ' ' : c;
  }
  return text;
}

TEST_CASE("a range that holds a thousandth of the host's code is not where it runs") {
  const std::string file = FindCapture("nsys", "NVIDIA__Fuser/report1.sqlite");
  if (file.empty()) return;
  CHECK_THAT(Told({file}), !Contains("most of it in the range"));
}

TEST_CASE("calls that an export of 2022 lists twice are counted once, and samples are read") {
  const std::string file =
      FindCapture("nsys", "hpcgroup__pipit/saxpy-mpi-cuda_nsys_perlmutter0.sqlite");
  if (file.empty()) return;
  const std::string text = Told({file});
  CHECK_THAT(text,
             Contains("allocates or frees memory 3 times per iteration, mostly in cudaMalloc"));
  CHECK_THAT(text, Contains("most of it in the function main"));
  CHECK_THAT(text, !Contains("Sample the CPU"));
}

TEST_CASE("memory that the host pulls back is the host's doing, and prefetches are no faults") {
  const std::string file = FindCapture("nsys", "ynan1__aws_gpu/profile_default_dbg.sqlite");
  if (file.empty()) return;
  const std::string text = Told({file});
  CHECK_THAT(text, Contains("mostly waiting for host code"));
  CHECK_THAT(text,
             Contains("Page faults move 134 MB to the GPU and 268 MB back to the host: 1,153"));
  CHECK_THAT(text,
             Contains("Most of what the program prefetches to the GPU goes back to the host"));
}

TEST_CASE("a finding names the phase that most of its time is in") {
  const std::string amd = FindCapture("kineto", "AMD-AGI__TraceLens/train_resnet18.json.gz");
  if (!amd.empty()) CHECK_THAT(Told({amd}), !Contains("Where optimizer"));
}

TEST_CASE("libraries that load in cudaFree, and kernels in their first launch, are start-up") {
  const std::string hta =
      FindCapture("kineto", "facebookresearch__HolisticTraceAnalysis/trace.json.gz");
  if (!hta.empty()) {
    const std::string text = Told({hta});
    CHECK_THAT(text, Contains("mostly waiting for code to be compiled or loaded"));
    CHECK_THAT(text, Contains("most of it in cudaDeviceGetStreamPriorityRange"));
  }
  const std::string file = FindCapture("kineto", "CodingPlatelets__SwitchTransformers/trace.json");
  if (!file.empty()) CHECK_THAT(Told({file}), !Contains("| launching"));
}

TEST_CASE("idle time inside a step of a model server is no wait for requests") {
  const std::string file = FindCapture(
      "kineto",
      "AMD-AGI__TraceLens/decode_dsr1/B300__1782843274.7730265-TP-0-DECODE.trace.json.gz");
  if (file.empty()) return;
  const std::string text = Told({file});
  CHECK_THAT(text, Contains("mostly waiting for host code"));
  CHECK_THAT(text, Contains("of 16 sequences at once"));
  CHECK_THAT(text, !Contains("waits for requests look like host code"));
  CHECK_THAT(text, !Contains("inference/scheduler"));
}

TEST_CASE("kernels of AMD's libraries say whose GPU it is that nobody names") {
  const std::string file =
      FindCapture("kineto", "AMD-AGI__TraceLens/unit_tests/gemm_01_compute_few_tiles.json");
  if (!file.empty()) CHECK_THAT(Told({file}), Contains("--gpu mi300x"));
}

TEST_CASE("what a cause leaves to win of another finding is numbered, as in the plan") {
  const std::string file =
      FindCapture("kineto", "AMD-AGI__TraceLens/Falconsai_nsfw_image_detection__1016002.json.gz");
  if (file.empty()) return;
  const std::string text = Told({file});
  CHECK_THAT(text, Contains(" 2 Speed up matrix products"));
  CHECK_THAT(text, Contains("2 pays only once 1 is fixed."));
}

TEST_CASE("traces without GPU work say what they are") {
  const auto told = [](const char* name, const char* words) {
    const std::string file = FindCapture("kineto", name);
    if (!file.empty()) CHECK_THAT(Told({file}), Contains(words));
  };
  told("kqwq__cs345-project/profile_trace.json",
       "The model ran on the CPU: 7.08 ms in aten::mkldnn_convolution");
  told("harryjmoss__particle_transformer/profiler_trace_2024_11_27_1116.json",
       "The model ran on the CPU: 1.12 s in aten::mkldnn_convolution");
  told("facebookresearch__HolisticTraceAnalysis/benchmark_result_924719_1679055439_trace.json.gz",
       "hardware counters of 77 kernel runs and no timeline");
}

TEST_CASE("a report and a table that was exported from it are one capture") {
  const std::string report = FindCapture("nsys", "PranavDani__Flame/torch-ex.sqlite");
  const std::string table =
      FindCapture("nsys_other", "PranavDani__Flame/torch-ex_cuda_gpu_trace_base.csv");
  if (report.empty() || table.empty()) return;
  for (const auto& files : {std::vector{report, table}, std::vector{table, report}}) {
    const std::string text = Told(files);
    CHECK_THAT(text, Contains(table + " is the same capture as " + report));
    CHECK_THAT(text, !Contains("2 ranks"));
  }
  const std::string folder = FindCapture("nsys", "CO18326__uvmTorch");
  if (!folder.empty()) CHECK_THAT(Told({folder}), !Contains("1 ranks"));
}

TEST_CASE("a note of many reports that differs in its figures alone is told once") {
  const std::string folder = FindCapture("kineto", "facebookresearch__param/dlrm_kineto");
  if (folder.empty()) return;
  const std::string text = Told({folder});
  const std::string note = "the profiler costs the host about";
  const std::size_t first = text.find(note);
  REQUIRE(first != std::string::npos);
  CHECK(text.find(note, first + 1) == std::string::npos);
  CHECK_THAT(text, Contains("(in all 8 reports; the figures are those of the first)"));
}

}  // namespace
}  // namespace advise
