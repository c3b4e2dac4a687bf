// The knowledge base as it is shipped.
#pragma once

#include "engine/knowledge/knowledge.h"

namespace advise {

// Read once a test program.
const Knowledge& ShippedKnowledge();

}  // namespace advise
