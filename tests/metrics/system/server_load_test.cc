// What is worked out of a server's own log: load, and what requests that wait are held by.
#include "engine/metrics/system/server_load.h"

#include <catch2/catch.hpp>
#include <functional>

#include "tests/support/analyzed.h"

namespace advise {
namespace {

// A line every ten seconds.
ServerLog LogOf(int lines, const std::function<void(int, ServerSample*)>& fill) {
  ServerLog log;
  log.server = "vLLM";
  log.has_clock = true;
  for (int i = 0; i < lines; ++i) {
    ServerSample sample;
    sample.time_s = 10.0 * i;
    sample.running = 10;
    sample.waiting = 0;
    sample.kv_used = 0.3;
    sample.prompt_rate = 100;
    sample.token_rate = 400;
    fill(i, &sample);
    log.samples.push_back(sample);
  }
  return log;
}

ServerLoad LoadOf(const ServerLog& log) { return SummarizeServer(log, ShippedKnowledge()); }

TEST_CASE("means are of the lines with requests") {
  const ServerLoad load = LoadOf(LogOf(20, [](int i, ServerSample* s) {
    if (i % 2 == 1)
      *s = ServerSample{.time_s = s->time_s, .running = 0, .waiting = 0, .kv_used = 0};
  }));
  CHECK(load.lines == 10);
  CHECK(load.running == 10);
  CHECK(load.waiting == 0);
  CHECK(load.kv_used == Approx(0.3));
  CHECK(load.token_rate == 400);
  CHECK(load.seconds == 190);
  CHECK(load.load == Approx(90.0 / 190));
  CHECK(load.queued == 0);
}

TEST_CASE("what runs in several engines adds up, and the fullest is told from the emptiest") {
  const ServerLoad load = LoadOf(LogOf(40, [](int i, ServerSample* s) {
    s->time_s = 10.0 * (i / 2);
    s->engine = i % 2;
    s->running = i % 2 == 0 ? 60 : 4;
    s->waiting = i % 2 == 0 ? 30 : 0;
  }));
  CHECK(load.engines == 2);
  CHECK(load.running == 64);
  CHECK(load.most_running == 64);
  CHECK(load.waiting == 30);
  CHECK(load.token_rate == 800);
  CHECK(load.fullest.engine == 0);
  CHECK(load.fullest.requests == 90);
  CHECK(load.fullest.waiting == 30);
  CHECK(load.emptiest.engine == 1);
  CHECK(load.emptiest.requests == 4);
}

TEST_CASE("a server writes nothing while nobody asks: that is no load") {
  ServerLog log =
      LogOf(20, [](int i, ServerSample* s) { s->time_s = i < 10 ? 10 * i : 1000 + 10 * i; });
  const ServerLoad load = LoadOf(log);
  // Nine lines behind one another, one after the silence, and nine more.
  CHECK(load.load == Approx((9 * 10 + 10 + 9 * 10) / 1190.0));
}

TEST_CASE("requests wait for a place although the cache has room") {
  const auto queue = [](int i, ServerSample* s) {
    s->running = 256 - i % 2;
    s->waiting = 40;
    s->kv_used = 0.6;
  };
  const ServerLoad load = LoadOf(LogOf(20, queue));
  CHECK(load.held_by_limit == 1);
  CHECK(load.held_by_cache == 0);
  CHECK(load.limit == 256);
  CHECK_FALSE(load.limit_is_set);
  ServerLog set = LogOf(20, queue);
  set.most_running = 1024;  // so it is not that
  CHECK(LoadOf(set).held_by_limit == 0);
}

TEST_CASE("one request that waits for a place is held, too") {
  const ServerLoad load = LoadOf(LogOf(20, [](int, ServerSample* s) {
    s->running = 64;
    s->waiting = 1;
    s->kv_used = 0.6;
  }));
  CHECK(load.held_by_limit == 1);
  CHECK(load.limit == 64);
  CHECK(load.queued == 1);
}

TEST_CASE("requests that are let in one after the other are held by no limit") {
  const ServerLoad load = LoadOf(LogOf(20, [](int i, ServerSample* s) {
    s->running = 10 * (i + 1);  // prompts are still being read
    s->waiting = 200 - 10 * i;
  }));
  CHECK(load.held_by_limit == 0);
  CHECK(load.limit == -1);
}

TEST_CASE("requests wait because the cache is full") {
  const ServerLoad load = LoadOf(LogOf(20, [](int i, ServerSample* s) {
    s->waiting = 40;
    s->kv_used = i < 10 ? 0.97 : 0.5;
    s->running = i < 10 ? 180 : 30;
  }));
  CHECK(load.held_by_cache == 0.5);
  CHECK(load.kv_peak == Approx(0.97));
}

TEST_CASE("the cache is too full for one more that is as large as those that run") {
  const auto large = [](int, ServerSample* s) {
    s->running = 3;
    s->waiting = 2;
    s->kv_used = 0.78;
  };
  const ServerLoad load = LoadOf(LogOf(20, large));
  CHECK(load.held_by_cache == 1);
  CHECK(load.held_by_limit == 0);
}

TEST_CASE("a cache is full, has room, and a server is at its limit from one value on") {
  const auto held = [](double running, double used) {
    ServerLog log = LogOf(20, [&](int, ServerSample* s) {
      s->running = running;
      s->waiting = 40;
      s->kv_used = used;
    });
    log.most_running = 1000;
    return LoadOf(log);
  };
  const double full = ShippedKnowledge().Number("server.cache_full");
  CHECK(held(1000, full).held_by_cache == 1);
  CHECK(held(1000, full - 0.001).held_by_cache == 0);
  const double room = ShippedKnowledge().Number("server.cache_room");
  CHECK(held(1000, room - 0.001).held_by_limit == 1);
  CHECK(held(1000, room).held_by_limit == 0);
  const double limit = ShippedKnowledge().Number("server.at_limit") * 1000;
  CHECK(held(limit, 0.5).held_by_limit == 1);
  CHECK(held(limit - 1, 0.5).held_by_limit == 0);
  // One of one that fills half of the cache leaves just enough for another.
  CHECK(held(1, 0.499).held_by_cache == 0);
  CHECK(held(1, 0.5).held_by_cache == 1);
}

TEST_CASE("a line counts for the time since the line before it, up to a silence") {
  const double silence = ShippedKnowledge().Number("server.silence");
  const auto load = [](double pause) {
    ServerLog log = LogOf(20, [&](int i, ServerSample* s) {
      if (i >= 10) s->time_s += pause - 10;
    });
    return LoadOf(log).load;
  };
  CHECK(load(silence) == Approx(1));
  CHECK(load(silence + 1) == Approx(190 / (180 + silence + 1)));
}

TEST_CASE("a full cache that nobody waits for is well used") {
  const ServerLoad load = LoadOf(LogOf(20, [](int, ServerSample* s) { s->kv_used = 0.99; }));
  CHECK(load.held_by_cache == 0);
}

TEST_CASE("several engines: rates are summed, load is their mean") {
  ServerLog log = LogOf(20, [](int i, ServerSample* s) {
    s->engine = i % 2;
    s->time_s = 10.0 * (i / 2);
    if (i % 2 == 1) *s = ServerSample{.time_s = s->time_s, .engine = 1, .running = 0, .waiting = 0};
  });
  const ServerLoad load = LoadOf(log);
  CHECK(load.load == Approx(0.5));
  CHECK(load.token_rate == 800);
}

TEST_CASE("the share of lines in which no graph ran, of those that tell") {
  const ServerLoad load = LoadOf(LogOf(20, [](int i, ServerSample* s) {
    if (i < 16) s->graph = i < 4 ? 0 : 1;
  }));
  CHECK(load.without_graph == Approx(0.25));
  CHECK(LoadOf(LogOf(20, [](int, ServerSample*) {})).without_graph == -1);
}

TEST_CASE("without times there is no load and no rate") {
  ServerLog log = LogOf(20, [](int, ServerSample* s) { s->time_s = -1; });
  log.has_clock = false;
  log.preemptions = 7;
  const ServerLoad load = LoadOf(log);
  CHECK(load.load == -1);
  CHECK(load.seconds == -1);
  CHECK(load.preemptions == 7);
  CHECK(load.preemptions_per_minute == -1);
  CHECK(LoadOf(ServerLog()).empty());
}

TEST_CASE("both parts of a step, without steps that waited for requests") {
  const ServerLoad load = LoadOf(LogOf(40, [](int i, ServerSample* s) {
    s->host_step_s = i % 10 == 5 ? 3.0 : 0.02;  // the step after one without requests
    s->gpu_step_s = 0.012;
    if (i % 10 == 4) s->running = 0;
  }));
  CHECK(load.host_step_s == Approx(0.02));
  CHECK(load.gpu_step_s == Approx(0.012));
  CHECK(LoadOf(LogOf(40, [](int, ServerSample*) {})).host_step_s == -1);
}

}  // namespace
}  // namespace advise
