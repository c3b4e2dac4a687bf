// Files of rocprofv3, written as it writes them.
#include <numeric>

#include "tests/app/find_capture.h"
#include "tests/import/text_inputs.h"

namespace advise {
namespace {

using testing::ImportedText;
using testing::Refused;
using testing::Said;

const char* const kTop = R"json({"rocprofiler-sdk-tool": [{"metadata": {"node": {"hostname": "n1"},
"pid": 42, "init_time": 1000, "fini_time": 9000, "command": ["/opt/bin/solver", "-n", "8"]},
"agents": [{"id": {"handle": 7}, "type": 1, "cu_count": 64, "name": "EPYC"},
{"id": {"handle": 8}, "type": 2, "node_id": 1, "wave_front_size": 64, "cu_count": 228, "max_waves_per_cu": 32,
 "max_engine_clk_fcompute": 2100, "logical_node_type_id": 3, "name": "gfx942",
 "product_name": "AMD Instinct MI300A", "mem_banks": [{"size_in_bytes": 137438953472}]},
{"id": {"handle": 9}, "type": 2, "node_id": 2, "cu_count": 228, "logical_node_type_id": 4, "name": "gfx942"}],
"counters": [], "strings": {"callback_records": [], "buffer_records": [
{"kind": "HIP_RUNTIME_API", "operations": ["hipMalloc", "hipLaunchKernel", "hipMemcpy"]},
{"kind": "HIP_COMPILER_API", "operations": ["__hipPushCallConfiguration"]},
{"kind": "MEMORY_COPY", "operations": ["MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_DEVICE",
 "MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_DEVICE_TO_DEVICE", "MEMORY_COPY_HOST_TO_HOST"]},
{"kind": "MARKER_CORE_API", "operations": ["roctxMarkA", "roctxRangePushA"]}],
"marker_api": [{"key": 21, "value": "sweep"}, {"key": 22, "value": "instant"}]},
"code_objects": [], "kernel_symbols": [{"kernel_id": 0, "formatted_kernel_name": "0"},
{"kernel_id": 5, "kernel_name": "_Z5sweepPd.kd", "formatted_kernel_name": "sweep(double*)"},
{"kernel_id": 6, "kernel_name": "fill.kd"}],
"host_functions": [], "summary": [], "callback_records": {"counter_collection": []},
"buffer_records": {"kernel_dispatch": [)json";

std::string Dispatch(int correlation, int start, int end, int kernel, int queue, int stream,
                     int agent = 8) {
  return R"({"size": 184, "kind": 9, "operation": 2, "thread_id": 43, "correlation_id": {"internal": )" +
         std::to_string(correlation) + R"(, "external": 0}, "start_timestamp": )" +
         std::to_string(start) + R"(, "end_timestamp": )" + std::to_string(end) +
         R"(, "dispatch_info": {"size": 72, "agent_id": {"handle": )" + std::to_string(agent) +
         R"(}, "queue_id": {"handle": )" + std::to_string(queue) + R"(}, "kernel_id": )" +
         std::to_string(kernel) +
         R"(, "dispatch_id": 1, "private_segment_size": 0, "group_segment_size": 0, )"
         R"("workgroup_size": {"x": 256, "y": 1, "z": 1}, "grid_size": {"x": 1000, "y": 2, "z": 1}}, )"
         R"("stream_id": {"handle": )" +
         std::to_string(stream) + "}}";
}

std::string Api(int kind, int operation, int correlation, int start, int end) {
  return R"({"size": 48, "kind": )" + std::to_string(kind) + R"(, "operation": )" +
         std::to_string(operation) + R"(, "correlation_id": {"internal": )" +
         std::to_string(correlation) + R"(, "external": 0}, "start_timestamp": )" +
         std::to_string(start) + R"(, "end_timestamp": )" + std::to_string(end) +
         R"(, "thread_id": 43})";
}

std::string Copy(int operation, int start, int end, int to, int from) {
  std::string record = Api(2, operation, 13, start, end);
  record.pop_back();
  return record + R"(, "dst_agent_id": {"handle": )" + std::to_string(to) +
         R"(}, "src_agent_id": {"handle": )" + std::to_string(from) + R"(}, "bytes": 4096})";
}

std::string FileOf(const std::string& kernels, const std::string& calls = "",
                   const std::string& markers = "", const std::string& copies = "") {
  return kTop + kernels + R"(], "hip_api": [)" + calls + R"(], "hsa_api": [], "marker_api": [)" +
         markers + R"(], "rccl_api": [], "memory_copy": [)" + copies + "]}}]}\n";
}

std::string Whole() {
  return FileOf(Dispatch(12, 3000, 3500, 6, 1, 2) + "," + Dispatch(11, 2000, 2900, 5, 1, 2),
                Api(0, 1, 12, 1900, 1950) + "," + Api(1, 0, 10, 1790, 1795) + "," +
                    Api(0, 1, 11, 1800, 1850) + "," + Api(0, 2, 13, 3600, 4200),
                Api(3, 1, 21, 1700, 4300) + "," + Api(3, 0, 22, 1750, 1750),
                Copy(2, 3700, 4100, 7, 8) + "," + Copy(3, 4400, 4500, 9, 8) + "," +
                    Copy(4, 4600, 4700, 7, 7));
}

TEST_CASE("a file of rocprofv3 becomes GPU work, calls and ranges") {
  const Trace trace = ImportedText(Whole(), "42_results.json");
  CHECK(trace.kind == "rocprof");
  CHECK(trace.producer == "rocprofv3");
  CHECK(trace.host == "n1");
  CHECK(trace.session_ns == 8000);
  REQUIRE(trace.processes.size() == 1);
  CHECK(trace.processes[0].name == "solver");
  REQUIRE(trace.devices.size() == 2);
  CHECK(trace.devices[0].name == "AMD Instinct MI300A");
  CHECK(trace.devices[0].sm_count == 228);
  CHECK(trace.devices[0].clock_hz == 2.1e9);
  CHECK(trace.devices[0].max_threads_per_sm == 2048);
  CHECK(trace.devices[0].memory_bytes == 137438953472.0);
  CHECK(trace.devices[0].ordinal == 3);

  REQUIRE(trace.ops.size() == 4);
  CHECK(trace.ops.start == std::vector<Nanos>{2000, 3000, 3700, 4400});
  const KernelShape& sweep = trace.shapes[trace.ops.detail[0]];
  CHECK(trace.strings[sweep.name] == "sweep(double*)");
  CHECK(sweep.grid == std::array<std::uint32_t, 3>{4, 2, 1});  // 1000 threads are 4 blocks
  CHECK(sweep.block == std::array<std::uint32_t, 3>{256, 1, 1});
  CHECK(trace.strings[trace.shapes[trace.ops.detail[1]].name] == "fill");

  // What the compiler calls around a launch is no call of the program.
  REQUIRE(trace.calls.size() == 3);
  CHECK(trace.strings[trace.calls.name[0]] == "hipLaunchKernel");
  CHECK(trace.calls.start == std::vector<Nanos>{1800, 1900, 3600});
  CHECK(trace.ops.call == std::vector<std::uint32_t>{0, 1, 2, 2});
  REQUIRE(trace.ranges.start.size() == 1);
  CHECK(trace.strings[trace.ranges.name[0]] == "sweep");

  REQUIRE(trace.copies.size() == 2);
  CHECK(trace.copies.direction[0] == CopyDirection::kDeviceToHost);
  CHECK(trace.copies.bytes[0] == 4096);
  CHECK(trace.copies.target[0] == MemoryKind::kUnknown);
  CHECK(trace.copies.direction[1] == CopyDirection::kPeerToPeer);
  CHECK(trace.copies.peer[1] == 1);
}

TEST_CASE("work of rocprofv3 lies in streams, or in queues where streams were not recorded") {
  const auto streams = [](int first, int second) {
    const Trace trace = ImportedText(
        FileOf(Dispatch(0, 10, 20, 5, 1, first) + "," + Dispatch(0, 30, 40, 5, 2, second)));
    std::vector<std::int64_t> ids;
    for (const std::uint32_t stream : trace.ops.stream) ids.push_back(trace.streams[stream].id);
    return ids;
  };
  CHECK(streams(5, 5) == std::vector<std::int64_t>{5, 5});
  CHECK(streams(0, 5) == std::vector<std::int64_t>{0, 5});
  CHECK(streams(0, 0) == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("a file of rocprofv3 that was cut off is read as far as it is whole") {
  const std::string whole = Whole();
  const std::size_t first = whole.find(R"("kernel_dispatch")");
  CHECK(Said(ImportedText(whole), "cut off") == 0);
  for (std::size_t length = first + 600; length + 8 < whole.size(); length += 13) {
    INFO(length);
    const Trace trace = ImportedText(whole.substr(0, length));
    CHECK(trace.ops.size() >= 1);
    CHECK(trace.ops.stream.size() == trace.ops.size());
    CHECK(trace.ops.kind.size() == trace.ops.size());
    CHECK(Said(trace, "cut off") == 1);
  }
  CHECK(Refused(whole.substr(0, first)) == "the file is cut off before GPU work");
}

TEST_CASE("records of rocprofv3 that say nothing are dropped, and a file without work says so") {
  const std::string odd = Dispatch(1, 0, 5, 5, 1, 0) + "," + Dispatch(1, 50, 40, 5, 1, 0) + "," +
                          Dispatch(1, 50, 60, 5, 1, 0, 7) + R"(,{"start_timestamp": -4})" + "," +
                          Dispatch(1, 70, 80, 99, 1, 0);
  const Trace trace = ImportedText(FileOf(odd));
  CHECK(trace.ops.size() == 1);  // of an unknown kernel
  CHECK(Said(trace, "were dropped") == 4);

  std::string broken = Dispatch(1, 10, 20, 5, 1, 0);
  broken.replace(broken.find("184"), 3, "18x4");
  const Trace rest = ImportedText(FileOf(broken + "," + Dispatch(1, 50, 60, 5, 1, 0)));
  CHECK(rest.ops.start == std::vector<Nanos>{50});
  CHECK(Said(rest, "not valid JSON") == 1);

  CHECK(Refused(FileOf("")) == "rocprofv3 recorded no GPU work");
}

TEST_CASE("summaries of AMD's profilers are totals of kernels, copies and calls") {
  const Trace kernels = ImportedText(
      "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\",\"MaxNs\","
      "\"StdDev\"\n"
      "\"sweep(double*, int)\",100,2000000,20000.000000,80.00,19000,21000,100.0\n"
      "\"fill\",10,500000,50000.000000,20.00,49000,51000,100.0\n");
  CHECK(kernels.producer == "rocprof");
  REQUIRE(kernels.profile.tables.size() == 1);
  const ProfileTable& table = kernels.profile.tables[0];
  CHECK(table.of == ProfileOf::kKernels);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].name == "sweep(double*, int)");
  CHECK(table.rows[0].total == 2e6);
  CHECK(table.rows[0].count == 100);

  const Trace calls = ImportedText(
      "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n"
      "\"hipLaunchKernel\",100,2000000,20000.000000,80.00\n"
      "\"hsa_signal_wait_relaxed\",9,20000,2000.000000,10.00\n"
      "\"MEMORY_COPY_HOST_TO_DEVICE\",10,500000,50000.000000,20.00\n");
  REQUIRE(calls.profile.tables.size() == 2);
  CHECK(calls.profile.tables[0].of == ProfileOf::kCalls);
  CHECK(calls.profile.tables[0].rows.size() == 2);
  CHECK(calls.profile.tables[1].of == ProfileOf::kCopies);
}

TEST_CASE("tables of kernels that AMD's profilers write have a timeline") {
  const Trace third = ImportedText(
      "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_"
      "Id\","
      "\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"LDS_Block_Size\","
      "\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\","
      "\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n"
      "\"KERNEL_DISPATCH\",\"Agent "
      "4\",1,7,100,2,5,\"sweep(double*)\",2,4000,6500,0,0,16,0,32,256,1,1,"
      "65000,2,1\n"
      "\"KERNEL_DISPATCH\",\"Agent "
      "4\",1,7,100,1,5,\"sweep(double*)\",1,1000,3000,0,0,16,0,32,256,1,1,"
      "65000,2,1\n"
      "\"KERNEL_DISPATCH\",\"Agent "
      "4\",1,7,100,1,5,\"sweep(double*)\",1,9000,8000,0,0,16,0,32,256,1,1,"
      "65000,2,1\n");
  CHECK(third.kind == "gpu-trace");
  CHECK(third.producer == "rocprof");
  CHECK(third.ops.start == std::vector<Nanos>{1000, 4000});
  CHECK(third.ops.end == std::vector<Nanos>{3000, 6500});
  REQUIRE(third.shapes.size() == 1);
  CHECK(third.shapes[0].grid == std::array<std::uint32_t, 3>{254, 2, 1});
  REQUIRE(third.devices.size() == 1);
  CHECK(third.devices[0].name.empty());
  CHECK(third.devices[0].ordinal == 4);
  REQUIRE(third.streams.size() == 1);
  CHECK(third.streams[0].id == 7);
  CHECK(Said(third, "were dropped") == 1);

  const Trace first = ImportedText(
      "\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\",\"queue-index\",\"pid\",\"tid\",\"grd\","
      "\"wgr\","
      "\"lds\",\"scr\",\"vgpr\",\"sgpr\",\"fbar\",\"sig\",\"obj\",\"DispatchNs\",\"BeginNs\","
      "\"EndNs\","
      "\"CompleteNs\",\"DurationNs\"\n"
      "0,\"sweep(double*)\",1,0,0,9,9,65536,256,0,0,8,16,0,0x0,0x7f,900,1000,3000,3100,2000\n");
  CHECK(first.ops.end == std::vector<Nanos>{3000});
  CHECK(first.shapes[0].grid[0] == 256);
  CHECK(first.devices[0].ordinal == 1);
}

// Summed by a script.
TEST_CASE("a real file of rocprofv3: kernels, their time, and where they ran") {
  const std::string path = FindCapture("kineto", "AMD-AGI__TraceLens/908_results.json.gz");
  if (path.empty()) return;
  const Result<Trace> trace = ImportReport(path, {});
  REQUIRE(trace);
  REQUIRE(trace->ops.size() == 43915);
  Nanos time = 0;
  for (std::uint32_t op = 0; op < trace->ops.size(); ++op) time += trace->ops.Length(op);
  CHECK(time == 4441741378);
  CHECK(trace->streams.size() == 567);
  REQUIRE(trace->devices.size() == 1);
  CHECK(trace->devices[0].name == "AMD Instinct MI350X");
}

}  // namespace
}  // namespace advise
