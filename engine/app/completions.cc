// Completions for bash, zsh and fish. Rules, settings, exercises and GPUs come from the program
// when they are asked for, so that those of a site are among them.
#include <fmt/format.h>

#include "engine/app/usage_model.h"
#include "engine/base/shell_word.h"

namespace advise {
namespace {

// What `advise completions --list` is asked for; "" when there is no list.
const char* ListOf(Completion completion) {
  switch (completion) {
    case Completion::kRules:
      return "rules";
    case Completion::kRulesAndAreas:
      return "selections";
    case Completion::kSettings:
      return "settings";
    case Completion::kExercises:
      return "exercises";
    case Completion::kGpus:
      return "gpus";
    case Completion::kFiles:
    case Completion::kNothing:
      return "";
  }
  return "";
}

bool HasList(const OptionUsage& option) { return *ListOf(option.completion) != '\0'; }

std::string Flags(const CommandUsage& command) {
  std::string words;
  for (const OptionUsage& option : command.options) {
    for (const std::string& name : option.names) words += (words.empty() ? "" : " ") + name;
  }
  return words;
}

std::string Names(const std::vector<CommandUsage>& commands, const char* between = " ") {
  std::string words;
  for (const CommandUsage& command : commands) {
    if (!command.name.empty()) words += (words.empty() ? "" : between) + command.name;
  }
  return words;
}

// ---- bash

std::string BashAction(const OptionUsage& option) {
  if (!option.choices.empty()) {
    return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))",
                       fmt::join(option.choices, " "));
  }
  if (HasList(option)) {
    const bool file_too = option.completion == Completion::kExercises;
    const bool goes_on = option.completion == Completion::kSettings;
    return fmt::format("{}{} {}{}", goes_on ? "compopt -o nospace 2>/dev/null; " : "",
                       option.several ? "_advise_several" : "_advise_one",
                       ListOf(option.completion), file_too ? "; _advise_files" : "");
  }
  return option.completion == Completion::kNothing ? "COMPREPLY=()" : "_advise_files";
}

// What completes the value of each option, as the arms of a `case` on the word before.
std::string BashValues(const CommandUsage& command) {
  std::string arms;
  for (const OptionUsage& option : command.options) {
    if (option.positional || option.value_name.empty() || option.names.empty()) continue;
    arms += fmt::format("        {}) {}; return ;;\n", fmt::join(option.names, "|"),
                        BashAction(option));
  }
  return arms;
}

// `words`: those that name the command, `depth` how many they are.
std::string BashArm(const CommandUsage& command, const std::string& words, int depth) {
  std::string arm = fmt::format("    {})\n      case \"$before\" in\n{}      esac\n",
                                SingleQuoted(words), BashValues(command));
  arm += fmt::format(
      "      if [[ $word == -* ]]; then\n        COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n",
      Flags(command));
  if (!command.commands.empty()) {
    arm += fmt::format("      else\n        COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n",
                       Names(command.commands));
    return arm + "      fi ;;\n";
  }
  for (const OptionUsage& option : command.options) {
    if (!option.positional || (option.choices.empty() && !HasList(option))) continue;
    arm += fmt::format("      elif [[ $COMP_CWORD -eq {} ]]; then\n        {}\n", depth + 1,
                       BashAction(option));
    break;  // what follows the first word are files
  }
  return arm + "      else\n        _advise_files\n      fi ;;\n";
}

std::string Bash(const std::vector<CommandUsage>& usage) {
  std::string text = fmt::format(
      "# bash completion for advise; made by: advise completions bash\n"
      "_advise_list() {{\n  advise completions --list \"$1\" 2>/dev/null\n}}\n\n"
      "_advise_one() {{\n"
      "  COMPREPLY=($(compgen -W \"$(_advise_list \"$1\")\" -- \"$word\"))\n}}\n\n"
      "# The last of words that commas separate.\n"
      "_advise_several() {{\n  local first=''\n  [[ $word == *,* ]] && first=${{word%,*}},\n"
      "  COMPREPLY=($(compgen -P \"$first\" -W \"$(_advise_list \"$1\")\" -- "
      "\"${{word##*,}}\"))\n}}\n\n"
      "# Only files are quoted, and go on where they are folders.\n"
      "_advise_files() {{\n  local IFS=$'\\n'\n  compopt -o filenames 2>/dev/null\n"
      "  COMPREPLY+=($(compgen -f -- \"$word\"))\n}}\n\n"
      "_advise() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=''\n"
      "  COMPREPLY=()\n"
      "  if [[ $COMP_CWORD -eq 1 && $word != -* ]]; then\n"
      "    COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n    _advise_files\n    return\n  fi\n"
      "  # --option=value comes as three words.\n"
      "  if [[ $word == = && $before == --* ]]; then\n    word=''\n"
      "  elif [[ $before == = && $COMP_CWORD -gt 2 && ${{COMP_WORDS[COMP_CWORD-2]}} == --* ]]; "
      "then\n"
      "    before=${{COMP_WORDS[COMP_CWORD-2]}}\n  fi\n"
      "  case \"${{COMP_WORDS[1]}}\" in\n    {}) command=${{COMP_WORDS[1]}} ;;\n  esac\n",
      Names(usage), Names(usage, "|"));
  for (const CommandUsage& command : usage) {
    if (command.commands.empty()) continue;
    text += fmt::format(
        "  if [[ $command == {} && $COMP_CWORD -gt 2 ]]; then\n"
        "    case \"${{COMP_WORDS[2]}}\" in\n"
        "      {}) command=\"$command ${{COMP_WORDS[2]}}\" ;;\n    esac\n  fi\n",
        command.name, Names(command.commands, "|"));
  }
  text += "  case \"$command\" in\n";
  for (const CommandUsage& command : usage) {
    text += BashArm(command, command.name, command.name.empty() ? 0 : 1);
    for (const CommandUsage& job : command.commands) {
      text += BashArm(job, command.name + " " + job.name, 2);
    }
  }
  return text + "  esac\n}\ncomplete -F _advise advise\n";
}

// ---- zsh

std::string ZshText(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

// An action that begins with a space is called with its own words only.
std::string ZshAction(const OptionUsage& option) {
  if (!option.choices.empty())
    return "(" + ZshText(fmt::format("{}", fmt::join(option.choices, " "))) + ")";
  if (option.completion == Completion::kExercises) return "_advise_exercises";
  if (HasList(option) && option.several)
    return fmt::format(" _advise_several {}", ListOf(option.completion));
  if (HasList(option)) return fmt::format(" _advise_list {}", ListOf(option.completion));
  return option.completion == Completion::kNothing && !option.positional ? " " : "_files";
}

std::string ZshArguments(const CommandUsage& command, const std::string& indent) {
  std::string text = "_arguments";
  for (const OptionUsage& option : command.options) {
    for (const std::string& name : option.names) {
      std::string spec = (option.repeatable ? "*" : "") + name + "[" + ZshText(option.text) + "]";
      if (!option.value_name.empty()) {
        spec += ":" + ZshText(option.value_name) + ":" + ZshAction(option);
      }
      text += " \\\n" + indent + SingleQuoted(spec);
    }
    if (option.positional) {
      text += " \\\n" + indent +
              SingleQuoted(fmt::format("{}:{}:{}", option.repeatable ? "*" : "",
                                       ZshText(option.text), ZshAction(option)));
    }
  }
  return text;
}

std::string Zsh(const std::vector<CommandUsage>& usage) {
  std::string text =
      "#compdef advise\n# zsh completion for advise; made by: advise completions zsh\n"
      "_advise_list() {\n  local -a items ends\n  [[ $1 == settings ]] && ends=(-S '')\n"
      "  items=(${(f)\"$(advise completions --list $1 2>/dev/null)\"})\n"
      "  compadd \"${ends[@]}\" -a items\n}\n"
      "_advise_several() {\n  compset -P '*,'\n  _advise_list $1\n}\n"
      "_advise_exercises() {\n  _advise_list exercises\n  _files\n}\n\n";
  text += "_advise() {\n  local -a commands\n  commands=(\n";
  for (const CommandUsage& command : usage) {
    if (command.name.empty()) continue;
    text += "    " + SingleQuoted(command.name + ":" + ZshText(command.summary)) + "\n";
  }
  text +=
      "  )\n  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
      "    _describe command commands\n    _files\n    return\n  fi\n  case $words[2] in\n";
  for (const CommandUsage& command : usage) {
    if (command.name.empty()) continue;
    text += fmt::format("    {})\n      shift words\n      (( CURRENT-- ))\n", command.name);
    if (!command.commands.empty()) {
      text += fmt::format(
          "      if (( CURRENT == 2 )); then compadd {}; return; fi\n      case $words[2] in\n",
          Names(command.commands));
      for (const CommandUsage& job : command.commands) {
        text += fmt::format("        {}) shift words; (( CURRENT-- )); {} ;;\n", job.name,
                            ZshArguments(job, "          "));
      }
      text += "      esac ;;\n";
      continue;
    }
    text += "      " + ZshArguments(command, "        ") + " ;;\n";
  }
  text += "    *)\n      " + ZshArguments(usage.front(), "        ") + " ;;\n  esac\n}\n";
  return text + "_advise \"$@\"\n";
}

// ---- fish

std::string FishOption(const OptionUsage& option, const std::string& condition) {
  std::string line = "complete -c advise -n " + SingleQuoted(condition);
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.value_name.empty()) line += " -r";
  if (!option.choices.empty()) {
    line += " -f -a " + SingleQuoted(fmt::format("{}", fmt::join(option.choices, " ")));
  } else if (HasList(option)) {
    line += fmt::format(" -f -a '({} {})'", option.several ? "__advise_several" : "__advise_list",
                        ListOf(option.completion));
  } else if (!option.value_name.empty()) {
    line += option.completion == Completion::kNothing ? " -f" : " -F";
  }
  return line + " -d " + SingleQuoted(option.text) + "\n";
}

std::string FishOptions(const CommandUsage& command, const std::string& condition) {
  std::string text;
  for (const OptionUsage& option : command.options) {
    if (!option.positional) {
      text += FishOption(option, condition);
    } else if (!option.choices.empty()) {
      text += fmt::format("complete -c advise -n {} -f -a {}\n", SingleQuoted(condition),
                          SingleQuoted(fmt::format("{}", fmt::join(option.choices, " "))));
    } else if (HasList(option)) {
      text += fmt::format("complete -c advise -n {} -a '(__advise_list {})'\n",
                          SingleQuoted(condition), ListOf(option.completion));
    }
  }
  return text;
}

std::string Fish(const std::vector<CommandUsage>& usage) {
  std::string text =
      "# fish completion for advise; made by: advise completions fish\n"
      "function __advise_list\n  advise completions --list $argv[1] 2>/dev/null\nend\n"
      "function __advise_several\n"
      "  set -l first (string replace -r '^--[a-z-]+=' '' -- (commandline -ct) | string match -r "
      "'.*,')\n"
      "  for word in (__advise_list $argv[1])\n    echo \"$first$word\"\n  end\nend\n";
  const std::string names = Names(usage);
  const std::string none = fmt::format("not __fish_seen_subcommand_from {}", names);
  for (const CommandUsage& command : usage) {
    if (command.name.empty()) continue;
    text += fmt::format("complete -c advise -n '__fish_use_subcommand' -a {} -d {}\n", command.name,
                        SingleQuoted(command.summary));
  }
  text += FishOptions(usage.front(), none);
  for (const CommandUsage& command : usage) {
    if (command.name.empty()) continue;
    const std::string seen = "__fish_seen_subcommand_from " + command.name;
    text += FishOptions(command, seen);
    for (const CommandUsage& job : command.commands) {
      text += fmt::format(
          "complete -c advise -n '{}; and not __fish_seen_subcommand_from {}' -f -a {} -d {}\n",
          seen, Names(command.commands), job.name, SingleQuoted(job.summary));
      text += FishOptions(job, seen + "; and __fish_seen_subcommand_from " + job.name);
    }
  }
  return text;
}

}  // namespace

std::string RenderCompletions(const std::vector<CommandUsage>& usage, const std::string& shell) {
  if (shell == "bash") return Bash(usage);
  if (shell == "zsh") return Zsh(usage);
  if (shell == "fish") return Fish(usage);
  return "";
}

}  // namespace advise
