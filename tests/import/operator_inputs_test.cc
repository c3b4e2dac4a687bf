// Sizes of operators' tensors: what is kept of which operators, from both formats.
#include <catch2/catch.hpp>

#include "engine/base/units.h"
#include "engine/import/importer.h"
#include "engine/import/operator_sizes.h"
#include "tests/import/kineto_text.h"
#include "tests/import/nsys_builder.h"

namespace advise {
namespace {

using Sizes = std::vector<std::int64_t>;

std::string Operator(const std::string& name, const std::string& start, const std::string& length,
                     const std::string& args) {
  return Event("cpu_op", name, 17, 17, start, length, args);
}

TEST_CASE("operators that may launch work are kept, those that make views are not") {
  for (const char* name :
       {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::_scaled_mm", "aten::mv",
        "aten::cudnn_convolution", "aten::convolution_backward", "aten::_flash_attention_forward",
        "aten::mm, op_id = 12, sizes = [[4, 1024], [1024, 2048]]", "aten::add", "aten::sum",
        "my::mm", "FlashAttnFunc", "_LayerNormLinear", "LigerSiLUMulFunction",
        "triton_poi_fused_add_0", "aten::add, seq = 1, op_id = 2, sizes = [[2]]"}) {
    CHECK(KeepsInputs(name));
  }
  for (const char* name :
       {"aten::view", "aten::transpose", "aten::empty", "mm", "", "__", "detach", "AddmmBackward0",
        "CompiledFunction", "DistributedDataParallel.forward", "Torch-Compiled Region",
        "CompiledFunctionBackward", "autograd::engine::evaluate_function: MmBackward0",
        "aten::t, seq = 1, op_id = 2, sizes = [[2, 3]]"}) {
    CHECK_FALSE(KeepsInputs(name));
  }
}

TEST_CASE("sizes stand in a range's name between the operator's number and those of its inputs") {
  CHECK(SizesInName("aten::mm, op_id = 7, sizes = [[4, 8], [8, 2]], input_op_ids = [(1,0)]") ==
        "[[4, 8], [8, 2]]");
  CHECK(SizesInName("aten::mm, seq = 3, op_id = 7, sizes = [[4, 8], [8, 2]]") ==
        "[[4, 8], [8, 2]]");
  CHECK(SizesInName("aten::mm, op_id = 7").empty());
  CHECK(SizesInName("aten::mm, sizes = [[4, 8]").empty());  // cut off by the profiler
}

TEST_CASE("a list of inputs has one entry an argument, and is kept once") {
  InputLists lists;
  const std::uint32_t first =
      lists.Intern(R"([[128], [65536, 17], [17, 128], [], []])",
                   R"(["float", "c10::BFloat16", "Half", "Scalar", ""])",
                   R"([[1], [17, 1], [1, 17], [], []])", R"(["", "", "", "1", "[1, \"x\"]"])");
  CHECK(first == 0);
  CHECK(lists.Intern("[[2, 3]]") == 1);
  CHECK(lists.Intern("[[2, 3]]") == 1);
  CHECK(lists.Intern("[[], []]") == kNone);
  CHECK(lists.Intern("") == kNone);
  CHECK(lists.Intern("[[2, x]]") == kNone);
  CHECK(lists.Intern("[[2, 3]") == kNone);
  CHECK(lists.Intern("[[[2, 3], [4]], [7]]") == 2);  // a list of tensors, then one
  const std::vector<OperatorInputs> all = lists.Take();
  REQUIRE(all.size() == 3);
  REQUIRE(all[0].tensors.size() == 5);
  CHECK(all[0].tensors[1].sizes == Sizes{65536, 17});
  CHECK(all[0].tensors[2].strides == Sizes{1, 17});
  CHECK(all[0].tensors[0].type == ElementType::kFloat32);
  CHECK(all[0].tensors[1].type == ElementType::kBFloat16);
  CHECK(all[0].tensors[2].type == ElementType::kFloat16);
  CHECK(all[0].tensors[3].sizes.empty());
  CHECK(all[0].values.size() == 5);
  CHECK(all[0].values[3] == "1");
  REQUIRE(all[2].tensors.size() == 2);
  CHECK(all[2].tensors[0].sizes.empty());
  CHECK(all[2].tensors[0].list_elements == 2 * 3 + 4);
  CHECK(all[2].tensors[0].list_count == 2);
  CHECK(all[2].tensors[1].sizes == Sizes{7});
}

TEST_CASE("a Kineto trace's sizes stay with their operators when these are sorted") {
  const std::string product =
      R"("External id": 3, "Input Dims": [[4, 8], [8, 2]], "Input type": ["float", "float"])";
  const Trace trace = Imported(TraceText(
      {Operator("aten::add", "50", "5", R"("Input Dims": [[9, 9]], "Input type": ["float"])"),
       Operator("aten::mm", "30", "5", product), Operator("aten::sum", "40", "5", ""),
       Operator(
           "aten::mm", "10", "5",
           R"("Input dims": [[1, 8], [8, 2]], "Sequence number": 11, "Input type": ["double", "double"])"),
       Operator("aten::mm", "60", "5", product), Operator("aten::mm", "70", "5", ""),
       Operator("aten::mm", "80", "5", R"("Input Dims": null, "Sequence number": 12)")}));
  CHECK(trace.operators.start ==
        std::vector<Nanos>{10'000, 30'000, 40'000, 50'000, 60'000, 70'000, 80'000});
  CHECK(trace.operators.inputs == std::vector<std::uint32_t>{2, 1, kNone, 0, 1, kNone, kNone});
  CHECK(trace.operators.payload[0] == 11);  // what follows the lists is read
  CHECK(trace.operators.payload[6] == 12);
  REQUIRE(trace.operator_inputs.size() == 3);
  CHECK(trace.operator_inputs[1].tensors[1].sizes == Sizes{8, 2});
  CHECK(trace.operator_inputs[2].tensors[0].sizes == Sizes{1, 8});
  CHECK(trace.operator_inputs[2].tensors[0].type == ElementType::kFloat64);
}

TEST_CASE("a trace without sizes has no column of them") {
  const Trace trace =
      Imported(TraceText({Operator("aten::mm", "10", "5", ""),
                          Operator("aten::view", "20", "5", R"("Input Dims": [[9]])")}));
  CHECK(trace.operators.size() == 2);
  CHECK(trace.operators.inputs.empty());
  CHECK(trace.operator_inputs.empty());
}

TEST_CASE("ranges of emit_nvtx(record_shapes=True) keep their sizes and lose them from the name") {
  const testing::TempDir dir;
  testing::NsysBuilder builder(dir.File("sizes.sqlite"), testing::NsysBuilder::Schema::k3_25);
  const std::string thread = std::to_string(testing::GlobalTid(100, 100));
  const auto range = [&](const std::string& fields) {
    builder.Sql(
        "INSERT INTO NVTX_EVENTS (start, \"end\", eventType, text, textId, globalTid, "
        "domainId) VALUES (" +
        fields + ", " + thread + ", 0)");
  };
  builder.Text(70, "aten::mm, op_id = 4, sizes = [[4, 8], [8, 2]], input_op_ids = [(1,0)]");
  range("50, 60, 59, 'aten::mm, op_id = 5, sizes = [[4, 8], [8, 2]]', NULL");
  range("10, 20, 59, 'aten::add, op_id = 1, sizes = [[4, 8]]', NULL");
  range("30, 40, 59, NULL, 70");
  range("70, 80, 59, 'aten::mm, op_id = 6', NULL");
  const Trace trace = testing::Read(builder);
  REQUIRE(trace.operators.size() == 4);
  CHECK(trace.strings[trace.operators.name[1]] == "aten::mm");
  CHECK(trace.operators.name[1] == trace.operators.name[2]);
  REQUIRE(trace.operators.inputs.size() == 4);
  CHECK(trace.operators.inputs[0] != kNone);
  CHECK(trace.operators.inputs[1] == trace.operators.inputs[2]);
  CHECK(trace.operators.inputs[3] == kNone);
  REQUIRE(trace.operator_inputs.size() == 2);
  const OperatorInputs& product = trace.operator_inputs[trace.operators.inputs[1]];
  REQUIRE(product.tensors.size() == 2);
  CHECK(product.tensors[0].sizes == Sizes{4, 8});
  CHECK(product.tensors[0].type == ElementType::kUnknown);
}

}  // namespace
}  // namespace advise
