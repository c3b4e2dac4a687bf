// Fixes are for the program that was captured.
#include "engine/advice/audience.h"

#include <catch2/catch.hpp>

namespace advise {
namespace {

const std::vector<Fix> kFixes = {{"for all", "", "", {}, {}, ""},
                                 {"for PyTorch", "", "", {}, {"pytorch"}, ""},
                                 {"for CUDA", "", "", {}, {"c++"}, ""},
                                 {"for Fortran", "", "", {}, {"openacc", "fortran"}, ""}};

std::vector<std::string> Fitting(const std::string& framework,
                                 const std::vector<std::string>& languages,
                                 const std::vector<Fix>& fixes = kFixes) {
  RunInfo run;
  run.framework = framework;
  run.languages = languages;
  std::vector<std::string> actions;
  for (const Fix& fix : FixesFor(run, fixes)) actions.push_back(fix.action);
  return actions;
}

TEST_CASE("fixes for other frameworks and languages are left out") {
  using Actions = std::vector<std::string>;
  CHECK(Fitting("PyTorch", {"Python"}) == Actions{"for all", "for PyTorch"});
  CHECK(Fitting("vLLM", {"Python", "PyTorch"}) == Actions{"for all", "for PyTorch"});
  CHECK(Fitting("JAX", {"Python"}) == Actions{"for all"});
  CHECK(Fitting("", {"CUDA C++"}) == Actions{"for all", "for CUDA"});
  CHECK(Fitting("", {"MPI", "CUDA C++"}) == Actions{"for all", "for CUDA"});
  // What is for C++ comes last where the program is of another language.
  CHECK(Fitting("", {"OpenACC"}) == Actions{"for all", "for Fortran", "for CUDA"});
  CHECK(Fitting("", {"OpenACC", "CUDA C++"}) == Actions{"for all", "for CUDA", "for Fortran"});
}

TEST_CASE("nobody who gave all ranks is told to capture them") {
  const std::vector<Fix> fixes = {{"capture all ranks", "", "", {}, {"some-ranks"}, ""},
                                  {"for all", "", "", {}, {}, ""}};
  RunInfo run;
  CHECK(FixesFor(run, fixes).size() == 2);
  run.all_ranks = true;
  REQUIRE(FixesFor(run, fixes).size() == 1);
  CHECK(FixesFor(run, fixes).front().action == "for all");
}

TEST_CASE("a Python program of unknown framework may use any framework") {
  // Or none: its kernels may be in a library, which Python calls.
  CHECK(Fitting("", {"Python"}) == std::vector<std::string>{"for all", "for CUDA", "for PyTorch"});
}

TEST_CASE("where a Python program shows no framework, what is for all comes first") {
  std::vector<Fix> fixes(3);
  fixes[0].action = "for PyTorch", fixes[0].programs = {"pytorch"};
  fixes[1].action = "for CuPy", fixes[1].programs = {"cupy"};
  fixes[2].action = "for all";
  RunInfo run;
  run.languages = {"Python"};
  const std::vector<Fix> fitting = FixesFor(run, fixes);
  REQUIRE(fitting.size() == 3);
  CHECK(fitting[0].action == "for all");
  CHECK(fitting[1].action == "for CuPy");
  CHECK(fitting[2].action == "for PyTorch");
  run.framework = "PyTorch";
  CHECK(FixesFor(run, fixes).front().action == "for PyTorch");
}

TEST_CASE("fixes for GPUs of another maker are left out") {
  using Actions = std::vector<std::string>;
  const std::vector<Fix> fixes = {{"any GPU", "", "", {}, {}, ""},
                                  {"with ncu", "", "", {}, {"nvidia"}, ""},
                                  {"with rocprof", "", "", {}, {"amd"}, ""}};
  RunInfo run;
  run.framework = "PyTorch";
  run.languages = {"Python"};
  const auto fitting = [&](const std::string& maker) {
    run.maker = maker;
    Actions actions;
    for (const Fix& fix : FixesFor(run, fixes)) actions.push_back(fix.action);
    return actions;
  };
  CHECK(fitting("nvidia") == Actions{"any GPU", "with ncu"});
  CHECK(fitting("amd") == Actions{"any GPU", "with rocprof"});
  CHECK(fitting("").size() == fixes.size());
}

TEST_CASE("nobody who serves a model or solves equations is told how to train") {
  using Actions = std::vector<std::string>;
  const std::vector<Fix> fixes = {{"any run", "", "", {}, {}, ""},
                                  {"losses", "", "", {}, {"pytorch", "training"}, ""},
                                  {"requests", "", "", {}, {"pytorch", "inference"}, ""}};
  RunInfo run;
  run.framework = "PyTorch";
  run.languages = {"Python"};
  const auto fitting = [&](const std::string& kind) {
    run.kind = kind;
    Actions actions;
    for (const Fix& fix : FixesFor(run, fixes)) actions.push_back(fix.action);
    return actions;
  };
  CHECK(fitting("training") == Actions{"any run", "losses"});
  CHECK(fitting("inference") == Actions{"any run", "requests"});
  CHECK(fitting("solver") == Actions{"any run"});
  // What ran once without a backward pass trains nothing; training is all that its fixes may be
  // for.
  CHECK(fitting("one-pass") == Actions{"any run", "requests"});
  run.kind = "kernels";
  CHECK(FixesFor(run, {fixes[1]}).size() == 1);
}

TEST_CASE("links are for the same program and the same GPUs as fixes") {
  Fix fix{"any", "", "", {}, {}, ""};
  fix.links = {{"all", {}},       {"torch", {"pytorch"}},  {"cuda", {"nvidia"}},
               {"rocm", {"amd"}}, {"mpi", {"mpi", "c++"}}, {"nsys", {"nvidia", "python"}}};
  using Links = std::vector<std::string>;
  const auto shown = [&](const RunInfo& run) {
    Links urls;
    const std::vector<Fix> fixes = FixesFor(run, {fix});
    for (const Link& link : fixes.front().links) urls.push_back(link.url);
    return urls;
  };
  RunInfo torch;
  torch.framework = "PyTorch";
  torch.languages = {"Python"};
  torch.maker = "amd";
  CHECK(shown(torch) == Links{"all", "torch", "rocm"});
  RunInfo solver;
  solver.languages = {"MPI", "CUDA C++"};
  solver.maker = "nvidia";
  CHECK(shown(solver) == Links{"all", "cuda", "mpi"});
  CHECK(shown(RunInfo()).size() == fix.links.size());
}

TEST_CASE("a maker's name makes nobody else's fix fit") {
  RunInfo run;
  run.languages = {"Python"};  // of unknown framework
  run.maker = "nvidia";
  const std::vector<Fix> fixes = {{"any", "", "", {}, {}, ""},
                                  {"nvfortran", "", "", {}, {"fortran", "nvidia"}, ""}};
  CHECK(FixesFor(run, fixes).size() == 1);
}

TEST_CASE("nothing is left out where nothing is known, or where nothing would be left") {
  CHECK(Fitting("", {}).size() == kFixes.size());
  // Then each says whom it is for: nobody takes another program's call for one of their own.
  CHECK(Fitting("PyTorch", {"Python"}, {kFixes[2]}) ==
        std::vector<std::string>{"for CUDA (for CUDA C++; find its equivalent in your program)"});
  CHECK(Fitting("JAX", {"Python"}, {kFixes[1], kFixes[2]}).front() ==
        "for PyTorch (for PyTorch; find its equivalent in your program)");
}

}  // namespace
}  // namespace advise
