// The best next thing to do about what was captured.
#pragma once

#include "engine/advice/report_model.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

// The first finding's title, else what would let the next capture say more, with its command. Needs
// findings, devices, the run and the efficiency (answer.h).
void FillNextStep(const Knowledge& knowledge, Report* report);

}  // namespace advise
