// What PyTorch prints: the summary of its allocator, and the table of its profiler. Texts are made
// here, in the form that PyTorch prints.
#include <array>

#include "tests/import/text_inputs.h"

using namespace advise;
using namespace advise::testing;

TEST_CASE("PyTorch's memory summary: the last page of each device") {
  const auto page = [](int retries, const char* peak) {
    return std::string(
               "|===========================================================================|\n"
               "|                  PyTorch CUDA memory summary, device ID 0                 |\n"
               "|---------------------------------------------------------------------------|\n"
               "|            CUDA OOMs: 1            |        cudaMalloc retries: ") +
           std::to_string(retries) +
           "         |\n"
           "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |\n"
           "| Allocated memory      |   1024 KiB |   2048 MiB |   9000 MiB |   8000 MiB |\n"
           "|       from large pool |   1024 KiB |   2048 MiB |   9000 MiB |   8000 MiB |\n"
           "| GPU reserved memory   |      2 GiB |      " +
           peak +
           " GiB |      3 GiB |      0 B   |\n"
           "| Non-releasable memory |    512 B   |    100 MiB |      3 GiB |      0 B   |\n";
  };
  const Trace trace = ImportedText("step 1\n" + page(0, "2") + "step 2\n" + page(7, "4"));
  CHECK(trace.kind == "allocator-page");
  REQUIRE(trace.profile.allocators.size() == 1);
  const AllocatorPage& found = trace.profile.allocators[0];
  CHECK(found.retries == 7);
  CHECK(found.out_of_memory == 1);
  CHECK(found.allocated_peak == 2048.0 * 1024 * 1024);
  CHECK(found.reserved_peak == 4.0 * 1024 * 1024 * 1024);
  CHECK(found.unusable_peak == 100.0 * 1024 * 1024);
  CHECK(Refused(page(0, "2").substr(0, 200)).find("cut short") != std::string::npos);
}

TEST_CASE("PyTorch's memory summary: older releases write KB and mean the same") {
  const Trace trace = ImportedText(
      "    |         PyTorch CUDA memory summary, device ID 1                  |\n"
      "    | Allocated memory      |  146836 KB |    4261 MB |     847 GB |     847 GB |\n"
      "    | GPU reserved memory   |    9800 MB |       9 GB |       9 GB |       0 B  |\n");
  REQUIRE(trace.profile.allocators.size() == 1);
  CHECK(trace.profile.allocators[0].allocated_peak == 4261.0 * 1024 * 1024);
  CHECK(trace.profile.allocators[0].reserved_peak == 9.0 * 1024 * 1024 * 1024);
}

namespace {

// As PyTorch prints them: each column as wide as its dashes, two blanks apart.
std::string TorchTable(const std::vector<std::array<std::string, 5>>& rows,
                       const std::string& whole) {
  const auto line = [](const std::array<std::string, 5>& cells) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      text += std::string((i == 0 ? 40 : 14) - cells[i].size(), ' ') + cells[i] + "  ";
    }
    return text + "\n";
  };
  const std::string dash(14, '-');
  const std::string dashes = line({std::string(40, '-'), dash, dash, dash, dash});
  std::string text =
      dashes + line({"Name", "Self CPU", "CPU total", "Self CUDA", "# of Calls"}) + dashes;
  for (const auto& row : rows) text += line(row);
  return "epoch 1\nSelf CPU %\n" + text + dashes + "Self CPU time total: 395.400ms\n" +
         "Self CUDA time total: " + whole + "\n\n";
}

}  // namespace

TEST_CASE("the table of PyTorch's profiler: kernels, copies and calls, each once") {
  const std::string text =
      TorchTable({{"aten::addmm", "20.000ms", "28.500ms", "120.000ms", "530"},
                  {"sm80_xmma_gemm_f16f16_f16f32", "0.000us", "0.000us", "120.000ms", "530"},
                  {"Memcpy HtoD (Pageable -> Device)", "0.000us", "0.000us", "10.000ms", "10"},
                  {"aten::view", "1.000ms", "1.000ms", "0.000us", "999"},
                  {"cudaLaunchKernel", "7.000ms", "7.000ms", "0.000us", "1060"},
                  {"void relu<float>(float*)", "0.000us", "0.000us", "70.000ms", "530"}},
                 "200.000ms");
  const Trace trace = ImportedText(TorchTable({}, "1.000ms") + text);  // the last table counts
  CHECK(trace.kind == "operator-table");
  CHECK(trace.producer == "PyTorch profiler");
  const ProfileTable& kernels = NeededTable(trace, ProfileOf::kKernels);
  REQUIRE(kernels.rows.size() == 2);
  CHECK(kernels.rows[0].name == "sm80_xmma_gemm_f16f16_f16f32");
  CHECK(kernels.rows[0].total == 120e6);
  CHECK(kernels.rows[0].count == 530);
  CHECK(kernels.whole == 190e6);  // without the copies
  CHECK(NeededTable(trace, ProfileOf::kCopies).rows[0].total == 10e6);
  CHECK(NeededTable(trace, ProfileOf::kCalls).rows[0].total == 7e6);
  CHECK(Said(trace, "stand for what they launched") == 0);
}

TEST_CASE("shares of a table without times are parts of what stands below it") {
  const std::string dashes(60, '-');
  const std::string rule = dashes + "  ----  ----  ----  ----\n";
  const std::string text =
      rule + "Name  Self CPU %  CPU total %  Self CUDA %  # of Calls\n" + rule +
      "aten::addmm  4.50%  77.30%  75.00%  2\n"
      "aten::clamp_min  1.00%  2.00%  25.00%  1\n"
      "cudaLaunchKernel  22.50%  22.50%  0.00%  3\n" +
      rule + "Self CPU time total: 4.000ms\nSelf CUDA time total: 80.000us\n\n";
  const Trace trace = ImportedText(text);
  const ProfileTable& kernels = NeededTable(trace, ProfileOf::kKernels);
  REQUIRE(kernels.rows.size() == 2);
  CHECK(kernels.rows[0].total == 60e3);
  CHECK(kernels.rows[1].total == 20e3);
  CHECK(kernels.whole == 80e3);
  CHECK(NeededTable(trace, ProfileOf::kCalls).rows[0].total == 900e3);
}

TEST_CASE("ranges that PyTorch lists beside kernels are none") {
  const auto kernels = [](const char* whole) {
    const Trace trace = ImportedText(
        TorchTable({{"ProfilerStep*", "0.000us", "0.000us", "100.000ms", "10"},
                    {"## Call CompiledFxGraph fs2eo6...", "0.000us", "0.000us", "70.000ms", "10"},
                    {"nccl:all_reduce", "0.000us", "0.000us", "5.000ms", "10"},
                    {"my_forward", "0.000us", "0.000us", "60.000ms", "10"},
                    {"my_forward", "1.000ms", "90.000ms", "0.000us", "10"},
                    {"triton_poi_fused_0", "0.000us", "0.000us", "80.000ms", "10"}},
                   whole));
    return NeededTable(trace, ProfileOf::kKernels);
  };
  CHECK(kernels("90.000ms").rows.size() == 1);
  CHECK(kernels("90.000ms").rows[0].name == "triton_poi_fused_0");
  CHECK(kernels("90.000ms").whole == 90e6);
  // PyTorch before 2.5 added the ranges up with the kernels.
  CHECK(kernels("325.000ms").whole == 90e6);
}

TEST_CASE("a table of operators that is cut after a few rows holds a part of the GPU's time") {
  const Trace trace = ImportedText(
      TorchTable({{"aten::addmm", "20.000ms", "28.500ms", "120.000ms", "530"},
                  {"aten::relu", "20.000ms", "28.500ms", "30.000ms", "530"},
                  {"sm80_xmma_gemm_f16f16_f16f32", "0.000us", "0.000us", "120.000ms", "530"}},
                 "1.200s"));
  const ProfileTable& kernels = NeededTable(trace, ProfileOf::kKernels);
  REQUIRE(kernels.rows.size() == 2);
  CHECK(kernels.rows[0].name == "aten::addmm");
  CHECK(kernels.whole == 1.2e9);
  CHECK(Said(trace, "stand for what they launched") == 1);
  CHECK(Refused(TorchTable({{"aten::add", "1.000ms", "1.000ms", "0.000us", "3"}}, "0.000us"))
            .find("no GPU work") != std::string::npos);
}
