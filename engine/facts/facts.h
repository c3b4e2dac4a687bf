// Facts: what is known of a run, as one read-only tree of dotted names ("copy.pageable.bytes") that
// rules, `advise facts` and the JSON report read. A fact that cannot be known keeps its reason and
// how to capture it.
//
// Names are public API: a name is never reused for another meaning.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/trace/spans.h"

namespace advise {

// Why a fact is not there. `needs` is a capture tag ("cuda", "osrt", "nvtx", "gpu-metrics",
// "cuda-memory", "cpu-sampling", "hardware", "steps", …) that capture advice is keyed by; empty
// when no capture would help.
struct Absent {
  std::string reason;
  std::string needs;
};

// A cell of a fact that is a small table.
using Cell = std::variant<double, std::string>;
using Row =
    std::vector<std::pair<std::string, Cell>>;  // (column, value), the same columns in every row
using Rows = std::vector<Row>;

struct Remedy;  // what a fix changes in the run; metrics make it, the replay understands it, rules
                // hand it on

using Value = std::variant<Absent, double, bool, std::string, Rows, std::shared_ptr<const Spans>,
                           std::shared_ptr<const Remedy>>;

struct Fact {
  Value value;
};

// A named, documented fact of the catalog.
struct FactInfo {
  std::string name;
  std::string unit;  // ns, share, bytes, bytes_per_s, flop_per_s, count, hz, name, flag, rows,
                     // spans, remedy
  std::string definition;  // one sentence
};

// The facts of one scope (the run, or one device). Values are computed when first asked for, once.
class Facts {
 public:
  virtual ~Facts() = default;
  // The fact, or nullptr when the catalog has no such name. The pointer lives as long as the
  // object.
  virtual const Fact* Find(std::string_view name) const = 0;
};

// Facts from a plain map: for tests and for facts files.
class MapFacts : public Facts {
 public:
  explicit MapFacts(std::map<std::string, Fact, std::less<>> facts) : facts_(std::move(facts)) {}
  const Fact* Find(std::string_view name) const override {
    const auto found = facts_.find(name);
    return found == facts_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, Fact, std::less<>> facts_;
};

}  // namespace advise
