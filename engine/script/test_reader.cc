#include "engine/script/test_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <lua.hpp>

#include "engine/base/is_in.h"
#include "engine/base/text.h"
#include "engine/script/handles.h"
#include "engine/script/lua_fields.h"
#include "engine/script/verdict_reader.h"

namespace advise {
namespace {

constexpr int kDeepest = 12;

class TestReader {
 public:
  TestReader(lua_State* state, const RuleInfo& rule, const FactCatalog& catalog,
             std::vector<Error>& errors)
      : state_(state), rule_(rule), catalog_(catalog), errors_(errors), declared_(rule.needs) {
    declared_.insert(declared_.end(), rule.optional.begin(), rule.optional.end());
  }

  // Reads the test on the stack top.
  RuleTest Read() {
    const int table = lua_gettop(state_);
    lua_getfield(state_, table, "name");
    test_.name = lua_type(state_, -1) == LUA_TSTRING ? lua_tostring(state_, -1) : "";
    lua_getfield(state_, table, "facts");
    if (lua_type(state_, -1) == LUA_TTABLE) {
      ReadFacts("", 0);
    } else {
      Problem("facts: wanted a table, got " + DescribeLua(state_, -1));
    }
    lua_getfield(state_, table, "expect");
    ReadExpect();
    lua_getfield(state_, table, "saving");
    if (lua_type(state_, -1) == LUA_TTABLE) {
      ReadSavingExpectation();
    } else if (!lua_isnil(state_, -1)) {
      Problem("saving: wanted a table, got " + DescribeLua(state_, -1));
    }
    lua_getfield(state_, table, "edges");
    if (lua_type(state_, -1) == LUA_TTABLE) {
      ReadEdges();
    } else if (!lua_isnil(state_, -1)) {
      Problem("edges: wanted a table, got " + DescribeLua(state_, -1));
    }
    lua_settop(state_, table);
    return std::move(test_);
  }

 private:
  void Problem(const std::string& what, std::string hint = "") {
    errors_.push_back(
        {fmt::format("test \"{}\": {}", test_.name, what), rule_.path, std::move(hint)});
  }

  // The table on the stack top, whose names continue `prefix`.
  void ReadFacts(const std::string& prefix, int depth) {
    luaL_checkstack(state_, 8, "facts are nested too deep");
    const int table = lua_gettop(state_);
    for (const std::string& key : SortedKeys(state_, table)) {
      const std::string name = prefix.empty() ? key : prefix + "." + key;
      lua_getfield(state_, table, key.c_str());
      const bool known = IsIn(name, declared_);
      if (known) {
        test_.facts[name].value = ReadValue(name);
      } else if (lua_type(state_, -1) == LUA_TTABLE && depth < kDeepest && IsPrefix(name)) {
        ReadFacts(name, depth + 1);
      } else {
        const std::string near = DidYouMean(name, declared_);
        Problem(fmt::format("the rule does not declare the fact \"{}\"", name),
                near.empty() ? "add it to needs or optional"
                             : fmt::format("did you mean \"{}\"?", near));
      }
      lua_settop(state_, table);
    }
  }

  bool IsPrefix(const std::string& name) const {
    return std::any_of(declared_.begin(), declared_.end(),
                       [&](const std::string& fact) { return fact.rfind(name + ".", 0) == 0; });
  }

  // The value on the stack top as a fact of its unit.
  Value ReadValue(const std::string& name) {
    const auto info = catalog_.find(name);
    const std::string unit = info == catalog_.end() ? "" : info->second.unit;
    const int type = lua_type(state_, -1);
    const auto wanted = [&](const char* what) -> Value {
      Problem(fmt::format("fact \"{}\": wanted {}, got {}", name, what, DescribeLua(state_, -1)));
      return Absent{"wrong in the test", ""};
    };
    if (unit == "rows") {
      if (type != LUA_TTABLE) return wanted("a list of records");
      return ReadRows(state_, -1, "fact \"" + name + "\"");
    }
    if (unit == "remedy") return SomeRemedy();
    if (unit == "spans") return ReadSpans(wanted);
    if (unit == "flag") {
      if (type != LUA_TBOOLEAN) return wanted("true or false");
      return lua_toboolean(state_, -1) != 0;
    }
    if (unit == "name") {
      if (type != LUA_TSTRING) return wanted("a text");
      return std::string(lua_tostring(state_, -1));
    }
    if (type != LUA_TNUMBER) return wanted("a number");
    return static_cast<double>(lua_tonumber(state_, -1));
  }

  // A total, { time = …, count = … }, or a list of { start, end }.
  template <typename Wanted>
  Value ReadSpans(const Wanted& wanted) {
    if (lua_type(state_, -1) == LUA_TNUMBER) return SpansOf(lua_tonumber(state_, -1), 1);
    if (lua_type(state_, -1) != LUA_TTABLE) return wanted("a number or a table");
    const int table = lua_gettop(state_);
    lua_getfield(state_, table, "time");
    lua_getfield(state_, table, "count");
    if (lua_isnumber(state_, -2) != 0) {
      const double time = lua_tonumber(state_, -2);
      const double count = lua_isnumber(state_, -1) != 0 ? lua_tonumber(state_, -1) : 1;
      lua_settop(state_, table);
      return SpansOf(time, std::min(count, 1e6));
    }
    lua_settop(state_, table);
    std::vector<Interval> intervals;
    for (lua_Integer i = 1; i <= luaL_len(state_, table); ++i) {
      lua_geti(state_, table, i);
      if (lua_type(state_, -1) != LUA_TTABLE || luaL_len(state_, -1) != 2) {
        lua_settop(state_, table);
        return wanted("a list of { start, end }");
      }
      lua_geti(state_, -1, 1);
      lua_geti(state_, -2, 2);
      intervals.push_back({static_cast<Nanos>(lua_tonumber(state_, -2)),
                           static_cast<Nanos>(lua_tonumber(state_, -1))});
      lua_settop(state_, table);
    }
    auto spans = std::make_shared<Spans>();
    spans->by_device.push_back(IntervalSet::Of(std::move(intervals)));
    return std::shared_ptr<const Spans>(std::move(spans));
  }

  void ReadExpect() {
    if (lua_type(state_, -1) == LUA_TSTRING) {
      const std::string word = lua_tostring(state_, -1);
      test_.outcome = word == "fires"            ? Outcome::kFired
                      : word == "not_applicable" ? Outcome::kNotApplicable
                      : word == "cannot_tell"    ? Outcome::kCannotTell
                                                 : Outcome::kFine;
      return;
    }
    if (lua_type(state_, -1) != LUA_TTABLE) return;  // the loader has said so
    test_.outcome = Outcome::kFired;
    const int table = lua_gettop(state_);
    for (const std::string& key : SortedKeys(state_, table)) {
      lua_getfield(state_, table, key.c_str());
      if (lua_type(state_, -1) == LUA_TNUMBER) {
        test_.evidence[key] = static_cast<double>(lua_tonumber(state_, -1));
      } else if (lua_type(state_, -1) == LUA_TSTRING) {
        test_.evidence[key] = std::string(lua_tostring(state_, -1));
      } else {
        test_.evidence[key] = ReadRows(state_, -1, "expect." + key);
      }
      lua_pop(state_, 1);
    }
  }

  void ReadSavingExpectation() {
    static const std::vector<std::string> known = {"claims", "part", "confidence", "remedy"};
    const int table = lua_gettop(state_);
    for (const std::string& key : SortedKeys(state_, table)) {
      lua_getfield(state_, table, key.c_str());
      if (!IsIn(key, known)) {
        Problem(fmt::format("saving: unknown field \"{}\"", key),
                fmt::format("known fields: {}", fmt::join(known, ", ")));
      } else if (lua_type(state_, -1) != LUA_TNUMBER) {
        Problem(fmt::format("saving.{}: wanted a number, got {}", key, DescribeLua(state_, -1)));
      } else {
        test_.saving[key] = lua_tonumber(state_, -1);
      }
      lua_pop(state_, 1);
    }
  }

  // The value on the stack top.
  void ReadEdge(const std::string& place) {
    if (lua_type(state_, -1) == LUA_TNUMBER) {
      test_.edges.emplace_back(place, lua_tonumber(state_, -1));
    } else {
      Problem(fmt::format("edges: {}: wanted a number or a list of numbers, got {}", place,
                          DescribeLua(state_, -1)));
    }
  }

  void ReadEdges() {
    const int table = lua_gettop(state_);
    for (const std::string& key : SortedKeys(state_, table)) {
      lua_getfield(state_, table, key.c_str());
      auto facts = test_.facts;
      if (!SetPlace(key, 0, &facts)) {
        Problem(fmt::format("edges: {}: the facts of the test have no number there", key));
      } else if (lua_type(state_, -1) == LUA_TTABLE) {
        for (lua_Integer i = 1; i <= luaL_len(state_, -1); ++i) {
          lua_geti(state_, -1, i);
          ReadEdge(key);
          lua_pop(state_, 1);
        }
      } else {
        ReadEdge(key);
      }
      lua_pop(state_, 1);
    }
  }

  lua_State* state_;
  const RuleInfo& rule_;
  const FactCatalog& catalog_;
  std::vector<Error>& errors_;
  std::vector<std::string> declared_;
  RuleTest test_;
};

}  // namespace

std::shared_ptr<const Remedy> SomeRemedy() {
  const auto held = std::make_shared<int>(0);
  return {held, reinterpret_cast<const Remedy*>(held.get())};
}

std::shared_ptr<const Spans> SpansOf(double total, double count) {
  const auto pieces = std::max<Nanos>(1, static_cast<Nanos>(count));
  const auto length = static_cast<Nanos>(std::llround(total));
  auto spans = std::make_shared<Spans>();
  IntervalSet set;
  Nanos at = 0;
  for (Nanos i = 0; i < pieces; ++i) {
    const Nanos piece = length / pieces + (i < length % pieces ? 1 : 0);
    if (piece > 0) set.Append(at, at + piece);
    at += 2 * piece + 1;
  }
  spans->by_device.push_back(std::move(set));
  return spans;
}

bool SetPlace(std::string_view place, double value,
              std::map<std::string, Fact, std::less<>>* facts) {
  const auto put_spans = [&](Fact& fact, bool count) {
    const auto* spans = std::get_if<std::shared_ptr<const Spans>>(&fact.value);
    if (spans == nullptr || *spans == nullptr) return false;
    const auto total = static_cast<double>((*spans)->Total());
    const auto pieces = static_cast<double>(CountOf(**spans));
    fact.value = count ? SpansOf(total, value) : SpansOf(value, pieces);
    return true;
  };
  const std::size_t open = place.find('[');
  if (open == std::string_view::npos) {
    const auto found = facts->find(place);
    if (found == facts->end()) {
      constexpr std::string_view kCount = ".count";
      if (!place.ends_with(kCount)) return false;
      const auto whole = facts->find(place.substr(0, place.size() - kCount.size()));
      return whole != facts->end() && put_spans(whole->second, true);
    }
    if (auto* number = std::get_if<double>(&found->second.value)) {
      *number = value;
      return true;
    }
    return put_spans(found->second, false);
  }
  const auto found = facts->find(place.substr(0, open));
  const std::size_t close = place.find("].", open);
  auto* rows = found == facts->end() ? nullptr : std::get_if<Rows>(&found->second.value);
  std::size_t row = 0;
  const char* const digits = place.data() + open + 1;
  if (rows == nullptr || close == std::string_view::npos ||
      std::from_chars(digits, place.data() + close, row).ptr != place.data() + close || row < 1 ||
      row > rows->size()) {
    return false;
  }
  for (auto& [column, cell] : (*rows)[row - 1]) {
    auto* number = std::get_if<double>(&cell);
    if (column != place.substr(close + 2) || number == nullptr) continue;
    *number = value;
    return true;
  }
  return false;
}

std::vector<RuleTest> ReadTests(lua_State* state, const RuleInfo& rule, const FactCatalog& catalog,
                                std::vector<Error>& errors) {
  std::vector<RuleTest> tests;
  const bool has_tests = lua_getfield(state, -1, "tests") == LUA_TTABLE;
  const lua_Integer count = has_tests ? luaL_len(state, -1) : 0;
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_geti(state, -1, i);
    tests.push_back(TestReader(state, rule, catalog, errors).Read());
    lua_pop(state, 1);
  }
  lua_pop(state, 1);
  return tests;
}

}  // namespace advise
