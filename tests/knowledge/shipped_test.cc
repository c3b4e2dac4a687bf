// The knowledge base as it is shipped: embedded, sound, and what its comments promise.
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "engine/knowledge/embedded.h"
#include "tests/knowledge/kb_text.h"

using namespace advise;

// What the build made of rules: tests/script/embedded_rules_test.cc.
TEST_CASE("the embedded knowledge is what the files of the source tree say") {
  namespace fs = std::filesystem;
  const fs::path root = ADVISE_SOURCE_DIR;
  std::map<std::string, std::string> texts;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "kb")) {
    if (entry.path().extension() != ".toml") continue;
    std::ifstream stream(entry.path());
    std::stringstream text;
    text << stream.rdbuf();
    texts[entry.path().lexically_relative(root).string()] = text.str();
  }
  std::vector<Knowledge::File> knowledge;
  std::size_t others = 0;
  for (const auto& [path, text] : texts) {
    if (IsKnowledge(path)) knowledge.push_back({path, text});
    if (!IsKnowledge(path)) ++others;
  }
  CHECK(knowledge.size() > 50);

  const std::vector<Knowledge::File> embedded = EmbeddedKnowledge();
  REQUIRE(embedded.size() == others + 1);
  const std::string read = PackKnowledge(LoadKb(knowledge));
  CHECK((embedded[0].path == kPackedKnowledge));
  CHECK((embedded[0].prepared == read));
  CHECK((PackKnowledge(UnpackKnowledge(read)) == read));
  for (std::size_t i = 1; i < embedded.size(); ++i) {
    INFO(embedded[i].path);
    CHECK(embedded[i].text == texts[embedded[i].path]);
    CHECK(embedded[i].prepared.empty());
  }
}

TEST_CASE("the shipped knowledge base has no problems") {
  const Knowledge knowledge = LoadKb(EmbeddedKnowledge());
  CHECK(Lines(knowledge.CheckExamples()).empty());
  CHECK(knowledge.hardware().size() > 20);
}

TEST_CASE("kernels that cast are known by the word, not by its letters in other words") {
  const Knowledge knowledge = LoadKb(EmbeddedKnowledge());
  for (const char* name :
       {"cast_kernel(float const*, __half*, int)", "void ns::cast_kernel<float>()",
        "my_cast_kernel", "void castKernel<float, __half>(float*, __half*)"}) {
    INFO(name);
    CHECK(knowledge.ClassifyKernel(name).name == "cast");
    CHECK(knowledge.ClassifyKernel(name).HasTrait("cast"));
  }
  for (const char* name :
       {"broadcast_kernel(float*, float const*, int)", "raycast_kernel(float4*, int)",
        "forecast_kernel(double*, int)", "void multicastKernel<float>(float*)",
        "_Z16broadcast_kernel15CuKernelContext13CuDeviceArrayI7Float32Li2ELi1EE"}) {
    INFO(name);
    CHECK(knowledge.ClassifyKernel(name).name != "cast");
    CHECK_FALSE(knowledge.ClassifyKernel(name).HasTrait("cast"));
  }
}

TEST_CASE("the severities are in order") {
  const Knowledge knowledge = LoadKb(EmbeddedKnowledge());
  CHECK(knowledge.Number("ranking.critical_share") > knowledge.Number("ranking.high_share"));
  CHECK(knowledge.Number("ranking.high_share") > knowledge.Number("ranking.medium_share"));
}

TEST_CASE("the example of a site file can be applied") {
  Knowledge knowledge = LoadKb(EmbeddedKnowledge());
  for (const Knowledge::File& file : EmbeddedKnowledge()) {
    if (file.path == "kb/site.example.toml") CHECK(Lines(knowledge.ApplySite(file)).empty());
  }
  CHECK(knowledge.SiteChanges().size() >= 1);
}

TEST_CASE("look-ups that a library has fused already are not told to use one") {
  const Knowledge knowledge = LoadKb(EmbeddedKnowledge());
  const auto is = [&](const char* family, const char* kernel) {
    return knowledge.IsOfFamily(FamilyKind::kKernel, family, kernel, "embedding");
  };
  const char* const forward =
      "void split_embedding_codegen_forward_unweighted_kernel<float, float, float, long, 2ul>(int)";
  const char* const backward =
      "void "
      "split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel_cta_per_row_1<int>()";
  CHECK_FALSE(is("embedding", forward));
  CHECK_FALSE(is("index_backward", backward));
  CHECK(is("embedding", "void at::native::indexSelectLargeIndex<float>(int)"));
  CHECK(is("index_backward", "void at::native::indexing_backward_kernel<float, 4>(long)"));
}

TEST_CASE(
    "a product of a batch or a group is none in double precision for the letters of its name") {
  const Knowledge knowledge = LoadKb(EmbeddedKnowledge());
  const auto is_double = [&](const char* kernel) {
    return knowledge.IsOfFamily(FamilyKind::kKernel, "double", kernel, "matrix");
  };
  CHECK(is_double("ampere_dgemm_128x64_nn"));
  CHECK(is_double("void dgemm_kernel<128>(double*)"));
  CHECK_FALSE(is_double("void cutlass::device_kernel<GroupedGemm>(int)"));
  CHECK_FALSE(is_double("void BatchedGemmKernel<__half>(int)"));
}

TEST_CASE("a solver that is named after the library of its messages computes") {
  const Knowledge knowledge = LoadKb(EmbeddedKnowledge());
  const auto is_communication = [&](const char* kernel) {
    return knowledge.ClassifyKernel(kernel).name == "communication";
  };
  CHECK(is_communication("void barrier_on_stream_kernel_threadgroup<(threadgroup_t)2>(int, int)"));
  CHECK(is_communication("void nvshmemi_proxy_rma_entrypoint<0, 1>(void*, void*)"));
  CHECK(is_communication("nvshmem_put_kernel(int*, int, int)"));
  CHECK_FALSE(is_communication("void nvshmem_jacobi_kernel<32, 32>(float const*, float*, int)"));
  CHECK_FALSE(is_communication("spmv(double const*, double*, nvshmem_team_uid_t)"));
}

TEST_CASE("engines whose loop no user writes say how to record them") {
  const Knowledge knowledge = LoadKb(EmbeddedKnowledge());
  CHECK(knowledge.HowToRecord("vLLM").find("start_profile") != std::string::npos);
  CHECK(knowledge.HowToRecord("SGLang").find("start_profile") != std::string::npos);
  CHECK(knowledge.HowToRecord("PyTorch").empty());
  CHECK(knowledge.HowToRecord("").empty());
}

TEST_CASE("programs that are none of PyTorch's are recorded by Nsight Systems") {
  const Knowledge knowledge = LoadKb(EmbeddedKnowledge());
  for (const char* framework : {"JAX", "TensorFlow", "CuPy"})
    CHECK(knowledge.IsRecordedByNsys(framework));
  for (const char* framework : {"PyTorch", "vLLM", ""})
    CHECK_FALSE(knowledge.IsRecordedByNsys(framework));
}

TEST_CASE("each tag has a hint on how to capture it") {
  const Knowledge knowledge = LoadKb(EmbeddedKnowledge());
  for (const char* tag : {"cuda", "nvtx", "osrt", "gpu-metrics", "cuda-memory", "cpu-sampling",
                          "cuda-graph-node", "nic-metrics", "ranks", "hardware", "steps"}) {
    INFO(tag);
    CHECK(knowledge.FindCaptureHint(tag) != nullptr);
  }
}
