#include "engine/script/stand_ins.h"

#include <array>
#include <random>

namespace advise {

StandIns::StandIns(const RuleInfo& rule, const FactCatalog& catalog,
                   const std::vector<RuleTest>& tests, std::vector<std::string> texts)
    : rule_(rule), catalog_(catalog), texts_(std::move(texts)) {
  for (const RuleTest& test : tests) {
    for (const auto& [name, fact] : test.facts) {
      const auto* rows = std::get_if<Rows>(&fact.value);
      if (rows != nullptr && !rows->empty()) rows_.emplace(name, *rows);
    }
  }
  texts_.emplace_back("a text");
}

Value StandIns::ValueOf(const std::string& name, unsigned draw) const {
  static constexpr std::array<double, 6> kNumbers = {1000, 3, 2, 1, 0.5, 0};
  const auto info = catalog_.find(name);
  const std::string unit = info == catalog_.end() ? "" : info->second.unit;
  if (unit == "rows") {
    const auto rows = rows_.find(name);
    return rows == rows_.end() ? Rows() : rows->second;
  }
  if (unit == "remedy") return SomeRemedy();
  if (unit == "spans") return SpansOf(1000, 4);
  if (unit == "flag") return draw % 3 != 1;
  if (unit == "name") return texts_[draw % texts_.size()];
  return kNumbers[draw % kNumbers.size()];
}

std::map<std::string, Fact, std::less<>> StandIns::Make(int run) const {
  std::minstd_rand random(static_cast<unsigned>(run) + 1);
  random.discard(8);
  std::map<std::string, Fact, std::less<>> facts;
  const auto add = [&](const std::string& name, bool absent) {
    const auto draw = static_cast<unsigned>(random() >> 8U);
    // The first runs are plain: everything is there, and large.
    facts[name].value = absent    ? Value(Absent{"left out", ""})
                        : run < 8 ? ValueOf(name, draw / 6 * 6)
                                  : ValueOf(name, draw);
  };
  for (const std::string& name : rule_.needs) add(name, false);
  for (const std::string& name : rule_.optional) add(name, run % 2 == 1 && random() % 2 == 0);
  return facts;
}

}  // namespace advise
