// The facts of a run, computed from metrics on demand.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/facts/facts.h"

namespace advise {

struct Analysis;
struct Cluster;
class Knowledge;

// Every fact there is, with unit and definition, in the order of the documentation; `knowledge`
// tells the families of names and the environment's switches.
std::vector<FactInfo> FactList(const Knowledge& knowledge);

using FactNames = std::set<std::string, std::less<>>;

// The facts of one trace, and of the ranks in it together. `analysis` must outlive the result.
// Those that are not `asked` for may be missing, where that saves time; nullptr: none is.
std::unique_ptr<Facts> MakeFacts(const Analysis& analysis, const Cluster& ranks,
                                 const FactNames* asked = nullptr);

// The facts of a run of several reports; spans are by rank, and remedies are of its ranks. What has
// no meaning for all of them is absent.
std::unique_ptr<Facts> MakeRunFacts(const Cluster& cluster, const Knowledge& knowledge);

// Whether a fact compares ranks: rules that read one are asked once for the whole run.
bool IsAboutRanks(const std::string& fact);

}  // namespace advise
