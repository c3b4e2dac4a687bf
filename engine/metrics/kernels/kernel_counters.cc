#include "engine/metrics/kernels/kernel_counters.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/metrics/analysis.h"
#include "engine/metrics/kernels/roofline.h"

namespace advise {
namespace {

void EraseAll(std::string* text, std::string_view part) {
  for (std::size_t at = text->find(part); at != std::string::npos; at = text->find(part, at)) {
    text->erase(at, part.size());
  }
}

// Means weighted by time, of those instances that have the value.
class Mean {
 public:
  void Add(double CountedKernel::*field, const CountedKernel& one, double weight) {
    if (one.*field < 0) return;
    auto& [sum, all] = sums_[Index(field)];
    sum += one.*field * weight;
    all += weight;
  }
  void Give(double CountedKernel::*field, CountedKernel* kernel) const {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (fields_[i] != field) continue;
      kernel->*field = sums_[i].second > 0 ? sums_[i].first / sums_[i].second : -1;
    }
  }

 private:
  std::size_t Index(double CountedKernel::*field) {
    const auto found = std::find(fields_.begin(), fields_.end(), field);
    if (found != fields_.end()) return static_cast<std::size_t>(found - fields_.begin());
    fields_.push_back(field);
    sums_.emplace_back();
    return fields_.size() - 1;
  }
  std::vector<double CountedKernel::*> fields_;
  std::vector<std::pair<double, double>> sums_;
};

constexpr double CountedKernel::*kMeans[] = {&CountedKernel::sm,
                                             &CountedKernel::memory,
                                             &CountedKernel::dram,
                                             &CountedKernel::l2,
                                             &CountedKernel::l1,
                                             &CountedKernel::occupancy,
                                             &CountedKernel::theoretical,
                                             &CountedKernel::ipc,
                                             &CountedKernel::issue,
                                             &CountedKernel::stall_memory,
                                             &CountedKernel::stall_barrier,
                                             &CountedKernel::stall_not_selected,
                                             &CountedKernel::stall_queue,
                                             &CountedKernel::stall_fence,
                                             &CountedKernel::conflicts,
                                             &CountedKernel::atomics,
                                             &CountedKernel::blocks,
                                             &CountedKernel::threads,
                                             &CountedKernel::sms,
                                             &CountedKernel::at_work,
                                             &CountedKernel::l2_hit,
                                             &CountedKernel::sectors,
                                             &CountedKernel::useful,
                                             &CountedKernel::local,
                                             &CountedKernel::lanes,
                                             &CountedKernel::registers,
                                             &CountedKernel::waves,
                                             &CountedKernel::tensor,
                                             &CountedKernel::flops,
                                             &CountedKernel::bytes,
                                             &CountedKernel::balance,
                                             &CountedKernel::achieved,
                                             &CountedKernel::attainable};

class CounterFinder : Finder {
 public:
  CounterFinder(const Basis& basis, const Hardware& hardware)
      : Finder(basis), hardware_(hardware) {}

  Counters Find() {
    result_.memory.resize(std::max<std::size_t>(1, trace_.devices.size()));
    result_.compute = result_.latency = result_.memory;
    if (trace_.counters.empty()) return std::move(result_);
    Gather();
    Join();
    Weigh();
    Claim();
    std::stable_sort(
        result_.kernels.begin(), result_.kernels.end(),
        [](const CountedKernel& a, const CountedKernel& b) { return a.weight > b.weight; });
    return std::move(result_);
  }

 private:
  void Gather() {
    std::vector<Mean> means;
    for (const KernelCounters& counters : trace_.counters) {
      const auto [found, is_new] = index_.emplace(counters.kernel, result_.kernels.size());
      if (is_new) {
        CountedKernel kernel;
        kernel.name = counters.kernel;
        kernel.kernel_class = run_.knowledge.ClassifyKernel(counters.kernel).name;
        kernel.source = counters.source;
        result_.kernels.push_back(std::move(kernel));
        means.emplace_back();
      }
      of_instance_.push_back(found->second);
      CountedKernel& kernel = result_.kernels[found->second];
      CountedKernel one;
      one.kernel_class = kernel.kernel_class;
      ReadCounters(counters, run_.knowledge, &one);
      PlaceUnderRoofline(counters, hardware_, run_.knowledge, &one);
      const double time = CountedTime(counters, run_.knowledge);
      // Without a duration all instances weigh alike.
      for (const auto field : kMeans) means[found->second].Add(field, one, time > 0 ? time : 1);
      kernel.instances += 1;
      kernel.time_ns += time;
      kernel.headroom += one.headroom * time;
      kernel.scattered += one.scattered * time;
      kernel.tensor_estimated = kernel.tensor_estimated || one.tensor_estimated;
      if (kernel.limiter.empty()) kernel.limiter = one.limiter;
      if (kernel.bound.empty()) {
        kernel.bound = one.bound;
        kernel.on_chip = one.on_chip;
      }
      result_.time_ns += time;
    }
    result_.instances = static_cast<std::int64_t>(trace_.counters.size());
    for (std::size_t k = 0; k < result_.kernels.size(); ++k) {
      CountedKernel& kernel = result_.kernels[k];
      for (const auto field : kMeans) means[k].Give(field, &kernel);
      kernel.headroom = kernel.time_ns > 0 ? kernel.headroom / kernel.time_ns : 0;
      kernel.scattered = kernel.time_ns > 0 ? kernel.scattered / kernel.time_ns : 0;
      if (kernel.flops >= 0 && kernel.bytes > 0) kernel.intensity = kernel.flops / kernel.bytes;
    }
  }

  // Which counted kernel each shape of the timeline is: by name, in plain spelling; else by the
  // bare function name where only one kernel on each side has it.
  void Join() {
    of_shape_.assign(trace_.shapes.size(), kNone);
    std::map<std::string, std::vector<std::uint32_t>> plain, bare;
    for (std::uint32_t k = 0; k < result_.kernels.size(); ++k) {
      const std::string name = PlainKernelName(result_.kernels[k].name);
      plain[name].push_back(k);
      bare[Bare(name)].push_back(k);
    }
    std::map<std::string, std::map<std::string, bool>> bare_of_run;
    for (const KernelShape& shape : trace_.shapes) {
      const std::string name = PlainKernelName(trace_.strings[shape.name]);
      bare_of_run[Bare(name)][name] = true;
    }
    for (std::uint32_t s = 0; s < trace_.shapes.size(); ++s) {
      const std::string& full = trace_.strings[trace_.shapes[s].name];
      const std::string name = PlainKernelName(full);
      if (const auto exact = index_.find(full); exact != index_.end()) {
        of_shape_[s] = static_cast<std::uint32_t>(exact->second);
      } else if (const auto same = plain.find(name); same != plain.end()) {
        of_shape_[s] = same->second.front();
      } else if (const auto alike = bare.find(Bare(name)); alike != bare.end() &&
                                                           alike->second.size() == 1 &&
                                                           bare_of_run[Bare(name)].size() == 1) {
        of_shape_[s] = alike->second.front();
      }
    }
  }

  // "at::native::reduce_kernel<512>" → "reduce_kernel".
  static std::string Bare(const std::string& plain) {
    const std::string name = plain.substr(0, plain.find('<'));
    const std::size_t colon = name.rfind("::");
    return colon == std::string::npos ? name : name.substr(colon + 2);
  }

  void Weigh() {
    double all = 0, counted = 0;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] != OpKind::kKernel) continue;
      const Nanos length =
          std::max<Nanos>(0, std::min(trace_.ops.end[op], run_.window.end) -
                                 std::max(trace_.ops.start[op], run_.window.start));
      all += static_cast<double>(length);
      const std::uint32_t kernel = of_shape_[trace_.ops.detail[op]];
      if (kernel == kNone) continue;
      result_.kernels[kernel].run_time_ns += static_cast<double>(length);
      counted += static_cast<double>(length);
    }
    const bool of_run = all > 0;
    if (of_run) result_.coverage = counted / all;
    for (CountedKernel& kernel : result_.kernels) {
      const double time = of_run ? kernel.run_time_ns : kernel.time_ns;
      const double whole = of_run ? all : result_.time_ns;
      kernel.weight = whole > 0 ? time / whole : 0;
      // Without any times, one kernel is still all that was counted.
      if (!of_run && whole <= 0 && result_.kernels.size() == 1) kernel.weight = 1;
      kernel.lost_ns = time * kernel.headroom;
    }
  }

  // The last `headroom` of each kernel: what any rule may claim of it, and once only.
  void Claim() {
    std::vector<std::vector<Interval>> memory(result_.memory.size());
    auto compute = memory;
    auto latency = memory;
    const auto add = [&](const CountedKernel& kernel, std::size_t device, Nanos start, Nanos end) {
      auto& spans = kernel.bound == "memory"    ? memory
                    : kernel.bound == "compute" ? compute
                                                : latency;
      if (kernel.bound.empty() || end <= start) return;
      const auto part =
          static_cast<Nanos>(std::llround(kernel.headroom * static_cast<double>(end - start)));
      spans[device].push_back({end - part, end});
    };
    if (result_.coverage >= 0) {
      for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
        if (trace_.ops.kind[op] != OpKind::kKernel) continue;
        const std::uint32_t kernel = of_shape_[trace_.ops.detail[op]];
        if (kernel == kNone) continue;
        add(result_.kernels[kernel], trace_.ops.device[op],
            std::max(trace_.ops.start[op], run_.window.start),
            std::min(trace_.ops.end[op], run_.window.end));
      }
    } else if (!trace_.HasTimeline() && !trace_.devices.empty()) {
      Nanos at = 0;
      for (std::size_t i = 0; i < trace_.counters.size(); ++i) {
        const auto length =
            static_cast<Nanos>(std::llround(CountedTime(trace_.counters[i], run_.knowledge)));
        add(result_.kernels[of_instance_[i]], 0, at, at + length);
        at += length;
      }
    }
    for (std::size_t d = 0; d < memory.size(); ++d) {
      result_.memory[d] = IntervalSet::Of(std::move(memory[d]));
      result_.compute[d] = IntervalSet::Of(std::move(compute[d]));
      result_.latency[d] = IntervalSet::Of(std::move(latency[d]));
    }
  }

  const Hardware& hardware_;
  Counters result_;
  std::map<std::string, std::size_t> index_;  // name → kernel
  std::vector<std::size_t> of_instance_;      // → kernel
  std::vector<std::uint32_t> of_shape_;       // → kernel; kNone not counted
};

}  // namespace

std::string PlainKernelName(const std::string& name) {
  std::string plain = name;
  for (const std::string_view cast : {"(int)", "(bool)", "(unsigned int)", "(long)",
                                      "(unsigned long)", "(unsigned char)", "(char)", "(short)"}) {
    EraseAll(&plain, cast);
  }
  for (const std::string_view hidden : {"(anonymous namespace)::", "<unnamed>::"}) {
    EraseAll(&plain, hidden);
  }
  // Parameters: from the first parenthesis outside of angle brackets.
  int depth = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (plain[i] == '<') ++depth;
    if (plain[i] == '>' && depth > 0) --depth;
    if (plain[i] == '(' && depth == 0) {
      plain.erase(i);
      break;
    }
  }
  if (plain.starts_with("void ")) plain.erase(0, 5);
  EraseAll(&plain, " ");
  return plain;
}

Counters FindCounters(const Basis& basis, const Hardware& hardware) {
  return CounterFinder(basis, hardware).Find();
}

}  // namespace advise
