// Logs of vLLM and SGLang of several versions, and what must not be taken for one.
#include <cstdlib>
#include <filesystem>

#include "tests/import/text_inputs.h"

using namespace advise;
using namespace advise::testing;

namespace {

constexpr const char* kFirstEngine =
    "INFO 05-09 00:49:28 api_server.py:219] vLLM API server version 0.6.3\n"
    "INFO 05-09 00:49:28 llm_engine.py:237] Initializing an LLM engine (v0.6.3) with config: "
    "model='/models/meta/Llama-3.1-8B/', max_seq_len=8192, enforce_eager=True, "
    "enable_prefix_caching=False\n"
    "INFO 05-09 00:49:33 metrics.py:345] Avg prompt throughput: 811.5 tokens/s, Avg generation "
    "throughput: 900.0 tokens/s, Running: 90 reqs, Swapped: 0 reqs, Pending: 30 reqs, GPU KV cache "
    "usage: 99.2%, CPU KV cache usage: 0.0%.\n"
    "WARNING 05-09 00:49:33 scheduler.py:1057] Sequence group 0 is preempted by "
    "PreemptionMode.RECOMPUTE mode because there is not enough KV cache space. "
    "total_cumulative_preemption_cnt=51\n"
    "INFO 05-09 00:49:38 metrics.py:345] Avg prompt throughput: 0.0 tokens/s, Avg generation "
    "throughput: 33.5 tokens/s, Running: 1 reqs, Swapped: 0 reqs, Pending: 0 reqs, GPU KV cache "
    "usage: 0.4%, CPU KV cache usage: 0.0%.\n"
    "INFO 05-09 00:49:38 metrics.py:361] Prefix cache hit rate: GPU: 12.50%, CPU: 0.00%\n";

TEST_CASE("vLLM's first engine: pending requests, preemptions with their count, settings") {
  const Trace trace = ImportedText(kFirstEngine);
  CHECK(trace.kind == "server-log");
  CHECK(trace.producer == "vLLM 0.6.3");
  CHECK_FALSE(trace.HasTimeline());
  const ServerLog& log = trace.server;
  CHECK(log.server == "vLLM");
  CHECK(log.model == "Llama-3.1-8B");
  CHECK(log.longest == 8192);
  CHECK(log.eager == 1);
  CHECK(log.prefix_cache == 0);
  CHECK(log.preemptions == 51);
  CHECK(log.prefix_hits == Approx(0.125));
  REQUIRE(log.samples.size() == 2);
  CHECK(log.has_clock);
  CHECK(log.samples[0].time_s == 0);
  CHECK(log.samples[1].time_s == 5);
  CHECK(log.samples[0].running == 90);
  CHECK(log.samples[0].waiting == 30);
  CHECK(log.samples[0].kv_used == Approx(0.992));
  CHECK(log.samples[0].prompt_rate == Approx(811.5));
  CHECK(log.samples[1].token_rate == Approx(33.5));
}

TEST_CASE("vLLM's second engine: waiting requests, options, the cache's size, several engines") {
  const Trace trace = ImportedText(
      "2026-04-19 12:18:36.356 | (APIServer pid=1) INFO 04-19 10:18:36 [utils.py:233] non-default "
      "args: {'model': 'org/Model-35B', 'max_num_seqs': 32, 'gpu_memory_utilization': 0.8}\n"
      "(EngineCore pid=9) INFO 04-19 10:18:40 [core.py:103] Initializing a V1 LLM engine (v0.19.0) "
      "with config: model='org/Model-35B', max_seq_len=8192, enforce_eager=False, "
      "enable_prefix_caching=True\n"
      "(EngineCore pid=9) INFO 04-19 10:18:50 [kv_cache_utils.py:864] GPU KV cache size: 112,347 "
      "tokens\n"
      "(APIServer pid=1) INFO 04-19 10:19:00 [loggers.py:259] Engine 000: Avg prompt throughput: "
      "1708.0 tokens/s, Avg generation throughput: 646.0 tokens/s, Running: 32 reqs, Waiting: 242 "
      "reqs, GPU KV cache usage: 62.6%, Prefix cache hit rate: 35.3%, External prefix cache hit "
      "rate: 1.0%\n"
      "(APIServer pid=1) INFO 04-19 10:19:00 [loggers.py:259] Engine 001: Avg prompt throughput: "
      "8.0 tokens/s, Avg generation throughput: 6.0 tokens/s, Running: 2 reqs, Waiting: 0 reqs, "
      "GPU KV cache usage: 2.6%, Prefix cache hit rate: 35.4%\n");
  const ServerLog& log = trace.server;
  CHECK(log.version == "0.19.0");
  CHECK(log.model == "Model-35B");
  CHECK(log.most_running == 32);
  CHECK(log.kv_tokens == 112347);
  CHECK(log.eager == 0);
  CHECK(log.prefix_cache == 1);
  CHECK(log.prefix_hits == Approx(0.354));
  CHECK(log.preemptions == -1);  // this engine logs none
  REQUIRE(log.samples.size() == 2);
  CHECK(log.samples[0].engine == 0);
  CHECK(log.samples[1].engine == 1);
  CHECK(log.samples[0].waiting == 242);
}

TEST_CASE("vLLM: graphs that are off are told in other words, too") {
  const std::string line =
      "INFO 06-08 14:52:33 [loggers.py:123] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg "
      "generation throughput: 9.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: "
      "0.1%, Prefix cache hit rate: 0.0%\n";
  CHECK(ImportedText(line).server.eager == -1);
  CHECK(ImportedText("INFO 06-08 14:51:33 [vllm.py:762] Cudagraph is disabled under eager mode\n" +
                     line)
            .server.eager == 1);
  CHECK(ImportedText("WARNING 06-08 14:51:33 [vllm.py:848] Enforce eager set, disabling "
                     "torch.compile and CUDAGraphs.\n" +
                     line)
            .server.eager == 1);
  CHECK(ImportedText("INFO 05-11 08:17:48 api.py:473] args: Namespace(host='0.0.0.0', "
                     "max_num_seqs=256, enforce_eager=True, port=8000)\n" +
                     line)
            .server.most_running == 256);
}

TEST_CASE("vLLM: what engines say together counts only where none speaks for itself") {
  const std::string all =
      "INFO 06-08 14:52:33 [loggers.py:300] 2 Engines Aggregated: Avg prompt throughput: 4.0 "
      "tokens/s, Avg generation throughput: 9.0 tokens/s, Running: 8 reqs, Waiting: 0 reqs, GPU KV "
      "cache usage: 0.1%, Prefix cache hit rate: 0.0%\n";
  REQUIRE(ImportedText(all).server.samples.size() == 1);
  const Trace both = ImportedText(
      all +
      "INFO 06-08 14:52:33 [loggers.py:123] Engine 001: Avg prompt throughput: 4.0 tokens/s, Avg "
      "generation throughput: 9.0 tokens/s, Running: 3 reqs, Waiting: 0 reqs, GPU KV cache usage: "
      "0.1%, Prefix cache hit rate: 0.0%\n");
  REQUIRE(both.server.samples.size() == 1);
  CHECK(both.server.samples[0].running == 3);
}

TEST_CASE("vLLM: a log over New Year goes on") {
  const auto line = [](const char* time) {
    return "INFO " + std::string(time) +
           " metrics.py:345] Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 3.0 "
           "tokens/s, Running: 1 reqs, Swapped: 0 reqs, Pending: 0 reqs, GPU KV cache usage: 0.4%, "
           "CPU KV cache usage: 0.0%\n";
  };
  const Trace trace = ImportedText(line("12-31 23:59:58") + line("01-01 00:00:08"));
  REQUIRE(trace.server.samples.size() == 2);
  CHECK(trace.server.samples[1].time_s == 10);
}

TEST_CASE("SGLang: prefill and decode lines of old and new versions, retractions, settings") {
  const Trace trace = ImportedText(
      "[2025-08-31 00:30:00] server_args=ServerArgs(model_path='Qwen/Qwen2.5-7B', "
      "mem_fraction_static=0.87, max_running_requests=None, disable_radix_cache=False, "
      "disable_cuda_graph=True)\n"
      "[2025-08-31 00:31:00 TP0] max_total_num_tokens=41000, chunked_prefill_size=8192, "
      "max_running_requests=128, context_len=32768\n"
      "[2025-08-31 00:34:45 TP0] Prefill batch. #new-seq: 1, #new-token: 115, #cached-token: 345, "
      "token usage: 0.02, #running-req: 0, #queue-req: 0, \n"
      "[2025-08-31 00:34:46 TP0] Decode batch. #running-req: 128, #token: 35794, token usage: "
      "0.87, cuda graph: False, gen throughput (token/s): 50.98, #queue-req: 384, \n"
      "[2025-08-31 00:34:47 TP0] KV cache pool is full. Retract requests. #retracted_reqs: 3, "
      "#new_tokens_gained: 646, #new_token_ratio: 0.0980 -> 0.3487\n"
      "(SGLangEngine pid=37, ip=10.0.0.1) [2025-08-31 00:34:48 DP1 TP1] Decode batch [812], "
      "#running-req: 3, #full token: 160, full token usage: 0.06, mamba num: 4, mamba usage: 0.61, "
      "cuda graph: True, gen throughput (token/s): 224.10, #queue-req: 0\n");
  CHECK(trace.producer == "SGLang");
  const ServerLog& log = trace.server;
  CHECK(log.model == "Qwen2.5-7B");
  CHECK(log.most_running == 128);
  CHECK(log.kv_tokens == 41000);
  CHECK(log.longest == 32768);
  CHECK(log.eager == 1);
  CHECK(log.prefix_cache == 1);
  CHECK(log.preemptions == 3);
  CHECK(log.prefix_hits == Approx(0.75));
  REQUIRE(log.samples.size() == 3);
  CHECK(log.samples[0].graph == -1);
  CHECK(log.samples[1].running == 128);
  CHECK(log.samples[1].waiting == 384);
  CHECK(log.samples[1].kv_used == Approx(0.87));
  CHECK(log.samples[1].graph == 0);
  CHECK(log.samples[2].engine == 1);
  CHECK(log.samples[2].kv_used == Approx(0.61));
  CHECK(log.samples[2].graph == 1);
  CHECK(log.samples[2].time_s == 3);
}

TEST_CASE("SGLang: its first versions wrote no time") {
  const Trace trace = ImportedText(
      "[gpu=0] Decode batch. #running-req: 12, #token: 2000, token usage: 0.10, gen throughput "
      "(token/s): 300.00, #queue-req: 0\n");
  REQUIRE(trace.server.samples.size() == 1);
  CHECK_FALSE(trace.server.has_clock);
  CHECK(trace.server.samples[0].time_s == -1);
}

TEST_CASE("a server that wrote no line about requests: its settings only, or an error") {
  const Trace trace = ImportedText(
      "(APIServer pid=5) INFO 11-03 05:51:44 [api_server.py:1839] vLLM API server version 0.11.0\n"
      "WARNING 11-03 05:51:45 [vllm.py:848] Enforce eager set, disabling torch.compile\n");
  CHECK(trace.server.samples.empty());
  CHECK(trace.server.eager == 1);
  CHECK(Said(trace, "only its settings were read") == 1);
}

TEST_CASE("NCCL's lines in a server's log are read as well") {
  const Trace trace = ImportedText(
      std::string(kFirstEngine) +
      "n1:1:1 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.\n"
      "n1:1:1 [0] NCCL INFO comm 0x1 rank 0 nRanks 2 nNodes 1 localRanks 2 localRank 0 MNNVL 0\n"
      "n1:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via SHM/direct\n");
  CHECK(trace.kind == "server-log");
  CHECK(trace.server.samples.size() == 2);
  CHECK(trace.nccl.channels.size() == 1);
}

TEST_CASE("cut lines, odd numbers and terminal colors do no harm") {
  const std::string text(kFirstEngine);
  for (std::size_t length = 200; length < text.size(); length += 7) {
    const TempDir dir;
    std::ofstream(dir.File("a.log"), std::ios::binary) << text.substr(0, length);
    (void)ImportReport(dir.File("a.log"), {});
  }
  const Trace odd = ImportedText(
      "\x1b[32mINFO\x1b[0m 06-08 14:52:33 [loggers.py:123] Engine 99999999999999999999: Avg prompt "
      "throughput: nan tokens/s, Avg generation throughput: -- tokens/s, Running: 1e400 reqs, "
      "Waiting:  reqs, GPU KV cache usage: %, Prefix cache hit rate: x%\n");
  REQUIRE(odd.server.samples.size() == 1);
  CHECK(odd.server.samples[0].prompt_rate == -1);
  CHECK(odd.server.samples[0].kv_used == -1);
}

TEST_CASE("pages, programs and traces that quote such lines are not logs of a server") {
  const std::string line =
      "INFO 06-08 14:52:33 [loggers.py:123] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg "
      "generation throughput: 9.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: "
      "0.1%, Prefix cache hit rate: 0.0%";
  const auto kind = [](const std::string& content) {
    const TempDir dir;
    std::ofstream(dir.File("input"), std::ios::binary) << content;
    return std::string(ImporterNameOf(dir.File("input")));
  };
  CHECK(kind(line + "\n") == "server-log");
  CHECK(kind("# Serving\n\nThe log shows:\n\n" + line + "\n") != "server-log");
  CHECK(kind("{\"log\": \"" + line + "\\n\"}\n") != "server-log");
  CHECK(
      kind("The server logs its Running: and Waiting: reqs, and Avg prompt throughput.\n").empty());
  CHECK(kind("[2025-08-31 00:34:46] Decode batch of JPEG files: 128\n").empty());
  CHECK(kind("epoch 3: Running: 12 reqs, loss 0.3\n").empty());
}

TEST_CASE("no file of another tool is taken for the log of a server") {
  namespace fs = std::filesystem;
  const char* root = std::getenv("ADVISE_TRACES");
  const fs::path traces =
      root != nullptr ? fs::path(root) : fs::path(ADVISE_SOURCE_DIR) / ".." / "shared" / "traces";
  if (!fs::is_directory(traces)) return;
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(traces)) {
    if (!entry.is_regular_file()) continue;
    INFO(entry.path().string());
    CHECK(ImporterNameOf(entry.path().string()) != "server-log");
    ++files;
  }
  CHECK(files > 50);
}

}  // namespace
