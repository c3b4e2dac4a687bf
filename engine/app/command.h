// A command of the program: what it is called, what it is for, its options, and what it does.
// main.cc picks one by the first word; everything they share stands in options.h and output.h.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "engine/app/output.h"
#include "engine/base/error.h"

namespace advise {

// The exit status, a promise to scripts.
enum ExitCode : int {
  kAnalyzed = 0,
  kConditionMet = 1,  // of --fail-on or --baseline
  kWrongUsage = 2,
  kUnreadableInput = 3,
  kBrokenRules = 4,  // or a broken configuration file
};

class Command {
 public:
  virtual ~Command() = default;
  virtual std::string Name() const = 0;      // the first word; "" for the main job
  virtual std::string Summary() const = 0;   // one line
  virtual std::string Examples() const = 0;  // command lines, one a line
  virtual void AddOptions(CLI::App& app) = 0;
  virtual int Run() = 0;  // an ExitCode
};

std::unique_ptr<Command> MakeDiagnoseCommand();
std::unique_ptr<Command> MakeFactsCommand();
std::unique_ptr<Command> MakeWhyCommand();
std::unique_ptr<Command> MakeRulesCommand();
std::unique_ptr<Command> MakeCompareCommand();
std::unique_ptr<Command> MakeScrubCommand();
std::unique_ptr<Command> MakeGradeCommand();
std::unique_ptr<Command> MakeRecordCommand();
std::unique_ptr<Command> MakeWhatIfCommand();
std::unique_ptr<Command> MakeSliceCommand();
std::unique_ptr<Command> MakeCompletionsCommand();
std::unique_ptr<Command> MakeManualCommand();
std::unique_ptr<Command> MakeHelpCommand();
std::unique_ptr<Command> MakeMcpCommand();

// Every command there is, the main job first.
std::vector<std::unique_ptr<Command>> AllCommands();

// The commands of a command, as its options declare them: "test" of `advise rules`.
std::vector<std::string> JobsOf(const CLI::App& app);

// "advise: where: what (hint)" on stderr, always one line; returns `code`.
int Complain(const Error& error, ExitCode code);
int Complain(const std::vector<Error>& errors, ExitCode code);

// Writes what a command answers (WriteOutput). Returns `code`; where that fails, complains.
int WriteAnswer(const std::string& text, const OutputOptions& options,
                const std::vector<std::string>& inputs = {}, int code = kAnalyzed);

// While one lives, complaints of this process are kept in it and not printed.
class HearComplaints {
 public:
  HearComplaints();
  ~HearComplaints();
  HearComplaints(const HearComplaints&) = delete;
  HearComplaints& operator=(const HearComplaints&) = delete;

  const std::string& text() const { return text_; }  // one line each

 private:
  friend int Complain(const Error& error, ExitCode code);
  std::string text_;
};

// Runs the command that the arguments name; the first is the program itself. Never throws.
int RunWords(int argc, const char* const* argv);
// The same, as one of the processes of a launcher; for main() alone.
int RunProgram(int argc, const char* const* argv);

}  // namespace advise
