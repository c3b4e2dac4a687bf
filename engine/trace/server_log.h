// What a server of language models logs of itself: its settings, and lines about its requests that
// come every few seconds.
#pragma once

#include <string>
#include <vector>

namespace advise {

// One such line. -1: it does not say.
struct ServerSample {
  double time_s = -1;                        // since the first line
  int engine = 0;                            // of a server with several
  double prompt_rate = -1, token_rate = -1;  // tokens per second that were read and generated
  double running = -1, waiting = -1;         // requests
  double kv_used = -1;                       // share of the key-value cache
  int graph = -1;                            // 1: decoded by a CUDA graph, 0: without one
  // Of a line about one step: how long it took on the host, and how long the GPU worked for the
  // step before.
  double host_step_s = -1, gpu_step_s = -1;
};

// How long something took, over all requests since the server was started. -1: it is not said.
struct ServerLatency {
  double count = 0;
  double mean_s = -1, median_s = -1, p95_s = -1;
};

// -1: the log does not say.
struct ServerLog {
  std::string server;                 // "vLLM", "SGLang"; "" without a log
  std::string version;                // "0.11.0"
  std::string model;                  // without its folder
  std::vector<ServerSample> samples;  // in the order of the log
  bool has_clock = false;
  double preemptions = -1;    // requests that were put back because the cache was full
  double prefix_hits = -1;    // share of the prompts' tokens that were in the cache already
  int eager = -1;             // 1: CUDA graphs were turned off
  int prefix_cache = -1;      // 0: turned off
  double most_running = -1;   // requests that may run at once
  double kv_tokens = -1;      // that the key-value cache holds
  double longest = -1;        // tokens of a request
  double requests = -1;       // that were answered
  double prompt_tokens = -1;  // of all requests
  double new_tokens = -1;     // that were generated
  ServerLatency queue;        // until a request began to run
  ServerLatency first_token;  // until its first token, with the queue
  ServerLatency token;        // each further token
  bool empty() const { return server.empty(); }
};

}  // namespace advise
