#include "engine/cluster/sharding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/median.h"

namespace advise {
namespace {

// "3 all-reduces", "1 all-reduce"; of less than half of one, that there are hardly any.
std::string OftenOf(double often, const std::string& noun) {
  const auto count = std::lround(often);
  if (count == 0) return "less than one " + noun;
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

class ShardingFinder {
 public:
  ShardingFinder(const std::vector<PatternRow>& rows, const PatternSum& tensor,
                 const std::vector<RankSummary>& ranks, const Knowledge& knowledge)
      : rows_(rows), tensor_(tensor), ranks_(ranks), knowledge_(knowledge) {}

  Sharding Find() {
    // Norms are summed in the optimizer.
    PatternSum sums = Of("allreduce", [](const std::string& phase) {
      return phase != "forward" && phase != "optimizer";
    });
    if (sums.per_step == 0) {
      sums = Of("allreduce", [](const std::string& phase) { return phase != "forward"; });
    }
    const PatternSum owners =
        Of("reduce", [](const std::string& phase) { return phase != "forward"; });
    found_.scatters = Of("reducescatter", [](const std::string&) { return true; });
    found_.gathers = Of("allgather", [](const std::string&) { return true; });
    const PatternSum& scatters = found_.scatters;
    if (GathersTwice()) {
      Say(3, "zero-3", scatters,
          fmt::format("{:.0f} all-gathers and {:.0f} reduce-scatters per step {}: "
                      "parameters are gathered in the forward and the backward pass",
                      found_.gathers.per_step, scatters.per_step,
                      AmongRanks(scatters.group, ranks_.size())));
      return std::move(found_);
    }
    if (scatters.per_step > 0) {
      Scattered(scatters, "reduce-scatters", found_.gathers, "all-gathers");
      return std::move(found_);
    }
    const auto late = [](const std::string& phase) {
      return phase.empty() || phase == "optimizer";
    };
    PatternSum weights = Of("allgather", late);
    const char* how = "all-gathers";
    const PatternSum& gradients = owners.per_step > 0 ? owners : sums;
    if (!AsMuch(weights, gradients)) {
      // Models broadcast their buffers, too, but not in the optimizer.
      weights = Of("broadcast", [](const std::string& phase) { return phase == "optimizer"; });
      how = "broadcasts";
    }
    const bool sent = AsMuch(weights, gradients);
    if (sent && owners.per_step > 0) {
      Scattered(owners, "reduces to owners", weights, how);
    } else if (sent && sums.per_step > 0) {
      Say(1, "zero-1", sums,
          fmt::format("{} per step, and {:.0f} {} of the same size in the "
                      "optimizer, {}: the optimizer is sharded",
                      OftenOf(sums.per_step, "all-reduce"), weights.per_step, how,
                      AmongRanks(sums.group, ranks_.size())));
    } else if (sums.per_step > 0) {
      Say(0, "ddp", sums,
          fmt::format("{} per step {}, with neither weights nor parts of "
                      "gradients sent",
                      OftenOf(sums.per_step, "all-reduce"), AmongRanks(sums.group, ranks_.size())));
    }
    return std::move(found_);
  }

 private:
  template <typename Phase>
  PatternSum Of(const char* kind, Phase in_phase) const {
    std::vector<const PatternRow*> chosen;
    for (const PatternRow& row : rows_) {
      const bool of_tensor = tensor_.per_step > 0 && row.group == tensor_.group &&
                             row.stride == tensor_.stride && row.per_step >= tensor_.per_step / 2;
      if (row.kind == kind && in_phase(row.phase) && !of_tensor) chosen.push_back(&row);
    }
    return SumOf(chosen, knowledge_.Number("cluster.part_often"));
  }

  // Whole buckets may be gathered in other sizes than gradients are scattered, so that numbers tell
  // only where phases do not.
  bool GathersTwice() const {
    const double scatters = found_.scatters.per_step;
    if (scatters == 0) return false;
    const double twice = knowledge_.Number("cluster.gathers_per_scatter");
    const PatternSum unnamed =
        Of("allgather", [](const std::string& phase) { return phase.empty(); });
    if (unnamed.per_step > found_.gathers.per_step / 2) {
      return found_.gathers.per_step >= twice * scatters;
    }
    const PatternSum again =
        Of("allgather", [](const std::string& phase) { return phase == "backward"; });
    return again.per_step >= (twice - 1) * scatters;
  }

  // Whether they are weights: about as much as the gradients, in bytes where these are known.
  bool AsMuch(const PatternSum& weights, const PatternSum& gradients) const {
    if (weights.per_step == 0 || gradients.per_step == 0) return false;
    const double least = knowledge_.Number("cluster.weights_share");
    if (weights.bytes > 0 && gradients.bytes > 0) return weights.bytes >= least * gradients.bytes;
    // A sum passes all links twice.
    return weights.transfer_ns >= least * gradients.transfer_ns / 2;
  }

  // Whether gradients of several backward passes are added up on each rank before they are sent.
  bool AddedUp() {
    std::vector<double> passes;
    std::vector<double> sent;
    for (const RankSummary& rank : ranks_) {
      passes.push_back(rank.backwards);
      sent.push_back(rank.backwards_synced);
    }
    passes_ = Median(std::move(passes));
    return passes_ >= 2 && Median(std::move(sent)) <= passes_ / 2;
  }

  void Scattered(const PatternSum& gradients, const char* how, const PatternSum& weights,
                 const char* sent) {
    const std::string counts =
        fmt::format("{:.0f} {} and {:.0f} {} per step {}", gradients.per_step, how,
                    weights.per_step, sent, AmongRanks(gradients.group, ranks_.size()));
    if (AddedUp()) {
      Say(1, "zero-1", gradients,
          fmt::format("{}, once for {:.0f} backward passes: whole gradients are added up, and the "
                      "optimizer is sharded",
                      counts, passes_));
    } else {
      Say(2, "zero-2", gradients, counts + ": gradients are sharded");
    }
  }

  void Say(int stage, const char* name, const PatternSum& gradients, std::string reason) {
    found_.stage = stage;
    found_.name = name;
    found_.ranks = static_cast<int>(gradients.group);
    found_.reason = std::move(reason);
  }

  const std::vector<PatternRow>& rows_;
  const PatternSum& tensor_;
  const std::vector<RankSummary>& ranks_;
  const Knowledge& knowledge_;
  double passes_ = 0;  // backward passes of a step
  Sharding found_;
};

}  // namespace

Sharding FindSharding(const std::vector<PatternRow>& rows, const PatternSum& tensor,
                      const std::vector<RankSummary>& ranks, const Knowledge& knowledge) {
  return ShardingFinder(rows, tensor, ranks, knowledge).Find();
}

}  // namespace advise
