// What ties GPU work of a Kineto trace to its call and to its GPU, in the words of all writers.
#include <catch2/catch.hpp>

#include "engine/trace/operators_kept.h"
#include "tests/import/kineto_text.h"

namespace advise {
namespace {

std::string ExternalCall(const std::string& name, const std::string& start, int id) {
  return Event("cuda_runtime", name, 17, 17, start, "2", "\"External id\": " + std::to_string(id));
}

std::string ExternalKernel(const std::string& name, const std::string& start, int id,
                           int device = 0) {
  return Event("kernel", name, device, 7, start, "5", "\"External id\": " + std::to_string(id));
}

std::string CallOf(const Trace& trace, std::uint32_t op) {
  const std::uint32_t call = trace.ops.call[op];
  if (call == kNone) return "";
  return trace.strings[trace.calls.name[call]] + " at " + std::to_string(trace.calls.start[call]);
}

TEST_CASE("kernels and calls that share an External id and nothing else belong together") {
  const Trace trace = Imported(
      TraceText({Event("cpu_op", "aten::mm", 17, 17, "0", "20", "\"External id\": 513"),
                 ExternalCall("hipGetDeviceProperties", "1", 24),
                 ExternalCall("hipExtModuleLaunchKernel", "4", 25), ExternalKernel("a", "30", 25),
                 ExternalCall("hipExtModuleLaunchKernel", "8", 26), ExternalKernel("b", "40", 26),
                 ExternalKernel("c", "50", 99)}));
  REQUIRE(trace.ops.size() == 3);
  CHECK(CallOf(trace, 0) == "hipExtModuleLaunchKernel at 4000");
  CHECK(CallOf(trace, 1) == "hipExtModuleLaunchKernel at 8000");
  CHECK(CallOf(trace, 2).empty());
}

TEST_CASE("gaps between the numbers of operators tell a trace that was thinned out") {
  const auto kept = [](int apart) {
    std::vector<std::string> events;
    for (int i = 0; i < 20; ++i)
      events.push_back(Event("cpu_op", "aten::mm", 17, 17, std::to_string(10 * i), "5",
                             "\"External id\": " + std::to_string(1 + i * apart)));
    return OperatorsKept(Imported(TraceText(events)));
  };
  CHECK(kept(1) == 1);
  CHECK(kept(2) == 1);
  CHECK(kept(50) == Catch::Detail::Approx(20.0 / 951));
}

TEST_CASE("where the External id is an operator's, its GPU work goes to its launches in turn") {
  const Trace trace = Imported(TraceText(
      {Event("cpu_op", "aten::add", 17, 17, "0", "20", "\"External id\": 7"),
       ExternalCall("cudaStreamIsCapturing", "1", 7), ExternalCall("cudaMemcpyAsync", "3", 7),
       Event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 7, "10", "2",
             "\"External id\": 7, \"bytes\": 64"),
       ExternalCall("cudaLaunchKernel", "6", 7), ExternalKernel("a", "30", 7),
       ExternalKernel("b", "40", 7)}));
  REQUIRE(trace.ops.size() == 3);
  CHECK(CallOf(trace, 0) == "cudaMemcpyAsync at 3000");
  CHECK(CallOf(trace, 1) == "cudaLaunchKernel at 6000");
  CHECK(CallOf(trace, 2) == "cudaLaunchKernel at 6000");
}

TEST_CASE("External ids tie nothing in a trace with correlations") {
  // 2023: the External id of GPU work repeats its correlation, and calls have the operator's.
  const Trace trace = Imported(TraceText(
      {ExternalCall("cudaDeviceGetAttribute", "1", 41), Call("cudaLaunchKernel", "4", "2", 40),
       Kernel("a", "10", "5", 40), Kernel("b", "20", "5", 41, 0, 7, ", \"External id\": 41"),
       ExternalKernel("c", "30", 41)}));
  REQUIRE(trace.ops.size() == 3);
  CHECK(CallOf(trace, 0) == "cudaLaunchKernel at 4000");
  CHECK(CallOf(trace, 1).empty());
  CHECK(CallOf(trace, 2).empty());
}

std::string Properties(int id, const std::string& name = "AMD Instinct MI300X") {
  return "{\"id\": " + std::to_string(id) + ", \"name\": \"" + name +
         "\", \"totalGlobalMem\": 206141652992, \"numSms\": 304, \"warpSize\": 64}";
}

std::string Header(const std::string& devices) {
  return "  \"deviceProperties\": [" + devices + "],\n";
}

std::string Held(int device) {
  return "{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"name\": \"[memory]\", \"pid\": 17, "
         "\"tid\": 17, \"ts\": 1, \"args\": {\"Bytes\": 64, \"Device Type\": 6, \"Device Id\": " +
         std::to_string(device) + "}}";
}

TEST_CASE("one used GPU and one listed GPU are the same, whatever their numbers") {
  for (const int number : {2, 5, 9}) {
    const Trace trace =
        Imported(TraceText({Held(0), Kernel("k", "1", "5", 1, number)}, Header(Properties(0))));
    REQUIRE(trace.devices.size() == 1);
    CHECK(trace.devices[0].name == "AMD Instinct MI300X");
    CHECK(trace.devices[0].ordinal == 0);
    CHECK(trace.devices[0].report_id == number);
    CHECK(trace.ops.device[0] == 0);
    CHECK(trace.memory.device[0] == 0);
  }
}

TEST_CASE("as many strange numbers as listed GPUs without work: they match in order") {
  const Trace trace = Imported(TraceText({Kernel("a", "1", "5", 1, 4), Kernel("b", "2", "5", 2, 2)},
                                         Header(Properties(0) + ", " + Properties(1))));
  REQUIRE(trace.devices.size() == 2);
  CHECK(trace.devices[trace.ops.device[0]].ordinal == 1);
  CHECK(trace.devices[trace.ops.device[1]].ordinal == 0);
}

TEST_CASE("of several listed GPUs of one model the used one has the name, and none is added") {
  const Trace trace = Imported(
      TraceText({Kernel("k", "1", "5", 1, 9)}, Header(Properties(0) + ", " + Properties(1))));
  REQUIRE(trace.devices.size() == 2);
  const Device& device = trace.devices[trace.ops.device[0]];
  CHECK(device.name == "AMD Instinct MI300X");
  CHECK(device.ordinal == 9);  // which of the two the file does not say
}

TEST_CASE("the GPU whose memory was recorded is the one that works") {
  const Trace trace = Imported(TraceText({Held(1), Kernel("k", "1", "5", 1, 9)},
                                         Header(Properties(0) + ", " + Properties(1))));
  REQUIRE(trace.devices.size() == 2);
  CHECK(trace.devices[trace.ops.device[0]].ordinal == 1);
  CHECK(trace.devices[trace.memory.device[0]].ordinal == 1);
}

TEST_CASE("a GPU whose memory was recorded, and that no list holds, is one of its own") {
  const Trace trace =
      Imported(TraceText({Held(1), Kernel("k", "1", "5", 1, 9)}, Header(Properties(0))));
  REQUIRE(trace.devices.size() == 2);
  CHECK(trace.devices[trace.ops.device[0]].name == "AMD Instinct MI300X");
  CHECK(trace.devices[trace.memory.device[0]].ordinal == 1);
}

TEST_CASE("more GPUs than the list names are of its model, when it names one") {
  const Trace trace = Imported(
      TraceText({Kernel("a", "1", "5", 1, 2), Kernel("b", "2", "5", 2, 3)}, Header(Properties(0))));
  REQUIRE(trace.devices.size() == 2);
  CHECK(trace.devices[0].name == "AMD Instinct MI300X");
  CHECK(trace.devices[1].name == "AMD Instinct MI300X");
}

TEST_CASE("between GPUs of two models nothing is guessed") {
  const Trace trace =
      Imported(TraceText({Kernel("a", "1", "5", 1, 9)},
                         Header(Properties(0) + ", " + Properties(1, "AMD Instinct MI210"))));
  REQUIRE(trace.devices.size() == 3);
  CHECK(trace.devices[trace.ops.device[0]].name.empty());
}

TEST_CASE("an AMD GPU without a name of its own is called by what tells it from others") {
  const auto name = [](const std::string& given) {
    return Imported(TraceText({Kernel("k", "1", "5", 1)}, Header(Properties(0, given))))
        .devices[0]
        .name;
  };
  CHECK(name("") == "AMD GPU with 304 compute units and 192 GiB");
  CHECK(name("AMD Radeon Graphics") == "AMD Radeon Graphics with 304 compute units and 192 GiB");
  CHECK(name("AMD Instinct MI300X") == "AMD Instinct MI300X");
}

}  // namespace
}  // namespace advise
