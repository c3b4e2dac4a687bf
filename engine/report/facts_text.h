// The facts of a run for people: name, value, definition; tables on request.
#pragma once

#include <string>
#include <vector>

#include "engine/advice/report_model.h"

namespace advise {

// A fact's value as people read it ("1.20 GB", "absent: no kernels were recorded", "12 rows").
std::string FactText(const NamedFact& fact);

// One entry a fact, grouped by scope. `tables`: the facts that are small tables, each in full,
// instead.
std::string RenderFactsText(const std::vector<NamedFact>& facts, bool tables, int width,
                            bool color);

// The catalog: name, unit, definition, without any report.
std::string RenderFactCatalog(const std::vector<FactInfo>& catalog, int width, bool color);

}  // namespace advise
