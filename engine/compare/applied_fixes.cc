#include "engine/compare/applied_fixes.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/is_in.h"

namespace advise {
namespace {

// Whether a change that a fix makes is seen in AFTER.
enum class Sign : std::uint8_t { kSeen, kNotSeen, kUnknown };

class SignReader {
 public:
  SignReader(const MeasuredRun& before, const MeasuredRun& after, const Knowledge& knowledge)
      : before_(before),
        after_(after),
        fell_(1 / (1 + knowledge.Number("compare.same_work"))),
        shows_(knowledge.Number("compare.fix_shows")) {}

  // `promised`: what the fix was to win, per unit of work. Fewer waits and copies are a sign; as
  // many are none, since a call may stay and block no more.
  Sign Of(const std::string& change, double promised) const {
    if (change == "launches") return Fewer("launch.count");
    if (change == "kernels") return Shorter({"budget.compute", "budget.comm_exposed"}, promised);
    if (change == "data") {
      const double waited = PerUnit(before_, "idle.data_loading").value_or(0);
      return Shorter({"idle.data_loading"}, waited);
    }
    if (change == "waits" && Fewer("sync.count") == Sign::kSeen) return Sign::kSeen;
    if (change == "copies" && Fewer("copy.count") == Sign::kSeen) return Sign::kSeen;
    return Sign::kUnknown;
  }

 private:
  static std::optional<double> PerUnit(const MeasuredRun& run, const char* fact) {
    const auto number = FactNumber(run.report, fact);
    if (!number) return std::nullopt;
    return *number / run.units;
  }

  Sign Fewer(const char* fact) const {
    const auto was = PerUnit(before_, fact);
    const auto is = PerUnit(after_, fact);
    if (!was || !is || *was <= 0) return Sign::kUnknown;
    return *is <= fell_ * *was ? Sign::kSeen : Sign::kNotSeen;
  }

  // By the sum of the facts.
  Sign Shorter(std::initializer_list<const char*> facts, double promised) const {
    if (promised <= 0) return Sign::kUnknown;
    double less = 0;
    for (const char* fact : facts) {
      const auto was = PerUnit(before_, fact);
      const auto is = PerUnit(after_, fact);
      if (!was || !is) return Sign::kUnknown;
      less += *was - *is;
    }
    return less >= shows_ * promised ? Sign::kSeen : Sign::kNotSeen;
  }

  const MeasuredRun& before_;
  const MeasuredRun& after_;
  double fell_;
  double shows_;
};

const char* WhyNot(const std::string& change) {
  if (change == "launches") return "AFTER still launches as much work";
  if (change == "kernels") return "the kernels still take as long in AFTER";
  return "AFTER still waits for data as long";
}

// A finding that is gone, and what is seen of its fix.
struct Gone {
  FindingChange change;
  const Finding* finding = nullptr;
  Sign sign = Sign::kUnknown;
};

// Seen when any of its changes is, not seen when none of them is.
void ReadSigns(const SignReader& reader, Gone* gone) {
  if (gone->finding == nullptr || gone->finding->changes.empty()) return;
  bool unknown = false;
  for (const std::string& change : gone->finding->changes) {
    const Sign sign = reader.Of(change, gone->change.before_ns);
    if (sign == Sign::kSeen) gone->sign = Sign::kSeen;
    unknown = unknown || sign == Sign::kUnknown;
  }
  if (gone->sign == Sign::kSeen || unknown) return;
  gone->sign = Sign::kNotSeen;
}

// BEFORE's plan has the one fix take what the other would win.
bool TakesAlong(const Gone& cause, const Gone& effect) {
  if (cause.finding == nullptr || effect.finding == nullptr) return false;
  const std::string& id = effect.change.rule;
  return IsIn(id, cause.finding->makes_needless) || IsIn(id, cause.finding->explains);
}

// Fills what the finding went with, of the fixes that show. As many launches alone say little: each
// may have become cheaper.
bool WentWithOthers(const std::vector<Gone>& all, Gone* one) {
  if (one->sign == Sign::kSeen) return false;
  std::vector<std::string> shown, replayed;
  for (const Gone& other : all) {
    if (other.sign != Sign::kSeen) continue;
    shown.push_back(other.change.rule);
    if (TakesAlong(other, *one)) replayed.push_back(other.change.rule);
  }
  FindingChange& change = one->change;
  if (!replayed.empty()) {
    change.replayed = true;
    change.went_with = replayed;
    change.why = "once that is fixed, the replay of BEFORE leaves it little";
    return true;
  }
  const bool only_launches =
      one->finding != nullptr && one->finding->changes == std::vector<std::string>{"launches"};
  if (one->sign != Sign::kNotSeen || (only_launches && shown.empty())) return false;
  change.went_with = shown;
  change.why = WhyNot(one->finding->changes.front());
  return true;
}

}  // namespace

void FindWhatWentAlong(const MeasuredRun& before, const MeasuredRun& after,
                       const Knowledge& knowledge, RunComparison* comparison) {
  const SignReader reader(before, after, knowledge);
  std::vector<Gone> all;
  for (const FindingChange& change : comparison->fixed) {
    all.push_back({change, FindingOf(before.report, change.rule)});
    ReadSigns(reader, &all.back());
  }
  comparison->fixed.clear();
  for (Gone& one : all) {
    (WentWithOthers(all, &one) ? comparison->gone : comparison->fixed).push_back(one.change);
  }
}

}  // namespace advise
