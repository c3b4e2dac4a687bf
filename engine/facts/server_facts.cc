// server.*: what a server of language models logs of itself.
#include "engine/facts/catalog.h"
#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

constexpr const char* kNoServerLog = "no log of a model server was given, or it does not hold this";
constexpr const char* kServerTag = "server-log";

// How long requests and steps took. Times are those since the server was started.
void DeclareServerTimes(Catalog* catalog) {
  using S = ServerLoad;
  auto& server = catalog->Of(&Analysis::server);
  server.AlsoWithoutTimeline();
  const auto time = [&](const char* name, auto value, const char* definition) {
    server.Add(name, "ns", definition,
               UnlessNegative(
                   [value](const S& s) {
                     const double seconds = value(s);
                     return seconds < 0 ? -1 : seconds * kNanosPerSecond;
                   },
                   kNoServerLog, kServerTag));
  };
  server.Add("server.requests", "count", "Requests that the server answered, by its page.",
             UnlessNegative(&S::requests, kNoServerLog, kServerTag));
  time(
      "server.queue.mean", [](const S& s) { return s.queue.mean_s; },
      "Mean time for which requests waited before they ran, by the server's page.");
  time(
      "server.first_token.mean", [](const S& s) { return s.first_token.mean_s; },
      "Mean time to the first token, by the server's page.");
  time(
      "server.first_token.median", [](const S& s) { return s.first_token.median_s; },
      "Median time to the first token, by the server's page.");
  time(
      "server.first_token.p95", [](const S& s) { return s.first_token.p95_s; },
      "Time to the first token that 95 % of the requests stay below, by the server's page.");
  time(
      "server.token.median", [](const S& s) { return s.token.median_s; },
      "Median time per further token, by the server's page.");
  time(
      "server.token.p95", [](const S& s) { return s.token.p95_s; },
      "Time per further token that 95 % of them stay below, by the server's page.");
  time(
      "server.step.host", [](const S& s) { return s.host_step_s; },
      "Median time of the host's part of a step with requests, by the server's log.");
  time(
      "server.step.gpu", [](const S& s) { return s.gpu_step_s; },
      "Median time of the GPU's part of a step with requests, by the server's log.");
}

void DeclareEngines(Catalog* catalog) {
  using S = ServerLoad;
  auto& server = catalog->Of(&Analysis::server);
  server.AlsoWithoutTimeline();
  server.Add("server.engines", "count", "Engines whose lines the server's log holds.", &S::engines);
  const auto add = [&](const char* name, const char* definition, auto value) {
    server.Add(name, "count", definition,
               If([](const S& s) { return s.engines > 1 && s.emptiest.requests >= 0; }, value,
                  "the log is of one engine", ""));
  };
  add("server.fullest.engine", "Number of the engine with most requests, of several.",
      [](const S& s) { return s.fullest.engine; });
  add("server.fullest.requests",
      "Requests that ran or waited in the engine with most of them: mean over its lines.",
      [](const S& s) { return s.fullest.requests; });
  add("server.fullest.waiting",
      "Requests that waited in the engine with most requests: mean over its lines.",
      [](const S& s) { return s.fullest.waiting; });
  add("server.emptiest.engine", "Number of the engine with fewest requests, of several.",
      [](const S& s) { return s.emptiest.engine; });
  add("server.emptiest.requests",
      "Requests that ran or waited in the engine with fewest of them: mean over its lines.",
      [](const S& s) { return s.emptiest.requests; });
}

}  // namespace

void DeclareServerFacts(Catalog* catalog) {
  using S = ServerLoad;
  auto& server = catalog->Of(&Analysis::server);
  server.AlsoWithoutTimeline();
  const auto add = [&](const char* name, const char* unit, auto value, const char* definition) {
    server.Add(name, unit, definition, UnlessNegative(value, kNoServerLog, kServerTag));
  };
  const auto flag = [&](const char* name, int S::*value, const char* definition) {
    server.Add(name, "flag", definition,
               If([value](const S& s) { return s.*value >= 0; },
                  [value](const S& s) { return s.*value > 0; }, kNoServerLog, kServerTag));
  };
  server.Add("server.lines", "count",
             "Lines of a model server's log about its requests at which it had some; 0 without "
             "such a log.",
             &S::lines);
  server.Add("server.name", "name",
             "The model server whose log was given: vLLM, SGLang or TensorRT-LLM.",
             UnlessEmpty(&S::server, kNoServerLog, kServerTag));
  server.Add("server.model", "name", "The model that the server's log names.",
             UnlessEmpty(&S::model, kNoServerLog, kServerTag));
  add("server.seconds", "num", &S::seconds,
      "Length in seconds of the server's log, from the first to the last line about requests.");
  add("server.load", "share", &S::load,
      "Time in which the server had requests, over the time of its log.");
  add("server.running.mean", "count", &S::running,
      "Requests that ran at once, by the server's log: mean while it had some.");
  add("server.running.most", "count", &S::most_running,
      "Most requests that ran at once, by the server's log.");
  add("server.waiting.mean", "count", &S::waiting,
      "Requests that waited to run, by the server's log: mean while it had some.");
  add("server.waiting.most", "count", &S::most_waiting,
      "Most requests that waited to run, by the server's log.");
  add("server.waiting.share", "share", &S::queued,
      "Lines of the server's log at which requests waited, over those at which it had some.");
  add("server.held.by_limit", "share", &S::held_by_limit,
      "Lines of the server's log at which requests waited, as many ran as may run at once, and the "
      "key-value cache had room, over those at which it had requests.");
  add("server.held.by_cache", "share", &S::held_by_cache,
      "Lines of the server's log at which requests waited and the key-value cache was nearly full "
      "or too full for one more, over those at which it had requests.");
  add("server.limit.requests", "count", &S::limit,
      "Requests that may run at once: as the server's log says, or as many as ran whenever others "
      "waited.");
  server.Add("server.limit.set", "flag",
             "Whether the server's log says how many requests may run at once.",
             If([](const S& load) { return load.limit >= 0; }, &S::limit_is_set, kNoServerLog,
                kServerTag));
  add("server.cache.used", "share", &S::kv_used,
      "Key-value cache in use, by the server's log: mean while it had requests.");
  add("server.cache.peak", "share", &S::kv_peak,
      "Most of the key-value cache in use, by the server's log.");
  add("server.cache.tokens", "count", &S::kv_tokens,
      "Tokens that the key-value cache holds, by the server's log.");
  add("server.longest", "count", &S::longest,
      "Most tokens that a request may have, by the server's log.");
  add("server.preempted.count", "count", &S::preemptions,
      "Requests that the server put back because the key-value cache was full. The log of newer "
      "versions of vLLM does not say.");
  add("server.preempted.rate", "num", &S::preemptions_per_minute,
      "Requests that the server put back per minute because the key-value cache was full.");
  add("server.prefix.hits", "share", &S::prefix_hits,
      "Tokens of prompts that the key-value cache held already, over all tokens of prompts, by the "
      "server's log.");
  flag("server.prefix.on", &S::prefix_cache, "Whether the server keeps prefixes of prompts.");
  flag("server.eager", &S::eager, "Whether CUDA graphs are turned off in the server.");
  add("server.without_graph", "share", &S::without_graph,
      "Lines of the server's log about decoding that say that no CUDA graph was used.");
  add("server.prompt_rate", "num", &S::prompt_rate,
      "Tokens of prompts per second that the server read, by its log: mean while it had requests.");
  add("server.token_rate", "num", &S::token_rate,
      "Tokens per second that the server generated, by its log: mean while it had requests.");
  DeclareServerTimes(catalog);
  DeclareEngines(catalog);
}

}  // namespace advise::facts
