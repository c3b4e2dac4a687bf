// Which facts there is a reason for.
#include <set>

#include "engine/base/ascii.h"
#include "tests/conventions/rule_tree.h"

namespace advise {
namespace {

// Sets that are kept whole, because somebody who asks for one member may ask for any: names of
// families (also for the rules of a site), phases of the program, tables of totals, latencies.
bool CompletesSet(std::string_view group) {
  for (const char* set :
       {"family.", "calls.", "ranges.", "os.", "op.", "phase.", "totals.", "server.", "serving."}) {
    if (group.starts_with(set)) return true;
  }
  return false;
}

// "a.b" of "a.b.c".
std::string GroupOf(const std::string& name) { return name.substr(0, name.rfind('.')); }

// The dotted names in a text, and the groups that they lie in.
void AddNames(const std::string& line, std::set<std::string>* names) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    const std::size_t from = at;
    while (at < line.size() && (IsWordChar(line[at]) || line[at] == '.')) ++at;
    std::string name = line.substr(from, at - from);
    if (name.starts_with("f.")) name.erase(0, 2);  // as rules read facts
    for (; name.find('.') != std::string::npos; name = GroupOf(name)) names->insert(name);
  }
}

TEST_CASE("of each group of facts one is read, or the group completes a set") {
  std::set<std::string> read;
  for (const SourceFile& file : SourceFiles({"engine", "rules", "kb/exercises", "docs/examples"},
                                            {".cc", ".h", ".lua", ".toml"})) {
    if (file.path.starts_with("engine/facts/")) continue;
    for (const std::string& line : file.lines) AddNames(line, &read);
  }
  std::set<std::string> groups;
  for (const FactInfo& fact : FactList(*SourceTree().knowledge)) groups.insert(GroupOf(fact.name));
  REQUIRE(groups.size() > 100);
  for (const std::string& group : groups) {
    INFO(group << ": nothing reads a fact of it; retire it (tests/facts/retired.h)");
    CHECK((CompletesSet(group) || group.find('.') == std::string::npos || read.contains(group)));
  }
}

}  // namespace
}  // namespace advise
