// The work of convolutions whose arguments stand where PyTorch's schemas have them.
#include "tests/metrics/kernels/schema_call.h"

namespace advise {
namespace {

// Strides, padding and dilation that differ from each other and between dimensions: any of them in
// another's place gives another image.
//   (28 + 2 * 1 - 1 * 2 - 1) / 2 + 1 = 14 rows, (40 + 2 * 3 - 2 * 2 - 1) / 3 + 1 = 14 columns
const Sizes kImage = {8, 32, 28, 40};
const Sizes kWeight = {64, 32, 3, 3};
const Sizes kSmall = {8, 64, 14, 14};
constexpr double kFlops = 2.0 * 8 * 64 * 14 * 14 * 32 * 9;
constexpr double kImageBytes = 2.0 * 8 * 32 * 28 * 40;
constexpr double kWeightBytes = 2.0 * 64 * 32 * 9;
constexpr double kSmallBytes = 2.0 * 8 * 64 * 14 * 14;

std::map<std::string, Argument> Options() {
  return {{"stride", {{}, "[2, 3]"}},     {"padding", {{}, "[1, 3]"}},
          {"dilation", {{}, "[1, 2]"}},   {"output_padding", {{}, "[0, 1]"}},
          {"transposed", {{}, "False"}},  {"groups", {{}, "1"}},
          {"kernel_size", {{}, "[3, 3]"}}};
}

TEST_CASE("convolutions take their options from where the schema has them") {
  const auto [name, schema] = GENERATE(table<const char*, const char*>({
      {"convolution", "input weight bias stride padding dilation transposed output_padding groups"},
      {"_convolution",
       "input weight bias stride padding dilation transposed output_padding groups benchmark "
       "deterministic cudnn_enabled allow_tf32"},
      {"convolution_overrideable",
       "input weight bias stride padding dilation transposed output_padding groups"},
      {"cudnn_convolution",
       "input weight padding stride dilation groups benchmark deterministic allow_tf32"},
      {"cudnn_convolution_relu", "input weight bias stride padding dilation groups"},
      {"cudnn_convolution_add_relu", "input weight z alpha bias stride padding dilation groups"},
      {"miopen_convolution",
       "input weight bias padding stride dilation groups benchmark deterministic"},
      {"miopen_convolution_relu", "input weight bias stride padding dilation groups"},
      {"miopen_depthwise_convolution",
       "input weight bias padding stride dilation groups benchmark deterministic"},
      {"_conv_depthwise2d", "input weight kernel_size bias stride padding dilation"},
      {"thnn_conv_depthwise2d_forward", "input weight kernel_size bias stride padding dilation"},
      {"slow_conv_dilated2d", "input weight kernel_size bias stride padding dilation"},
  }));
  INFO(name);
  std::map<std::string, Argument> arguments = Options();
  arguments["input"].sizes = kImage;
  arguments["weight"].sizes = kWeight;
  const auto work = WorkOf(std::string("aten::") + name, CallOf(schema, arguments));
  REQUIRE(work);
  CHECK(work->kind == WorkKind::kConvolution);
  CHECK(work->flops == kFlops);
  CHECK(work->bytes == kImageBytes + kWeightBytes + kSmallBytes);
  CHECK(work->depth == 32 * 9);
  CHECK(work->shape == "[8, 32, 28, 40] * [64, 32, 3, 3] to [14, 14]");
}

TEST_CASE("convolutions of sound: one dimension") {
  // (100 + 2 * 1 - 2 * 2 - 1) / 2 + 1 = 49.
  const auto work =
      WorkOf("aten::convolution",
             CallOf("input weight bias stride padding dilation transposed output_padding groups",
                    {{"input", {{8, 32, 100}}},
                     {"weight", {{64, 32, 3}}},
                     {"stride", {{}, "[2]"}},
                     {"padding", {{}, "[1]"}},
                     {"dilation", {{}, "[2]"}},
                     {"transposed", {{}, "False"}}}));
  REQUIRE(work);
  CHECK(work->flops == 2.0 * 8 * 64 * 49 * 32 * 3);
  CHECK_FALSE(WorkOf("aten::convolution",
                     CallOf("input weight", {{"input", {{8, 32}}}, {"weight", {{64, 32}}}})));
}

TEST_CASE("convolutions without a dilation, and of three dimensions") {
  std::map<std::string, Argument> arguments = Options();
  arguments["input"].sizes = kImage;
  arguments["weight"].sizes = kWeight;
  // (40 + 6 - 3) / 3 + 1 = 15 columns.
  const auto flat = WorkOf("aten::_slow_conv2d_forward",
                           CallOf("input weight kernel_size bias stride padding", arguments));
  REQUIRE(flat);
  CHECK(flat->flops == 2.0 * 8 * 64 * 14 * 15 * 32 * 9);
  arguments["input"].sizes = {2, 4, 10, 12, 14};
  arguments["weight"].sizes = {8, 4, 3, 3, 3};
  arguments["stride"].value = "[1, 2, 3]";
  arguments["padding"].value = "[0, 1, 2]";
  arguments["dilation"].value = "[2, 1, 1]";
  // (10 - 4 - 1) / 1 + 1 = 6, (12 + 2 - 3) / 2 + 1 = 6, (14 + 4 - 3) / 3 + 1 = 6.
  for (const char* name : {"aten::conv_depthwise3d", "aten::slow_conv_dilated3d"}) {
    const auto work =
        WorkOf(name, CallOf("input weight kernel_size bias stride padding dilation", arguments));
    REQUIRE(work);
    CHECK(work->flops == 2.0 * 2 * 8 * 6 * 6 * 6 * 4 * 27);
  }
  // Without the dilation 8 x 6 x 6.
  const auto slow = WorkOf("aten::slow_conv3d_forward",
                           CallOf("input weight kernel_size bias stride padding", arguments));
  REQUIRE(slow);
  CHECK(slow->flops == 2.0 * 2 * 8 * 8 * 6 * 6 * 4 * 27);
}

TEST_CASE("the gradients of a convolution are those that the mask at its place asks for") {
  const auto [name, schema] = GENERATE(table<const char*, const char*>({
      {"convolution_backward",
       "grad_output input weight bias_sizes stride padding dilation transposed output_padding "
       "groups output_mask"},
      {"convolution_backward_overrideable",
       "grad_output input weight stride padding dilation transposed output_padding groups "
       "output_mask"},
      {"cudnn_convolution_backward",
       "input grad_output weight padding stride dilation groups benchmark deterministic "
       "allow_tf32 output_mask"},
      {"miopen_convolution_backward",
       "input grad_output weight padding stride dilation groups benchmark deterministic "
       "output_mask"},
  }));
  INFO(name);
  const std::string schema_text = schema;
  const bool old = schema_text.starts_with("input");
  const std::string operation = std::string("aten::") + name;
  const auto work = [&](bool of_input, bool of_weight, bool of_bias) {
    std::map<std::string, Argument> arguments = Options();
    arguments["input"].sizes = kImage;
    arguments["weight"].sizes = kWeight;
    arguments["grad_output"].sizes = kSmall;
    const auto text = [](bool flag) { return flag ? "True" : "False"; };
    arguments["output_mask"].value = std::string("[") + text(of_input) + ", " + text(of_weight) +
                                     (old ? "]" : std::string(", ") + text(of_bias) + "]");
    return WorkOf(operation, CallOf(schema_text, arguments));
  };
  const auto both = work(true, true, true);
  REQUIRE(both);
  CHECK(both->flops == 2 * kFlops);
  // The gradient of the result, weight and input in; both gradients out.
  CHECK(both->bytes == kSmallBytes + 2 * kImageBytes + 2 * kWeightBytes);
  const auto input = work(true, false, false);
  REQUIRE(input);
  CHECK(input->flops == kFlops);
  CHECK(input->bytes == kSmallBytes + kWeightBytes + kImageBytes);
  const auto weight = work(false, true, false);
  REQUIRE(weight);
  CHECK(weight->flops == kFlops);
  CHECK(weight->bytes == kSmallBytes + kImageBytes + kWeightBytes);
  CHECK_FALSE(work(false, false, true));
}

TEST_CASE("gradients whose sizes fit no convolution with these options are not told") {
  std::map<std::string, Argument> arguments = Options();
  arguments["input"].sizes = kImage;
  arguments["weight"].sizes = kWeight;
  arguments["output_mask"].value = "[True, True, False]";
  const std::string schema =
      "grad_output input weight bias_sizes stride padding dilation transposed output_padding "
      "groups output_mask";
  for (const Sizes& wrong :
       {Sizes{8, 64, 14, 15}, Sizes{8, 63, 14, 14}, Sizes{7, 64, 14, 14}, Sizes{8, 64, 14}}) {
    arguments["grad_output"].sizes = wrong;
    CHECK_FALSE(WorkOf("aten::convolution_backward", CallOf(schema, arguments)));
  }
}

TEST_CASE("transposed convolutions make the larger image") {
  // (14 - 1) * 2 - 2 * 1 + 1 * 2 + 1 = 27 rows, (14 - 1) * 3 - 2 * 3 + 2 * 2 + 1 = 38 columns:
  // what the output padding adds is left out.
  const auto [name, schema] = GENERATE(table<const char*, const char*>({
      {"convolution", "input weight bias stride padding dilation transposed output_padding groups"},
      {"cudnn_convolution_transpose",
       "input weight padding output_padding stride dilation groups benchmark deterministic "
       "allow_tf32"},
      {"miopen_convolution_transpose",
       "input weight bias padding output_padding stride dilation groups benchmark deterministic"},
  }));
  INFO(name);
  std::map<std::string, Argument> arguments = Options();
  arguments["input"].sizes = {8, 64, 14, 14};
  arguments["weight"].sizes = {64, 16, 3, 3};
  arguments["transposed"].value = "True";
  arguments["groups"].value = "2";
  const auto work = WorkOf(std::string("aten::") + name, CallOf(schema, arguments));
  REQUIRE(work);
  // Each of the 64 channels of a pixel goes to the 16 channels of its group, 9 times.
  CHECK(work->flops == 2.0 * 8 * 64 * 14 * 14 * 16 * 9);
  CHECK(work->bytes == 2.0 * (8 * 64 * 14 * 14 + 64 * 16 * 9 + 8 * 32 * 27 * 38));
  // Where the size of the result was recorded, it counts with its output padding.
  const Sizes result = {8, 32, 28, 39};
  CallHints hints;
  hints.output = &result;
  const auto known = WorkOf(std::string("aten::") + name, CallOf(schema, arguments), hints);
  REQUIRE(known);
  CHECK(known->bytes == 2.0 * (8 * 64 * 14 * 14 + 64 * 16 * 9 + 8 * 32 * 28 * 39));
  arguments["weight"].sizes = {63, 16, 3, 3};  // of another image
  CHECK_FALSE(WorkOf(std::string("aten::") + name, CallOf(schema, arguments)));
}

TEST_CASE("channels of a convolution: few, odd, in groups, one by one") {
  const auto convolution = [](std::int64_t channels, const Sizes& weight) {
    std::map<std::string, Argument> arguments = Options();
    arguments["input"].sizes = {8, channels, 28, 40};
    arguments["weight"].sizes = weight;
    return WorkOf("aten::convolution",
                  CallOf("input weight bias stride padding dilation transposed output_padding "
                         "groups",
                         arguments));
  };
  const auto trait = [&](std::int64_t channels, const Sizes& weight) {
    return convolution(channels, weight)->trait;
  };
  CHECK(trait(32, {64, 32, 3, 3}).empty());
  CHECK(trait(16, {16, 16, 3, 3}).empty());
  CHECK(trait(15, {64, 15, 3, 3}) == "few-channels");
  CHECK(trait(32, {15, 32, 3, 3}) == "few-channels");
  CHECK(trait(36, {64, 36, 3, 3}) == "odd-channels");
  CHECK(trait(32, {60, 32, 3, 3}) == "odd-channels");
  CHECK(trait(64, {64, 32, 3, 3}) == "grouped");
  CHECK(trait(63, {63, 3, 3, 3}) == "grouped");
  CHECK(trait(64, {64, 2, 3, 3}) == "depthwise");
  CHECK(trait(64, {64, 1, 3, 3}) == "depthwise");
  CHECK(trait(1, {64, 1, 3, 3}) == "few-channels");  // an image in gray
  CHECK_FALSE(convolution(33, {64, 32, 3, 3}));
  // 8 images of 14 x 14 are 1568 pixels: 13 tiles of 128, each for 64 results of a group.
  CHECK(convolution(32, {64, 32, 3, 3})->tiles == 13);
  CHECK(convolution(64, {512, 16, 3, 3})->tiles == 4 * 13);
  CHECK(convolution(32, {300, 32, 3, 3})->tiles == 3 * 13);
}

TEST_CASE("an image that is smaller than the window, and a stride of nothing, are no convolution") {
  const auto convolution = [](const Sizes& image, const char* stride) {
    return WorkOf("aten::convolution",
                  CallOf("input weight bias stride padding dilation transposed output_padding "
                         "groups",
                         {{"input", {image}},
                          {"weight", {{16, 16, 3, 3}}},
                          {"stride", {{}, stride}},
                          {"padding", {{}, "[0, 0]"}},
                          {"dilation", {{}, "[1, 1]"}},
                          {"transposed", {{}, "False"}}}));
  };
  REQUIRE(convolution({1, 16, 3, 3}, "[1, 1]"));
  CHECK(convolution({1, 16, 3, 3}, "[1, 1]")->flops == 2.0 * 16 * 16 * 9);
  CHECK(convolution({1, 16, 3, 3}, "[1, 1]")->shape == "[1, 16, 3, 3] * [16, 16, 3, 3] to [1, 1]");
  CHECK_FALSE(convolution({1, 16, 2, 3}, "[1, 1]"));
  CHECK_FALSE(convolution({1, 16, 3, 3}, "[0, 1]"));
  CHECK_FALSE(convolution({1, 16, 3, 3}, "[1, 1, 1]"));
  // Strides that jump over pixels read only those in windows: 3 of each 5.
  CHECK(convolution({1, 16, 13, 3}, "[5, 1]")->bytes ==
        Approx(2.0 * (16 * 9 * 3 + 16 * 16 * 9 + 16 * 3)));
}

}  // namespace
}  // namespace advise
