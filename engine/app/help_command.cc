// `advise help`: as --help of the main job, of a command, or of a job of a command.
#include <algorithm>

#include "engine/app/command.h"
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
      for (const auto& command : AllCommands()) {
        if (!command->Name().empty()) names.push_back(command->Name());
      }
      if (std::find(names.begin(), names.end(), words_.front()) == names.end()) {
        const std::string near = DidYouMean(words_.front(), names);
        return Complain({"there is no such command", words_.front(),
                         near.empty() ? "all of them: advise help" : "did you mean " + near + "?"},
                        kWrongUsage);
      }
    }
    std::vector<const char*> arguments = {"advise"};
    for (const std::string& word : words_) arguments.push_back(word.c_str());
    arguments.push_back("--help");
    return RunWords(static_cast<int>(arguments.size()), arguments.data());
  }

 private:
  std::vector<std::string> words_;
};

}  // namespace

std::unique_ptr<Command> MakeHelpCommand() { return std::make_unique<HelpCommand>(); }

}  // namespace advise
