#include "engine/metrics/system/server_load.h"

#include <algorithm>
#include <map>
#include <vector>

#include "engine/base/median.h"

namespace advise {
namespace {

bool HasRequests(const ServerSample& s) {
  return s.running > 0 || s.waiting > 0 || s.prompt_rate > 0 || s.token_rate > 0;
}

// Mean of what is not negative; -1 of nothing.
class MeanOf {
 public:
  void Add(double value) {
    if (value < 0) return;
    sum_ += value;
    count_ += 1;
    most_ = std::max(most_, value);
  }
  double mean() const { return count_ > 0 ? sum_ / count_ : -1; }
  double most() const { return most_; }

 private:
  double sum_ = 0, count_ = 0, most_ = -1;
};

class LoadFinder {
 public:
  LoadFinder(const ServerLog& log, const Knowledge& knowledge) : log_(log), knowledge_(knowledge) {}

  ServerLoad Find() {
    load_.server = log_.server;
    load_.version = log_.version;
    load_.model = log_.model;
    load_.kv_tokens = log_.kv_tokens;
    load_.longest = log_.longest;
    load_.prefix_hits = log_.prefix_hits;
    load_.prefix_cache = log_.prefix_cache;
    load_.eager = log_.eager;
    load_.preemptions = log_.preemptions;
    load_.requests = log_.requests;
    load_.prompt_tokens = log_.prompt_tokens;
    load_.new_tokens = log_.new_tokens;
    load_.queue = log_.queue;
    load_.first_token = log_.first_token;
    load_.token = log_.token;
    for (const ServerSample& sample : log_.samples) {
      engines_[sample.engine].push_back(&sample);
      if (HasRequests(sample)) busy_.push_back(&sample);
    }
    load_.lines = busy_.size();
    Times();
    Means();
    Holds();
    Steps();
    return load_;
  }

 private:
  // A line tells of the time since the line before of its engine; servers without requests write
  // none. The usual distance is that under load.
  void Times() {
    if (!log_.has_clock || log_.samples.empty()) return;
    double last = 0;
    for (const ServerSample& sample : log_.samples) last = std::max(last, sample.time_s);
    if (last <= 0) return;
    load_.seconds = last;
    const double silence = knowledge_.Number("server.silence");
    const double usual_distances = knowledge_.Number("server.silence_usual");
    MeanOf shares;
    for (const auto& [engine, samples] : engines_) {
      std::vector<double> distances;
      for (std::size_t i = 1; i < samples.size(); ++i)
        distances.push_back(samples[i]->time_s - samples[i - 1]->time_s);
      if (distances.empty()) continue;
      const double usual = Median(distances);
      double with = 0;
      for (std::size_t i = 1; i < samples.size(); ++i) {
        if (!HasRequests(*samples[i])) continue;
        const double since = samples[i]->time_s - samples[i - 1]->time_s;
        with += since > std::max(silence, usual_distances * usual) ? usual : since;
      }
      shares.Add(std::min(1.0, with / last));
    }
    load_.load = shares.mean();
    if (load_.preemptions >= 0)
      load_.preemptions_per_minute = load_.preemptions * 60 / load_.seconds;
  }

  void Means() {
    MeanOf used, prompt, token, queued, without;
    for (const ServerSample* s : busy_) {
      used.Add(s->kv_used);
      prompt.Add(s->prompt_rate);
      token.Add(s->token_rate);
      if (s->waiting >= 0) queued.Add(s->waiting > 0 ? 1 : 0);
      if (s->graph >= 0) without.Add(s->graph == 0 ? 1 : 0);
    }
    const auto engines = static_cast<double>(std::max<std::size_t>(1, engines_.size()));
    Requests();
    load_.queued = queued.mean();
    load_.kv_used = used.mean();
    load_.kv_peak = used.most();
    load_.without_graph = without.mean();
    load_.prompt_rate = prompt.mean() < 0 ? -1 : prompt.mean() * engines;
    load_.token_rate = token.mean() < 0 ? -1 : token.mean() * engines;
  }

  // What runs and waits in all engines together, and where most of it is.
  void Requests() {
    const auto add = [](double value, double* sum) {
      if (value >= 0) *sum = std::max(0.0, *sum) + value;
    };
    for (const auto& [engine, samples] : engines_) {
      MeanOf running, waiting, of_all, waiting_of_all;
      for (const ServerSample* s : samples) {
        if (s->running >= 0) of_all.Add(s->running + std::max(0.0, s->waiting));
        waiting_of_all.Add(s->waiting);
        if (!HasRequests(*s)) continue;
        running.Add(s->running);
        waiting.Add(s->waiting);
      }
      add(running.mean(), &load_.running);
      add(running.most(), &load_.most_running);
      add(waiting.mean(), &load_.waiting);
      add(waiting.most(), &load_.most_waiting);
      const EngineLoad one{engine, of_all.mean(), waiting_of_all.mean()};
      if (load_.fullest.engine < 0 || one.requests > load_.fullest.requests) load_.fullest = one;
      if (load_.emptiest.engine < 0 || one.requests < load_.emptiest.requests) load_.emptiest = one;
    }
    load_.engines = static_cast<int>(std::max<std::size_t>(1, engines_.size()));
  }

  // What those that wait are held by. Where the log does not say how many may run, that is as many
  // as ever ran while others waited, if they were as many again and again.
  void Holds() {
    const double full = knowledge_.Number("server.cache_full");
    const double room = knowledge_.Number("server.cache_room");
    MeanOf by_cache, by_limit;
    double ceiling = log_.most_running;
    load_.limit_is_set = ceiling > 0;
    if (ceiling <= 0) ceiling = Ceiling(room);
    for (const ServerSample* s : busy_) {
      if (s->waiting < 0 || s->kv_used < 0) continue;
      // What is free does not hold one more like those that run.
      const bool no_room =
          s->kv_used >= full || (s->running > 0 && s->kv_used * (1 + 1 / s->running) >= 1);
      by_cache.Add(s->waiting > 0 && no_room ? 1 : 0);
      const bool at_limit =
          ceiling > 0 && s->running >= knowledge_.Number("server.at_limit") * ceiling;
      by_limit.Add(s->waiting > 0 && s->kv_used < room && !no_room && at_limit ? 1 : 0);
    }
    load_.held_by_cache = by_cache.mean();
    load_.held_by_limit = by_limit.mean();
    load_.limit = ceiling;
  }

  // A step after one without requests waited for them.
  void Steps() {
    std::vector<double> host, gpu;
    for (const auto& [engine, samples] : engines_) {
      for (std::size_t i = 1; i < samples.size(); ++i) {
        const ServerSample& s = *samples[i];
        if (s.running <= 0 || samples[i - 1]->running <= 0) continue;
        if (s.host_step_s <= 0 || s.gpu_step_s <= 0) continue;
        host.push_back(s.host_step_s);
        gpu.push_back(s.gpu_step_s);
      }
    }
    if (host.empty()) return;
    load_.host_step_s = Median(host);
    load_.gpu_step_s = Median(gpu);
  }

  // -1 where the numbers that ran while others waited differ.
  double Ceiling(double room) const {
    std::vector<double> running;
    for (const ServerSample* s : busy_)
      if (s->waiting > 0 && s->kv_used >= 0 && s->kv_used < room) running.push_back(s->running);
    if (running.empty()) return -1;
    const double most = *std::max_element(running.begin(), running.end());
    const auto near =
        static_cast<std::size_t>(std::count_if(running.begin(), running.end(), [&](double r) {
          return r >= knowledge_.Number("server.at_limit") * most;
        }));
    return most > 0 && 2 * near >= running.size() ? most : -1;
  }

  const ServerLog& log_;
  const Knowledge& knowledge_;
  ServerLoad load_;
  std::map<int, std::vector<const ServerSample*>> engines_;
  std::vector<const ServerSample*> busy_;
};

}  // namespace

ServerLoad SummarizeServer(const ServerLog& log, const Knowledge& knowledge) {
  return log.empty() ? ServerLoad() : LoadFinder(log, knowledge).Find();
}

}  // namespace advise
