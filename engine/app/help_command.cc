// `advise help`: as --help of the main job, of a command, or of a job of a command.
#include <algorithm>

#include "engine/app/command.h"
#include "engine/base/is_in.h"
#include "engine/base/text.h"

namespace advise {
namespace {

class HelpCommand : public Command {
 public:
  std::string Name() const override { return "help"; }
  std::string Summary() const override { return "Prints the options and examples of a command."; }
  std::string Examples() const override {
    return "advise help\n"
           "advise help compare\n"
           "advise help rules new";
  }

  void AddOptions(CLI::App& app) override {
    app.add_option("COMMAND", words_, "a command, and a job of it (default: advise itself)")
        ->type_name("");
  }

  int Run() override {
    if (!words_.empty()) {
      std::vector<std::string> names;
      std::vector<std::string> jobs;
      for (const auto& command : AllCommands()) {
        if (command->Name().empty()) continue;
        names.push_back(command->Name());
        if (command->Name() != words_.front()) continue;
        CLI::App app;
        command->AddOptions(app);
        jobs = JobsOf(app);
      }
      if (const int unknown = Known(words_.front(), names, "advise help"); unknown != kAnalyzed)
        return unknown;
      if (words_.size() > 1 && !jobs.empty()) {
        const int unknown = Known(words_[1], jobs, "advise help " + words_.front());
        if (unknown != kAnalyzed) return unknown;
      }
    }
    std::vector<const char*> arguments = {"advise"};
    for (const std::string& word : words_) arguments.push_back(word.c_str());
    arguments.push_back("--help");
    return RunWords(static_cast<int>(arguments.size()), arguments.data());
  }

 private:
  static int Known(const std::string& word, const std::vector<std::string>& names,
                   const std::string& all) {
    if (IsIn(word, names)) return kAnalyzed;
    const std::string near = DidYouMean(word, names);
    return Complain({"there is no such command", word,
                     near.empty() ? "all of them: " + all : "did you mean " + near + "?"},
                    kWrongUsage);
  }

  std::vector<std::string> words_;
};

}  // namespace

std::unique_ptr<Command> MakeHelpCommand() { return std::make_unique<HelpCommand>(); }

}  // namespace advise
