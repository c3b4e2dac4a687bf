// environment.*: switches that the program was started with, as far as the report records the
// environment. Only the names listed here are ever read: other values may be secrets.
#include <algorithm>

#include "engine/base/text.h"
#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

// The value of a variable; the last one holds.
Value Switch(const Trace& trace, const std::string& variable) {
  const auto& environment = trace.environment;
  const auto found = std::find_if(environment.rbegin(), environment.rend(),
                                  [&](const auto& entry) { return entry.first == variable; });
  if (environment.empty()) return Absent{"the report holds no environment", ""};
  if (found == environment.rend() || found->second.empty()) {
    return Absent{variable + " is not set", ""};
  }
  return SafeText(found->second);
}

}  // namespace

void DeclareEnvironmentFacts(Catalog* catalog) {
  auto& trace = catalog->Of([](const Analysis& a) -> const Trace& { return a.run.trace; });
  trace.Add("environment.recorded", "flag", "The report holds the environment of the program.",
            [](const Trace& t) { return !t.environment.empty(); });
  const auto variable = [&](const char* name, const std::string& variable_name,
                            const std::string& meaning) {
    trace.Add(name, "name", variable_name + ": " + meaning + "; absent when it is not set.",
              [variable_name](const Trace& t) { return Switch(t, variable_name); });
  };
  variable("environment.launch_blocking", "CUDA_LAUNCH_BLOCKING",
           "whether each launch waits for its kernel");
  variable("environment.no_memory_caching", "PYTORCH_NO_CUDA_MEMORY_CACHING",
           "whether PyTorch's caching allocator is off");
  variable("environment.allocator", "PYTORCH_CUDA_ALLOC_CONF", "options of PyTorch's allocator");
  variable("environment.max_connections", "CUDA_DEVICE_MAX_CONNECTIONS",
           "hardware queues for streams");
  variable("environment.module_loading", "CUDA_MODULE_LOADING",
           "whether kernels are loaded when first used");
  variable("environment.cache_disable", "CUDA_CACHE_DISABLE",
           "whether the cache of compiled PTX is off");
  variable("environment.force_ptx", "CUDA_FORCE_PTX_JIT", "whether all code is compiled from PTX");
  variable("environment.tf32_override", "NVIDIA_TF32_OVERRIDE",
           "whether TF32 is switched off everywhere");
  variable("environment.cublas_workspace", "CUBLAS_WORKSPACE_CONFIG",
           "workspace of cuBLAS, as set for determinism");
  variable("environment.nccl_debug", "NCCL_DEBUG", "what NCCL logs");
  variable("environment.nccl_algorithm", "NCCL_ALGO", "the algorithm that NCCL is held to");
  variable("environment.nccl_protocol", "NCCL_PROTO", "the protocol that NCCL is held to");
  variable("environment.distributed_debug", "TORCH_DISTRIBUTED_DEBUG",
           "checks of PyTorch's collectives");
  variable("environment.blocking_wait", "TORCH_NCCL_BLOCKING_WAIT",
           "whether the host waits inside collectives");
  variable("environment.compile_disable", "TORCH_COMPILE_DISABLE", "whether torch.compile is off");
  variable("environment.dynamo_disable", "TORCHDYNAMO_DISABLE",
           "whether torch.compile is off (older name)");
  variable("environment.omp_threads", "OMP_NUM_THREADS", "threads of OpenMP regions");
}

}  // namespace advise::facts
