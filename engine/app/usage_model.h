// The program's commands and options as data, read from the parsers themselves: what the manual
// page and the shells' completions are made of.
#pragma once

#include <string>
#include <vector>

namespace advise {

// What completes a value that is not one of few.
enum class Completion { kFiles, kNothing, kRules, kRulesAndAreas, kSettings, kExercises, kGpus };

struct OptionUsage {
  std::vector<std::string> names;    // "--format", "-f"; empty for a positional argument
  std::string value_name;            // "FILE"; "" for a flag
  std::string text;                  // what it does
  std::vector<std::string> choices;  // values it takes, where they are few
  Completion completion = Completion::kFiles;
  bool positional = false;
  bool repeatable = false;
  bool several = false;  // values that commas separate
};

struct CommandUsage {
  std::string name;  // "" for the main job
  std::string summary;
  std::vector<std::string> examples;
  std::vector<OptionUsage> options;
  std::vector<CommandUsage> commands;  // its own subcommands
};

// The main job first, then every command in the order of the help text.
std::vector<CommandUsage> ReadUsage();

// Of a shell: "bash", "zsh" or "fish"; empty for another one.
std::string RenderCompletions(const std::vector<CommandUsage>& usage, const std::string& shell);

// The manual page advise(1), in roff.
std::string RenderManual(const std::vector<CommandUsage>& usage, const std::string& version);

}  // namespace advise
