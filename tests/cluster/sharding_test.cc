// How far gradients, optimizer and weights are sharded, told from counts of collectives.
#include "engine/cluster/sharding.h"

#include "engine/cluster/patterns.h"
#include "tests/support/analyzed.h"

namespace advise {
namespace {

// Of four ranks that all take part; a megabyte of a sum takes twice as long as one of a gather.
PatternRow Row(const char* kind, const char* phase, double per_step, double megabytes) {
  PatternRow row;
  row.kind = kind;
  row.phase = phase;
  row.per_step = per_step;
  row.group = 4;
  row.stride = 1;
  row.transfer_ns = megabytes * 10'000 * (row.kind == "allreduce" ? 2 : 1);
  return row;
}

Sharding Of(const std::vector<PatternRow>& rows, double backwards = 1, double synced = 1,
            const PatternSum& tensor = {}) {
  std::vector<RankSummary> ranks(4);
  for (RankSummary& rank : ranks) {
    rank.backwards = backwards;
    rank.backwards_synced = synced;
  }
  return FindSharding(rows, tensor, ranks, ShippedKnowledge());
}

TEST_CASE("ranks that talk in groups are told from all ranks") {
  CHECK(AmongRanks(4, 4) == "among 4 ranks");
  CHECK(AmongRanks(8, 1) == "among 8 ranks");  // of which one report was given
  CHECK(AmongRanks(2, 4) == "in groups of 2 ranks");
}

TEST_CASE("sums alone replicate; with weights sent round as well the optimizer is sharded") {
  CHECK(Of({Row("allreduce", "backward", 16, 400)}).name == "ddp");
  CHECK(Of({Row("allreduce", "backward", 16, 400), Row("allgather", "optimizer", 4, 400)}).name ==
        "zero-1");
  // Each rank broadcasts what it updated.
  CHECK(Of({Row("allreduce", "backward", 16, 400), Row("broadcast", "optimizer", 4, 400)}).name ==
        "zero-1");
  // No ranges name the phases.
  CHECK(Of({Row("allreduce", "", 16, 400), Row("allgather", "", 4, 400)}).name == "zero-1");
  CHECK(Of({}).stage == -1);
}

TEST_CASE("what is gathered beside sums may be results, buffers and metrics") {
  // Features of all ranks for a contrastive loss, in the forward pass or where phases are unknown.
  CHECK(Of({Row("allreduce", "backward", 16, 400), Row("allgather", "forward", 2, 300)}).name ==
        "ddp");
  CHECK(Of({Row("allreduce", "", 16, 400), Row("allgather", "", 2, 4)}).name == "ddp");
  // Statistics of normalization, before the forward pass.
  CHECK(Of({Row("allreduce", "backward", 16, 400), Row("broadcast", "forward", 1, 300)}).name ==
        "ddp");
  CHECK(Of({Row("allreduce", "backward", 16, 400), Row("allgather", "optimizer", 1, 4)}).name ==
        "ddp");
  // Where sizes are known they decide, not times.
  PatternRow sums = Row("allreduce", "backward", 16, 400);
  PatternRow gathers = Row("allgather", "optimizer", 1, 400);
  sums.bytes = 4e8;
  gathers.bytes = 4e6;
  CHECK(Of({sums, gathers}).name == "ddp");
  gathers.bytes = 2e8;  // half as wide as the gradients
  CHECK(Of({sums, gathers}).name == "zero-1");
}

TEST_CASE("shares of sums are sharded gradients, unless several passes were added up before") {
  const std::vector<PatternRow> rows = {Row("reducescatter", "backward", 16, 400),
                                        Row("allgather", "optimizer", 16, 400),
                                        Row("allreduce", "optimizer", 1, 0.001)};
  CHECK(Of(rows).name == "zero-2");
  CHECK(Of(rows, 4, 4).name == "zero-2");
  CHECK(Of(rows, 4, 1).name == "zero-1");
  CHECK(Of(rows, 4, 0).name == "zero-1");  // sent after the last of them
  CHECK(Of(rows, 0, 0).name == "zero-2");  // no ranges name the passes
  // A reduce to each owner, and broadcasts by them.
  const std::vector<PatternRow> owners = {Row("reduce", "backward", 64, 400),
                                          Row("broadcast", "optimizer", 4, 400)};
  CHECK(Of(owners).name == "zero-2");
  CHECK(Of(owners, 8, 1).name == "zero-1");
  // One process that copies the model to its GPUs for each forward pass shards nothing.
  CHECK(Of({Row("broadcast", "forward", 16, 400), Row("reduce", "backward", 16, 400)}).stage == -1);
}

TEST_CASE("weights that are gathered for both passes are sharded, whatever the sizes of buckets") {
  CHECK(Of({Row("allgather", "forward", 24, 400), Row("allgather", "backward", 24, 400),
            Row("reducescatter", "backward", 24, 400)})
            .name == "zero-3");
  CHECK(Of({Row("allgather", "", 48, 800), Row("reducescatter", "", 24, 400)}).name == "zero-3");
  // Kept from the forward pass on.
  CHECK(
      Of({Row("allgather", "forward", 24, 400), Row("reducescatter", "backward", 24, 400)}).name ==
      "zero-2");
  // Small buckets of weights, large ones of gradients: twice as many gathers, but not twice.
  CHECK(
      Of({Row("allgather", "optimizer", 24, 400), Row("reducescatter", "backward", 8, 400)}).name ==
      "zero-2");
}

TEST_CASE("what shared layers scatter and gather is left out") {
  PatternSum tensor;
  tensor.per_step = 64;
  tensor.group = 2;
  tensor.stride = 1;
  std::vector<PatternRow> rows = {
      Row("reducescatter", "forward", 64, 100), Row("reducescatter", "backward", 64, 100),
      Row("allgather", "forward", 64, 100), Row("allgather", "backward", 96, 150)};
  for (PatternRow& row : rows) row.group = 2;
  CHECK(Of(rows, 1, 1, tensor).stage == -1);
  PatternRow copies = Row("allreduce", "backward", 8, 400);
  copies.group = 2;
  copies.stride = 2;
  rows.push_back(copies);
  const Sharding beside = Of(rows, 1, 1, tensor);
  CHECK(beside.name == "ddp");
  CHECK(beside.ranks == 2);
}

}  // namespace
}  // namespace advise
