// What a server's own log says of its load: how many requests ran and waited, and what kept those
// that waited from running.
#pragma once

#include <cstddef>
#include <string>

#include "engine/knowledge/knowledge.h"
#include "engine/trace/tables.h"

namespace advise {

// Requests of one engine of several, running and waiting: means over all its lines.
struct EngineLoad {
  int engine = -1;
  double requests = -1;
  double waiting = -1;
};

// Means over the lines at which the server had requests; of several engines that log apart, the sum
// of their means. -1: the log does not say.
struct ServerLoad {
  std::string server, version, model;
  std::size_t lines = 0;  // with requests
  double seconds = -1;    // from the first to the last line
  double load = -1;       // time with requests, over all of it
  double running = -1, waiting = -1;
  double most_running = -1, most_waiting = -1;
  double queued = -1;  // lines at which requests waited
  // Lines at which requests waited although there was room: as many ran as may run at once, and the
  // cache was not nearly full.
  double held_by_limit = -1;
  double limit = -1;  // how many that were
  bool limit_is_set = false;
  // Lines at which requests waited and the cache was nearly full, or could not take one more that
  // is as large as those that ran.
  double held_by_cache = -1;
  double kv_used = -1, kv_peak = -1;
  double kv_tokens = -1, longest = -1;
  double preemptions = -1;
  double preemptions_per_minute = -1;
  double prefix_hits = -1;
  int prefix_cache = -1;                     // 0: turned off
  int eager = -1;                            // 1: graphs were turned off
  double without_graph = -1;                 // lines of decoding that used no graph
  double prompt_rate = -1, token_rate = -1;  // tokens per second, of all engines
  int engines = 1;
  EngineLoad fullest, emptiest;  // of several engines
  // Median time of steps with requests, on the host and on the GPU, of logs of single steps.
  double host_step_s = -1, gpu_step_s = -1;
  double requests = -1;       // answered since the server was started
  double prompt_tokens = -1;  // of them
  double new_tokens = -1;     // that were generated
  ServerLatency queue, first_token, token;
  bool empty() const { return server.empty(); }
};

// O(lines log lines).
ServerLoad SummarizeServer(const ServerLog& log, const Knowledge& knowledge);

}  // namespace advise
