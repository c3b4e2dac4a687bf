// Products of real traces with recorded sizes, against rates worked out by hand: sizes from the
// file, kernel time summed over its events, peaks of the data sheets. Skipped where the traces are
// absent.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/app/find_capture.h"
#include "tests/app/json.h"
#include "tests/app/program.h"

namespace advise {
namespace {

struct Product {
  std::string file;
  std::string op;
  std::string shape;
  double count;
  double time_ns;
  double flops;           // a call
  double achieved_share;  // of the peak
  std::string pipe;
  std::string bound;
};

TEST_CASE("real PyTorch traces: what products of recorded sizes reach is what a hand count gives") {
  const std::vector<Product> products = {
      // H100 SXM, bf16: 48 calls of 2 * 8944 * 1024 * 2816 in 4015.5 us are 616.6 of 989.4 TFLOP/s.
      {"AMD-AGI__TraceLens/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", "aten::mm",
       "[8944, 1024] x [1024, 2816]", 48, 4015501, 51581550592, 0.62320, "tensor", "compute"},
      // A100, TF32 by the kernels' names: 10.9 of 156 TFLOP/s.
      {"facebookresearch__HolisticTraceAnalysis/control.json.gz", "aten::addmm",
       "[1024, 1705] x [1705, 512]", 6, 986000, 1787822080, 0.06974, "tensor", "neither"},
      // A100, plain FP32: 15.8 of 19.5 TFLOP/s.
      {"CodingPlatelets__SwitchTransformers/trace.json", "aten::addmm",
       "[1024, 1024] x [1024, 1280]", 10, 1696000, 2684354560, 0.81167, "plain", "compute"},
  };
  const Folder folder;
  for (const Product& product : products) {
    const std::string path = FindCapture("kineto", product.file);
    if (path.empty()) continue;
    INFO(product.file);
    const Ran ran = RunAdvise(folder, "facts --window all --tables --format json '" + path + "'");
    REQUIRE(ran.status == 0);
    bool found = false;
    const Json report = ParseJson(ran.out);
    for (const Json& fact : report["facts"]) {
      if (fact["name"] != "roofline.shapes.rows") continue;
      for (const Json& row : fact["rows"]) {
        if (row["op"] != product.op || row["shape"] != product.shape) continue;
        found = true;
        CHECK(row["count"] == product.count);
        CHECK(row["time"] == product.time_ns);
        CHECK(row["flops"] == product.flops);
        CHECK(row["achieved_share"].get<double>() == Approx(product.achieved_share).epsilon(1e-4));
        CHECK(row["pipe"] == product.pipe);
        CHECK(row["bound"] == product.bound);
      }
    }
    CHECK(found);
  }
}

}  // namespace
}  // namespace advise
