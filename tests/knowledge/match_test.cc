#include <algorithm>

#include "engine/base/glob.h"
#include "tests/knowledge/kb_text.h"

using namespace advise;

namespace {

const char* kKernels = R"(
[[class]]
class = "communication"
family = "nccl"
collective = "allreduce"
any = ["*nccl*AllReduce*"]
examples = ["ncclDevKernel_AllReduce_Sum_f32"]

[[class]]
class = "matrix"
family = "cublas"
any = ["*gemm*", "*_xmma_*"]
none = ["*softmax*"]

[[precision]]
classes = ["matrix"]
value = "fp16"
any = ["*hgemm*", "*f16*"]

[[tensor_core]]
classes = ["matrix"]
value = true
any = ["*tensorop*"]

[[tensor_core]]
classes = ["matrix"]
value = false
any = ["*sgemm*"]

[[trait]]
id = "split-k"
any = ["*splitk*"]

[[trait]]
id = "sum"
any = ["*_Sum_*"]
)";

}  // namespace

TEST_CASE("kernels get class, precision, tensor-core use and traits from their names") {
  const Knowledge knowledge = LoadKb({{"kb/kernels.toml", kKernels}});
  const KernelClass comm = knowledge.ClassifyKernel("ncclDevKernel_AllReduce_Sum_f16");
  CHECK(comm.name == "communication");
  CHECK(comm.family == "nccl");
  CHECK(comm.collective == "allreduce");
  CHECK(comm.precision.empty());  // asked of matrix kernels only
  CHECK(comm.tensor_core == -1);
  CHECK(comm.HasTrait("sum"));
  CHECK_FALSE(comm.HasTrait("split-k"));

  const KernelClass matrix = knowledge.ClassifyKernel("ampere_HGEMM_tensorop_splitK_nn");
  CHECK(matrix.name == "matrix");
  CHECK(matrix.precision == "fp16");
  CHECK(matrix.tensor_core == 1);
  CHECK(matrix.HasTrait("split-k"));
  CHECK(knowledge.ClassifyKernel("ampere_sgemm").tensor_core == 0);
  CHECK(knowledge.ClassifyKernel("gemm_softmax").name == "other");
  CHECK(knowledge.ClassifyKernel("").name == "other");
}

TEST_CASE("examples that their own entry does not claim are found") {
  CHECK(LoadKb({{"kb/kernels.toml", kKernels}}).CheckExamples().empty());
  const Knowledge knowledge =
      LoadKb({{"kb/kernels.toml",
               "[[class]]\nclass = \"a\"\nany = [\"*x*\"]\n[[class]]\nclass = \"b\"\n"
               "any = [\"*y*\"]\nexamples = [\"xy\", \"y\", \"z\"]\n"}});
  CHECK(
      Lines(knowledge.CheckExamples()) ==
      std::vector<std::string>{
          "kb/kernels.toml:4: example \"xy\" of \"b\" is claimed by the entry at kb/kernels.toml:1",
          "kb/kernels.toml:4: example \"z\" of \"b\" is claimed by no entry"});
}

TEST_CASE("names of ranges, calls and threads") {
  const Knowledge knowledge = LoadKb({{"kb/names.toml", R"(
[[range_phase]]
phase = "data_loading"
any = ["*dataloader*"]
[[range_step]]
marked_by = "annotation"
any = ["ProfilerStep#*"]
[[os_call]]
class = "file_io"
any = ["read", "pread*"]
[[cuda_call]]
class = "launch"
any = ["cudaLaunchKernel", "cuLaunchKernel"]
[[thread_role]]
role = "loader_worker"
any = ["pt_data_worker*"]
)"}});
  CHECK(knowledge.RangePhase("enumerate(DataLoader)") == "data_loading");
  CHECK(knowledge.RangePhase("forward").empty());
  CHECK(knowledge.StepRange("ProfilerStep#3") == "annotation");
  CHECK(knowledge.StepRange("step").empty());
  CHECK(knowledge.OsCallClass("pread64") == "file_io");
  CHECK(knowledge.OsCallClass("thread") == "other");
  CHECK(knowledge.CudaCallClass("cudaLaunchKernel") == "launch");
  CHECK(knowledge.CudaCallClass("cudaLaunchKernel_v7000") == "launch");
  CHECK(knowledge.CudaCallClass("cudaLaunchKernel_ptsz_v11060") == "launch");
  CHECK(knowledge.CudaCallClass("cuLaunchKernel_v2") == "launch");
  CHECK(knowledge.CudaCallClass("cudaFree_v3020") == "other");
  CHECK(knowledge.CudaCallClass("12345") == "other");
  CHECK(knowledge.ThreadRole("pt_data_worker 3") == "loader_worker");
}

TEST_CASE("the most literal hardware pattern wins, and no match is nothing") {
  const auto entry = [](const std::string& id, const std::string& match) {
    return Knowledge::File{"kb/hardware/" + id + ".toml", "id = \"" + id + "\"\nmatch = [" + match +
                                                              "]\ncompute_capability = \"9.0\"\n"
                                                              "architecture = \"x\"\n[facts]\n"};
  };
  const Knowledge knowledge =
      LoadKb({entry("a100", "\"*A100*\""), entry("a100-pcie", "\"*A100*PCIE*\"")});
  CHECK(knowledge.FindHardware("NVIDIA A100-PCIE-40GB")->id == "a100-pcie");
  CHECK(knowledge.FindHardware("NVIDIA A100-SXM4")->id == "a100");
  CHECK(knowledge.FindHardware("A100-pcie")->id == "a100-pcie");
  CHECK(knowledge.FindHardware("NVIDIA H100") == nullptr);
  CHECK(knowledge.FindHardware("") == nullptr);
}

TEST_CASE("the quick test of patterns never hides a match") {
  const std::vector<std::string> names = {
      "",    "a",       "ab", "abc", "xABCx", "void gemm<float>(int)", "ncclDevKernel_AllReduce",
      "a*c", "äöü gemm"};
  const std::vector<std::string> globs = {
      "*",      "",           "a",    "a?c", "*abc*", "*gemm*float*", "?",
      "*nccl*", "*ALLREDUCE", "*öü*", "a*c", "*e*e*", "void*(int)"};
  for (const std::string& name : names) {
    for (const std::string& glob : globs) {
      INFO(name << " against " << glob);
      CHECK(NamePattern(glob).Matches(NameKey(name)) == MatchesGlob(name, glob));
    }
  }
}
