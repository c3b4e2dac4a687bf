#include "tests/support/shipped_knowledge.h"

#include <catch2/catch.hpp>
#include <utility>

#include "engine/knowledge/embedded.h"

namespace advise {

const Knowledge& ShippedKnowledge() {
  static const Knowledge knowledge = [] {
    auto loaded = Knowledge::Load(EmbeddedKnowledge());
    REQUIRE(loaded);
    return std::move(*loaded);
  }();
  return knowledge;
}

}  // namespace advise
