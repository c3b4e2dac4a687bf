// Diagnoses each report by itself, all at a time: side_by_side REPORT…
#include <advise/advise.h>

#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

struct Close {
  void operator()(advise_run* run) const { advise_free(run); }
};
using Run = std::unique_ptr<advise_run, Close>;

std::string Diagnose(const std::string& path) {
  const Run run(advise_open());
  advise_set(run.get(), "top", "1");
  advise_add(run.get(), path.c_str());
  return advise_diagnose(run.get()) == ADVISE_OK ? advise_json(run.get()) : advise_error(run.get());
}

int main(int argc, char** argv) {
  std::vector<std::future<std::string>> answers;
  for (int i = 1; i < argc; ++i)
    answers.push_back(std::async(std::launch::async, Diagnose, argv[i]));
  for (std::future<std::string>& answer : answers) std::cout << answer.get();
}
