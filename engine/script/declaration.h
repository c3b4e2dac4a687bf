// Rules without functions. Most findings have one shape: something takes time (a loss), it happens
// often enough, and replaying the run without it tells what could be won. Such a rule names the
// group of facts and what to show of it; what follows from that (needs, applies, comparisons,
// evidence, saving) is worked out here, once for all rules. docs/howto/add-a-rule.md describes the
// fields. Internal to script/.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/script/lua_fields.h"
#include "engine/script/rule_loader.h"

struct lua_State;

namespace advise {

struct RunContext;

// A fact, or the length or number of pieces of spans ("lost.count").
struct FactPart {
  const FactInfo* fact = nullptr;
  std::string part;  // "time" or "count" of spans, else empty
};

// What stands in a rule's file in place of functions.
struct Declaration {
  // A threshold min_NAME or max_NAME, and what it is compared with.
  struct Limit {
    std::string threshold;
    std::string evidence;  // its name, or empty when the fact is not shown
    FactPart fact;         // of a limit that is no evidence
    bool is_least = true;
  };
  struct Shown {
    std::string name;
    FactPart fact;
  };
  struct Saving {
    std::vector<const FactInfo*> claims;
    std::vector<const FactInfo*> remedies;
    std::variant<double, std::string> part = 1.0;  // a number, or a threshold's name
    double confidence = 0.5;
    std::string confidence_from;
    std::string basis;
  };

  const FactInfo* loop = nullptr;    // of `needs_loop`: the fact that must not be false
  const FactInfo* window = nullptr;  // of `loss`: what evidence "share" is a share of …
  const FactInfo* lost = nullptr;    // … and what it counts
  FactPart applies;                  // must be above zero, true, or not empty
  std::string not_applicable;        // the reason when it is not
  std::vector<Limit> limits;         // in the order of the file's thresholds
  std::vector<Shown> evidence;
  bool has_evidence = false;  // `loss` or `measure` is there
  bool has_saving = false;
  Saving saving;
};

// Reads the fields of the declared form from the rule's table, and adds the facts that follow from
// them to needs and optional of `rule`, which are read already.
Declaration ReadDeclaration(LuaFields& fields, int table, const FactCatalog& catalog,
                            RuleInfo& rule);

// Whether the rule has something to judge; else the verdict says why not. `needs`: of the rule.
bool Applies(const Declaration& declared, const std::vector<const FactInfo*>& needs,
             RunContext& context);
// Pushes the evidence as a table, and returns true, when all limits hold. All needs must be there.
bool PushEvidence(lua_State* state, const Declaration& declared, RunContext& context);
void FillSaving(const Declaration& declared, RunContext& context);

}  // namespace advise
