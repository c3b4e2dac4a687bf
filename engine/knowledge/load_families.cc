// kb/families.toml, and the families of a site: names that are a group of facts each.
#include <fmt/format.h>

#include <algorithm>

#include "engine/base/ascii.h"
#include "engine/base/is_in.h"
#include "engine/base/text.h"
#include "engine/knowledge/loader.h"
#include "engine/knowledge/read_list.h"

namespace advise {
namespace {

constexpr std::string_view kOfSite = "site_";

// A name that becomes part of the names of facts.
void CheckName(TomlReader& reader, const TomlNode& entry, const std::string& name) {
  const bool fits = std::all_of(name.begin(), name.end(),
                                [](char c) { return IsLower(c) || IsDigit(c) || c == '_'; });
  if (!fits) {
    reader.Problem(entry, fmt::format("\"{}\": a name is lower case, digits and \"_\"", name));
  }
}

// Later versions may ship a family of any other name.
void WantSiteName(TomlReader& reader, const TomlNode& entry, const std::string& name,
                  const std::vector<std::string>& shipped) {
  if (name.empty() || name.starts_with(kOfSite)) return;
  std::string hint = Suggestion(name, shipped);
  if (hint.empty()) hint = fmt::format("a site's own is called {}{}", kOfSite, name);
  reader.Problem(entry, fmt::format("there is no \"{}\" to add to", name), std::move(hint));
}

template <typename T>
std::vector<std::string> NamesOf(const std::vector<T>& list) {
  std::vector<std::string> names;
  for (const T& one : list) names.push_back(one.name);
  return names;
}

}  // namespace

const char* FactGroupOf(FamilyKind kind) {
  constexpr std::array<const char*, kFamilyKindCount> kGroups = {"family", "calls", "ranges", "os",
                                                                 "op"};
  return kGroups[static_cast<std::size_t>(kind)];
}

void KnowledgeLoader::ReadFamilies(TomlReader& reader, const TomlNode& root,
                                   const std::string& site) {
  reader.OnlyFields(root, {"kernel", "call", "range", "os", "operator", "variable"});
  constexpr std::array<const char*, kFamilyKindCount> kLists = {"kernel", "call", "range", "os",
                                                                "operator"};
  for (std::size_t kind = 0; kind < kFamilyKindCount; ++kind) {
    // Operators are also listed for metrics alone; what a site adds is for its rules.
    const bool metrics_only = FamilyKind(kind) == FamilyKind::kOperator && site.empty();
    ReadFamiliesOf(reader, root, kLists[kind], site,
                   metrics_only ? TomlReader::Need::kMay : TomlReader::Need::kMust,
                   &knowledge_.families_[kind]);
  }
  ReadVariables(reader, root, site);
}

void KnowledgeLoader::ReadFamiliesOf(TomlReader& reader, const TomlNode& root, const char* list,
                                     const std::string& site, TomlReader::Need things,
                                     std::vector<NameFamily>* families) {
  const std::vector<std::string> shipped = NamesOf(*families);
  ForEachEntry(reader, root, list, [&](const TomlNode& entry) {
    reader.OnlyFields(entry, {"family", "things", "classes", "any", "none", "examples"});
    const std::string name = reader.Text(entry, "family");
    NameRule rule = ReadNameRule(reader, entry);
    rule.classes = reader.Texts(entry, "classes", TomlReader::Need::kMay);
    auto family = std::find_if(families->begin(), families->end(),
                               [&](const NameFamily& known) { return known.name == name; });
    if (family == families->end()) {
      CheckName(reader, entry, name);
      if (!site.empty()) WantSiteName(reader, entry, name, shipped);
      family = families->insert(family, {name, reader.Text(entry, "things", things), "", {}});
    } else if (const TomlNode* again = entry.Find("things")) {
      reader.Problem(*again, fmt::format("\"{}\" has \"things\" already", name));
    }
    if (!site.empty()) family->set_by = site;
    family->rules.push_back(std::move(rule));
  });
  std::sort(families->begin(), families->end(),
            [](const NameFamily& a, const NameFamily& b) { return a.name < b.name; });
}

void KnowledgeLoader::ReadVariables(TomlReader& reader, const TomlNode& root,
                                    const std::string& site) {
  std::vector<std::string> known = NamesOf(knowledge_.switches_);
  ForEachEntry(reader, root, "variable", [&](const TomlNode& entry) {
    reader.OnlyFields(entry, {"name", "variable", "meaning"});
    EnvironmentSwitch made{reader.Text(entry, "name"), reader.Text(entry, "variable"),
                           reader.Text(entry, "meaning"), site};
    CheckName(reader, entry, made.name);
    if (IsIn(made.name, known)) {
      reader.Problem(entry, fmt::format("\"{}\" is defined twice", made.name));
      return;
    }
    if (!site.empty()) WantSiteName(reader, entry, made.name, {});
    known.push_back(made.name);
    knowledge_.switches_.push_back(std::move(made));
  });
}

}  // namespace advise
