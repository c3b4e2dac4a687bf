// The C functions. No exception leaves them.
#include "engine/library/advise.h"

#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/cores.h"
#include "engine/base/parse_number.h"
#include "engine/pipeline/diagnose.h"
#include "engine/pipeline/inputs.h"
#include "engine/pipeline/selection.h"
#include "engine/pipeline/session.h"
#include "engine/report/json.h"

#ifndef ADVISE_VERSION
#error "the build defines ADVISE_VERSION"
#endif

struct advise_run {
  advise::DiagnoseOptions options;
  advise::JsonOptions form;
  std::string json;
  std::string error;
  const char* ended = nullptr;  // said in place of `error` where there may be no memory for a text
};

namespace advise {
namespace {

int Reject(advise_run& run, int status, const Error& problem) {
  run.error += problem.Line() + "\n";
  return status;
}

// Calls body(); what it throws becomes the error of the run. A new call forgets the error of the
// last.
template <typename Body>
int Guarded(advise_run* run, const Body& body) {
  if (run == nullptr) return ADVISE_WRONG_USAGE;
  run->ended = nullptr;
  run->error.clear();
  try {
    return body();
  } catch (const std::bad_alloc&) {
    run->ended = "there is not enough memory\n";
  } catch (const std::exception&) {
    run->ended = "the system refuses more threads or files\n";
  } catch (...) {
    run->ended = "an error of unknown kind\n";
  }
  run->json.clear();
  return ADVISE_UNREADABLE;
}

bool ReadNumber(std::string_view text, int lowest, int highest, int* number) {
  const auto value = ParseNumber<int>(text);
  if (!value || *value < lowest || *value > highest) return false;
  *number = *value;
  return true;
}

bool ReadSwitch(std::string_view text, bool* on) {
  *on = text == "yes";
  return *on || text == "no";
}

int SetOption(advise_run& run, const std::string& option, const std::string& value) {
  DiagnoseOptions& options = run.options;
  const auto wanted = [&](bool good, const char* what) {
    return good ? ADVISE_OK
                : Reject(run, ADVISE_WRONG_USAGE, {"\"" + value + "\" is not " + what, option, ""});
  };
  for (const auto& [name, list] :
       {std::pair{"only", &options.only}, std::pair{"skip", &options.skip},
        std::pair{"rules", &options.rule_dirs}, std::pair{"set", &options.set}}) {
    if (option == name) return list->push_back(value), ADVISE_OK;
  }
  if (option == "window") {
    if (const std::string problem = CheckWindow(value); !problem.empty()) {
      return Reject(run, ADVISE_WRONG_USAGE, {"\"" + value + "\": " + problem, option, ""});
    }
    return options.window = value, ADVISE_OK;
  }
  for (const auto& [name, text] :
       {std::pair{"gpu", &options.gpu}, std::pair{"config", &options.config}}) {
    if (option == name) return *text = value, ADVISE_OK;
  }
  if (option == "jobs") return wanted(ReadNumber(value, 1, 256, &options.jobs), "from 1 to 256");
  if (option == "top") return wanted(ReadNumber(value, 0, 1'000'000, &run.form.top), "a number");
  if (option == "facts") return wanted(ReadSwitch(value, &run.form.facts), "yes or no");
  if (option == "no-site") return wanted(ReadSwitch(value, &options.no_site), "yes or no");
  return Reject(run, ADVISE_WRONG_USAGE, {"there is no option \"" + option + "\"", "", ""});
}

// What the options name exists.
Result<void> CheckNames(const DiagnoseOptions& options, const Session& session) {
  std::vector<std::string> ids;
  for (const RuleInfo* rule : RuleInfos(session)) ids.push_back(rule->id);
  if (auto known = CheckSelection("only", options.only, ids); !known) return known;
  if (auto known = CheckSelection("skip", options.skip, ids); !known) return known;
  return CheckGpu(options.gpu, *session.knowledge);
}

int DiagnoseRun(advise_run& run) {
  run.json.clear();
  if (run.options.reports.empty()) {
    return Reject(run, ADVISE_WRONG_USAGE, {"no report was added", "", "see: advise_add()"});
  }
  DiagnoseOptions files = run.options;
  files.all_facts = run.form.facts;
  auto reports = ExpandReports(files.reports);
  if (!reports) return Reject(run, ADVISE_UNREADABLE, reports.error());
  files.reports = std::move(*reports);
  const auto session = LoadSession(files);
  if (!session) {
    for (const Error& problem : session.error()) Reject(run, ADVISE_BROKEN_RULES, problem);
    return ADVISE_BROKEN_RULES;
  }
  const auto known = CheckNames(files, *session);
  if (!known) return Reject(run, ADVISE_WRONG_USAGE, known.error());
  const auto saved = Diagnose(*session, files);
  if (!saved) return Reject(run, ADVISE_UNREADABLE, saved.error());
  run.json = RenderJson(saved->report, run.form);
  return ADVISE_OK;
}

}  // namespace
}  // namespace advise

extern "C" {

const char* advise_version(void) { return ADVISE_VERSION; }

advise_run* advise_open(void) {
  try {
    auto run = std::make_unique<advise_run>();
    run->options.by_itself = true;  // the peers of a launcher are the caller's
    run->options.jobs = advise::DefaultJobs();
    return run.release();
  } catch (...) {
    return nullptr;
  }
}

int advise_add(advise_run* run, const char* path) {
  return advise::Guarded(run, [&] {
    if (path == nullptr)
      return advise::Reject(*run, ADVISE_WRONG_USAGE, {"null as a path", "", ""});
    run->options.reports.emplace_back(path);
    return static_cast<int>(ADVISE_OK);
  });
}

int advise_set(advise_run* run, const char* option, const char* value) {
  return advise::Guarded(run, [&] {
    if (option == nullptr || value == nullptr) {
      return advise::Reject(*run, ADVISE_WRONG_USAGE, {"null as an option or its value", "", ""});
    }
    return advise::SetOption(*run, option, value);
  });
}

int advise_diagnose(advise_run* run) {
  return advise::Guarded(run, [&] { return advise::DiagnoseRun(*run); });
}

const char* advise_json(const advise_run* run) { return run == nullptr ? "" : run->json.c_str(); }

const char* advise_error(const advise_run* run) {
  if (run == nullptr) return "null as a run\n";
  return run->ended != nullptr ? run->ended : run->error.c_str();
}

void advise_free(advise_run* run) { delete run; }
}
