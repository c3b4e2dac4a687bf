// `advise completions` and `advise manual`: what packages install beside the program.
#include "engine/app/command.h"
#include "engine/app/options.h"
#include "engine/app/submission.h"
#include "engine/app/usage_model.h"
#include "engine/pipeline/selection.h"
#include "engine/pipeline/session.h"

namespace advise {
namespace {

class CompletionsCommand : public Command {
 public:
  std::string Name() const override { return "completions"; }
  std::string Summary() const override { return "Prints the completions for bash, zsh or fish."; }
  std::string Examples() const override {
    return "advise completions bash > ~/.local/share/bash-completion/completions/advise\n"
           "advise completions fish > ~/.config/fish/completions/advise.fish";
  }
  void AddOptions(CLI::App& app) override {
    app.add_option("SHELL", shell_, "bash, zsh or fish")->check(OneOf({"bash", "zsh", "fish"}));
    app.add_option("--list", list_, "what completions offer, one per line")
        ->check(OneOf({"rules", "selections", "settings", "exercises", "gpus"}))
        ->type_name("KIND");
    AddSiteOptions(app, site_);
    app.add_option("--output,-o", output_.path, "write to this file")->type_name("FILE");
  }

  int Run() override {
    if (!list_.empty()) return List();
    if (shell_.empty()) {
      return Complain({"no shell is named", "", "bash, zsh or fish"}, kWrongUsage);
    }
    return WriteAnswer(RenderCompletions(ReadUsage(), shell_), output_);
  }

 private:
  int List() const {
    const auto session = OpenSession(site_);
    if (!session) return session.error();
    std::vector<std::string> words;
    if (list_ == "rules" || list_ == "selections") {
      for (const RuleInfo* rule : RuleInfos(*session)) words.push_back(rule->id);
      const std::vector<std::string> areas = AreasOf(words);
      if (list_ == "selections") words.insert(words.begin(), areas.begin(), areas.end());
    } else if (list_ == "settings") {
      const Knowledge& knowledge = *session->knowledge;
      for (const auto* numbers : {&knowledge.thresholds(), &knowledge.numbers()}) {
        for (const auto& [name, number] : *numbers) words.push_back(name + "=");
      }
    } else if (list_ == "gpus") {
      for (const HardwareEntry& gpu : session->knowledge->hardware()) words.push_back(gpu.id);
    } else {
      for (const Knowledge::File& file : ShippedExercises()) words.push_back(ExerciseId(file.path));
    }
    std::string text;
    for (const std::string& word : words) text += word + "\n";
    return WriteAnswer(text, output_);
  }

  std::string shell_;
  std::string list_;
  DiagnoseOptions site_;
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
  int Run() override { return WriteAnswer(RenderManual(ReadUsage(), ADVISE_VERSION), output_); }

 private:
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> MakeCompletionsCommand() { return std::make_unique<CompletionsCommand>(); }
std::unique_ptr<Command> MakeManualCommand() { return std::make_unique<ManualCommand>(); }

}  // namespace advise
