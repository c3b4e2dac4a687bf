// Traces that another analyzer published its own analysis of: operator, bound and efficiency agree
// within 5 points. That analyzer holds products of bf16 against the 708 TFLOP/s that AMD measured,
// FP32 against 163 TFLOP/s and memory against 5.3 TB/s; it says nothing of fused experts. Skipped
// where the traces are absent.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/find_capture.h"
#include "tests/app/program.h"

namespace advise {
namespace {

using Json = nlohmann::json;

struct Analyzed {
  std::string file;
  std::string op;
  std::string side;   // "" where the peer says nothing
  double peak;        // what its efficiency is of, per second
  double efficiency;  // percent
  double calls;
};

Json RowsOf(const Folder& folder, const std::string& path, const std::string& name) {
  const Ran ran =
      RunAdvise(folder, "facts --window all --tables --gpu MI300X --format json '" + path + "'");
  REQUIRE(ran.status == 0);
  const Json printed = Json::parse(ran.out);
  for (const Json& fact : printed["facts"]) {
    if (fact["name"] == name && fact.contains("rows")) return fact["rows"];
  }
  return Json::array();
}

TEST_CASE("published analyses of single operators on MI300X agree") {
  const std::vector<Analyzed> all = {
      {"conv_01_large_spatial_small_ch", "aten::convolution", "compute", 163.4e12, 2.69, 1},
      {"conv_03_asymmetric_kernel", "aten::convolution", "compute", 163.4e12, 8.83, 1},
      {"conv_05_pointwise_1x1", "aten::convolution", "compute", 163.4e12, 13.45, 1},
      {"elem_01_add_poor_bw", "aten::add", "memory", 5.3e12, 36.11, 10},
      {"gemm_01_compute_few_tiles", "aten::mm", "compute", 708e12, 4.46, 10},
      {"gemm_03_compute_misaligned", "aten::mm", "compute", 708e12, 52.91, 10},
      // The peer averages the efficiencies of ten calls: 40.44. All work over all time is
      // 10 * 4 * 32 * 32768^2 * 128 / 658.46 ms = 267.2 TFLOP/s, 37.7 percent.
      {"sdpa_01_long_seq_low_eff", "aten::_flash_attention_forward", "compute", 708e12, 40.44, 10},
      {"sdpa_03_short_seq_overhead", "aten::_flash_attention_forward", "memory", 5.3e12, 12.18, 10},
      {"moe_01_many_experts_few_tokens", "vllm::rocm_aiter_fused_moe", "", 0, 0, 1},
      {"moe_03_top1_sparse", "vllm::rocm_aiter_fused_moe", "", 0, 0, 1},
      {"moe_05_large_capacity", "vllm::rocm_aiter_fused_moe", "", 0, 0, 1},
  };
  const Folder folder;
  for (const Analyzed& one : all) {
    const std::string path =
        FindCapture("kineto", "AMD-AGI__TraceLens/unit_tests/" + one.file + ".json");
    if (path.empty()) continue;
    INFO(one.file);
    const Json rows = RowsOf(folder, path, "roofline.shapes.rows");
    REQUIRE_FALSE(rows.empty());
    const Json& row = rows[0];
    CHECK(row["op"] == one.op);
    CHECK(row["count"] == one.calls);
    CHECK(row["side"] != "");
    if (one.side.empty()) continue;
    CHECK(row["side"] == one.side);
    const double rate = one.side == "memory"
                            ? row["bytes"].get<double>() * row["count"].get<double>() /
                                  (row["time"].get<double>() * 1e-9)
                            : row["achieved"].get<double>();
    CHECK(100 * rate / one.peak == Approx(one.efficiency).margin(5));
  }
}

TEST_CASE("operations that a trace gives itself are those that sizes give") {
  const std::string path = FindCapture(
      "kineto", "AMD-AGI__TraceLens/comparative/test02_attention_both_unfused__trace1.json");
  if (path.empty()) return;
  const Folder folder;
  bool found = false;
  for (const Json& row : RowsOf(folder, path, "roofline.shapes.rows")) {
    if (row["op"] != "aten::bmm") continue;
    found = true;
    CHECK(row["flops"] == 268435456);
  }
  CHECK(found);
}

TEST_CASE("a GPU of AMD that only the reader names is spoken of in AMD's words") {
  const std::string path =
      FindCapture("kineto", "AMD-AGI__TraceLens/unit_tests/gemm_01_compute_few_tiles.json");
  if (path.empty()) return;
  const Folder folder;
  const std::string text = RunAdvise(folder, "--gpu MI300X '" + path + "'").out;
  CHECK(text.find("1 × AMD Instinct MI300X") != std::string::npos);
  CHECK(text.find("fewer tiles than the GPU has compute") != std::string::npos);
  CHECK(text.find("ncu ") == std::string::npos);
}

}  // namespace
}  // namespace advise
