#include "engine/base/text.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <optional>

#include "engine/base/error.h"
#include "engine/base/template.h"
#include "tests/support/dice.h"

namespace advise {
namespace {

TEST_CASE("one thing is singular") {
  const auto fill = [](const std::string& text, const std::string& number) {
    return FillTemplate(text, [&](std::string_view, std::string_view) {
      return std::optional<std::string>(number);
    });
  };
  CHECK(fill("on {n:count} streams", "1") == "on 1 stream");
  CHECK(fill("on {n:count} streams", "2") == "on 2 streams");
  CHECK(fill("{n:count} small copies, {n:num} GPUs", "1") == "1 small copy, 1 GPU");
  CHECK(fill("{n:count} element-wise kernels", "1") == "1 element-wise kernel");
  CHECK(fill("it waits {n:num} times per step", "1") == "it waits once per step");
  CHECK(fill("it waits {n:num} times per step", "2") == "it waits twice per step");
  CHECK(fill("it waits {n:num} times per step", "0.182") == "it waits about once in 5 steps");
  CHECK(fill("it waits {n:num} times per pass", "0.476") == "it waits about once in 2 passes");
  CHECK(fill("it waits {n:num} times per step", "0.8") == "it waits 0.8 times per step");
  CHECK(fill("{n:num} times as long", "0.5") == "0.5 times as long");
  CHECK(fill("{n:count} copies {n:num} times", "1") == "1 copy once");
  CHECK(fill("{n:num} times as long", "2") == "twice as long");
  CHECK(fill("{n:num} times as long", "12") == "12 times as long");
  CHECK(fill("{n:count} timers", "2") == "2 timers");
  CHECK(fill("{n:num} times as long", "1") == "1 times as long");
  CHECK(fill("{n:pct} of steps", "1") == "1 of steps");
}

TEST_CASE("names of ranges are told without what XLA packs into them") {
  CHECK(RangeInWords("Thunk:#name=jit(day)/pure_callback,hlo_op=pure_callback.1,id=25#") ==
        "jit(day)/pure_callback");
  CHECK(RangeInWords("Thunk:#hlo_op=command_buffer_3#") == "command_buffer_3");
  CHECK(RangeInWords("XlaModule:#prefix=args[0],hlo_module=jit_stage,program_id=0#") ==
        "jit_stage");
  CHECK(RangeInWords("XlaLauncher:#global=0,local=0#") == "XlaLauncher:#global=0,local=0#");
  CHECK(RangeInWords("ProfilerStep#3") == "ProfilerStep#3");
}

TEST_CASE("times are shown with three digits in the unit that fits") {
  CHECK(FormatQuantity(0, "ns") == "0 s");
  CHECK(FormatQuantity(7, "ns") == "7.00 ns");
  CHECK(FormatQuantity(1500, "ns") == "1.50 µs");
  CHECK(FormatQuantity(428e6, "ns") == "428 ms");
  CHECK(FormatQuantity(0.97e9, "ns") == "970 ms");
  CHECK(FormatQuantity(12.34e9, "ns") == "12.3 s");
  CHECK(FormatQuantity(0.5, "s") == "500 ms");
}

TEST_CASE("bytes and rates count in thousands") {
  CHECK(FormatQuantity(25.5e9, "bytes") == "25.5 GB");
  CHECK(FormatQuantity(4, "bytes") == "4 B");
  CHECK(FormatQuantity(27.7e9, "bytes_per_s") == "27.7 GB/s");
  CHECK(FormatQuantity(19.5e12, "flop_per_s") == "19.5 TFLOP/s");
  CHECK(FormatQuantity(1.41e9, "hz") == "1.41 GHz");
}

TEST_CASE("a value just below the next unit does not print four digits") {
  CHECK(FormatQuantity(999.9e3, "ns") == "1.00 ms");
  CHECK(FormatQuantity(999.6e6, "bytes") == "1.00 GB");
  CHECK(FormatQuantity(99.96e3, "ns") == "100 µs");
}

TEST_CASE("shares are shown in percent, small ones with two digits") {
  CHECK(FormatQuantity(0.93, "share") == "93 %");
  CHECK(FormatQuantity(1, "share") == "100 %");
  CHECK(FormatQuantity(0, "share") == "0 %");
  CHECK(FormatQuantity(0.0042, "share") == "0.42 %");
  CHECK(FormatQuantity(0.0000375, "share") == "under 0.1 %");
}

TEST_CASE("counts are whole where they are whole") {
  CHECK(FormatQuantity(223, "count") == "223");
  CHECK(FormatQuantity(2.5, "count") == "2.5");
  CHECK(FormatQuantity(3, "watts") == "3 watts");
  CHECK(FormatQuantity(999, "count") == "999");
  CHECK(FormatQuantity(1000, "count") == "1,000");
  CHECK(FormatQuantity(-1234567, "count") == "-1,234,567");
  CHECK(FormatQuantity(23712.4, "num") == "23,700");
}

TEST_CASE("long times are minutes and hours") {
  CHECK(FormatQuantity(599, "s") == "599 s");
  CHECK(FormatQuantity(600, "s") == "10.0 min");
  CHECK(FormatQuantity(3 * 3600e9, "ns") == "3.00 h");
  CHECK(FormatQuantity(-7 * 86400.0, "s") == "-168 h");
}

TEST_CASE("a kernel's name loses what a sentence cannot bear") {
  CHECK(KernelInWords("void f<int>(float*, int)") == "f<int>");
  CHECK(KernelInWords("(anonymous namespace)::f(int)") == "(anonymous namespace)::f");
  CHECK(KernelInWords("foo") == "foo");
  CHECK(KernelInWords("bodyForce(Body*, float, int) [clone .kd]") == "bodyForce");
  CHECK(KernelInWords("[CUDA memset]") == "[CUDA memset]");
  CHECK(KernelInWords("void f<float, 1>(T2, cudnnTen...") == "f<float, 1>");
  CHECK(KernelInWords("(anonymous namespace)::f(int, co…") == "(anonymous namespace)::f");
  CHECK(KernelInWords("void f<(anonymous n…") == "f<(anonymous n…");
  CHECK(KernelInWords("(a CUDA graph as a whole)") == "(a CUDA graph as a whole)");
  const std::string arguments = "float, 512, 6, 5, 3, 3, 3, false, std::pair<int, unsigned long>";
  CHECK(KernelInWords("void lib::g<" + arguments + ">::h<" + arguments + ">(int)") ==
        "lib::g<…>::h<…>");
  CHECK(KernelInWords("copy[v1,cw51cXTLSUwv1sDUaKthrqNgqqmjgOR3W3CwAkMXLaJtQYkOIgxJU0gCqOkE]"
                      "(Array<long long, 1, C>)") == "copy");
  CHECK(KernelInWords("frames::blur[abi:v1,cw51cXTLSUwv1sDU](Array<float, 2, C>)") ==
        "frames::blur");
}

TEST_CASE("negative quantities keep their sign and their unit") {
  CHECK(FormatQuantity(-1500, "ns") == "-1.50 µs");
  CHECK(FormatQuantity(-0.25, "share") == "-25 %");
}

TEST_CASE("what is not a number is unknown") {
  CHECK(FormatQuantity(std::nan(""), "ns") == "unknown");
  CHECK(FormatQuantity(std::numeric_limits<double>::infinity(), "bytes") == "unknown");
}

TEST_CASE("no time prints more than four digits or an exponent") {
  Dice dice(3);
  for (int i = 0; i < 5000; ++i) {
    const double value = std::pow(10.0, static_cast<double>(dice.Roll(12000)) / 1000.0);
    const std::string shown = FormatQuantity(value, "ns");
    INFO(value << " is shown as " << shown);
    CHECK(shown.find('e') == std::string::npos);
    CHECK(shown.find(' ') <= 4);
  }
}

TEST_CASE("a template's places are filled by name and kind") {
  const auto value = [](std::string_view name,
                        std::string_view kind) -> std::optional<std::string> {
    if (name == "share" && kind == "pct") return "93 %";
    return std::nullopt;
  };
  CHECK(FillTemplate("{share:pct} of the time", value) == "93 % of the time");
  CHECK(FillTemplate("no places", value) == "no places");
  CHECK(FillTemplate("", value).empty());
}

TEST_CASE("an unknown place is kept as it stands") {
  const auto none = [](std::string_view, std::string_view) { return std::optional<std::string>(); };
  CHECK(FillTemplate("{what:pct} of {x}", none) == "{what:pct} of {x}");
  CHECK(FillTemplate("an open {brace", none) == "an open {brace");
  CHECK(FillTemplate("a closing } brace", none) == "a closing } brace");
}

TEST_CASE("a known value that is empty leaves nothing") {
  const auto empty = [](std::string_view, std::string_view) {
    return std::optional<std::string>("");
  };
  CHECK(FillTemplate("<{a:text}>", empty) == "<>");
}

TEST_CASE("a value that looks like a place is not filled again") {
  const auto value = [](std::string_view, std::string_view) {
    return std::optional<std::string>("{b:num}");
  };
  CHECK(FillTemplate("<{a:num}>", value) == "<{b:num}>");
}

TEST_CASE("the places of a template are listed in order") {
  const auto places = TemplatePlaces("{count:count} copies of {bytes:bytes}, {count:count} times");
  REQUIRE(places.size() == 3);
  CHECK(places[0] == std::pair<std::string, std::string>("count", "count"));
  CHECK(places[1] == std::pair<std::string, std::string>("bytes", "bytes"));
  CHECK(places[2].first == "count");
  CHECK(TemplatePlaces("none").empty());
}

TEST_CASE("a misspelt word brings up the nearest candidate") {
  const std::vector<std::string> known = {"min_share", "min_count", "max_bytes"};
  CHECK(DidYouMean("min_shrae", known) == "min_share");
  CHECK(DidYouMean("min_cout", known) == "min_count");
  CHECK(DidYouMean("min_share", known) == "min_share");
  CHECK(DidYouMean("hgih", {"low", "high"}) == "high");  // two letters swapped are one slip
  CHECK(DidYouMean("Max_Bytes", known) == "max_bytes");
}

TEST_CASE("a part of a name brings up the shortest name that has it") {
  const std::vector<std::string> known = {"comm/pageable-copies", "transfer/pageable", "sync/spin"};
  CHECK(DidYouMean("pageable", known) == "transfer/pageable");
  CHECK(DidYouMean("spi", known).empty());  // too short to mean one thing
}

TEST_CASE("nothing is suggested when nothing is near") {
  CHECK(DidYouMean("bandwidth", {"min_share", "min_count"}).empty());
  CHECK(DidYouMean("x", {}).empty());
  CHECK(DidYouMean("ab", {"xyzzy"}).empty());
}

TEST_CASE("valid text passes unchanged, in every length of character") {
  const std::string text = "gemm \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x9A\x80";
  CHECK(SafeText(text) == text);
  CHECK(SafeText("").empty());
}

TEST_CASE("control characters become spaces") {
  CHECK(SafeText("a\nb\tc\x1b[31m") == "a b c [31m");
  CHECK(SafeText(std::string("a\0b", 3)) == "a b");
  CHECK(SafeText("a\x7f") == "a ");
  CHECK(SafeText("a\xC2\x85z") == "a z");      // a control character of two bytes
  CHECK(SafeText("a\xE2\x80\xAEz") == "a z");  // would show what follows from right to left
  CHECK(SafeText("a\xE2\x80\xA8z\xE2\x81\xA6") == "a z ");
}

TEST_CASE("each wrong byte becomes one replacement character") {
  const std::string bad = "\xEF\xBF\xBD";
  CHECK(SafeText("\xFFz") == bad + "z");
  CHECK(SafeText("a\x80") == "a" + bad);
  CHECK(SafeText("\xC3") == bad);            // cut short
  CHECK(SafeText("\xC0\xAF") == bad + bad);  // longer than it need be
  CHECK(SafeText("\xE2\x82z") == bad + bad + "z");
  CHECK(SafeText("\xED\xA0\x80") == bad + bad + bad);  // half of a surrogate pair
  CHECK(SafeText("\xF4\x90\x80\x80").find('\x90') == std::string::npos);  // beyond Unicode
}

TEST_CASE("safe text stays as it is when made safe again") {
  Dice dice(11);
  for (int i = 0; i < 3000; ++i) {
    std::string raw(static_cast<std::size_t>(dice.Roll(12)), ' ');
    for (char& c : raw) c = static_cast<char>(dice.Roll(256));
    const std::string once = SafeText(raw);
    REQUIRE(SafeText(once) == once);
    for (const char c : once) REQUIRE((static_cast<unsigned char>(c) >= 0x20 && c != 0x7F));
  }
}

TEST_CASE("an error is one line that says where, what and what to try") {
  CHECK(Error{"no kernels were recorded", "run.sqlite", "capture with --trace=cuda"}.Line() ==
        "run.sqlite: no kernels were recorded (capture with --trace=cuda)");
  CHECK(Error{"it is empty", "", ""}.Line() == "it is empty");
  const Result<int> failed = Fail("it is empty", "a.json");
  REQUIRE_FALSE(failed);
  CHECK(failed.error().Line() == "a.json: it is empty");
}

TEST_CASE("a kernel is found by the name of its function") {
  CHECK(KernelFunction("norm_gate") == "norm_gate");
  CHECK(KernelFunction("void lib::g<float, 2>(float*, int)") == "g");
  CHECK(KernelFunction("(anonymous namespace)::f(int)") == "f");
  CHECK(KernelFunction(UnnamedKernel(1, 1'024)).empty());
  // Numba's, whose tags hold a hash.
  CHECK(KernelFunction("frames::blur[abi:v1,cw51cXTLSUwv1sDU](Array<float, (int)2, C>)") == "blur");
}

TEST_CASE("a kernel without a name is called by its grid") {
  CHECK(UnnamedKernel(1, 1'024) == "unnamed, 1 block of 1,024 threads");
  CHECK(IsUnnamedKernel(KernelInWords(UnnamedKernel(128, 1))));
  CHECK_FALSE(IsUnnamedKernel("unnamed_kernel"));
}

TEST_CASE("code of a fix names the kernel, and keeps braces of its own") {
  const auto name = [](std::string_view place) -> std::optional<std::string> {
    return place == "worst" ? std::optional<std::string>("void lib::gemm<float>(int)")
                            : std::nullopt;
  };
  CHECK(FillCode("ncu --kernel-name 'regex:{worst:function}'", name) ==
        "ncu --kernel-name 'regex:gemm'");
  CHECK(FillCode("ncu --kernel-name {other:function}", name) == "ncu --kernel-name NAME");
  CHECK(FillCode("ncu --kernel-name {worst:function}") == "ncu --kernel-name NAME");
  const auto nameless = [](std::string_view) { return std::optional<std::string>("(?)"); };
  CHECK(FillCode("ncu --kernel-name {worst:function}", nameless) == "ncu --kernel-name NAME");
  const std::string python = "print(f\"{loss:.3f}\", {\"a\": 1})";
  CHECK(FillCode(python, name) == python);
  CHECK(CodePlaces(python + "{worst:function}").size() == 1);
}

}  // namespace
}  // namespace advise
