// A reader with GPUs of AMD reads of compute units, and one with a solver of iterations.
#include "engine/advice/run_terms.h"

#include <catch2/catch.hpp>

namespace advise {
namespace {

TEST_CASE("terms of NVIDIA become those of AMD") {
  const auto amd = [](const std::string& prose) { return InTermsOf("amd", prose); };
  CHECK(amd("2 blocks (median) for 108 SMs.") == "2 blocks (median) for 108 compute units.");
  CHECK(amd("A block runs on one SM.") == "A block runs on one compute unit.");
  CHECK(amd("It leaves an SM idle. SMs wait.") ==
        "It leaves a compute unit idle. Compute units wait.");
  CHECK(amd("the layout that tensor-core convolutions use") ==
        "the layout that matrix-core convolutions use");
  CHECK(amd("Each warp waits in NCCL.") == "Each wavefront waits in RCCL.");
  CHECK(amd("CUDA graphs are not used") == "HIP graphs are not used");
  CHECK(amd("no kernel counters were given (Nsight Compute)") == "no kernel counters were given");
}

TEST_CASE("names and other words stay as they are") {
  const auto amd = [](const std::string& prose) { return InTermsOf("amd", prose); };
  for (const char* same :
       {"CUDA_LAUNCH_BLOCKING is set", "torch.cuda.CUDAGraph", "SMT is off", "warping",
        "NCCL_DEBUG is INFO", "at::native::SMs_kernel", "read SMs.n"}) {
    CHECK(amd(same) == same);
  }
  CHECK(InTermsOf("nvidia", "108 SMs") == "108 SMs");
  CHECK(InTermsOf("", "108 SMs") == "108 SMs");
}

TEST_CASE("calls of CUDA become those of HIP, also in code of C++") {
  CHECK(InTermsOf("amd", "use cudaMallocAsync, or cudaMallocHost once") ==
        "use hipMallocAsync, or hipHostMalloc once");
  CHECK(InTermsOf("amd", "torch.cudaThing, my_cudaCall, cudart") ==
        "torch.cudaThing, my_cudaCall, cudart");
  for (const char* maker : {"amd", "nvidia"}) {
    Report report;
    report.run.maker = maker;
    RuleInfo rule;
    report.findings.emplace_back();
    report.findings.back().rule = &rule;
    Fix fix;
    fix.snippet = "cudaEventRecord(ready, s);";
    fix.language = "cpp";
    report.findings.back().fixes.push_back(fix);
    UseTermsOfRun(&report);
    CHECK(report.findings.back().fixes.front().snippet ==
          (report.run.maker == "amd" ? "hipEventRecord(ready, s);" : "cudaEventRecord(ready, s);"));
  }
}

TEST_CASE("a step is what the run repeats") {
  const auto solver = [](const std::string& prose) { return InUnitsOf("iteration", prose); };
  CHECK(solver("Steps vary: 9 of 58 steps. Read it every N steps, once per step.") ==
        "Iterations vary: 9 of 58 iterations. Read it every N iterations, once per iteration.");
  CHECK(solver("A step computes too little. The end of a step.") ==
        "An iteration computes too little. The end of an iteration.");
  CHECK(InUnitsOf("request", "a step") == "a request");
  for (const char* same : {"step by step", "the optimizer step", "each micro-step", "train_step(x)",
                           "two decode steps", "footsteps", "steps.count"}) {
    CHECK(solver(same) == same);
  }
  CHECK(InUnitsOf("step", "every step") == "every step");
  CHECK(InUnitsOf("launch", "every step") == "every step");
}

TEST_CASE("a rule that speaks of other steps keeps them, whatever the run is made of") {
  for (const bool own : {false, true}) {
    RuleInfo rule;
    rule.title = "Prepare the next step";
    rule.own_steps = own;
    Report report;
    report.run.unit = "token";
    report.findings.emplace_back();
    Finding& finding = report.findings.back();
    finding.rule = &rule;
    finding.symptom = "A step waits.";
    UseTermsOfRun(&report);
    CHECK(finding.Title() == (own ? "Prepare the next step" : "Prepare the next token"));
    CHECK(finding.symptom == (own ? "A step waits." : "A token waits."));
  }
}

TEST_CASE("findings, open questions and notes get the terms of the run's GPUs") {
  RuleInfo rule;
  rule.title = "Give all SMs work";
  Report report;
  report.run.maker = "amd";
  report.findings.emplace_back();
  Finding& finding = report.findings.back();
  finding.rule = &rule;
  finding.symptom = "Most SMs are idle.";
  finding.fixes = {
      {"Launch a block per SM", "kernel<<<sms, 256>>>();  // per SM", "cpp", {}, {}, ""}};
  report.not_checked.push_back({"a/b", {}, "no kernel counters were given (Nsight Compute)", ""});
  UseTermsOfRun(&report);
  CHECK(finding.Title() == "Give all compute units work");
  CHECK(finding.symptom == "Most compute units are idle.");
  CHECK(finding.fixes[0].action == "Launch a block per compute unit");
  CHECK(finding.fixes[0].snippet == "kernel<<<sms, 256>>>();  // per SM");
  CHECK(report.not_checked[0].reason == "no kernel counters were given");
}

}  // namespace
}  // namespace advise
