// Chrome traces as the profilers of JAX and TensorFlow write them.
#include "tests/import/text_inputs.h"

namespace advise {
namespace {

using testing::ImportedText;
using testing::Refused;
using testing::Said;

std::string JaxName(const char* what, int pid, int tid, const std::string& name) {
  return R"({"ph":"M","pid":)" + std::to_string(pid) +
         (tid < 0 ? "" : ",\"tid\":" + std::to_string(tid)) + R"(,"name":")" + what +
         R"(","args":{"name":")" + name + "\"}},\n";
}

std::string JaxEvent(int pid, int tid, const std::string& when, const std::string& name,
                     const std::string& args) {
  return R"({"ph":"X","pid":)" + std::to_string(pid) + ",\"tid\":" + std::to_string(tid) + "," +
         when + R"(,"name":")" + name + "\",\"args\":{" + args + "}},\n";
}

std::string JaxFile(const std::string& events) {
  return "{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true},\n\"traceEvents\":[\n" +
         JaxName("process_name", 1, -1, "/device:GPU:1") +
         R"({"ph":"M","pid":1,"name":"process_sort_index","args":{"sort_index":1}},)" + "\n" +
         JaxName("thread_name", 1, 13, "Stream #13(MemcpyH2D,Compute)") +
         JaxName("thread_name", 1, 99, "XLA Modules") +
         JaxName("process_name", 701, -1, "/host:CPU") + JaxName("thread_name", 701, 5, "python") +
         events + "{}]}";
}

const std::string kKernel = JaxEvent(
    1, 13, R"("ts":20.5,"dur":10.25)", "loop_add_fusion",
    R"("correlation_id":"77","context_id":"$$1","hlo_module":"jit_step","hlo_op":"add.1",)"
    R"("kernel_details":"regs:32 static_shared:16 dynamic_shared:0 grid:4,2,1 block:256,1,1 occ_pct:100")");

TEST_CASE("a trace of JAX's profiler becomes GPU work, calls and ranges") {
  const Trace trace = ImportedText(
      JaxFile(kKernel +
              JaxEvent(1, 13, R"("ts":10,"dur":5)", "MemcpyH2D",
                       R"("correlation_id":"76","memcpy_details":)"
                       R"("kind_src:pageable kind_dst:device size:4096 dest:0 async:1")") +
              JaxEvent(1, 13, R"("ts":40,"dur":1)", "Memset",
                       R"("Memset_details":"kind:device size:64 async:1")") +
              JaxEvent(1, 13, R"("ts":50,"dur":2)", "gemm_fusion_dot_3",
                       R"("correlation_id":"78","cuda_graph_id":"12","cuda_graph_node_id":"3",)"
                       R"("kernel_details":"regs:168 grid:8,1,1 block:128,1,1")") +
              JaxEvent(1, 99, R"("ts":10,"dur":60)", "jit_step(1)", "") +
              JaxEvent(701, 5, R"("ts":5,"dur":60.5)", "train", R"("step_num":"3","_r":"1")") +
              JaxEvent(701, 5, R"("ts":6,"dur":50)", "PjitFunction(step)", "") +
              JaxEvent(701, 5, R"("ts":7,"dur":50)", "$train.py:12 step", "") +
              JaxEvent(701, 5, R"("ts":18,"dur":1.5)", "cuLaunchKernel",
                       R"("correlation_id":"77","device_id":"1")") +
              JaxEvent(701, 5, R"("ts":45,"dur":2)", "cuGraphLaunch (CudaGraph:12)",
                       R"("correlation_id":"78")") +
              JaxEvent(701, 5, R"("ts":9,"dur":1)", "custom call", "")),
      "node.trace.json");
  CHECK(trace.kind == "jax-trace");
  CHECK(trace.producer == "XProf (JAX, TensorFlow)");
  REQUIRE(trace.devices.size() == 1);
  CHECK(trace.devices[0].ordinal == 1);
  REQUIRE(trace.streams.size() == 1);
  CHECK(trace.streams[0].id == 13);

  REQUIRE(trace.ops.size() == 4);
  CHECK(trace.ops.start == std::vector<Nanos>{10000, 20500, 40000, 50000});
  CHECK(trace.ops.end == std::vector<Nanos>{15000, 30750, 41000, 52000});
  CHECK(trace.ops.kind ==
        std::vector<OpKind>{OpKind::kCopy, OpKind::kKernel, OpKind::kMemset, OpKind::kKernel});
  CHECK(trace.ops.in_graph == std::vector<std::uint8_t>{0, 0, 0, 1});
  const KernelShape& shape = trace.shapes[trace.ops.detail[1]];
  CHECK(trace.strings[shape.name] == "loop_add_fusion");
  CHECK(shape.grid == std::array<std::uint32_t, 3>{4, 2, 1});
  CHECK(shape.block == std::array<std::uint32_t, 3>{256, 1, 1});
  CHECK(shape.registers == 32);
  CHECK(shape.static_shared_bytes == 16);
  REQUIRE(trace.copies.size() == 1);
  CHECK(trace.copies.bytes[0] == 4096);
  CHECK(trace.copies.direction[0] == CopyDirection::kHostToDevice);
  CHECK(trace.copies.source[0] == MemoryKind::kPageable);
  CHECK(trace.copies.target[0] == MemoryKind::kDevice);
  CHECK(trace.memsets.bytes == std::vector<std::int64_t>{64});

  REQUIRE(trace.calls.size() == 2);
  CHECK(trace.strings[trace.calls.name[0]] == "cuLaunchKernel");
  CHECK(trace.strings[trace.calls.name[1]] == "cuGraphLaunch");
  CHECK(trace.ops.call == std::vector<std::uint32_t>{kNone, 0, kNone, 1});
  REQUIRE(trace.ranges.start.size() == 3);
  CHECK(trace.strings[trace.ranges.name[0]] == "step 3 (train)");
  CHECK(trace.strings[trace.ranges.name[1]] == "PjitFunction(step)");
  CHECK(trace.strings[trace.ranges.name[2]] == "custom call");
  CHECK(trace.strings[trace.threads[trace.calls.thread[0]].name] == "python");
}

TEST_CASE("copies between GPUs of one process name both") {
  const Trace trace = ImportedText(
      JaxFile(
          JaxName("process_name", 2, -1, "/device:GPU:0") +
          JaxName("thread_name", 2, 7, "Stream #7(MemcpyP2P)") +
          JaxEvent(2, 7, R"("ts":1,"dur":2)", "MemcpyP2P",
                   R"("memcpy_details":"kind_src:device kind_dst:device size:8 dest:1 async:1")")),
      "two.trace.json");
  REQUIRE(trace.copies.size() == 1);
  CHECK(trace.copies.direction[0] == CopyDirection::kPeerToPeer);
  REQUIRE(trace.copies.peer[0] != kNone);
  CHECK(trace.devices[trace.copies.peer[0]].ordinal == 1);
}

TEST_CASE("a trace of JAX that was cut off is read as far as it is whole") {
  const std::string whole = JaxFile(kKernel + kKernel);
  const Trace cut = ImportedText(whole.substr(0, whole.size() - 40), "cut.trace.json");
  CHECK(cut.ops.size() == 1);
  CHECK(Said(cut, "the file is cut off") == 1);
  CHECK(Refused(JaxFile(""), "none.trace.json") == "the profiler recorded no GPU work");
  const std::string head = JaxFile("");
  CHECK(Refused(head.substr(0, head.size() - 5), "head.trace.json") ==
        "the file is cut off before GPU work");
}

TEST_CASE("events of JAX without times are dropped and counted") {
  const Trace trace = ImportedText(JaxFile(kKernel + JaxEvent(1, 13, R"("dur":1)", "fusion", "") +
                                           JaxEvent(1, 13, R"("ts":-5,"dur":1)", "fusion", "")),
                                   "times.trace.json");
  CHECK(trace.ops.size() == 1);
  CHECK(Said(trace, "records without times or a GPU were dropped") == 2);
}

}  // namespace
}  // namespace advise
