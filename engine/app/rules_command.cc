// `advise rules`: the catalog, and the tools of those who write rules.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "engine/app/command.h"
#include "engine/app/options.h"
#include "engine/app/rule_tree.h"
#include "engine/base/text.h"
#include "engine/facts/catalog.h"
#include "engine/pipeline/selection.h"
#include "engine/pipeline/session.h"
#include "engine/report/fact_docs.h"
#include "engine/report/json.h"
#include "engine/report/rules.h"
#include "engine/script/rule_check.h"
#include "engine/script/scaffold.h"
#include "engine/script/tester.h"

namespace advise {
namespace {

namespace fs = std::filesystem;

const std::string kIndexHead =
    "# Rules\n\n"
    "Every built-in rule, with one page per rule. Written by `advise rules docs`.\n"
    "A *root* names a cause that a person can change, a *symptom* is explained by roots, an *info* "
    "only informs.\n"
    "Effort: a *flag* or option to set, *code* to change, or the *design* to change.\n";

// A rule with its thresholds, references and the site's say, looked up.
RulePage PageOf(const Session& session, const RuleInfo& rule) {
  const Knowledge& knowledge = *session.knowledge;
  RulePage page;
  page.rule = &rule;
  for (const std::string& name : rule.thresholds) {
    const Threshold* threshold = knowledge.FindThreshold(rule.id, name);
    // A site's rule may lean on the thresholds of the one it replaces.
    if (threshold == nullptr) threshold = knowledge.FindThreshold(rule.replaces, name);
    if (threshold == nullptr) continue;
    page.thresholds.push_back({name, threshold->value, threshold->unit, threshold->why,
                               threshold->source, threshold->set_by});
  }
  for (const std::string& key : rule.references) {
    const Reference* reference = knowledge.FindReference(key);
    if (reference != nullptr) page.links.push_back({reference->title, reference->url});
  }
  for (const auto* names : {&rule.needs, &rule.optional}) {
    for (const std::string& name : *names) {
      const auto fact = session.rules.catalog().find(name);
      if (fact != session.rules.catalog().end()) page.facts.push_back(fact->second);
    }
  }
  for (const std::string& id : rule.knowledge) {
    const auto row = knowledge.rows().find(id);
    if (row != knowledge.rows().end()) page.rows.push_back(id + ": " + row->second.text);
  }
  for (const SuppressedRule& suppressed : knowledge.suppressed()) {
    if (suppressed.id == rule.id) page.suppressed = suppressed.reason;
  }
  return page;
}

class RulesCommand : public Command {
 public:
  std::string Name() const override { return "rules"; }
  std::string Summary() const override {
    return "Lists, shows, creates, checks, tests and documents rules.";
  }
  std::string Examples() const override {
    return "advise rules list --only transfer\n"
           "advise rules show transfer/pageable-copy\n"
           "advise rules new site/my-rule\n"
           "advise rules check rules/\n"
           "advise rules test rules/transfer/pageable-copy.lua\n"
           "advise rules docs -o pages";
  }

  void AddOptions(CLI::App& app) override {
    app.require_subcommand(1);
    list_ = Job(app, "list", "list every rule, by area",
                "advise rules list\n  advise rules list --only transfer --format json");
    AddListOption(*list_, "--only", site_.only, "RULE|AREA",
                  "use only this rule or area; repeatable")
        ->delimiter(',');
    show_ =
        Job(app, "show", "show the page of one rule", "advise rules show transfer/pageable-copy");
    show_->add_option("RULE", target_, "the rule's id")->required();
    new_ = Job(app, "new", "create a working rule to start from, with tests",
               "advise rules new site/my-rule --dir site-rules");
    new_->add_option("RULE", target_, "area/name, or site/name")->required();
    new_->add_option("--dir", directory_, "the folder to write to (default: the current one)")
        ->type_name("DIR");
    check_ = Job(app, "check", "check every field and function of rule files",
                 "advise rules check rules/");
    check_->add_option("PATH", target_, "a rule file, or a folder of them")->required();
    test_ = Job(app, "test", "run the tests in rule files",
                "advise rules test rules/transfer/pageable-copy.lua");
    test_->add_option("PATH", target_, "a rule file, or a folder of them")->required();
    docs_ = Job(app, "docs", "write the reference of rules and facts, as Markdown",
                "advise rules docs -o pages");
    docs_
        ->add_option("-o,--output", directory_,
                     "the folder to write to: rules.md, rules/<area>/<name>.md, facts.md, and "
                     "facts.d.lua for editors (default: the rules, to the terminal)")
        ->type_name("DIR");
  }

  int Run() override {
    if (new_->parsed()) return New();
    if (check_->parsed()) return Check();
    if (test_->parsed()) return Test();
    const auto session = OpenSession(site_);
    if (!session) return session.error();
    if (docs_->parsed()) return Docs(*session);
    return list_->parsed() ? List(*session) : Show(*session);
  }

 private:
  CLI::App* Job(CLI::App& app, const std::string& name, const std::string& text,
                const std::string& examples) {
    CLI::App* job = app.add_subcommand(name, text);
    job->footer("Examples:\n  " + examples);
    AddSiteOptions(*job, site_);
    if (name == "list" || name == "show") AddOutputOptions(*job, output_, {"text", "json"});
    return job;
  }

  int Write(const std::string& text) const { return WriteAnswer(text, output_); }

  int List(const Session& session) const {
    const std::vector<const RuleInfo*> rules = RuleInfos(session);
    std::vector<RulePage> pages;
    for (const RuleInfo* rule : rules) {
      const bool wanted = site_.only.empty() || std::any_of(site_.only.begin(), site_.only.end(),
                                                            [&](const std::string& name) {
                                                              return Selects(name, rule->id);
                                                            });
      if (wanted) pages.push_back(PageOf(session, *rule));
    }
    return Write(output_.format == "json"
                     ? RenderRulesJson(pages, session.site)
                     : RenderRulesText(pages, session.site, output_.Width(), output_.Color()));
  }

  int Show(const Session& session) const {
    const auto rule = FindRule(session, target_);
    if (!rule) return Complain(rule.error(), kWrongUsage);
    const RulePage page = PageOf(session, **rule);
    return Write(output_.format == "json" ? RenderRuleJson(page)
                                          : RenderRuleText(page, output_.Width(), output_.Color()));
  }

  int Docs(const Session& session) const {
    std::vector<RulePage> pages;
    for (const RuleInfo* rule : RuleInfos(session)) {
      RulePage page = PageOf(session, *rule);
      if (auto example = ExampleOf(session.rules, *rule)) {
        page.example_name = example->name;
        page.example = std::move(example->verdict);
      }
      pages.push_back(std::move(page));
    }
    const std::string index = RenderRuleIndexMarkdown(pages);
    if (directory_.empty()) {
      std::string text = "# Rules\n" + index;
      for (const RulePage& page : pages) text += "\n" + RenderRuleMarkdown(page);
      return Write(text);
    }
    const fs::path root = directory_;
    std::vector<std::pair<fs::path, std::string>> files = {
        {"rules.md", kIndexHead + index},
        {"facts.md", RenderFactsMarkdown(session.facts)},
        {"facts.d.lua", RenderFactStubs(session.facts)}};
    for (const RulePage& page : pages) {
      files.emplace_back(fs::path("rules") / (page.rule->id + ".md"), RenderRuleMarkdown(page));
    }
    for (const auto& [name, text] : files) {
      const fs::path path = root / name;
      std::error_code failed;
      fs::create_directories(path.parent_path(), failed);
      std::ofstream file(path, std::ios::binary);
      file << text;
      file.close();
      if (!file) return Complain({"cannot be written", path.string(), ""}, kWrongUsage);
    }
    return Write(fmt::format("wrote {} pages to {}\n", files.size(), root.string()));
  }

  int New() const {
    const auto made = NewRule(target_);
    if (!made) return Complain(made.error(), kWrongUsage);
    const fs::path root = directory_.empty() ? "." : directory_;
    const fs::path path = (root / made->path).lexically_normal();
    const fs::path settings = (root / made->thresholds_path).lexically_normal();
    std::error_code failed;
    if (fs::exists(path, failed)) {
      return Complain({"exists already", path.string(), "choose another name"}, kWrongUsage);
    }
    for (const fs::path& file : {path, settings}) {
      if (file.has_parent_path()) fs::create_directories(file.parent_path(), failed);
    }
    std::ofstream rule(path, std::ios::binary);
    rule << made->text;
    std::ofstream thresholds(settings, std::ios::binary | std::ios::app);
    thresholds << made->thresholds;
    rule.close();
    thresholds.close();
    if (!rule || !thresholds) {
      return Complain({"cannot be written", (rule ? settings : path).string(), ""}, kWrongUsage);
    }
    return Write(
        fmt::format("wrote {}, and its threshold at the end of {}\n"
                    "now:  advise facts --list        the facts a rule may read\n"
                    "      advise rules test {}\n",
                    path.string(), settings.string(), path.string()));
  }

  int Check() const {
    const auto tree = LoadRuleTree(target_, site_);
    if (!tree) return Complain(tree.error(), kBrokenRules);
    std::vector<Error> errors;
    std::string note;
    const std::vector<std::string> ids(tree->ids.begin(), tree->ids.end());
    for (const RuleInfo* rule : tree->named) {
      for (const std::string& other : rule->explains) {
        if (tree->ids.contains(other)) continue;
        const std::string near = DidYouMean(other, ids);
        errors.push_back({"explains: there is no rule \"" + other + "\"", rule->path,
                          near.empty() ? "" : "did you mean " + near + "?"});
      }
      RuleCheck check = CheckRule(tree->rules, *rule);
      std::move(check.problems.begin(), check.problems.end(), std::back_inserter(errors));
      if (tree->named.size() == 1 && !check.unshown.empty()) {
        note = fmt::format("note: no text shows the evidence {}; JSON and `advise why` do\n",
                           fmt::join(check.unshown, ", "));
      }
    }
    if (!errors.empty()) return Complain(errors, kBrokenRules);
    return Write(note + fmt::format("{} rule{} checked, no problem\n", tree->named.size(),
                                    tree->named.size() == 1 ? "" : "s"));
  }

  int Test() const {
    const auto tree = LoadRuleTree(target_, site_);
    if (!tree) return Complain(tree.error(), kBrokenRules);
    int tests = 0;
    int failures = 0;
    std::string text;
    for (const RuleInfo* rule : tree->named) {
      for (const TestResult& result : RunTests(tree->rules, *rule)) {
        ++tests;
        if (result.passed) continue;
        ++failures;
        for (const std::string& message : result.messages) text += SafeText(message) + "\n";
      }
    }
    text += fmt::format("{} rule{}, {} test{}: {}\n", tree->named.size(),
                        tree->named.size() == 1 ? "" : "s", tests, tests == 1 ? "" : "s",
                        failures == 0 ? "all passed" : fmt::format("{} failed", failures));
    const int written = Write(text);
    return failures == 0 ? written : kBrokenRules;
  }

  DiagnoseOptions site_;
  OutputOptions output_;
  std::string target_;
  std::string directory_;
  CLI::App* list_ = nullptr;
  CLI::App* show_ = nullptr;
  CLI::App* new_ = nullptr;
  CLI::App* check_ = nullptr;
  CLI::App* test_ = nullptr;
  CLI::App* docs_ = nullptr;
};

}  // namespace

std::unique_ptr<Command> MakeRulesCommand() { return std::make_unique<RulesCommand>(); }

}  // namespace advise
