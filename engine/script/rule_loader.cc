#include "engine/script/rule_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <lua.hpp>

#include "engine/base/ascii.h"
#include "engine/base/is_in.h"
#include "engine/base/text.h"
#include "engine/script/declaration.h"
#include "engine/script/lua_fields.h"
#include "engine/script/run_context.h"

namespace advise {
namespace {

using Need = LuaFields::Need;

// What a fix may ask for, of a rule or of a single fix.
const std::vector<std::string> kEfforts = {"flag", "code", "design"};

template <typename Map>
std::vector<std::string> KeysOf(const Map& map) {
  std::vector<std::string> keys;
  keys.reserve(map.size());
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Reads one rule; keeps what the checks share.
class RuleReader {
 public:
  RuleReader(lua_State* state, const RuleFile& file, const Knowledge& knowledge,
             const FactCatalog& catalog, std::vector<Error>& errors)
      : state_(state),
        file_(file),
        knowledge_(knowledge),
        catalog_(catalog),
        fields_(state, file.path, file.text, errors) {}

  RuleInfo Read(InlineTests tests, Declaration& declared) {
    rule_.path = file_.path;
    if (lua_type(state_, table_) != LUA_TTABLE) {
      fields_.Problem("return", fmt::format("wanted the file to return one table, got {}",
                                            DescribeLua(state_, table_)));
      return std::move(rule_);
    }
    fields_.OnlyFields(
        table_,
        {"id",         "title",    "status",    "since",    "kind",           "effort",
         "priority",   "explains", "knowledge", "needs",    "optional",       "thresholds",
         "needs_loop", "loss",     "measure",   "evidence", "not_applicable", "references",
         "symptom",    "cause",    "fixes",     "risk",     "replaces",       "false_positives",
         "applies",    "detect",   "saving",    "tests",    "topic",          "own_steps",
         "observed"});
    ReadIdentity();
    ReadTexts();
    ReadNames();
    declared = ReadDeclaration(fields_, table_, catalog_, rule_);
    CheckOverlap();
    ReadFixes();
    if (tests == InlineTests::kChecked) ReadTests();
    if (declared.applies.fact == nullptr) fields_.Function(table_, "applies", Need::kMay);
    fields_.Function(table_, "detect", declared.has_evidence ? Need::kMay : Need::kMust);
    if (!declared.has_saving) fields_.Function(table_, "saving", Need::kMay);
    return std::move(rule_);
  }

 private:
  bool Has(const char* field) {
    const bool has = lua_getfield(state_, table_, field) != LUA_TNIL;
    lua_pop(state_, 1);
    return has;
  }

  std::string Must(const char* field) { return fields_.Text(table_, field, Need::kMust); }

  std::string Choice(const char* field, const std::vector<std::string>& allowed) {
    std::string chosen = Must(field);
    CheckChoice(field, chosen, allowed);
    return chosen;
  }

  void CheckChoice(const std::string& field, const std::string& chosen,
                   const std::vector<std::string>& allowed) {
    if (chosen.empty() || IsIn(chosen, allowed)) return;
    fields_.Problem(field, fmt::format("wanted {}, got \"{}\"", fmt::join(allowed, " | "), chosen),
                    Suggestion(chosen, allowed));
  }

  void ReadIdentity() {
    rule_.id = Must("id");
    if (!rule_.id.empty()) CheckId();
    rule_.title = Must("title");
    if (rule_.title.find('\n') != std::string::npos || EndsWith(rule_.title, ".")) {
      fields_.Problem("title", "wanted one line without a full stop");
    }
    rule_.status = Choice("status", {"experimental", "stable", "retired"});
    rule_.since = Must("since");
    const bool version = std::all_of(rule_.since.begin(), rule_.since.end(),
                                     [](char c) { return IsDigit(c) || c == '.'; });
    if (!rule_.since.empty() && (!version || rule_.since.find('.') == std::string::npos)) {
      fields_.Problem("since",
                      fmt::format("wanted a version such as \"0.1\", got \"{}\"", rule_.since));
    }
    const std::string kind = Choice("kind", {"root", "symptom", "info"});
    rule_.kind = kind == "info"      ? RuleKind::kInfo
                 : kind == "symptom" ? RuleKind::kSymptom
                                     : RuleKind::kRoot;
    rule_.effort = Choice("effort", kEfforts);
    ReadRisk();
    ReadTopic();
    if (Has("observed")) {
      rule_.observed = Choice("observed", {"measured", "recorded"}) == "recorded"
                           ? Observed::kRecorded
                           : Observed::kMeasured;
    }
    rule_.own_steps = fields_.Flag(table_, "own_steps", false);
    const int by_kind = kind == "info" ? 10 : kind == "symptom" ? 30 : 60;
    const double priority = fields_.Number(table_, "priority", by_kind);
    if (!(priority >= 0 && priority <= 100)) {
      fields_.Problem("priority", fmt::format("wanted 0 to 100, got {:.15g}", priority));
    } else {
      rule_.priority = static_cast<int>(priority);
    }
    rule_.replaces = fields_.Text(table_, "replaces", Need::kMay);
    if (!rule_.replaces.empty() && !file_.of_site) {
      fields_.Problem("replaces", "only rules of a site may replace another");
      rule_.replaces.clear();
    }
  }

  void ReadRisk() {
    const std::string given = fields_.Text(table_, "risk", Need::kMay);
    if (given.empty()) return;
    std::vector<std::string> known;
    for (const Risk risk :
         {Risk::kOutOfMemory, Risk::kWrongResults, Risk::kHardware, Risk::kLimit}) {
      known.emplace_back(RiskName(risk));
      if (given == known.back()) rule_.risk = risk;
    }
    if (rule_.risk == Risk::kNothing) {
      fields_.Problem("risk", fmt::format("wanted {}, got \"{}\"", fmt::join(known, " | "), given),
                      Suggestion(given, known));
    }
  }

  void ReadTopic() {
    const std::string given = fields_.Text(table_, "topic", Need::kMay);
    if (given.empty()) return;
    rule_.topic = TopicOf(given);
    if (rule_.topic != Topic::kNoTopic) return;
    const std::vector<std::string> known = TopicNames();
    fields_.Problem("topic", fmt::format("wanted {}, got \"{}\"", fmt::join(known, " | "), given),
                    Suggestion(given, known));
  }

  // The id is the path, whatever the folder of a site's rules is called.
  void CheckId() {
    if (!IsRuleId(rule_.id)) {
      fields_.Problem("id",
                      fmt::format("wanted \"area/name\" in lower case, got \"{}\"", rule_.id));
      return;
    }
    const bool site_id = rule_.id.rfind("site/", 0) == 0;
    if (site_id != file_.of_site) {
      fields_.Problem(
          "id", file_.of_site
                    ? fmt::format("rules of a site are called \"site/…\", got \"{}\"", rule_.id)
                    : "\"site/\" is kept for the rules of a site");
      return;
    }
    const std::string by_path = "/" + file_.path;
    const std::string wanted = "/" + rule_.id + ".lua";
    const bool same = EndsWith(by_path, wanted) ||
                      (site_id && EndsWith(by_path, wanted.substr(std::string("/site").size())));
    id_is_sound_ = same;
    if (!same) {
      fields_.Problem(
          "id", fmt::format("wanted the file's path, got \"{}\" in {}", rule_.id, file_.path));
    }
  }

  void ReadTexts() {
    rule_.symptom = Must("symptom");
    rule_.cause = Must("cause");
    rule_.false_positives = Must("false_positives");
    CheckPlaces("symptom", rule_.symptom);
    CheckPlaces("cause", rule_.cause);
  }

  // Every brace opens a place {name:kind}. Whether the evidence has it, the tests show.
  void CheckPlaces(const std::string& field, std::string_view text) {
    static const std::vector<std::string> kinds = {"pct",    "time",     "bytes", "rate",
                                                   "flops",  "count",    "num",   "text",
                                                   "kernel", "function", "code"};
    for (std::size_t at = text.find('{'); at != std::string_view::npos;
         at = text.find('{', at + 1)) {
      const std::size_t end = text.find('}', at);
      const std::string place(
          text.substr(at + 1, end == std::string_view::npos ? end : end - at - 1));
      const std::size_t colon = place.find(':');
      if (end == std::string_view::npos || colon == std::string::npos || colon == 0) {
        fields_.Problem(field, fmt::format("wanted {{name:kind}}, got {{{}", place),
                        fmt::format("a kind is one of {}", fmt::join(kinds, " | ")));
        return;
      }
      const std::string kind = place.substr(colon + 1);
      if (!IsIn(kind, kinds)) {
        fields_.Problem(field,
                        fmt::format("{{{}}}: wanted a kind of {}, got \"{}\"", place,
                                    fmt::join(kinds, " | "), kind),
                        Suggestion(kind, kinds));
      }
    }
  }

  void ReadNames() {
    rule_.explains = fields_.Texts(table_, "explains", Need::kMay);
    for (const std::string& id : rule_.explains) {
      if (!IsRuleId(id) || id == rule_.id) {
        fields_.Problem("explains", fmt::format("wanted ids of other rules, got \"{}\"", id));
      }
    }
    rule_.knowledge = fields_.Texts(table_, "knowledge", file_.of_site ? Need::kMay : Need::kMust);
    for (const std::string& id : rule_.knowledge) {
      if (knowledge_.rows().find(id) == knowledge_.rows().end()) {
        fields_.Problem("knowledge", fmt::format("kb/knowledge.toml has no row \"{}\"", id),
                        Suggestion(id, KeysOf(knowledge_.rows())));
      }
    }
    const bool declares = Has("loss") || Has("measure");
    rule_.needs = fields_.Texts(table_, "needs", declares ? Need::kMay : Need::kMust);
    rule_.optional = fields_.Texts(table_, "optional", Need::kMay);
    CheckFacts("needs", rule_.needs);
    CheckFacts("optional", rule_.optional);
    rule_.thresholds = fields_.Texts(table_, "thresholds", Need::kMay);
    for (const std::string& name : rule_.thresholds) {
      if (!id_is_sound_ || ThresholdOf(knowledge_, rule_, name) != nullptr) continue;
      fields_.Problem("thresholds", fmt::format("there is no threshold \"{}.{}\"", rule_.id, name),
                      file_.of_site ? "add it to the site's settings"
                                    : fmt::format("add [{}.{}] to kb/thresholds/{}.toml",
                                                  rule_.id.substr(rule_.id.find('/') + 1), name,
                                                  rule_.id.substr(0, rule_.id.find('/'))));
    }
    rule_.references = fields_.Texts(table_, "references", Need::kMay);
    for (const std::string& key : rule_.references) {
      if (knowledge_.FindReference(key) == nullptr) {
        fields_.Problem("references", fmt::format("kb/references.toml has no \"{}\"", key),
                        Suggestion(key, KeysOf(knowledge_.references())));
      }
    }
  }

  void CheckFacts(const std::string& field, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (catalog_.find(name) != catalog_.end()) continue;
      const std::string near = Suggestion(name, KeysOf(catalog_));
      fields_.Problem(field, fmt::format("there is no fact \"{}\"", name),
                      near.empty() ? "`advise facts --list` prints them" : near);
    }
  }

  // One name cannot be a value and hold other names.
  void CheckOverlap() {
    std::vector<std::string> all = rule_.needs;
    all.insert(all.end(), rule_.optional.begin(), rule_.optional.end());
    std::sort(all.begin(), all.end());
    for (const std::string& shorter : all) {
      if (std::count(all.begin(), all.end(), shorter) > 1) {
        fields_.Problem("optional", fmt::format("\"{}\" stands in needs, too", shorter));
        return;
      }
      const std::string inside = shorter + ".";
      const auto longer = std::find_if(all.begin(), all.end(), [&](const std::string& name) {
        return name.starts_with(inside);
      });
      if (longer == all.end()) continue;
      fields_.Problem("needs", fmt::format("\"{}\" and \"{}\" cannot both be read by one rule",
                                           shorter, *longer));
    }
  }

  void ReadFixes() {
    const int count = fields_.List(table_, "fixes", Need::kMust);
    if (count < 0) return;
    if (count == 0) fields_.Problem("fixes", "is empty");
    for (int i = 1; i <= count; ++i) {
      lua_rawgeti(state_, -1, i);
      const std::string label = fmt::format("fixes[{}].", i);
      if (lua_type(state_, -1) != LUA_TTABLE) {
        fields_.Problem(fmt::format("fixes[{}]", i),
                        fmt::format("wanted a table, got {}", DescribeLua(state_, -1)));
      } else {
        fields_.OnlyFields(
            -1, {"action", "snippet", "language", "reason", "for", "links", "effort"}, label);
        Fix fix;
        fix.action = fields_.Text(-1, "action", Need::kMust, label);
        fix.snippet = fields_.Text(-1, "snippet", Need::kMay, label);
        fix.language = fields_.Text(-1, "language", Need::kMay, label);
        fix.reason = fields_.Text(-1, "reason", Need::kMay, label);
        fix.effort = fields_.Text(-1, "effort", Need::kMay, label);
        CheckChoice(label + "effort", fix.effort, kEfforts);
        fix.programs = fields_.Texts(-1, "for", Need::kMay, label);
        for (std::string& url : fields_.Texts(-1, "links", Need::kMay, label))
          fix.links.push_back({std::move(url)});
        CheckPlaces(label + "action", fix.action);
        if (fix.snippet.empty() != fix.language.empty()) {
          fields_.Problem(label + "language", "wanted both snippet and language, or neither");
        }
        for (const Link& link : fix.links) {
          if (link.url.rfind("https://", 0) != 0 && link.url.rfind("http://", 0) != 0) {
            fields_.Problem(label + "links",
                            fmt::format("wanted web addresses, got \"{}\"", link.url));
          }
        }
        rule_.fixes.push_back(std::move(fix));
      }
      lua_pop(state_, 1);
    }
    lua_pop(state_, 1);
  }

  // That the kinds of tests are there; what stands in them, the tester reads.
  void ReadTests() {
    const int count = fields_.List(table_, "tests", Need::kMust);
    if (count < 0) return;
    bool fires = false;
    bool silent = false;
    bool not_applicable = false;
    std::vector<std::string> names;
    for (int i = 1; i <= count; ++i) {
      lua_rawgeti(state_, -1, i);
      const std::string label = fmt::format("tests[{}].", i);
      if (lua_type(state_, -1) != LUA_TTABLE) {
        fields_.Problem(fmt::format("tests[{}]", i),
                        fmt::format("wanted a table, got {}", DescribeLua(state_, -1)));
        lua_pop(state_, 1);
        continue;
      }
      fields_.OnlyFields(-1, {"name", "facts", "expect", "saving", "edges"}, label);
      names.push_back(fields_.Text(-1, "name", Need::kMust, label));
      if (std::count(names.begin(), names.end(), names.back()) > 1) {
        fields_.Problem(label + "name", fmt::format("two tests are called \"{}\"", names.back()));
      }
      lua_getfield(state_, -1, "expect");
      const std::string expect =
          lua_type(state_, -1) == LUA_TSTRING ? lua_tostring(state_, -1) : "";
      fires = fires || expect == "fires" || lua_type(state_, -1) == LUA_TTABLE;
      silent = silent || expect == "silent";
      not_applicable = not_applicable || expect == "not_applicable";
      static const std::vector<std::string> words = {"fires", "silent", "not_applicable",
                                                     "cannot_tell"};
      if (lua_type(state_, -1) != LUA_TTABLE && !IsIn(expect, words)) {
        fields_.Problem(label + "expect",
                        fmt::format("wanted evidence or one of {}, got {}", fmt::join(words, ", "),
                                    DescribeLua(state_, -1)),
                        Suggestion(expect, words));
      }
      lua_pop(state_, 2);
    }
    lua_pop(state_, 1);
    if (!fires) fields_.Problem("tests", "wanted a test that fires (expect = { … } or \"fires\")");
    if (!silent) fields_.Problem("tests", "wanted a near miss (expect = \"silent\")");
    if (!not_applicable) {
      fields_.Problem("tests", "wanted a test with expect = \"not_applicable\"");
    }
  }

  lua_State* state_;
  const RuleFile& file_;
  const Knowledge& knowledge_;
  const FactCatalog& catalog_;
  LuaFields fields_;
  RuleInfo rule_;
  bool id_is_sound_ = false;  // else what hangs on the id is not worth a message
  const int table_ = lua_gettop(state_);
};

}  // namespace

bool IsRuleId(std::string_view id) {
  int parts = 1;
  char before = '/';
  for (const char c : id) {
    const bool word = IsLower(c) || IsDigit(c);
    if (!word && c != '-' && c != '/') return false;
    if (!word && (before == '/' || before == '-')) return false;
    if (c == '/') ++parts;
    before = c;
  }
  return parts >= 2 && before != '/' && before != '-' && (parts == 2 || id.substr(0, 5) == "site/");
}

RuleInfo ReadRule(lua_State* state, const RuleFile& file, InlineTests tests,
                  const Knowledge& knowledge, const FactCatalog& catalog, Declaration& declared,
                  std::vector<Error>& errors) {
  return RuleReader(state, file, knowledge, catalog, errors).Read(tests, declared);
}

}  // namespace advise
