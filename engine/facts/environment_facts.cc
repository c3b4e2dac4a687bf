// environment.*: switches that the program was started with, as far as the report records the
// environment. Only the names listed here are ever read: other values may be secrets.
#include <algorithm>

#include "engine/base/text.h"
#include "engine/facts/fact_writer.h"
#include "engine/metrics/analysis.h"

namespace advise::facts {
namespace {

struct Switch {
  const char* fact;
  const char* variable;
  const char* definition;
};

constexpr std::array<Switch, 17> kSwitches = {{
    {"launch_blocking", "CUDA_LAUNCH_BLOCKING", "whether each launch waits for its kernel"},
    {"no_memory_caching", "PYTORCH_NO_CUDA_MEMORY_CACHING",
     "whether PyTorch's caching allocator is off"},
    {"allocator", "PYTORCH_CUDA_ALLOC_CONF", "options of PyTorch's allocator"},
    {"max_connections", "CUDA_DEVICE_MAX_CONNECTIONS", "hardware queues for streams"},
    {"module_loading", "CUDA_MODULE_LOADING", "whether kernels are loaded when first used"},
    {"cache_disable", "CUDA_CACHE_DISABLE", "whether the cache of compiled PTX is off"},
    {"force_ptx", "CUDA_FORCE_PTX_JIT", "whether all code is compiled from PTX"},
    {"tf32_override", "NVIDIA_TF32_OVERRIDE", "whether TF32 is switched off everywhere"},
    {"cublas_workspace", "CUBLAS_WORKSPACE_CONFIG", "workspace of cuBLAS, as set for determinism"},
    {"nccl_debug", "NCCL_DEBUG", "what NCCL logs"},
    {"nccl_algorithm", "NCCL_ALGO", "the algorithm that NCCL is held to"},
    {"nccl_protocol", "NCCL_PROTO", "the protocol that NCCL is held to"},
    {"distributed_debug", "TORCH_DISTRIBUTED_DEBUG", "checks of PyTorch's collectives"},
    {"blocking_wait", "TORCH_NCCL_BLOCKING_WAIT", "whether the host waits inside collectives"},
    {"compile_disable", "TORCH_COMPILE_DISABLE", "whether torch.compile is off"},
    {"dynamo_disable", "TORCHDYNAMO_DISABLE", "whether torch.compile is off (older name)"},
    {"omp_threads", "OMP_NUM_THREADS", "threads of OpenMP regions"},
}};

}  // namespace

std::vector<FactInfo> EnvironmentFactList() {
  std::vector<FactInfo> list = {
      {"environment.recorded", "flag", "The report holds the environment of the program."}};
  for (const Switch& one : kSwitches) {
    list.push_back(
        {std::string("environment.") + one.fact, "name",
         std::string(one.variable) + ": " + one.definition + "; absent when it is not set."});
  }
  return list;
}

void WriteEnvironmentFacts(const Analysis& a, FactWriter* w) {
  const auto& environment = a.run.trace.environment;
  w->Flag("environment.recorded", !environment.empty());
  for (const Switch& one : kSwitches) {
    const std::string fact = std::string("environment.") + one.fact;
    const auto found = std::find_if(environment.rbegin(), environment.rend(),
                                    [&](const auto& entry) { return entry.first == one.variable; });
    if (environment.empty()) {
      w->Missing(fact, "the report holds no environment", "");
    } else if (found == environment.rend() || found->second.empty()) {
      w->Missing(fact, std::string(one.variable) + " is not set", "");
    } else {
      w->Text(fact, SafeText(found->second));
    }
  }
}

}  // namespace advise::facts
