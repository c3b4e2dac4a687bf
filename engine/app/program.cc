// Picks the command that the first word names, parses its options, runs it.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

#include "engine/app/command.h"
#include "engine/app/output.h"
#include "engine/base/is_in.h"
#include "engine/base/leftovers.h"
#include "engine/base/text.h"
#include "engine/pipeline/processes.h"

#ifndef ADVISE_VERSION
#error "the build defines ADVISE_VERSION"
#endif

namespace advise {
namespace {

HearComplaints* hearer = nullptr;  // commands run one at a time

std::string Indented(const std::string& lines) {
  std::string text;
  std::size_t at = 0;
  while (at < lines.size()) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    text += "  " + lines.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return text;
}

std::string Footer(const Command& command, const std::vector<std::unique_ptr<Command>>& all) {
  std::string footer = "Examples:\n" + Indented(command.Examples());
  if (!command.Name().empty()) return footer;
  footer += "\nOther commands (advise help COMMAND):\n";
  for (const auto& other : all) {
    if (other->Name().empty()) continue;
    std::string name = other->Name();
    name.resize(std::max<std::size_t>(name.size() + 2, 13), ' ');
    footer += "  " + name + other->Summary() + "\n";
  }
  footer +=
      "\nExit status: 0 analyzed, 1 --fail-on or --baseline met, 2 wrong usage,\n"
      "3 an input could not be read, 4 a rule or configuration file is broken.";
  return footer;
}

// What an interrupted program leaves: nothing on disk, no half line on the terminal, and the exit
// status that shells expect of it.
void OnInterrupt(int signal) {
  RemoveLeftovers();
  Progress::End();
  raise(signal);  // comes when this function is left, and then ends the program
}

// Memory, or the right to one more thread, may end anywhere: in a thread, or where nothing may be
// thrown. Neither allocates nor returns.
[[noreturn]] void OnTerminate() {
  const char* said = nullptr;
  try {
    if (const std::exception_ptr problem = std::current_exception())
      std::rethrow_exception(problem);
  } catch (const std::bad_alloc&) {
    said = "advise: there is not enough memory (give it more, or export a part of the report)\n";
  } catch (const std::system_error&) {
    said = "advise: the system refuses more threads or files (see: ulimit -a)\n";
  } catch (...) {
  }
  if (said == nullptr) __gnu_cxx::__verbose_terminate_handler();
  RemoveLeftovers();
  Progress::End();
  static_cast<void>(!write(STDERR_FILENO, said, std::strlen(said)));
  _exit(kUnreadableInput);
}

void TidyUpWhenInterrupted() {
  struct sigaction tidy = {}, before = {};
  tidy.sa_handler = OnInterrupt;
  tidy.sa_flags = static_cast<int>(SA_RESETHAND);
  sigfillset(&tidy.sa_mask);  // one interrupt at a time is tidied up after
  signal(SIGXFSZ, SIG_IGN);   // a file that may not grow: writing fails, and that is said
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    // Who started the program may want it to go on (nohup).
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_DFL) {
      sigaction(number, &tidy, nullptr);
    }
  }
}

// A first word that is neither a command, an option nor a path can only be a misspelt command.
bool LooksLikeCommand(const std::string& word) {
  if (word.empty() || word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") != std::string::npos) {
    return false;
  }
  std::error_code failed;
  return word.front() != '-' && !std::filesystem::exists(word, failed);
}

// The job of the command that was named, or the command itself.
const CLI::App& Innermost(const CLI::App& app) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  return named.empty() ? app : Innermost(*named.front());
}

// "advise rules test", as far as it was understood.
std::string CallOf(const CLI::App& app) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  return app.get_name() + (named.empty() ? "" : " " + CallOf(*named.front()));
}

// What the parser says, in words of our own where it speaks of its own terms.
Error ProblemOf(const CLI::App& app, const CLI::ParseError& problem, int argc,
                const char* const* argv) {
  const std::vector<std::string> jobs = JobsOf(Innermost(app));
  if (jobs.empty() || dynamic_cast<const CLI::RequiredError*>(&problem) == nullptr)
    return {problem.what(), "", ""};
  for (int i = 1; i < argc; ++i) {
    if (*argv[i] != '-') return {"there is no such command", argv[i], ""};
  }
  return {fmt::format("{} wants one of: {}", CallOf(app), fmt::join(jobs, ", ")), "", ""};
}

std::string Guess(const std::string& given, const std::vector<std::string>& names) {
  const std::string near = DidYouMean(given, names);
  return near.empty() || near == given ? "" : "did you mean " + near + "? ";
}

// For an option or a job of the command that does not exist: the nearest that does.
std::string Hint(const CLI::App& app, int argc, const char* const* argv) {
  const CLI::App& innermost = Innermost(app);
  std::vector<std::string> options;
  for (const CLI::Option* option : innermost.get_options()) {
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  }
  const std::vector<std::string> jobs = JobsOf(innermost);
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool is_option = word.starts_with("--") && word.size() > 2;
    if (!is_option && (jobs.empty() || word.starts_with("-"))) continue;
    const std::string name = word.substr(0, word.find('='));
    std::string guess = Guess(name, is_option ? options : jobs);
    const bool known = is_option && IsIn(name, options);
    if (!known && !guess.empty()) return guess;
  }
  return "";
}

int ParseAndRun(Command& command, const std::vector<std::unique_ptr<Command>>& all, int argc,
                const char* const* argv) {
  const std::string name = command.Name().empty() ? "advise" : "advise " + command.Name();
  CLI::App app(command.Summary(), name);
  app.footer(Footer(command, all));
  app.get_formatter()->column_width(26);
  if (command.Name().empty()) {
    app.set_version_flag("--version", std::string("advise ") + ADVISE_VERSION);
  }
  command.AddOptions(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() == 0) return app.exit(problem);
    const bool value = dynamic_cast<const CLI::ValidationError*>(&problem) != nullptr;
    const std::string hint = value ? "" : Hint(app, argc, argv);
    Error error = ProblemOf(app, problem, argc, argv);
    error.hint = hint + "see: " + CallOf(app) + " --help";
    return Complain(error, kWrongUsage);
  }
  return command.Run();
}

}  // namespace

std::vector<std::string> JobsOf(const CLI::App& app) {
  std::vector<std::string> jobs;
  for (const CLI::App* job : app.get_subcommands([](const CLI::App*) { return true; }))
    jobs.push_back(job->get_name());
  return jobs;
}

HearComplaints::HearComplaints() { hearer = this; }
HearComplaints::~HearComplaints() { hearer = nullptr; }

int Complain(const Error& error, ExitCode code) {
  if (hearer != nullptr) {
    hearer->text_ += SafeText(error.Line()) + "\n";
    return code;
  }
  // One of several processes speaks for all.
  if (Processes::All().number() > 0) return code;
  std::fprintf(stderr, "advise: %s\n", SafeText(error.Line()).c_str());
  return code;
}

int Complain(const std::vector<Error>& errors, ExitCode code) {
  for (const Error& error : errors) Complain(error, code);
  return code;
}

int WriteAnswer(const std::string& text, const OutputOptions& options,
                const std::vector<std::string>& inputs, int code) {
  const auto written = WriteOutput(text, options, inputs);
  return written ? code : Complain(written.error(), kWrongUsage);
}

int RunWords(int argc, const char* const* argv) {
  try {
    const auto commands = AllCommands();
    const std::string word = argc > 1 ? argv[1] : "";
    std::vector<std::string> names;
    for (const auto& command : commands) {
      if (command->Name().empty()) continue;
      // The command's own parser sees its name as the program's.
      if (command->Name() == word) return ParseAndRun(*command, commands, argc - 1, argv + 1);
      names.push_back(command->Name());
    }
    if (LooksLikeCommand(word)) {
      const std::string near = DidYouMean(word, names);
      return Complain({"unknown command, and no file of that name", word,
                       near.empty() ? "see: advise --help" : "did you mean " + near + "?"},
                      kWrongUsage);
    }
    return ParseAndRun(*commands.front(), commands, argc, argv);
  } catch (const PartHandedIn&) {
    return kAnalyzed;
  } catch (const std::bad_alloc&) {
    return Complain(
        {"there is not enough memory", "", "give it more, or export a part of the report"},
        kUnreadableInput);
  } catch (const std::system_error& problem) {
    return Complain({std::string("the system refuses: ") + problem.what(), "", "see: ulimit -a"},
                    kUnreadableInput);
  } catch (const std::exception& problem) {
    return Complain({std::string("internal error: ") + problem.what(), "",
                     "please report it with the command line"},
                    kUnreadableInput);
  }
}

int RunProgram(int argc, const char* const* argv) {
  TidyUpWhenInterrupted();
  std::set_terminate(OnTerminate);
  Processes& processes = Processes::All();
  if (!processes.problem().empty()) {
    return Complain(
        {processes.problem(), "", "build with an MPI, or run advise without the launcher"},
        kWrongUsage);
  }
  const int code = RunWords(argc, argv);
  processes.Leave();
  return code;
}

}  // namespace advise
