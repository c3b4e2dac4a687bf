// `advise completions` and `advise manual`: what packages install beside the program.
#include "engine/app/command.h"
#include "engine/app/output.h"
#include "engine/app/usage_model.h"

namespace advise {
namespace {

int Write(const std::string& text, const OutputOptions& output) {
  const auto written = WriteOutput(text, output, {});
  return written ? kAnalysed : Complain(written.error(), kWrongUsage);
}

class CompletionsCommand : public Command {
 public:
  std::string Name() const override { return "completions"; }
  std::string Summary() const override { return "Prints the completions for bash, zsh or fish."; }
  std::string Examples() const override {
    return "advise completions bash > ~/.local/share/bash-completion/completions/advise\n"
           "advise completions fish > ~/.config/fish/completions/advise.fish";
  }
  void AddOptions(CLI::App& app) override {
    app.add_option("SHELL", shell_, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    app.add_option("--output,-o", output_.path, "write to this file")->type_name("FILE");
  }
  int Run() override { return Write(RenderCompletions(ReadUsage(), shell_), output_); }

 private:
  std::string shell_;
  OutputOptions output_;
};

class ManualCommand : public Command {
 public:
  std::string Name() const override { return "manual"; }
  std::string Summary() const override { return "Prints the manual page, for man(1)."; }
  std::string Examples() const override {
    return "advise manual > advise.1\n"
           "advise manual -o ~/.local/share/man/man1/advise.1";
  }
  void AddOptions(CLI::App& app) override {
    app.add_option("--output,-o", output_.path, "write to this file")->type_name("FILE");
  }
  int Run() override { return Write(RenderManual(ReadUsage(), ADVISE_VERSION), output_); }

 private:
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> MakeCompletionsCommand() { return std::make_unique<CompletionsCommand>(); }
std::unique_ptr<Command> MakeManualCommand() { return std::make_unique<ManualCommand>(); }

}  // namespace advise
