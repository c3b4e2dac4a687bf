#include "engine/pipeline/session.h"

#include <algorithm>
#include <iterator>

#include "engine/base/text.h"
#include "engine/facts/catalog.h"
#include "engine/knowledge/embedded.h"
#include "engine/pipeline/site_files.h"
#include "engine/script/embedded_rules.h"

namespace advise {
namespace {

void Append(std::vector<Error>& errors, std::vector<Error> more) {
  std::move(more.begin(), more.end(), std::back_inserter(errors));
}

}  // namespace

tl::expected<std::unique_ptr<Knowledge>, std::vector<Error>> LoadKnowledge(
    const std::vector<Knowledge::File>& files, const std::vector<Knowledge::File>& site,
    const std::vector<std::string>& settings) {
  auto loaded = Knowledge::Load(files);
  if (!loaded) return tl::make_unexpected(loaded.error());
  auto knowledge = std::make_unique<Knowledge>(std::move(*loaded));
  std::vector<Error> errors;
  for (const Knowledge::File& file : site) Append(errors, knowledge->ApplySite(file));
  for (const std::string& setting : settings) Append(errors, knowledge->ApplySetting(setting));
  if (!errors.empty()) return tl::make_unexpected(errors);
  return knowledge;
}

std::vector<RuleFile> RuleFilesOf(std::vector<Knowledge::File> files, bool of_site) {
  std::vector<RuleFile> rules;
  for (Knowledge::File& file : files) {
    if (!IsRule(file.path)) continue;
    rules.push_back({std::move(file.path), std::move(file.text), of_site, 0, file.prepared});
  }
  return rules;
}

tl::expected<Session, std::vector<Error>> LoadSession(const DiagnoseOptions& options) {
  const auto fail = [](const Error& error) {
    return tl::make_unexpected(std::vector<Error>{error});
  };
  auto shipped = ShippedFiles();
  if (!shipped) return fail(shipped.error());
  auto site = ReadSite(options);
  if (!site) return fail(site.error());
  std::vector<Knowledge::File> kb, scripts;
  std::partition_copy(std::make_move_iterator(shipped->begin()),
                      std::make_move_iterator(shipped->end()), std::back_inserter(kb),
                      std::back_inserter(scripts),
                      [](const Knowledge::File& file) { return IsKnowledge(file.path); });
  std::vector<RuleFile> rules = RuleFilesOf(std::move(scripts), false);
  std::move(site->rules.begin(), site->rules.end(), std::back_inserter(rules));
  auto knowledge = LoadKnowledge(kb, site->settings, options.set);
  if (!knowledge) return tl::make_unexpected(knowledge.error());
  std::vector<FactInfo> facts = FactList(**knowledge);
  auto set = RuleSet::Load(std::move(rules), **knowledge, facts, InlineTests::kNotRead);
  if (!set) return tl::make_unexpected(set.error());
  std::vector<std::string> ids;
  for (const RuleInfo& rule : set->rules()) {
    ids.push_back(rule.id);
    if (!rule.replaces.empty()) ids.push_back(rule.replaces);
  }
  std::vector<Error> unknown = (*knowledge)->CheckSuppressed(ids);
  if (!unknown.empty()) return tl::make_unexpected(std::move(unknown));
  return Session{std::move(*knowledge), std::move(*set), std::move(facts),
                 std::move(site->sources)};
}

std::vector<const RuleInfo*> RuleInfos(const Session& session) {
  std::vector<const RuleInfo*> rules;
  for (const RuleInfo& rule : session.rules.rules()) rules.push_back(&rule);
  return rules;
}

Result<const RuleInfo*> FindRule(const Session& session, const std::string& id) {
  const RuleInfo* rule = session.rules.Find(id);
  if (rule != nullptr) return rule;
  std::vector<std::string> ids;
  for (const RuleInfo& known : session.rules.rules()) ids.push_back(known.id);
  const std::string near = DidYouMean(id, ids);
  return Fail("there is no rule \"" + id + "\"", "",
              near.empty() ? "all of them: advise rules list" : "did you mean " + near + "?");
}

}  // namespace advise
