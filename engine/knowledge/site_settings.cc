// Site settings: one TOML file or one --set at a time, later ones win.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "engine/base/is_in.h"
#include "engine/base/parse_number.h"
#include "engine/base/text.h"
#include "engine/knowledge/loader.h"

namespace advise {
namespace {

std::string DayOfSeconds(std::time_t seconds) {
  std::tm day{};
  gmtime_r(&seconds, &day);
  return fmt::format("{:04}-{:02}-{:02}", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}

bool IsOver(const SuppressedRule& rule, const std::string& day) {
  return !rule.until.empty() && rule.until < (day.empty() ? DayOfSeconds(std::time(nullptr)) : day);
}

// "transfer.pageable-copy.min_share" as "transfer/pageable-copy.min_share".
std::string WithSlashes(std::string name) {
  const std::size_t last = name.rfind('.');
  if (last != std::string::npos) std::replace(name.begin(), name.begin() + last, '.', '/');
  return name;
}

}  // namespace

std::string DayOf(std::int64_t utc_ns) {
  return utc_ns > 0 ? DayOfSeconds(static_cast<std::time_t>(utc_ns / 1'000'000'000)) : "";
}

Threshold* Knowledge::FindSettable(std::string_view name) {
  for (auto* numbers : {&thresholds_, &numbers_}) {
    const auto found = numbers->find(name);
    if (found != numbers->end()) return &found->second;
  }
  const auto found = thresholds_.find(WithSlashes(std::string(name)));
  return found == thresholds_.end() ? nullptr : &found->second;
}

std::vector<std::string> Knowledge::SettableNames() const {
  std::vector<std::string> names;
  for (const auto& [name, threshold] : thresholds_) names.push_back(name);
  for (const auto& [name, number] : numbers_) names.push_back(name);
  return names;
}

std::vector<Error> Knowledge::Set(std::string_view name, double value, const std::string& set_by,
                                  const std::string& where) {
  Threshold* threshold = FindSettable(name);
  if (threshold == nullptr) {
    std::string hint = Suggestion(name, SettableNames());
    if (hint.empty()) hint = "`advise rules show RULE` lists a rule's thresholds";
    return {{fmt::format("there is no threshold \"{}\"", name), where, std::move(hint)}};
  }
  if (!std::isfinite(value) || value < threshold->lowest || value > threshold->highest) {
    return {
        {fmt::format("{}: {:.15g} is outside its range {:.15g} to {:.15g} ({})", threshold->name,
                     value, threshold->lowest, threshold->highest, threshold->unit),
         where, ""}};
  }
  threshold->value = value;
  threshold->set_by = set_by;
  threshold->like.clear();
  // Those that follow the number go with it, except what a site has set by itself.
  for (auto& [follower, own] : thresholds_) {
    if (own.like != threshold->name) continue;
    own.value = value;
    own.set_by = set_by;
  }
  return {};
}

std::vector<Error> Knowledge::ApplySetting(std::string_view assignment) {
  const std::string where = fmt::format("--set {}", assignment);
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return {{"wanted NAME=VALUE", where, "for example transfer/pageable-copy.min_share=0.05"}};
  }
  std::string_view name = assignment.substr(0, equals);
  constexpr std::string_view kSection = "thresholds.";
  if (name.substr(0, kSection.size()) == kSection) name.remove_prefix(kSection.size());
  const std::string_view text = assignment.substr(equals + 1);
  const auto value = ParseNumber<double>(text);
  if (!value) return {{fmt::format("wanted a number, got \"{}\"", text), where, ""}};
  return Set(name, *value, "--set", where);
}

std::vector<Error> Knowledge::ApplySite(const File& site) {
  const Result<TomlNode> parsed = ParseToml(site.path, site.text);
  if (!parsed) return {parsed.error()};
  std::vector<Error> errors;
  TomlReader reader(site.path, errors);
  if (parsed->Find("match") != nullptr) {  // a GPU in a file of its own, as kb/hardware has them
    KnowledgeLoader(*this, errors).ReadHardware(reader, *parsed, site.path);
    return errors;
  }
  reader.OnlyFields(*parsed, {"thresholds", "numbers", "rules", "families", "operators", "kernels",
                              "names", "counters"});

  // Tables nest as the writer likes: names are joined on the way down.
  const auto apply = [&](const auto& self, const TomlNode& table, const std::string& prefix,
                         char joint) -> void {
    for (const TomlNode& entry : table.items) {
      if (entry.IsTable() && entry.Find("value") == nullptr) {
        self(self, entry, prefix.empty() ? entry.key : prefix + joint + entry.key, joint);
        continue;
      }
      const std::string name = prefix.empty() ? entry.key : prefix + "." + entry.key;
      if (entry.IsTable()) {  // a threshold of a rule of the site
        if (name.rfind("site/", 0) != 0) {
          reader.Problem(
              entry,
              fmt::format("\"{}\": only rules of the site (site/…) get new thresholds", name),
              fmt::format("to change one, write: {} = NUMBER", entry.key));
          continue;
        }
        Threshold made = KnowledgeLoader::ReadNumber(reader, entry, name);
        made.set_by = site.path;
        thresholds_.insert_or_assign(name, std::move(made));
      } else if (entry.kind != TomlNode::Kind::kNumber) {
        reader.Problem(entry, fmt::format("{}: wanted a number, got {}", name, entry.Described()));
      } else {
        const std::vector<Error> problems = Set(name, entry.number, site.path, reader.Where(entry));
        errors.insert(errors.end(), problems.begin(), problems.end());
      }
    }
  };
  const TomlNode* thresholds = parsed->Find("thresholds");
  if (thresholds != nullptr && reader.WantTable(*thresholds)) apply(apply, *thresholds, "", '/');
  const TomlNode* numbers = parsed->Find("numbers");
  if (numbers != nullptr && reader.WantTable(*numbers)) apply(apply, *numbers, "", '.');

  const auto drop = [](std::vector<SuppressedRule>& rules, const std::string& id) {
    rules.erase(std::remove_if(rules.begin(), rules.end(),
                               [&](const SuppressedRule& rule) { return rule.id == id; }),
                rules.end());
  };
  const auto set_rules = [&](const auto& self, const TomlNode& table,
                             const std::string& prefix) -> void {
    for (const TomlNode& entry : table.items) {
      if (!reader.WantTable(entry)) continue;
      const std::string id = prefix.empty() ? entry.key : prefix + "/" + entry.key;
      const bool group =
          !entry.items.empty() && std::all_of(entry.items.begin(), entry.items.end(),
                                              [](const TomlNode& item) { return item.IsTable(); });
      if (group) {
        self(self, entry, id);
        continue;
      }
      reader.OnlyFields(entry, {"enabled", "reason", "until"});
      const bool enabled = reader.Flag(entry, "enabled");
      SuppressedRule made{id, "", site.path, reader.Where(entry), ""};
      if (!enabled) made.reason = reader.Text(entry, "reason");
      if (const TomlNode* until = entry.Find("until")) {
        if (until->kind == TomlNode::Kind::kDate) {
          made.until = until->text;
        } else {
          reader.Problem(*until,
                         fmt::format("field \"until\": wanted a date such as 2027-01-31, got {}",
                                     until->Described()));
        }
      }
      drop(switched_off_, id);
      if (!enabled) switched_off_.push_back(std::move(made));
    }
  };
  KnowledgeLoader loader(*this, errors);
  using Read = void (KnowledgeLoader::*)(TomlReader&, const TomlNode&, const std::string&);
  for (const auto& [table, read] :
       {std::pair<const char*, Read>{"families", &KnowledgeLoader::ReadFamilies},
        {"operators", &KnowledgeLoader::ReadOperators},
        {"kernels", &KnowledgeLoader::ReadKernels},
        {"names", &KnowledgeLoader::ReadNames},
        {"counters", &KnowledgeLoader::ReadCounters}}) {
    const TomlNode* found = parsed->Find(table);
    if (found != nullptr && reader.WantTable(*found)) (loader.*read)(reader, *found, site.path);
  }
  const TomlNode* rules = parsed->Find("rules");
  if (rules != nullptr && reader.WantTable(*rules)) set_rules(set_rules, *rules, "");
  return errors;
}

std::vector<Error> Knowledge::CheckSuppressed(const std::vector<std::string>& rule_ids) const {
  std::vector<Error> errors;
  for (const SuppressedRule& rule : switched_off_) {
    const bool known = IsIn(rule.id, rule_ids);
    if (known || rule.id.starts_with("site/")) continue;
    errors.push_back({fmt::format("there is no rule \"{}\"", rule.id), rule.where,
                      Suggestion(rule.id, rule_ids)});
  }
  return errors;
}

std::vector<SuppressedRule> Knowledge::suppressed(const std::string& day) const {
  std::vector<SuppressedRule> rules;
  for (const SuppressedRule& rule : switched_off_) {
    if (!IsOver(rule, day)) rules.push_back(rule);
  }
  return rules;
}

std::vector<std::string> Knowledge::SiteChanges(const std::string& day) const {
  std::vector<std::string> lines;
  for (const auto* numbers : {&thresholds_, &numbers_}) {
    for (const auto& [name, number] : *numbers) {
      if (number.set_by.empty() || number.value == number.shipped) continue;
      if (!number.like.empty()) continue;  // it goes with a number that is listed
      lines.push_back(fmt::format("{} = {:.15g} instead of {:.15g} ({})", name, number.value,
                                  number.shipped, number.set_by));
    }
  }
  for (std::size_t kind = 0; kind < kFamilyKindCount; ++kind) {
    for (const NameFamily& family : families_[kind]) {
      if (family.set_by.empty()) continue;
      lines.push_back(fmt::format("{}.{} has names of the site ({})", FactGroupOf(FamilyKind(kind)),
                                  family.name, family.set_by));
    }
  }
  for (const OperatorFormulas::Entry& entry : operators_.entries()) {
    if (entry.set_by.empty()) continue;
    lines.push_back(fmt::format("the work of {} is counted by a formula of the site ({})",
                                entry.names.any.empty() ? "" : entry.names.any.front().glob(),
                                entry.set_by));
  }
  for (const EnvironmentSwitch& one : switches_) {
    if (one.set_by.empty()) continue;
    lines.push_back(fmt::format("environment.{} is {} ({})", one.name, one.variable, one.set_by));
  }
  lines.insert(lines.end(), site_additions_.begin(), site_additions_.end());
  for (const HardwareEntry& gpu : hardware_) {
    if (!gpu.set_by.empty()) lines.push_back(fmt::format("GPU {} ({})", gpu.id, gpu.set_by));
  }
  for (const SuppressedRule& rule : suppressed(day)) {
    lines.push_back(fmt::format("{} is off{}: {} ({})", rule.id,
                                rule.until.empty() ? "" : " until " + rule.until, rule.reason,
                                rule.set_by));
  }
  for (const SuppressedRule& rule : switched_off_) {
    if (!IsOver(rule, day)) continue;
    lines.push_back(
        fmt::format("{} is on again: it was off until {} ({})", rule.id, rule.until, rule.set_by));
  }
  return lines;
}

}  // namespace advise
