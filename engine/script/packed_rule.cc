#include "engine/script/packed_rule.h"

#include <algorithm>
#include <lua.hpp>
#include <memory>
#include <stdexcept>

#include "engine/base/packed.h"
#include "engine/script/lua_tokens.h"

namespace advise {

static auto Fields(Link& of) { return std::tie(of.url, of.programs); }
static auto Fields(Fix& of) {
  return std::tie(of.action, of.snippet, of.language, of.links, of.programs, of.reason, of.effort);
}
static auto Fields(RuleInfo& of) {
  return std::tie(of.id, of.title, of.status, of.since, of.kind, of.effort, of.risk, of.topic,
                  of.observed, of.own_steps, of.priority, of.explains, of.knowledge, of.needs,
                  of.optional, of.thresholds, of.references, of.symptom, of.cause, of.fixes,
                  of.false_positives, of.replaces, of.path, of.source);
}
static auto Fields(FactPart& of) { return std::tie(of.fact, of.part); }
static auto Fields(Declaration::Limit& of) {
  return std::tie(of.threshold, of.evidence, of.fact, of.is_least);
}
static auto Fields(Declaration::Shown& of) { return std::tie(of.name, of.fact); }
static auto Fields(Declaration::Saving& of) {
  return std::tie(of.claims, of.remedies, of.part, of.confidence, of.confidence_from, of.basis);
}
static auto Fields(Declaration& of) {
  return std::tie(of.loop, of.window, of.lost, of.applies, of.not_applicable, of.limits,
                  of.evidence, of.has_evidence, of.has_saving, of.saving);
}

static_assert(kNamesAllFields<Link> && kNamesAllFields<Fix> && kNamesAllFields<RuleInfo> &&
              kNamesAllFields<FactPart> && kNamesAllFields<Declaration::Limit> &&
              kNamesAllFields<Declaration::Shown> && kNamesAllFields<Declaration::Saving> &&
              kNamesAllFields<Declaration>);

namespace {

bool IsToken(const LuaToken& token, std::string_view text) {
  return token.kind != LuaToken::Kind::kText && token.text == text;
}

// How deep in brackets and blocks the code is behind this token, beside before it.
int DepthOf(const LuaToken& token) {
  for (const std::string_view opens : {"(", "{", "[", "function", "if", "do", "repeat"}) {
    if (IsToken(token, opens)) return 1;
  }
  for (const std::string_view closes : {")", "}", "]", "end", "until"}) {
    if (IsToken(token, closes)) return -1;
  }
  return 0;
}

// Whether the field of the rule's table that begins here is code; what a rule declares is not.
bool IsCode(const std::vector<LuaToken>& tokens, std::size_t at) {
  if (at + 2 >= tokens.size() || !IsToken(tokens[at + 1], "=")) return false;
  const LuaToken& value = tokens[at + 2];
  if (value.kind == LuaToken::Kind::kText || IsToken(value, "{")) return false;
  return IsToken(tokens[at], "applies") || IsToken(tokens[at], "detect") ||
         IsToken(tokens[at], "saving");
}

std::string Bytecode(const std::string& path, const std::string& text) {
  const std::unique_ptr<lua_State, decltype(&lua_close)> state(luaL_newstate(), lua_close);
  const std::string name = "@" + path;
  if (luaL_loadbufferx(state.get(), text.data(), text.size(), name.c_str(), "t") != LUA_OK) {
    throw std::runtime_error(lua_tostring(state.get(), -1));
  }
  const auto append = [](lua_State*, const void* piece, std::size_t size, void* code) {
    static_cast<std::string*>(code)->append(static_cast<const char*>(piece), size);
    return 0;
  };
  std::string code;
  lua_dump(state.get(), append, &code, /*strip=*/0);
  return code;
}

}  // namespace

std::string FunctionsOf(std::string_view text) {
  const std::vector<LuaToken> tokens = LuaTokens(text);
  const auto offset = [&](std::size_t token) {
    return token < tokens.size() ? static_cast<std::size_t>(tokens[token].text.data() - text.data())
                                 : text.size();
  };
  std::size_t at = 0;
  for (int depth = 0; at + 1 < tokens.size(); ++at) {
    if (depth == 0 && IsToken(tokens[at], "return") && IsToken(tokens[at + 1], "{")) break;
    depth += DepthOf(tokens[at]);
  }
  at += 2;
  std::string kept(text.substr(0, offset(at)));
  while (at < tokens.size() && !IsToken(tokens[at], "}")) {
    const std::size_t first = at;
    for (int depth = 0; at < tokens.size(); ++at) {
      if (depth == 0 && (IsToken(tokens[at], ",") || IsToken(tokens[at], ";"))) break;
      if (depth == 0 && IsToken(tokens[at], "}")) break;
      depth += DepthOf(tokens[at]);
    }
    if (at < tokens.size() && !IsToken(tokens[at], "}")) ++at;
    const std::string_view field = text.substr(offset(first), offset(at) - offset(first));
    if (IsCode(tokens, first)) {
      kept += field;
    } else {
      kept.append(static_cast<std::size_t>(std::count(field.begin(), field.end(), '\n')), '\n');
    }
  }
  kept += text.substr(offset(at));
  return kept;
}

std::string PackRule(const RuleInfo& rule, const Declaration& declared) {
  RuleInfo said = rule;
  said.source.clear();
  Packer packer;
  packer.Add(said);
  packer.Add(declared);
  return packer.Take() + Bytecode(rule.path, FunctionsOf(rule.source));
}

RuleInfo UnpackRule(std::string_view& packed) {
  RuleInfo rule;
  Unpacker<> unpacker(packed);
  unpacker.Get(rule);
  packed = unpacker.rest();
  return rule;
}

Declaration UnpackDeclaration(std::string_view& packed, const FactCatalog& catalog) {
  Declaration declared;
  Unpacker unpacker(packed, [&](std::string_view name) { return &catalog.find(name)->second; });
  unpacker.Get(declared);
  packed = unpacker.rest();
  return declared;
}

}  // namespace advise
