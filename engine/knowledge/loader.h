// Fills a Knowledge from TOML texts: which file holds what, and what each entry must have.
// Internal to knowledge/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/knowledge/knowledge.h"
#include "engine/knowledge/toml_reader.h"

namespace advise {

class KnowledgeLoader {
 public:
  KnowledgeLoader(Knowledge& knowledge, std::vector<Error>& errors)
      : knowledge_(knowledge), errors_(errors) {}

  // `parsed`: the file, or what is wrong with it as TOML.
  void Read(const std::string& path, const Result<TomlNode>& parsed);
  // What can be done only when all files are read.
  void FollowNumbers();
  void CheckSources();

  // `site`: the file of a site that adds to the shipped ones, else "".
  void ReadFamilies(TomlReader& reader, const TomlNode& root, const std::string& site);
  void ReadOperators(TomlReader& reader, const TomlNode& root, const std::string& site);
  // Entries of a site come before the shipped ones, since the first that matches counts.
  void ReadKernels(TomlReader& reader, const TomlNode& root, const std::string& site);
  void ReadNames(TomlReader& reader, const TomlNode& root, const std::string& site);
  void ReadCounters(TomlReader& reader, const TomlNode& root, const std::string& site);
  // The GPU that a file describes; the file's name is its id. That of a site takes the place of a
  // shipped one, and has no facts that no shipped one has.
  void ReadHardware(TomlReader& reader, const TomlNode& root, const std::string& site);
  // A table of value, unit, range, why, source. Also for thresholds that a site adds for its rules.
  static Threshold ReadNumber(TomlReader& reader, const TomlNode& table, std::string name);

 private:
  struct RuleList {
    std::string_view file;  // "names", of kb/names.toml
    std::string_view name;
    std::vector<NameRule>* rules;
  };
  // The entries of a list, before those that are there; `more` reads the fields that not all lists
  // have.
  template <typename More>
  void ReadRules(TomlReader& reader, const TomlNode& root, const RuleList& list,
                 const std::string& site, const More& more);

  using Numbers = std::map<std::string, Threshold, std::less<>>;

  void ReadThresholds(TomlReader& reader, const TomlNode& root, const std::string& area);
  Threshold ReadThreshold(TomlReader& reader, const TomlNode& entry, const std::string& name);
  void ReadNumbers(TomlReader& reader, const TomlNode& table, const std::string& prefix);
  void CheckHardwareFact(TomlReader& reader, const TomlNode& entry, const HardwareFact& fact);
  void ReadReferences(TomlReader& reader, const TomlNode& root);
  void ReadRows(TomlReader& reader, const TomlNode& root);
  void ReadCapture(TomlReader& reader, const TomlNode& root);
  static void ReadFamiliesOf(TomlReader& reader, const TomlNode& root, const char* list,
                             const std::string& site, TomlReader::Need things,
                             std::vector<NameFamily>* families);
  void ReadVariables(TomlReader& reader, const TomlNode& root, const std::string& site);
  void ReadRuns(TomlReader& reader, const TomlNode& root);
  void ReadXids(TomlReader& reader, const TomlNode& root);

  Knowledge& knowledge_;
  std::vector<Error>& errors_;
  std::vector<std::pair<std::string, std::string>>
      followers_;                                             // (file:line, threshold with `like`)
  std::vector<std::pair<std::string, std::string>> sources_;  // (file:line, source) of thresholds
};

}  // namespace advise
