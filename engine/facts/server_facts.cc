// server.*: what a server of language models logs of itself.
#include "engine/facts/catalog.h"
#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

constexpr const char* kNoServerLog = "no log of a model server was given, or it does not hold this";
constexpr const char* kServerTag = "server-log";

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
  server.Add("server.name", "name", "The model server whose log was given: vLLM or SGLang.",
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
}

}  // namespace advise::facts
