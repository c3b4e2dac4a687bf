// The manual page advise(1).
#include <fmt/format.h>

#include <algorithm>

#include "engine/app/usage_model.h"

namespace advise {
namespace {

// Text for roff: backslashes and dashes keep their meaning, no line begins with a request.
std::string Roff(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else {
      safe += c;
    }
  }
  return safe.starts_with('.') || safe.starts_with('\'') ? "\\&" + safe : safe;
}

std::string OptionEntry(const OptionUsage& option) {
  std::string tag;
  for (const std::string& name : option.names)
    tag += (tag.empty() ? "" : ", ") + ("\\fB" + Roff(name) + "\\fR");
  if (!option.value_name.empty()) {
    tag += (tag.empty() ? "" : " ") + ("\\fI" + Roff(option.value_name) + "\\fR");
  }
  std::string text = option.text;
  if (!option.choices.empty() && text.find(option.choices.front()) == std::string::npos) {
    text += fmt::format(" ({})", fmt::join(option.choices, ", "));
  }
  return ".TP\n" + tag + "\n" + Roff(text) + "\n";
}

std::string Synopsis(const std::string& words, const CommandUsage& command) {
  std::string line = ".B " + Roff(words) + "\n[\\fIOPTIONS\\fR]";
  for (const OptionUsage& option : command.options) {
    if (option.positional)
      line += " \\fI" + Roff(option.value_name) + "\\fR" + (option.repeatable ? " ..." : "");
  }
  return line + "\n.br\n";
}

// Options that mean the same without a command are named only.
std::string Section(const std::string& words, const CommandUsage& command,
                    const CommandUsage& main) {
  std::string text = ".SS " + Roff(words) + "\n" + Roff(command.summary) + "\n";
  std::vector<std::string> told;
  for (const OptionUsage& option : command.options) {
    const bool named = !option.names.empty();
    if (named && option.names.front() == "--help") continue;
    const bool same =
        named && std::any_of(main.options.begin(), main.options.end(), [&](const auto& other) {
          return OptionEntry(other) == OptionEntry(option);
        });
    if (same) {
      told.push_back("\\fB" + Roff(option.names.front()) + "\\fR");
    } else {
      text += OptionEntry(option);
    }
  }
  if (!told.empty()) text += fmt::format(".PP\nAs above: {}.\n", fmt::join(told, ", "));
  for (const CommandUsage& job : command.commands)
    text += Section(words + " " + job.name, job, main);
  return text;
}

}  // namespace

std::string RenderManual(const std::vector<CommandUsage>& usage, const std::string& version) {
  std::string text = fmt::format(
      ".\\\" Made by: advise manual\n.TH ADVISE 1 \"\" \"advise {}\" \"User Commands\"\n.SH NAME\n"
      "advise \\- find what slows a GPU program down, and how to fix it\n.SH SYNOPSIS\n",
      Roff(version));
  for (const CommandUsage& command : usage) {
    const std::string words = command.name.empty() ? "advise" : "advise " + command.name;
    if (command.commands.empty()) text += Synopsis(words, command);
    for (const CommandUsage& job : command.commands) text += Synopsis(words + " " + job.name, job);
  }
  text +=
      ".SH DESCRIPTION\n"
      "Reads what a profiler recorded of a GPU program and prints a ranked list of what to fix: "
      "what was\n"
      "seen, why it costs time, what to change, how much of the run that would save, and how to "
      "check the\n"
      "claim by hand. Nothing is ever written to an input.\n.SH OPTIONS\n";
  for (const OptionUsage& option : usage.front().options) text += OptionEntry(option);
  text += ".SH COMMANDS\n";
  for (const CommandUsage& command : usage) {
    if (!command.name.empty()) text += Section("advise " + command.name, command, usage.front());
  }
  text +=
      ".SH EXIT STATUS\n"
      ".TP\n0\nanalyzed\n.TP\n1\nthe condition of \\fB\\-\\-fail\\-on\\fR or "
      "\\fB\\-\\-baseline\\fR is met\n"
      ".TP\n2\nwrong usage\n.TP\n3\nan input could not be read\n.TP\n4\na rule or a configuration "
      "file is broken\n"
      ".SH ENVIRONMENT\n.TP\nADVISE_SHARE\na folder with rules/ and kb/ to use in place of those "
      "built in\n"
      ".TP\nADVISE_RULES\nfolders of site rules, separated by colons\n"
      ".TP\nNO_COLOR\nno color, whatever the terminal supports\n"
      ".SH FILES\n.TP\n/etc/advise/site.toml, $XDG_CONFIG_HOME/advise/site.toml, "
      "./advise.toml\nsettings of the site; later ones win\n"
      ".TP\n/etc/advise/rules, $XDG_CONFIG_HOME/advise/rules\nrules of the site, with their "
      "settings "
      "in advise.toml\n"
      ".SH EXAMPLES\n";
  for (const CommandUsage& command : usage) {
    for (const std::string& example : command.examples) text += ".nf\n" + Roff(example) + "\n.fi\n";
  }
  return text;
}

}  // namespace advise
