// What kind of program a capture shows, and what it is made of: from names (kb/runs.toml) and
// from what repeats.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/metrics/losses/host/host.h"
#include "engine/metrics/losses/loss.h"
#include "engine/metrics/system/support.h"

namespace advise {

enum class KindOfRun : std::uint8_t {
  kTraining,
  kInference,  // a loop or a server
  kOnePass,    // a forward pass, a script: nothing repeats
  kSolver,     // a loop that is no training and no inference: time steps, iterations
  kKernels,    // a few kernels: a benchmark, a unit test
  kStartUp,    // little but loading code and allocating memory
  kNoGpu,
};
const char* KindOfRunName(KindOfRun kind);  // as the JSON report writes it: "one-pass"

// Would a wait of a launching thread for the next request have been seen in this capture?
enum class RequestWaits : std::uint8_t {
  kNone,    // the program does not infer: it answers nobody
  kSeen,    // as far as calls of the OS show waits; a launching thread may show none of its own
  kAsCode,  // no calls of the OS were recorded: it looks like code of that thread
  // A launching thread waits in the OS, mostly while no other recorded thread works: for a request,
  // or for a thread or process of which nothing was recorded.
  kAsWait,
};
const char* RequestWaitsName(RequestWaits waits);  // as facts say it: "as-code"

struct RunKind {
  KindOfRun kind = KindOfRun::kNoGpu;
  std::string unit = "launch";  // what it is made of: step, token, request, iteration, pass, launch
  std::size_t units = 0;        // of them in the window
  std::string framework;        // the most specific one, "" unknown
  std::vector<std::string> languages;
  std::string optimizer;  // PyTorch's class, as its ranges name it: "Adagrad"; "" none, or several
  std::string why;        // evidence of the kind: "operators of a backward pass"
  std::size_t kernels = 0;    // distinct names of compute kernels
  std::int64_t launches = 0;  // of compute kernels and graphs
  bool trains = false;        // backward passes or an optimizer
  bool decode = false;        // kernels or ranges of single tokens
  bool prefill = false;       // of whole prompts
  bool serves = false;        // anything of a model server: requests, key-value caches
  RequestWaits request_waits = RequestWaits::kNone;
  // How unevenly the host pauses before uploads: the upper quartile over the lower one, of the
  // steps with a long pause; 0 where few have one.
  double uneven_pauses = 0;
};

// O(ops + distinct names).
RunKind FindRunKind(const Basis& basis, const Support& support);

}  // namespace advise
