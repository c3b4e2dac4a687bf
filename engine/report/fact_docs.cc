#include "engine/report/fact_docs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/report/layout.h"

namespace advise {
namespace {

constexpr const char* kFactsHead =
    "# Facts\n\n"
    "What rules may read, what `advise facts run.sqlite` prints, and what stands under `facts` in "
    "the JSON report.\nWritten by `advise rules docs`.\n\n"
    "- Stretches of time (`ns`) are averages over the devices that did work, so that they compare "
    "with\n  `window.time`; where the definition says \"summed\", they are sums over the things "
    "counted, of all devices.\n"
    "- `spans` are time on devices, for a finding to claim: their total compares with "
    "`window.device_time`.\n"
    "- `remedy` is what a fix would change, for the replay; it has no value to print.\n"
    "- `rows` are small tables; `advise facts run.sqlite --tables` prints them in full.\n"
    "- \"Per step\" means the median over the steps of the window, or the whole window when there "
    "are no steps.\n"
    "- A fact that cannot be known is *absent* and says why.\n";

// The type of a fact of this unit, as rules see it.
std::string LuaType(const std::string& unit) {
  if (unit == "flag") return "boolean";
  if (unit == "name") return "string";
  if (unit == "rows") return "Rows";
  if (unit == "spans") return "Spans";
  if (unit == "remedy") return "Remedy";
  return "number";
}

struct StubField {
  std::string name;
  std::string type;
  std::string text;
};

struct StubClass {
  std::string name;
  std::vector<StubField> fields;
};

class Stubs {
 public:
  void Add(const FactInfo& fact) {
    std::string owner = "Facts";
    std::size_t at = 0;
    for (std::size_t dot = 0; (dot = fact.name.find('.', at)) != std::string::npos; at = dot + 1) {
      const std::string part = fact.name.substr(at, dot - at);
      const std::string below = owner + "." + part;
      AddField(owner, {part, below, ""});
      owner = below;
    }
    AddField(owner, {fact.name.substr(at), LuaType(fact.unit), fact.unit + ": " + fact.definition});
  }

  std::string Text() const {
    std::string text;
    for (const StubClass& one : classes_) {
      text += fmt::format("\n---@class {}\n", one.name);
      for (const StubField& field : one.fields) {
        text += fmt::format("---@field {} {}{}{}\n", field.name, field.type,
                            field.text.empty() ? "" : "  ", field.text);
      }
    }
    return text;
  }

 private:
  void AddField(const std::string& owner, const StubField& field) {
    const auto [at, fresh] = index_.emplace(owner, classes_.size());
    if (fresh) classes_.push_back({owner, {}});
    std::vector<StubField>& fields = classes_[at->second].fields;
    const auto known = std::find_if(fields.begin(), fields.end(), [&](const StubField& other) {
      return other.name == field.name;
    });
    if (known == fields.end()) {
      fields.push_back(field);
    } else if (("|" + known->type + "|").find("|" + field.type + "|") == std::string::npos) {
      known->type += "|" + field.type;
      if (!field.text.empty()) known->text = field.text;
    }
  }

  std::vector<StubClass> classes_;  // in the order in which they are first named
  std::map<std::string, std::size_t> index_;
};

}  // namespace

std::string RenderFactsMarkdown(const std::vector<FactInfo>& catalog) {
  std::string page = kFactsHead;
  std::string area;
  for (const FactInfo& fact : catalog) {
    const std::string its_area = fact.name.substr(0, fact.name.find('.'));
    if (its_area != area) {
      area = its_area;
      page += fmt::format("\n## {}\n\n| fact | unit | definition |\n|---|---|---|\n", area);
    }
    page +=
        fmt::format("| `{}` | {} | {} |\n", fact.name, fact.unit, MarkdownCell(fact.definition));
  }
  return page;
}

std::string RenderFactStubs(const std::vector<FactInfo>& catalog) {
  Stubs stubs;
  for (const FactInfo& fact : catalog) stubs.Add(fact);
  return "---@meta\n-- Every fact that a rule may read. Written by `advise rules docs`; the types "
         "are those of rules/lib/api.d.lua.\n" +
         stubs.Text();
}

}  // namespace advise
