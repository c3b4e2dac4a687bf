#include "engine/app/usage_model.h"

#include <algorithm>
#include <sstream>

#include "engine/app/command.h"

namespace advise {
namespace {

std::vector<std::string> Split(const std::string& text, const std::string& separators) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : text) {
    if (separators.find(c) == std::string::npos) {
      part += c;
    } else if (!part.empty()) {
      parts.push_back(std::exchange(part, ""));
    }
  }
  if (!part.empty()) parts.push_back(part);
  return parts;
}

// "TEXT:{auto,always,never}" names its values.
std::vector<std::string> ChoicesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  return open == std::string::npos ? std::vector<std::string>() : Split(type.substr(open), "{},");
}

Completion CompletionOf(const std::string& value_name) {
  if (value_name == "RULE|AREA") return Completion::kRulesAndAreas;
  if (value_name.starts_with("RULE")) return Completion::kRules;
  if (value_name == "NAME=VALUE") return Completion::kSettings;
  if (value_name == "EXERCISE") return Completion::kExercises;
  if (value_name == "GPU") return Completion::kGpus;
  const bool file = value_name.starts_with("FILE") || value_name.starts_with("DIR") ||
                    value_name.starts_with("PATH") || value_name.starts_with("REPORT") ||
                    value_name.starts_with("SUBMISSION");
  return file ? Completion::kFiles : Completion::kNothing;
}

OptionUsage ReadOption(const CLI::Option& option) {
  OptionUsage usage;
  usage.positional = option.nonpositional() ? false : option.get_positional();
  for (const std::string& name : option.get_lnames()) usage.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) usage.names.push_back("-" + name);
  usage.text = option.get_description();
  usage.choices = ChoicesOf(option);
  // An example: what is complete may be edited.
  if (option.check_lname("fail-on")) usage.choices.emplace_back("slower:3%");
  usage.several = option.get_delimiter() == ',';
  usage.repeatable = option.get_expected_max() > 1 || option.get_items_expected_max() > 1;
  if (usage.positional) {
    usage.value_name = option.get_name(true);
  } else if (option.get_expected_max() > 0) {
    std::string type = option.get_type_name();
    type.resize(std::min(type.find(':'), type.size()));
    usage.value_name = type.empty() || type == "TEXT" ? "VALUE" : type;
  }
  usage.completion = CompletionOf(usage.value_name);
  return usage;
}

CommandUsage ReadApp(CLI::App& app, const std::string& name, const std::string& summary) {
  CommandUsage usage;
  usage.name = name;
  usage.summary = summary;
  for (const CLI::Option* option : app.get_options()) usage.options.push_back(ReadOption(*option));
  for (CLI::App* job : app.get_subcommands([](CLI::App*) { return true; })) {
    usage.commands.push_back(ReadApp(*job, job->get_name(), job->get_description()));
    for (const std::string& line : Split(job->get_footer(), "\n")) {
      if (line.starts_with("  ")) usage.commands.back().examples.push_back(line.substr(2));
    }
  }
  return usage;
}

}  // namespace

std::vector<CommandUsage> ReadUsage() {
  std::vector<CommandUsage> usage;
  for (const auto& command : AllCommands()) {
    CLI::App app(command->Summary(), command->Name());
    if (command->Name().empty()) app.set_version_flag("--version", "");
    command->AddOptions(app);
    usage.push_back(ReadApp(app, command->Name(), command->Summary()));
    usage.back().examples = Split(command->Examples(), "\n");
  }
  std::vector<std::string> names;
  for (const CommandUsage& command : usage) {
    if (!command.name.empty()) names.push_back(command.name);
  }
  for (CommandUsage& command : usage) {
    if (command.name != "help") continue;
    for (OptionUsage& option : command.options) {
      if (option.positional) option.choices = names;
    }
  }
  return usage;
}

}  // namespace advise
