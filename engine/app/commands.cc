#include "engine/app/command.h"

namespace advise {

std::vector<std::unique_ptr<Command>> AllCommands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(MakeDiagnoseCommand());
  commands.push_back(MakeFactsCommand());
  commands.push_back(MakeWhyCommand());
  commands.push_back(MakeSliceCommand());
  commands.push_back(MakeCompareCommand());
  commands.push_back(MakeWhatIfCommand());
  commands.push_back(MakeGradeCommand());
  commands.push_back(MakeScrubCommand());
  commands.push_back(MakeRecordCommand());
  commands.push_back(MakeMcpCommand());
  commands.push_back(MakeRulesCommand());
  commands.push_back(MakeCompletionsCommand());
  commands.push_back(MakeManualCommand());
  commands.push_back(MakeHelpCommand());
  return commands;
}

}  // namespace advise
