#include "engine/script/rule_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/base/is_in.h"
#include "engine/base/text.h"

namespace advise {
namespace {

using Kind = LuaToken::Kind;

bool Is(const LuaToken& token, std::string_view text) {
  return token.kind != Kind::kText && token.text == text;
}

template <std::size_t N>
bool IsOne(const LuaToken& token, const std::array<std::string_view, N>& of) {
  return std::any_of(of.begin(), of.end(), [&](std::string_view text) { return Is(token, text); });
}

bool Opens(const LuaToken& token) {
  return IsOne(token, std::to_array<std::string_view>({"(", "{", "["}));
}
bool Closes(const LuaToken& token) {
  return IsOne(token, std::to_array<std::string_view>({")", "}", "]"}));
}

// Words and signs that no operand of a comparison has.
bool Ends(const LuaToken& token) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"and",   "or",     "not", "if",  "elseif", "then", "else",     "do",     "while",
       "until", "return", "for", "end", "local",  "in",   "function", "repeat", "break",
       "=",     ",",      ";",   "==",  "~=",     "<",    ">",        "<=",     ">="});
  return token.text.empty() || IsOne(token, kWords);
}

// What an operand may end with.
bool IsValue(const LuaToken& token) { return token.kind != Kind::kSign || Closes(token); }

// None, one, several: counts that are no matter of taste.
bool IsPlainCount(std::string_view number) {
  return number == "0" || number == "1" || number == "2";
}

// The tokens of a rule's file without those of its tests.
std::vector<LuaToken> CodeOf(const RuleInfo& rule) {
  std::vector<LuaToken> tokens = LuaTokens(rule.source);
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!Is(tokens[i], "tests") || !Is(tokens[i + 1], "=") || !Is(tokens[i + 2], "{")) continue;
    std::size_t end = i + 2;
    for (int depth = 0; end < tokens.size(); ++end) {
      if (Is(tokens[end], "{")) ++depth;
      if (Is(tokens[end], "}") && --depth == 0) break;
    }
    tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(i),
                 tokens.begin() + static_cast<std::ptrdiff_t>(std::min(end + 1, tokens.size())));
    break;
  }
  return tokens;
}

}  // namespace

RuleCode::RuleCode(const RuleInfo& rule, std::vector<Error>& errors)
    : rule_(rule), errors_(errors), code_(CodeOf(rule)), declared_(rule.needs) {
  declared_.insert(declared_.end(), rule.optional.begin(), rule.optional.end());
}

void RuleCode::Check() {
  FindConstants();
  for (at_ = 0; at_ < code_.size(); ++at_) {
    CheckComparison();
    CheckCall();
    ReadParameters();
    CheckFact();
  }
}

bool RuleCode::Reads(std::string_view name) const {
  for (std::size_t i = 2; i < code_.size(); ++i) {
    if (code_[i].kind != Kind::kName || code_[i].text != name) continue;
    if (Is(code_[i - 1], ".") && !Is(At(i - 3), ".")) return true;
  }
  return false;
}

bool RuleCode::ReadsFact(const std::string& name) const {
  return read_.contains(name) ||
         std::any_of(groups_.begin(), groups_.end(), [&](const std::string& group) {
           return group.empty() || name.starts_with(group + ".");
         });
}

std::vector<std::string> RuleCode::Texts() const {
  std::vector<std::string> texts;
  for (std::size_t i = 1; i < code_.size(); ++i) {
    const bool compared = Is(code_[i - 1], "==") || Is(code_[i - 1], "~=");
    if (code_[i].kind == Kind::kText && compared) texts.emplace_back(code_[i].text);
  }
  return texts;
}

bool RuleCode::Says(std::string_view text) const {
  for (std::size_t i = 0; i < code_.size(); ++i) {
    if (Is(code_[i], "fixes") && Is(At(i + 1), "=") && Is(At(i + 2), "{")) i = Behind(i + 2);
    if (At(i).kind == Kind::kText && At(i).text == text) return true;
  }
  return false;
}

int RuleCode::LineOfField(std::string_view name) const {
  for (std::size_t i = 0; i + 1 < code_.size(); ++i) {
    if (Is(code_[i], name) && Is(code_[i + 1], "=")) return code_[i].line;
  }
  return 0;
}

void RuleCode::Say(int line, std::string what, std::string hint) {
  errors_.push_back({std::move(what), fmt::format("{}:{}", rule_.path, line), std::move(hint)});
}

void RuleCode::SayNumber(const LuaToken& number) {
  Say(number.line, fmt::format("the number {} decides here, but stands in the code", number.text),
      "make it a threshold: at_least(x, t.min_…), at_most(x, t.max_…)");
}

const LuaToken& RuleCode::At(std::size_t index) const {
  static const LuaToken kNothing;
  return index < code_.size() ? code_[index] : kNothing;
}

std::size_t RuleCode::Behind(std::size_t open) const {
  int depth = 0;
  for (std::size_t i = open; i < code_.size(); ++i) {
    if (Opens(code_[i])) ++depth;
    if (Closes(code_[i]) && --depth == 0) return i + 1;
  }
  return code_.size();
}

// `local limit = 0.5`, unless the name gets another value later: then it counts something.
void RuleCode::FindConstants() {
  for (std::size_t i = 0; i + 3 < code_.size(); ++i) {
    if (!Is(code_[i], "local") || !Is(At(i + 2), "=") || At(i + 3).kind != Kind::kNumber) continue;
    if (At(i + 4).kind == Kind::kSign && !Closes(At(i + 4))) continue;  // a part of something
    constants_.try_emplace(code_[i + 1].text, code_[i + 3]);
  }
  for (std::size_t i = 1; i + 1 < code_.size(); ++i) {
    const bool again = Is(code_[i + 1], "=") && !Is(code_[i - 1], "local");
    if (again && code_[i].kind == Kind::kName) constants_.erase(code_[i].text);
  }
}

// Whether an operand that has the token `before` ends there, and does not go on at the next one.
bool RuleCode::IsBoundary(std::size_t before, std::size_t at) const {
  if (Ends(At(at))) return true;
  const bool call = Is(At(at), "(") || Is(At(at), "[") || Is(At(at), "{");
  return IsValue(At(before)) && IsValue(At(at)) && !Closes(At(at)) && !call;
}

// The operand between two tokens, both of it. What stands in the arguments of a call decides only
// where the call picks one of them.
void RuleCode::CheckOperand(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i <= last; ++i) {
    const bool called = Is(At(i), "(") && i > first && At(i - 1).kind == Kind::kName;
    const bool picks = Is(At(i - 1), "min") || Is(At(i - 1), "max");
    if (Is(At(i), "[") || Is(At(i), "{") || (called && !picks)) {
      i = Behind(i) - 1;
      continue;
    }
    if (At(i).kind == Kind::kName) {
      const auto constant = constants_.find(At(i).text);
      const bool alone = !Is(At(i - 1), ".") && !Is(At(i + 1), ".");
      if (constant != constants_.end() && alone && !IsPlainCount(constant->second.text)) {
        SayNumber(constant->second);
      }
    }
    if (At(i).kind != Kind::kNumber) continue;
    const bool fraction = Is(At(i + 1), "/") && At(i + 2).kind == Kind::kNumber;
    if (!IsPlainCount(At(i).text) || fraction) return SayNumber(At(i));
  }
}

void RuleCode::CheckComparison() {
  const LuaToken& sign = At(at_);
  if (!Is(sign, "<") && !Is(sign, ">") && !Is(sign, "<=") && !Is(sign, ">=")) return;
  std::size_t last = at_ + 1;
  while (last < code_.size()) {
    if (Opens(At(last))) {
      last = Behind(last) - 1;
    }
    if (Closes(At(last + 1)) || IsBoundary(last, last + 1)) break;
    ++last;
  }
  std::size_t first = at_ - 1;
  for (int depth = 0; first > 0; --first) {
    if (Closes(At(first))) ++depth;
    if (Opens(At(first))) --depth;
    if (depth > 0) continue;
    if (Opens(At(first - 1)) || IsBoundary(first - 1, first)) break;
    if (Ends(At(first - 1))) break;
  }
  CheckOperand(first, at_ - 1);
  CheckOperand(at_ + 1, last);
}

// at_least(x, 0.5): the second and third argument are thresholds.
void RuleCode::CheckCall() {
  const LuaToken& name = At(at_);
  if (!Is(name, "at_least") && !Is(name, "at_most") && !Is(name, "between")) return;
  if (!Is(At(at_ + 1), "(")) return;
  const std::size_t end = Behind(at_ + 1) - 1;
  std::size_t comma = 0;
  for (std::size_t i = at_ + 2; i <= end; ++i) {
    if (Opens(At(i))) i = Behind(i);
    if (!Is(At(i), ",") && i != end) continue;
    if (comma > 0) CheckOperand(comma + 1, i - 1);
    comma = i;
  }
}

// `applies = function(f`, `detect = function(f`: f is the facts.
void RuleCode::ReadParameters() {
  const LuaToken& field = At(at_);
  if (!Is(field, "applies") && !Is(field, "detect") && !Is(field, "saving")) return;
  if (!Is(At(at_ + 1), "=") || !Is(At(at_ + 2), "function") || !Is(At(at_ + 3), "(")) return;
  names_.clear();
  inside_ = true;
  if (At(at_ + 4).kind != Kind::kName) return;
  names_[std::string(At(at_ + 4).text)] = "";
  at_ += 5;  // what follows are uses
}

// `f.copy.bytes`, or `local copy = f.copy` and then `copy.bytes`.
void RuleCode::CheckFact() {
  const LuaToken& first = At(at_);
  if (!inside_ || first.kind != Kind::kName || Is(At(at_ - 1), ".")) return;
  const auto known = names_.find(std::string(first.text));
  if (known == names_.end()) return;
  std::string name = known->second;
  std::size_t end = at_ + 1;
  for (;;) {
    std::string part;
    std::size_t next = end;
    if (Is(At(end), ".") && At(end + 1).kind == Kind::kName) {
      part = At(end + 1).text;
      next = end + 2;
    } else if (Is(At(end), "[") && At(end + 1).kind == Kind::kText && Is(At(end + 2), "]")) {
      part = At(end + 1).text;
      next = end + 3;
    }
    if (part.empty()) break;
    if (!name.empty()) name += '.';
    name += part;
    end = next;
    if (IsFact(name)) break;  // what follows is a part of its value
    if (!IsGroup(name)) {
      Say(first.line, fmt::format("fact \"{}\" is not declared: add it to needs or optional", name),
          Suggestion(name, declared_));
      break;
    }
  }
  const bool alone = Is(At(at_ - 1), "=") && Is(At(at_ - 3), "local");
  const bool named = alone && IsGroup(name) && !Is(At(end), ".");
  if (named) names_[std::string(At(at_ - 2).text)] = name;
  if (IsFact(name)) {
    read_.insert(name);
  } else if (!named || Is(At(end), "[")) {
    groups_.insert(name);
  }
}

bool RuleCode::IsFact(const std::string& name) const { return IsIn(name, declared_); }

bool RuleCode::IsGroup(const std::string& name) const {
  return std::any_of(declared_.begin(), declared_.end(),
                     [&](const std::string& fact) { return fact.starts_with(name + "."); });
}

}  // namespace advise
