// Completions for bash, zsh and fish. Rule names come from the program when they are asked for, so
// that site rules are among them.
#include <fmt/format.h>

#include "engine/app/usage_model.h"

namespace advise {
namespace {

constexpr const char* kRuleNames =
    "advise rules list --format json 2>/dev/null | sed -n 's/^ *\"id\": \"\\(.*\\)\",*$/\\1/p'";

bool TakesRule(const OptionUsage& option) { return option.value_name.starts_with("RULE"); }

// Inside single quotes of a shell.
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string Flags(const CommandUsage& command) {
  std::string words;
  for (const OptionUsage& option : command.options) {
    for (const std::string& name : option.names) words += (words.empty() ? "" : " ") + name;
  }
  return words;
}

std::string Names(const std::vector<CommandUsage>& commands) {
  std::string words;
  for (const CommandUsage& command : commands) {
    if (!command.name.empty()) words += (words.empty() ? "" : " ") + command.name;
  }
  return words;
}

// ---- bash

// What completes the value of each option, as the arms of a `case` on the word before.
std::string BashValues(const CommandUsage& command) {
  std::string arms;
  for (const OptionUsage& option : command.options) {
    if (option.positional || option.value_name.empty() || option.names.empty()) continue;
    std::string action = "COMPREPLY=($(compgen -f -- \"$word\"))";
    if (!option.choices.empty()) {
      action = fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))",
                           fmt::join(option.choices, " "));
    } else if (TakesRule(option)) {
      action = "COMPREPLY=($(compgen -W \"$(_advise_rules)\" -- \"$word\"))";
    } else if (option.value_name == "N" || option.value_name == "NAME" ||
               option.value_name == "WINDOW") {
      action = "COMPREPLY=()";
    }
    arms += fmt::format("        {}) {}; return ;;\n", fmt::join(option.names, "|"), action);
  }
  return arms;
}

std::string BashArm(const CommandUsage& command) {
  bool rule = false;
  for (const OptionUsage& option : command.options)
    rule = rule || (option.positional && TakesRule(option));
  std::string arm =
      fmt::format("    {})\n      case \"$before\" in\n{}      esac\n",
                  command.name.empty() ? "''" : Quoted(command.name), BashValues(command));
  arm += fmt::format(
      "      if [[ $word == -* ]]; then\n        COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n",
      Flags(command));
  if (!command.commands.empty()) {
    arm += fmt::format(
        "      elif [[ $COMP_CWORD -eq 2 ]]; then\n"
        "        COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n",
        Names(command.commands));
    arm +=
        "      elif [[ ${COMP_WORDS[2]} == show ]]; then\n"
        "        COMPREPLY=($(compgen -W \"$(_advise_rules)\" -- \"$word\"))\n";
  }
  if (rule) {
    arm +=
        "      elif [[ $COMP_CWORD -eq 2 ]]; then\n"
        "        COMPREPLY=($(compgen -W \"$(_advise_rules)\" -- \"$word\"))\n";
  }
  for (const OptionUsage& option : command.options) {
    if (!option.positional || option.choices.empty()) continue;
    arm += fmt::format(
        "      else\n        COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n      fi ;;\n",
        fmt::join(option.choices, " "));
    return arm;
  }
  return arm + "      else\n        COMPREPLY=($(compgen -f -- \"$word\"))\n      fi ;;\n";
}

std::string Bash(const std::vector<CommandUsage>& usage) {
  std::string text = fmt::format(
      "# bash completion for advise; made by: advise completions bash\n"
      "_advise_rules() {{\n  {}\n}}\n\n"
      "_advise() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=''\n"
      "  compopt -o filenames 2>/dev/null\n"
      "  if [[ $COMP_CWORD -eq 1 && $word != -* ]]; then\n"
      "    COMPREPLY=($(compgen -W '{}' -- \"$word\") $(compgen -f -- \"$word\"))\n    return\n  "
      "fi\n"
      "  case \"${{COMP_WORDS[1]}}\" in\n",
      kRuleNames, Names(usage));
  std::string names;
  for (const CommandUsage& command : usage) {
    if (!command.name.empty()) names += (names.empty() ? "" : "|") + command.name;
  }
  text +=
      fmt::format("    {}) command=${{COMP_WORDS[1]}} ;;\n  esac\n  case \"$command\" in\n", names);
  for (const CommandUsage& command : usage) text += BashArm(command);
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

std::string ZshAction(const OptionUsage& option) {
  if (!option.choices.empty()) return fmt::format("({})", fmt::join(option.choices, " "));
  if (TakesRule(option)) return "_advise_rules";
  const bool free = option.value_name == "N" || option.value_name == "NAME" ||
                    option.value_name == "WINDOW" || option.value_name == "LEVEL";
  return free ? " " : "_files";
}

std::string ZshArguments(const CommandUsage& command, const std::string& indent) {
  std::string text = "_arguments";
  for (const OptionUsage& option : command.options) {
    for (const std::string& name : option.names) {
      std::string spec = (option.repeatable ? "*" : "") + name + "[" + ZshText(option.text) + "]";
      if (!option.value_name.empty()) {
        spec += ":" + ZshText(option.value_name) + ":" + ZshAction(option);
      }
      text += " \\\n" + indent + Quoted(spec);
    }
    if (option.positional) {
      text += " \\\n" + indent +
              Quoted(fmt::format("{}:{}:{}", option.repeatable ? "*" : "", ZshText(option.text),
                                 ZshAction(option)));
    }
  }
  return text;
}

std::string Zsh(const std::vector<CommandUsage>& usage) {
  std::string text = fmt::format(
      "#compdef advise\n# zsh completion for advise; made by: advise completions zsh\n"
      "_advise_rules() {{\n  local -a rules\n  rules=(${{(f)\"$({})\"}})\n  compadd -a "
      "rules\n}}\n\n",
      kRuleNames);
  text += "_advise() {\n  local -a commands\n  commands=(\n";
  for (const CommandUsage& command : usage) {
    if (command.name.empty()) continue;
    text += "    " + Quoted(command.name + ":" + ZshText(command.summary)) + "\n";
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
  std::string line = "complete -c advise -n " + Quoted(condition);
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.value_name.empty()) line += " -r";
  if (!option.choices.empty()) {
    line += " -f -a " + Quoted(fmt::format("{}", fmt::join(option.choices, " ")));
  } else if (TakesRule(option)) {
    line += " -f -a '(__advise_rules)'";
  } else if (!option.value_name.empty()) {
    line += " -F";
  }
  return line + " -d " + Quoted(option.text) + "\n";
}

std::string FishOptions(const CommandUsage& command, const std::string& condition) {
  std::string text;
  for (const OptionUsage& option : command.options) {
    if (!option.positional) {
      text += FishOption(option, condition);
    } else if (!option.choices.empty()) {
      text += fmt::format("complete -c advise -n {} -f -a {}\n", Quoted(condition),
                          Quoted(fmt::format("{}", fmt::join(option.choices, " "))));
    } else if (TakesRule(option)) {
      text += fmt::format("complete -c advise -n {} -a '(__advise_rules)'\n", Quoted(condition));
    }
  }
  return text;
}

std::string Fish(const std::vector<CommandUsage>& usage) {
  std::string text = fmt::format(
      "# fish completion for advise; made by: advise completions fish\n"
      "function __advise_rules\n  {}\nend\n",
      kRuleNames);
  const std::string names = Names(usage);
  const std::string none = fmt::format("not __fish_seen_subcommand_from {}", names);
  for (const CommandUsage& command : usage) {
    if (command.name.empty()) continue;
    text += fmt::format("complete -c advise -n '__fish_use_subcommand' -a {} -d {}\n", command.name,
                        Quoted(command.summary));
  }
  text += FishOptions(usage.front(), none);
  for (const CommandUsage& command : usage) {
    if (command.name.empty()) continue;
    const std::string seen = "__fish_seen_subcommand_from " + command.name;
    text += FishOptions(command, seen);
    for (const CommandUsage& job : command.commands) {
      text += fmt::format(
          "complete -c advise -n '{}; and not __fish_seen_subcommand_from {}' -f -a {} -d {}\n",
          seen, Names(command.commands), job.name, Quoted(job.summary));
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
