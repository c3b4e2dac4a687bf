// Pages of metrics of vLLM and SGLang, the log of TensorRT-LLM's steps, and the log of the kernel.
#include "tests/import/text_inputs.h"

using namespace advise;
using namespace advise::testing;

namespace {

constexpr const char* kVllmPage =
    "# HELP python_info Python platform information\n# TYPE python_info gauge\n"
    "python_info{implementation=\"CPython\",major=\"3\"} 1.0\n"
    "# HELP vllm:num_requests_running Number of requests in model execution batches.\n"
    "# TYPE vllm:num_requests_running gauge\n"
    "vllm:num_requests_running{engine=\"0\",model_name=\"org/Model-8B\"} 40.0\n"
    "vllm:num_requests_running{engine=\"1\",model_name=\"org/Model-8B\"} 42.0\n"
    "vllm:num_requests_waiting{engine=\"0\",model_name=\"org/Model-8B\"} 7.0\n"
    "vllm:num_requests_waiting{engine=\"1\",model_name=\"org/Model-8B\"} 0.0\n"
    "vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"org/Model-8B\"} 0.91\n"
    "vllm:kv_cache_usage_perc{engine=\"1\",model_name=\"org/Model-8B\"} 0.4\n"
    "vllm:num_preemptions_total{engine=\"0\"} 12.0\nvllm:num_preemptions_total{engine=\"1\"} 3.0\n"
    "vllm:prefix_cache_queries_total{engine=\"0\"} 1000.0\n"
    "vllm:prefix_cache_hits_total{engine=\"0\"} 250.0\n"
    "vllm:prefix_cache_hits_created{engine=\"0\"} 1.79e+09\n"
    "vllm:request_success_total{engine=\"0\",finished_reason=\"stop\"} 90.0\n"
    "vllm:request_success_total{engine=\"0\",finished_reason=\"length\"} 10.0\n"
    "vllm:cache_config_info{block_size=\"16\",enable_prefix_caching=\"True\",num_gpu_blocks="
    "\"1000\"} 1.0\n"
    "vllm:request_queue_time_seconds_sum{engine=\"0\"} 80.0\n"
    "vllm:request_queue_time_seconds_count{engine=\"0\"} 100.0\n"
    "vllm:time_to_first_token_seconds_bucket{engine=\"0\",le=\"0.5\"} 20.0\n"
    "vllm:time_to_first_token_seconds_bucket{engine=\"0\",le=\"1.0\"} 60.0\n"
    "vllm:time_to_first_token_seconds_bucket{engine=\"0\",le=\"2.0\"} 90.0\n"
    "vllm:time_to_first_token_seconds_bucket{engine=\"0\",le=\"+Inf\"} 100.0\n"
    "vllm:time_to_first_token_seconds_sum{engine=\"0\"} 110.0\n"
    "vllm:time_to_first_token_seconds_count{engine=\"0\"} 100.0\n";

TEST_CASE("a page of vLLM: what runs now, and what happened since the start") {
  const Trace trace = ImportedText(kVllmPage);
  CHECK(trace.kind == "server-page");
  CHECK_FALSE(trace.HasTimeline());
  const ServerLog& log = trace.server;
  CHECK(log.server == "vLLM");
  CHECK(log.model == "Model-8B");
  REQUIRE(log.samples.size() == 2);
  CHECK(log.samples[0].running == 40);
  CHECK(log.samples[0].waiting == 7);
  CHECK(log.samples[0].kv_used == Approx(0.91));
  CHECK(log.samples[1].engine == 1);
  CHECK(log.samples[1].running == 42);
  CHECK_FALSE(log.has_clock);
  CHECK(log.preemptions == 15);
  CHECK(log.prefix_hits == Approx(0.25));
  CHECK(log.prefix_cache == 1);
  CHECK(log.kv_tokens == 16000);
  CHECK(log.requests == 100);
  CHECK(log.queue.mean_s == Approx(0.8));
  CHECK(log.queue.median_s == -1);
  CHECK(log.first_token.mean_s == Approx(1.1));
  CHECK(log.first_token.median_s == Approx(0.5 + 0.5 * 30 / 40));
  CHECK(log.first_token.p95_s == 2);  // in the bucket that has no end
}

TEST_CASE("several pages behind one another: a sample each, totals of the last") {
  std::string later = kVllmPage;
  const std::string before = "num_preemptions_total{engine=\"0\"} 12.0";
  later.replace(later.find(before), before.size(), "num_preemptions_total{engine=\"0\"} 20.0");
  const Trace trace = ImportedText(kVllmPage + later);
  REQUIRE(trace.server.samples.size() == 4);
  CHECK(trace.server.samples[3].running == 42);
  CHECK(trace.server.preemptions == 23);
  CHECK(trace.server.requests == 100);
}

TEST_CASE("a page of SGLang: ranks of an engine count once") {
  const Trace trace = ImportedText(
      "# TYPE sglang:num_running_reqs gauge\n"
      "sglang:num_running_reqs{model_name=\"m\",pp_rank=\"0\",tp_rank=\"0\"} 30.0\n"
      "sglang:num_running_reqs{model_name=\"m\",pp_rank=\"0\",tp_rank=\"1\"} 30.0\n"
      "sglang:num_queue_reqs{model_name=\"m\",tp_rank=\"0\"} 4.0\n"
      "sglang:token_usage{model_name=\"m\",tp_rank=\"0\"} 0.72\n"
      "sglang:gen_throughput{model_name=\"m\",tp_rank=\"0\"} 812.5\n"
      "sglang:num_retracted_requests_total{tp_rank=\"0\"} 9.0\n"
      "sglang:num_retracted_requests_total{tp_rank=\"1\"} 9.0\n"
      "sglang:num_retracted_reqs{tp_rank=\"0\"} 1.0\n"
      "sglang:prompt_tokens_total{model_name=\"m\"} 4000.0\n"
      "sglang:cached_tokens_total{model_name=\"m\"} 1000.0\n"
      "sglang:max_total_num_tokens{model_name=\"m\"} 120000.0\n"
      "sglang:inter_token_latency_seconds_sum{model_name=\"m\"} 30.0\n"
      "sglang:inter_token_latency_seconds_count{model_name=\"m\"} 1000.0\n");
  const ServerLog& log = trace.server;
  CHECK(trace.kind == "server-page");
  CHECK(log.server == "SGLang");
  REQUIRE(log.samples.size() == 1);
  CHECK(log.samples[0].running == 30);
  CHECK(log.samples[0].waiting == 4);
  CHECK(log.samples[0].token_rate == Approx(812.5));
  CHECK(log.preemptions == 9);
  CHECK(log.prefix_hits == Approx(0.25));
  CHECK(log.kv_tokens == 120000);
  CHECK(log.token.mean_s == Approx(0.03));
}

TEST_CASE("damaged pages: lines that were cut short are told, a page without values is refused") {
  const Trace trace =
      ImportedText("vllm:num_requests_running{engine=\"0\"} 3.0\nvllm:num_requests_w");
  CHECK(trace.server.samples.size() == 1);
  CHECK(Said(trace, "cut short") == 1);
  CHECK(Refused("# HELP vllm:num_requests_running Number of requests\n"
                "# TYPE vllm:num_requests_running gauge\n")
            .find("holds no value of the server") != std::string::npos);
  CHECK(ImportedText("vllm:num_requests_running{engine=\"0\"} NaN\n"
                     "vllm:num_requests_waiting{engine=\"0\"} 0\n")
            .server.samples.size() == 1);
}

TEST_CASE("steps of TensorRT-LLM: requests, cache, and both parts of a step") {
  const auto step = [](int i, const std::string& middle, const std::string& device) {
    return "[01/02/2026-14:11:4" + std::to_string(i) +
           "] [TRT-LLM] [I] [_torch][RANK 0] iter = " + std::to_string(i) +
           ", global_rank = 0, rank = 0, " + middle +
           "host_step_time = 21.5ms, prev_device_step_time = " + device +
           ", timestamp = 2026-01-02 14:11:4" + std::to_string(i) +
           ", states = {'num_ctx_requests': 0, 'num_ctx_tokens': 0, 'num_generation_tokens': 8}\n";
  };
  const std::string now =
      "num_scheduled_requests = 8, kv_cache_util = 0.310, "
      "currank_total_requests = 0/1, ";
  const Trace trace = ImportedText("Loading weights\n" + step(1, now, "N/A") +
                                   step(2, now, "13.25ms") + "done\n" + step(3, now, "13.25ms"));
  CHECK(trace.kind == "server-log");
  const ServerLog& log = trace.server;
  CHECK(log.server == "TensorRT-LLM");
  REQUIRE(log.samples.size() == 3);
  CHECK(log.has_clock);
  CHECK(log.samples[2].time_s == 2);
  CHECK(log.samples[1].running == 8);
  CHECK(log.samples[1].kv_used == Approx(0.31));
  CHECK(log.samples[1].host_step_s == Approx(0.0215));
  CHECK(log.samples[1].gpu_step_s == Approx(0.01325));
  CHECK(log.samples[0].gpu_step_s == -1);

  const std::string before =
      "iter = 4, global_rank = 0, rank = 0, currank_total_requests = 1/1, "
      "elapsed_time = 0.0124s, timestamp = 2025-04-02 10:00:01, "
      "num_scheduled_requests: 5, states = {'num_ctx_requests': 1}\n";
  CHECK(ImportedText(before).server.samples.at(0).running == 5);
  // Other ranks work on the same step.
  std::string other = before;
  other.replace(other.find(" rank = 0"), 9, " rank = 1");
  CHECK(ImportedText(before + other).server.samples.size() == 1);
}

TEST_CASE("statistics of TensorRT-LLM's C++ runtime") {
  const Trace trace = ImportedText(
      "[TensorRT-LLM][INFO] {\"Active Request Count\":249,\"Context Requests\":8,\"Free KV cache "
      "blocks\":0,\"Generation Requests\":231,\"Iteration Counter\":90,\"Max KV cache "
      "blocks\":2448,\"Max Request Count\":256,\"MicroBatch ID\":0,\"Paused Requests\":2,"
      "\"Scheduled Requests\":239,\"Timestamp\":\"12-13-2023 14:55:14\",\"Tokens per KV cache "
      "block\":128,\"Total Context Tokens\":6904,\"Used KV cache blocks\":2448}\n");
  const ServerLog& log = trace.server;
  REQUIRE(log.samples.size() == 1);
  CHECK(log.samples[0].running == 239);
  CHECK(log.samples[0].waiting == 10);
  CHECK(log.samples[0].kv_used == 1);
  CHECK(log.preemptions == 2);
  CHECK(log.most_running == 256);
  CHECK(log.kv_tokens == 2448 * 128);
  CHECK(log.has_clock);
}

TEST_CASE("the kernel's log: errors of GPUs, and programs that it ended") {
  const Trace trace = ImportedText(
      "[Fri Aug 30 11:11:22 2024] nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected\n"
      "[Fri Aug 30 11:43:09 2024] NVRM: GPU at PCI:0000:cb:00: GPU-b850f46d\n"
      "[Fri Aug 30 11:43:09 2024] NVRM: Xid (PCI:0000:cb:00): 79, pid='<unknown>', GPU has fallen\n"
      "Nov 03 01:24:26 n1 kernel: NVRM: Xid (0000:03:00): 14, Channel 00000001\n"
      "Nov 03 01:25:26 n1 kernel: Memory cgroup out of memory: Killed process 42 (python) total\n"
      "[ 12.3] NVRM: Xid (PCI:0000:cb:00): not a number\n");
  CHECK(trace.kind == "kernel-log");
  const Monitor& monitor = trace.monitor;
  CHECK(monitor.gpus.empty());
  REQUIRE(monitor.errors.size() == 2);
  CHECK(monitor.errors[0].gpu == "0000:cb:00");
  CHECK(monitor.errors[0].code == 79);
  CHECK(monitor.errors[1].code == 14);
  CHECK(monitor.killed == std::vector<std::string>{"python"});
  CHECK(ImporterNameOf("/dev/null").empty());
}

}  // namespace
