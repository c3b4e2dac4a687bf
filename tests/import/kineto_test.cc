// What a Kineto trace means, event by event: small texts with known contents.
#include <catch2/catch.hpp>

#include "engine/import/formats.h"
#include "engine/import/host_calls.h"
#include "engine/trace/listed_twice.h"
#include "tests/import/kineto_text.h"

namespace advise {
namespace {

const std::string& NameOf(const Trace& trace, StringId id) { return trace.strings[id]; }

TEST_CASE("a kernel knows its time, place, shape and call") {
  const Trace trace = Imported(TraceText({Call("cudaLaunchKernel", "10.500", "4.250", 42),
                                          Kernel("gemm<float>(int)", "20.125", "7.001", 42)}));
  REQUIRE(trace.ops.size() == 1);
  CHECK(trace.kind == "kineto");
  CHECK(trace.session_ns == 27126 - 10500);
  CHECK(trace.ops.start[0] == 20125);
  CHECK(trace.ops.end[0] == 27126);
  CHECK(trace.ops.kind[0] == OpKind::kKernel);
  const KernelShape& shape = trace.shapes[trace.ops.detail[0]];
  CHECK(NameOf(trace, shape.name) == "gemm<float>(int)");
  CHECK(shape.grid == std::array<std::uint32_t, 3>{4, 3, 2});
  CHECK(shape.block == std::array<std::uint32_t, 3>{128, 1, 1});
  CHECK(shape.registers == 32);
  CHECK(shape.dynamic_shared_bytes == 2112);
  REQUIRE(trace.ops.call[0] != kNone);
  CHECK(NameOf(trace, trace.calls.name[trace.ops.call[0]]) == "cudaLaunchKernel");
  CHECK(trace.calls.start[trace.ops.call[0]] == 10500);
  CHECK(trace.streams[trace.ops.stream[0]].id == 7);
  CHECK(trace.streams[trace.ops.stream[0]].is_default);
  REQUIRE(trace.processes.size() == 1);
  CHECK(trace.processes[0].pid == 17);
}

TEST_CASE("times of all three generations are exact to the nanosecond") {
  const auto start = [](const std::string& text) {
    return Imported(TraceText({Kernel("k", text, "1", 1)})).ops.start[0];
  };
  CHECK(start("1683564901548726") == 1683564901548726000);     // 2023: whole microseconds
  CHECK(start("1712195495520871.25") == 1712195495520871250);  // 2024: as fine as a double is
  CHECK(start("1414456661601.577") == 1414456661601577);       // now: nanoseconds
  CHECK(start("1414456661803.68") == 1414456661803680);        // a zero was cut off
  CHECK(start("0.0004") == 0);
  CHECK(start("0.0005") == 1);
  CHECK(start("-12.5") == -12500);
  CHECK(start("1.5e3") == 1500000);
}

TEST_CASE("the origin of a relative clock is kept, wherever it stands") {
  const std::string key = "\"baseTimeNanoseconds\": 1767189312000000000";
  CHECK(Imported(TraceText({Kernel("k", "5.0", "1", 1)}, "", ",\n  " + key)).utc_origin_ns ==
        1767189312000000000);
  CHECK(Imported(TraceText({Kernel("k", "5.0", "1", 1)}, "  " + key + ",\n")).utc_origin_ns ==
        1767189312000000000);
}

// As PyTorch writes them that was built without Kineto, such as Debian's.
TEST_CASE("operators of a writer without Kineto are those of a trace without GPU") {
  const auto event = [](const std::string& name, const std::string& times) {
    return "{\"name\": \"" + name + "\", \"ph\": \"X\", " + times +
           ", \"tid\": 1, \"pid\": \"CPU functions\", \"args\": {}}";
  };
  const Trace trace = Imported("[" + event("ProfilerStep#1", "\"ts\": 150, \"dur\": 398") + ", " +
                               event("aten::linear", "\"ts\": 185, \"dur\": 86") + "]");
  CHECK(trace.ops.size() == 0);
  CHECK(trace.operators.size() == 1);
  REQUIRE(trace.ranges.size() == 1);
  CHECK(NameOf(trace, trace.ranges.name[0]) == "ProfilerStep#1");
}

TEST_CASE("the category tells GPU from host: small process ids are no devices") {
  // The program's pid is 17, its thread 7; the GPU has the number 17, too.
  const Trace trace = Imported(
      TraceText({Event("cpu_op", "aten::mm", 17, 7, "0", "30"),
                 Call("cudaLaunchKernel", "5", "5", 3, 7), Kernel("k", "20", "9", 3, 17, 7)}));
  CHECK(trace.ops.size() == 1);
  CHECK(trace.operators.size() == 1);
  REQUIRE(trace.devices.size() == 1);
  CHECK(trace.devices[0].ordinal == 17);
  CHECK(trace.threads.size() == 1);
  CHECK(trace.ops.call[0] == 0);
}

TEST_CASE("copies and memsets carry direction, memory and size in name and arguments") {
  const auto copy = [](const std::string& name, const std::string& more = "") {
    const Trace trace = Imported(TraceText(
        {Event("gpu_memcpy", name, 0, 7, "1", "2",
               "\"device\": 0, \"stream\": 7, \"correlation\": 1, \"bytes\": 4096" + more)}));
    REQUIRE(trace.copies.size() == 1);
    CHECK(trace.copies.bytes[0] == 4096);
    return std::tuple(trace.copies.direction[0], trace.copies.source[0], trace.copies.target[0]);
  };
  using D = CopyDirection;
  using M = MemoryKind;
  CHECK(copy("Memcpy HtoD (Pageable -> Device)") ==
        std::tuple(D::kHostToDevice, M::kPageable, M::kDevice));
  CHECK(copy("Memcpy HtoD (Pinned -> Device)") ==
        std::tuple(D::kHostToDevice, M::kPinned, M::kDevice));
  CHECK(copy("Memcpy DtoH (Device -> Pageable)") ==
        std::tuple(D::kDeviceToHost, M::kDevice, M::kPageable));
  CHECK(copy("Memcpy DtoD (Device -> Device)") ==
        std::tuple(D::kDeviceToDevice, M::kDevice, M::kDevice));
  CHECK(copy("Memcpy PtoP (Device -> Device)") ==
        std::tuple(D::kPeerToPeer, M::kDevice, M::kDevice));
  CHECK(copy("Memcpy AtoH (Array -> Pinned)") ==
        std::tuple(D::kDeviceToHost, M::kArray, M::kPinned));
  CHECK(copy("Memcpy HtoD (Managed Static -> Device Static)") ==
        std::tuple(D::kHostToDevice, M::kManagedStatic, M::kDeviceStatic));
  // ROCm does not tell pinned from pageable memory: nor do we.
  CHECK(copy("Memcpy HtoD (Host -> Device)") ==
        std::tuple(D::kHostToDevice, M::kUnknown, M::kDevice));
  CHECK(copy("Memcpy") == std::tuple(D::kUnknown, M::kUnknown, M::kUnknown));

  const Trace memset = Imported(TraceText(
      {Event("gpu_memset", "Memset (Device)", 0, 7, "1", "2", "\"device\": 0, \"bytes\": 1408")}));
  REQUIRE(memset.memsets.size() == 1);
  CHECK(memset.memsets.bytes[0] == 1408);
  CHECK(memset.memsets.memory[0] == MemoryKind::kDevice);
}

TEST_CASE("a peer copy knows the other GPU") {
  const Trace trace =
      Imported(TraceText({Event("gpu_memcpy", "Memcpy PtoP (Device -> Device)", 0, 7, "1", "2",
                                "\"device\": 0, \"stream\": 7, \"fromDevice\": 0, \"inDevice\": 0, "
                                "\"toDevice\": 3, \"bytes\": 8")}));
  REQUIRE(trace.copies.peer[0] != kNone);
  CHECK(trace.devices[trace.copies.peer[0]].ordinal == 3);
}

TEST_CASE("categories of 2020 mean the same, in a bare array with textual ids") {
  const Trace trace = Imported(R"json([
  { "ph": "X", "cat": "Operator", "name": "aten::mm", "pid": 67844, "tid": "4093687616",
    "ts": 100, "dur": 50, "args": { "Device": 0, "External id": 2 } },
  { "ph": "X", "cat": "Operator", "pid": 67844, "tid": "4093687616",
    "name": "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
    "ts": 10, "dur": 70, "args": {} },
  { "ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 67844, "tid": "4093687616",
    "ts": 110, "dur": 8, "args": { "cbid": 211, "correlation": 9, "external id": 2 } },
  { "ph": "s", "id": 9, "pid": 67844, "tid": 4093687616, "ts": 110, "cat": "async" },
  { "ph": "X", "cat": "Memset", "name": "Memset (Device)", "pid": 0, "tid": "stream 7",
    "ts": 112, "dur": 1, "args": { "device": 0, "context": 1, "stream": 7, "correlation": 8 } },
  { "ph": "X", "cat": "Kernel", "name": "sgemm", "pid": 0, "tid": "stream 7", "ts": 120, "dur": 30,
    "args": { "device": 0, "context": 1, "stream": 7, "correlation": 9, "grid": [4, 8, 32] } }
])json");
  CHECK(trace.ops.size() == 2);
  CHECK(trace.operators.size() == 1);
  REQUIRE(trace.ranges.size() == 1);  // what a user annotates was an operator then
  CHECK(trace.ranges.start[0] == 10000);
  CHECK(trace.threads.size() == 1);
  CHECK(trace.ops.call[1] == 0);
  CHECK(trace.ops.call[0] == kNone);
  CHECK(trace.streams.size() == 1);
}

TEST_CASE("annotations are ranges, and their copies on the GPU are not") {
  const Trace trace = Imported(
      TraceText({Event("user_annotation", "ProfilerStep#3", 17, 17, "0", "90"),
                 Event("gpu_user_annotation", "ProfilerStep#3", 0, 7, "20", "60"),
                 Event("user_annotation", "Optimizer.step#AdamW.step", 17, 17, "50", "20")}));
  REQUIRE(trace.ranges.size() == 2);
  CHECK(NameOf(trace, trace.ranges.name[0]) == "ProfilerStep#3");
  CHECK(NameOf(trace, trace.ranges.name[1]) == "Optimizer.step#AdamW.step");
}

TEST_CASE("one launch of a graph is the call of all its kernels") {
  const Trace trace =
      Imported(TraceText({Call("cudaGraphLaunch", "0", "5", 77), Kernel("a", "10", "2", 77),
                          Kernel("b", "13", "2", 77), Kernel("c", "20", "2", 78)}));
  CHECK(trace.ops.in_graph == std::vector<std::uint8_t>{1, 1, 0});
  CHECK(trace.ops.call == std::vector<std::uint32_t>{0, 0, kNone});
}

TEST_CASE("work that starts long before its call was launched by a clock that is not the GPU's") {
  const auto trace_of = [](const std::string& late) {
    return Imported(
        TraceText({Call("cudaLaunchKernel", late, "5", 77), Kernel("a", "10", "2", 77),
                   Call("cudaLaunchKernel", "20", "5", 78), Kernel("b", "30", "2", 78),
                   Call("cudaLaunchKernel", late, "5", 79), Kernel("c", "40", "2", 79)}));
  };
  const Trace wrong = trace_of("50000");
  CHECK(wrong.ops.call == std::vector<std::uint32_t>(3, kNone));
  CHECK(wrong.diagnostics.Has(kClocksDisagree));
  CHECK_FALSE(trace_of("500").diagnostics.Has(kClocksDisagree));  // told, and no reason to stop
}

TEST_CASE("events that a merged trace lists twice count once") {
  const std::vector<std::string> events = {
      Call("cudaLaunchKernel", "0", "5", 77),
      Call("cudaGraphLaunch", "6", "2", 78),
      Kernel("a", "10", "2", 77),
      Event("user_annotation", "epoch", 17, 17, "0", "90"),
      Kernel("b", "20", "2", 78, 0, 7, ", \"graph node id\": 1"),
      Kernel("b", "20", "2", 78, 0, 7, ", \"graph node id\": 2")};
  std::vector<std::string> twice = events;
  twice.insert(twice.end(), events.begin(), events.end());
  const Trace trace = Imported(TraceText(twice));
  CHECK(trace.ops.size() == 3);  // nodes of a graph may run together
  CHECK(trace.calls.size() == 2);
  CHECK(trace.ranges.size() == 1);
  CHECK(trace.diagnostics.Has(kRowsListedTwice));
  CHECK_FALSE(Imported(TraceText(events)).diagnostics.Has(kRowsListedTwice));
}

TEST_CASE("where calls share a correlation the outermost one launched the work") {
  const Trace trace = Imported(
      TraceText({Event("cuda_driver", "cuLaunchKernel", 17, 17, "11", "3", "\"correlation\": 5"),
                 Call("cudaLaunchKernel_v7000", "10", "6", 5), Kernel("k", "20", "1", 5)}));
  REQUIRE(trace.ops.call[0] != kNone);
  CHECK(NameOf(trace, trace.calls.name[trace.ops.call[0]]) == "cudaLaunchKernel");
}

TEST_CASE(
    "ROCm: hip calls launch, devices may start anywhere, versions are no compute capability") {
  const Trace trace = Imported(TraceText(
      {Call("hipLaunchKernel", "1", "2", 4),
       Event("kernel", "Cijk_Ailk", 2, 0, "5", "9",
             "\"device\": 2, \"stream\": 0, \"correlation\": 4, \"kind\": \"Dispatch Kernel\"")},
      "  \"deviceProperties\": [{\"id\": 0, \"name\": \"\", \"numSms\": 304, \"warpSize\": 64, "
      "\"computeMajor\": 9, \"computeMinor\": 0, \"totalGlobalMem\": 206141652992},\n    {\"id\": "
      "2, "
      "\"name\": \"AMD Instinct MI300X\", \"numSms\": 304, \"warpSize\": 64, \"computeMajor\": 9, "
      "\"computeMinor\": 4}],\n  \"hip_runtime_version\": 70253211,\n"));
  REQUIRE(trace.devices.size() == 2);
  CHECK(trace.devices[0].compute_major == 0);
  CHECK(trace.devices[trace.ops.device[0]].name == "AMD Instinct MI300X");
  CHECK(trace.devices[trace.ops.device[0]].sm_count == 304);
  CHECK(trace.ops.call[0] == 0);
  CHECK(trace.streams[0].is_default);
  CHECK(trace.producer == "PyTorch profiler, ROCm");
}

TEST_CASE("devices that did no work are only listed; unlisted ones that did are added") {
  const Trace trace = Imported(TraceText({Kernel("k", "1", "2", 1, 0), Kernel("k", "4", "2", 2, 5)},
                                         "  \"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA "
                                         "H100\", \"totalGlobalMem\": 85018279936, "
                                         "\"computeMajor\": 9, \"computeMinor\": 0, "
                                         "\"maxThreadsPerMultiprocessor\": 2048, \"warpSize\": 32, "
                                         "\"numSms\": 132}],\n"));
  REQUIRE(trace.devices.size() == 2);
  CHECK(trace.devices[0].memory_bytes == 85018279936.0);
  CHECK(trace.devices[0].compute_capability() == "9.0");
  CHECK(trace.devices[1].ordinal == 5);
  CHECK(trace.ops.device[1] == 1);
}

TEST_CASE("waits, event records and the profiler's own work have tables of their own") {
  const Trace trace =
      Imported(TraceText({Call("cudaStreamSynchronize", "10", "20", 6),
                          Event("cuda_sync", "Stream Sync", 0, 1000007, "12", "17",
                                "\"cuda_sync_kind\": \"Stream Sync\", \"stream\": 7, "
                                "\"correlation\": 6, \"device\": 0, \"context\": 1"),
                          Event("cuda_sync", "Context Sync", 0, -1, "40", "2",
                                "\"cuda_sync_kind\": \"Context Sync\", \"stream\": -1, "
                                "\"correlation\": 9, \"device\": 0, \"context\": 1"),
                          Event("cuda_event", "cudaEventRecord", 0, 7, "5", "0.001",
                                "\"stream\": 7, \"correlation\": 6, \"device\": 0, \"context\": 1"),
                          Event("overhead", "Activity Buffer Request", -1, 0, "11", "3"),
                          Event("overhead", "Buffer Flush", -1, 0, "100", "3")}));
  REQUIRE(trace.syncs.size() == 2);
  CHECK(trace.syncs.call[0] == 0);
  CHECK(trace.streams[trace.syncs.stream[0]].id == 7);
  CHECK(trace.syncs.stream[1] == kNone);
  CHECK(trace.events.size() == 1);
  REQUIRE(trace.overheads.size() == 2);
  CHECK(trace.overheads.thread[0] == 0);      // inside a call of that thread
  CHECK(trace.overheads.thread[1] == kNone);  // in no call: nobody knows whose
}

TEST_CASE("memory rows add up to the allocator's level, with what was there before") {
  const auto row = [](int time, long bytes, long total, int device, int type) {
    return "{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": \"[memory]\", "
           "\"pid\": 17, "
           "\"tid\": 17, \"ts\": " +
           std::to_string(time) +
           ", \"args\": {\"Total Reserved\": 9000, "
           "\"Total Allocated\": " +
           std::to_string(total) + ", \"Bytes\": " + std::to_string(bytes) +
           ", \"Addr\": 123, \"Device Id\": " + std::to_string(device) +
           ", \"Device Type\": " + std::to_string(type) + "}}";
  };
  // In the file the later row comes first; rows of the host (device -1) are no device memory.
  const Trace trace =
      Imported(TraceText({row(20, -100, 600, 0, 1), row(5, 8, 8, -1, 0), row(10, 200, 700, 0, 1)}));
  REQUIRE(trace.memory.size() == 3);
  CHECK(trace.memory.bytes == std::vector<std::int64_t>{500, 200, -100});
  CHECK(trace.memory.time == std::vector<Nanos>{10000, 10000, 20000});
  CHECK(trace.memory.reserved == std::vector<std::int64_t>{9000, 9000, 9000});
  CHECK(trace.memory.memory[0] == MemoryKind::kDevice);
}

TEST_CASE("a collective is one row, told by its operation and by its kernel") {
  const std::string what =
      "\"Collective name\": \"allreduce\", \"dtype\": \"BFloat16\", \"In msg nelems\": 1000, \"Out "
      "msg nelems\": 1000, "
      "\"Group size\": 8, \"Process Group Name\": \"3\", \"Process Group Description\": \"dp\", "
      "\"Process Group Ranks\": \"[0, 2, 4, 6]\", \"Seq\": 12";
  const Trace trace = Imported(TraceText(
      {Event("cpu_op", "record_param_comms", 17, 17, "10", "40", what),
       Call("cudaLaunchKernelExC", "20", "5", 31),
       Kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "60",
              "90", 31, 0, 20, ", " + what),
       Kernel("ncclDevKernel_SendRecv", "200", "5", 32, 0, 20,
              ", \"Collective name\": \"send\", \"dtype\": \"Float\", \"In msg nelems\": 10, \"Out "
              "msg nelems\": 10, "
              "\"Group size\": 2, \"Process Group Name\": \"pp\", \"Dst Rank\": 5, \"Process Group "
              "Ranks\": \"[0, 1, ...]\"")},
      "  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 4, \"world_size\": 8, "
      "\"pg_config\": "
      "[{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"pg_size\": 2, \"ranks\": [0, "
      "1]}]},\n"));
  CHECK(trace.rank == 4);
  CHECK(trace.world_size == 8);
  CHECK(trace.processes[0].rank == 4);
  REQUIRE(trace.collectives.size() == 2);
  CHECK(NameOf(trace, trace.collectives.kind[0]) == "AllReduce");
  CHECK(trace.collectives.start[0] == 10000);
  CHECK(trace.collectives.in_bytes[0] == 2000);
  CHECK(trace.collectives.sequence[0] == 12);
  CHECK(trace.collectives.op[0] == 0);
  const CommGroup& group = trace.groups[trace.collectives.group[0]];
  CHECK(group.description == "dp");
  CHECK(group.size == 8);
  CHECK(group.ranks == std::vector<int>{0, 2, 4, 6});
  CHECK(NameOf(trace, trace.collectives.kind[1]) == "Send");
  CHECK(trace.collectives.start[1] == 200000);
  CHECK(trace.collectives.in_bytes[1] == 40);
  CHECK(trace.collectives.peer[1] == 5);
  CHECK(trace.groups[trace.collectives.group[1]].ranks.empty());  // the list was shortened
  CHECK(trace.groups.size() == 3);
  CHECK(trace.groups[0].description == "default_pg");
}

TEST_CASE("without arguments, the range around its launch says what a kernel of NCCL does") {
  const std::string name = "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)";
  const Trace trace = Imported(
      TraceText({Event("user_annotation", "nccl:all_to_all", 17, 17, "10", "40"),
                 Call("cudaLaunchKernel", "20", "5", 31), Kernel(name, "60", "90", 31, 0, 20),
                 Event("user_annotation", "nccl:send 0->1", 17, 17, "70", "20"),
                 Call("cudaLaunchKernel", "72", "5", 32), Kernel("elementwise", "160", "5", 32),
                 Call("cudaLaunchKernel", "80", "5", 33), Kernel(name, "170", "5", 33, 0, 20),
                 Call("cudaLaunchKernel", "110", "5", 34), Kernel(name, "180", "5", 34, 0, 20)},
                ""));
  REQUIRE(trace.collectives.size() == 2);
  CHECK(NameOf(trace, trace.collectives.kind[0]) == "AllToAll");
  CHECK(trace.collectives.start[0] == 10000);
  CHECK(trace.ops.start[trace.collectives.op[0]] == 60000);
  CHECK(trace.collectives.in_bytes[0] == -1);
  CHECK(NameOf(trace, trace.collectives.kind[1]) == "Send");
  CHECK(trace.ops.start[trace.collectives.op[1]] == 170000);
}

TEST_CASE("threads are named by the file, or by what they do") {
  const Trace trace =
      Imported(TraceText({"{\"name\": \"thread_name\", \"ph\": \"M\", \"ts\": 1, \"pid\": 17, "
                          "\"tid\": 40, \"args\": {\"name\": \"thread 40 (python3)\"}}",
                          "{\"name\": \"process_name\", \"ph\": \"M\", \"ts\": 1, \"pid\": 17, "
                          "\"tid\": 0, \"args\": {\"name\": \"python3\"}}",
                          Event("cpu_op", "aten::mul", 17, 17, "0", "3",
                                "\"Sequence number\": 7, \"Fwd thread id\": 0"),
                          Event("cpu_op", "autograd::engine::evaluate_function: MulBackward0", 17,
                                40, "5", "3", "\"Sequence number\": 7, \"Fwd thread id\": 1")}));
  REQUIRE(trace.threads.size() == 2);
  CHECK(NameOf(trace, trace.threads[0].name) == "main thread");
  CHECK(NameOf(trace, trace.threads[1].name) == "pt_autograd_thread");
  CHECK(trace.processes[0].name == "python3");
  CHECK(trace.operators.payload == std::vector<std::int64_t>{7, 7});
}

TEST_CASE("python functions without a process belong to the thread that works") {
  const Trace trace =
      Imported(TraceText({Event("python_function", "train.py(12): main", 0, 0, "0", "90"),
                          Call("cudaLaunchKernel", "5", "5", 3)}));
  REQUIRE(trace.python_frames.size() == 1);
  CHECK(trace.python_frames.thread[0] == trace.calls.thread[0]);
  CHECK(trace.processes.size() == 1);
}

TEST_CASE("what the profiler was asked for is kept") {
  const Trace trace = Imported(TraceText(
      {Kernel("k", "1", "1", 1)},
      "  \"with_stack\": 1,\n  \"record_shapes\": 1,\n  \"cuda_runtime_version\": 12040,\n"));
  CHECK(trace.capture_options == std::vector<std::pair<std::string, std::string>>{
                                     {"with_stack", "1"}, {"record_shapes", "1"}});
  CHECK(trace.producer == "PyTorch profiler, CUDA 12.4");
  CHECK(trace.schema == "1");
}

TEST_CASE("arguments may come before what they belong to, and keys in any order") {
  const Trace trace = Imported(
      R"({"traceEvents":[{"args":{"grid":[2,1,1],"block":[64,1,1],"correlation":3,"stream":9,"device":1},"dur":2,"ts":1,"tid":9,"pid":1,"name":"k","cat":"kernel","ph":"X"}]})");
  REQUIRE(trace.ops.size() == 1);
  CHECK(trace.shapes[0].grid[0] == 2);
  CHECK(trace.devices[0].ordinal == 1);
}

TEST_CASE("escapes in names are undone") {
  const Trace trace = Imported(
      TraceText({Event("cpu_op", R"(a \"b\" \\ \u00e9 \ud83d\ude00 \/ \q)", 17, 17, "1", "1")}));
  CHECK(NameOf(trace, trace.operators.name[0]) == "a \"b\" \\ é 😀 / \\q");
}

TEST_CASE("foreign accelerators and unknown categories are counted, not mistaken for GPUs") {
  const Trace trace = Imported(TraceText({Event("mtia_ccp_events", "x", 0, 1, "1", "1"),
                                          Event("quantum", "y", 0, 1, "1", "1"),
                                          Event("cpu_op", "aten::mul", 17, 17, "0", "3")}));
  CHECK(trace.ops.size() == 0);
  CHECK(Reported(trace, "accelerator") == 1);
  CHECK(Reported(trace, "unknown category") == 1);
}

TEST_CASE("ranges of hardware counters are counted, and are no kernels") {
  const Trace trace = Imported(TraceText({Event("cuda_profiler_range", "void k()", 0, 1, "1", "1"),
                                          Event("cpu_op", "aten::mul", 17, 17, "0", "3")}));
  CHECK(trace.ops.size() == 0);
  CHECK(Reported(trace, "hardware counters") == 1);
}

TEST_CASE("the importer is chosen by content") {
  const TextFile trace(TraceText({Kernel("k", "1", "1", 1)}), ".txt");
  CHECK(SniffKineto("{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [", trace.path()));
  CHECK(SniffKineto("[{\"ph\": \"X\"", trace.path()));
  // The events begin beyond the head: the file itself is asked.
  CHECK(SniffKineto("{ \"metadata\": {", trace.path()));
  const TextFile other("{\"tool\": 1, \"events\": []}");
  CHECK_FALSE(SniffKineto("{\"tool\": 1", other.path()));
  CHECK_FALSE(SniffKineto("SQLite format 3", other.path()));
  CHECK_FALSE(SniffKineto("a,b,c", other.path()));
  const auto read = ImportReport(trace.path(), {});
  REQUIRE(read);
  CHECK(read->kind == "kineto");
  const auto refused = ImportReport(other.path(), {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().what == "a JSON file, but not a PyTorch profiler trace");
  const TextFile own("{\n  \"schema\": 2,\n  \"tool\": {\n    \"name\": \"advise\"\n  }\n}");
  const auto again = ImportReport(own.path(), {});
  REQUIRE_FALSE(again);
  CHECK(again.error().what == "a report that advise wrote, not a profile");
}

}  // namespace
}  // namespace advise
