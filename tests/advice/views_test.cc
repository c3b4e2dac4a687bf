// What charts show that is computed of facts.
#include "engine/advice/views.h"

#include <catch2/catch.hpp>

namespace advise {
namespace {

Row Operator(const char* name, double intensity, double achieved, double share, double balance) {
  return {{"op", std::string(name)},      {"shape", std::string("[64, 64] x [64, 64]")},
          {"dtype", std::string("bf16")}, {"time", 2000.0},
          {"intensity", intensity},       {"achieved", achieved},
          {"achieved_share", share},      {"balance", balance}};
}

Report WithShapes(Rows rows) {
  Report report;
  NamedFact fact;
  fact.info.name = "roofline.shapes.rows";
  fact.fact.value = std::move(rows);
  report.facts.push_back(std::move(fact));
  return report;
}

TEST_CASE("operators of known shapes lie under the roofs of the GPU, as an estimate") {
  const Roofline roofline = RooflineOfShapes(WithShapes(
      {Operator("aten::mm", 200, 150e12, 0.5, 150), Operator("aten::bmm", 20, 30e12, 0.1, 150),
       Operator("aten::mul", 0.1, 0.1e12, 0.005, 10), Operator("aten::copy_", 0, 0, -1, -1)}));
  CHECK(roofline.estimated);
  REQUIRE(roofline.points.size() == 3);
  CHECK(roofline.points[0].kernel == "aten::mm [64, 64] x [64, 64] bf16");
  CHECK(roofline.points[0].flop_per_byte == 200);
  CHECK(roofline.points[0].flops == 150e12);
  CHECK(roofline.points[0].time_ns == 2000);
  CHECK(roofline.without_place == 1);
  REQUIRE(roofline.roofs.size() == 2);  // without and with tensor cores
  CHECK(roofline.roofs[0].peak_flops == Approx(20e12));
  CHECK(roofline.roofs[1].peak_flops == Approx(300e12));
  CHECK(roofline.roofs[1].bytes_per_s == Approx(2e12));
}

TEST_CASE("without shapes, or on a GPU that nobody named, there is no roofline") {
  CHECK(RooflineOfShapes({}).points.empty());
  CHECK(RooflineOfShapes(WithShapes({Operator("aten::mm", 200, 150e12, -1, -1)})).points.empty());
}

}  // namespace
}  // namespace advise
