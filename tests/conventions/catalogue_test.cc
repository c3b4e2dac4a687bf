// The catalogue that was promised: each rule id with its kind and the knowledge that it encodes,
// and each row of the knowledge base. More may be added; none of these may go, change its kind, or
// lose a row, without this list saying so.
#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "tests/conventions/rule_tree.h"

namespace advise {
namespace {

struct Promised {
  const char* id;
  const char* kind;
  const char* knowledge;  // ids, by blanks
};

constexpr Promised kRules[] = {
    {"input/starved", "root", "K-A1 K-B1 K-C1 K-K14 K-N5"},
    {"input/no-workers", "root", "K-A1 K-H3 K-N4"},
    {"input/too-few-workers", "root", "K-B1 K-H4"},
    {"input/oversubscribed-workers", "root", "K-H21"},
    {"input/slow-batches", "root", "K-I2"},
    {"input/storage-bound", "root", "K-H20 K-N5"},
    {"input/mmap-churn", "root", "K-H19"},
    {"input/no-prefetch", "root", "K-H4 K-H5"},
    {"transfer/pageable-copy", "root", "K-H11 K-H18 K-N17"},
    {"transfer/blocking-copy", "root", "K-B8 K-H12"},
    {"transfer/exposed-copy", "symptom", "K-B4 K-H9"},
    {"transfer/many-small-copies", "root", "K-B8 K-H6"},
    {"transfer/low-bandwidth", "root", "K-J1"},
    {"transfer/round-trip", "root", "K-H10"},
    {"transfer/repeated-upload", "root", "K-A3 K-M4"},
    {"transfer/copy-dominates", "symptom", "K-A3 K-B8"},
    {"transfer/managed-memory-faults", "root", "K-H15"},
    {"transfer/peer-through-host", "root", "K-J1"},
    {"sync/device-sync-in-loop", "root", "K-H12"},
    {"sync/item-in-loop", "root", "K-A5 K-C6"},
    {"sync/forward-sync", "root", "K-A5"},
    {"sync/default-stream", "root", "K-H13"},
    {"sync/blocking-memset", "root", "K-H12"},
    {"sync/event-wait-chain", "root", "K-G5"},
    {"sync/host-busy-wait", "symptom", "K-G5"},
    {"launch/bound", "root", "K-A1 K-A8 K-B3"},
    {"launch/tiny-kernels", "symptom", "K-B3 K-C3"},
    {"launch/graph-candidate", "root", "K-H6"},
    {"launch/unfused-copies", "root", "K-H6"},
    {"launch/slow-calls", "root", "K-O4"},
    {"launch/host-op-overhead", "symptom", "K-A8"},
    {"kernel/hot", "symptom", "K-A7 K-L9 K-N6"},
    {"kernel/small-grid", "root", "K-F2 K-H2"},
    {"kernel/low-sm-active", "symptom", "K-F2 K-K15"},
    {"kernel/tail-wave", "root", "K-F2"},
    {"kernel/low-issue", "root", "K-F3"},
    {"kernel/memory-bound", "root", "K-C5 K-D2 K-E1 K-E3"},
    {"kernel/compute-bound", "root", "K-E1"},
    {"kernel/low-occupancy", "root", "K-D3 K-D9 K-F5"},
    {"kernel/low-throughput", "symptom", "K-D1 K-D2"},
    {"kernel/stall-memory", "root", "K-D5"},
    {"kernel/stall-barrier", "root", "K-D6"},
    {"kernel/stall-not-selected", "info", "K-D7"},
    {"kernel/low-ipc", "symptom", "K-D8"},
    {"kernel/low-l2-hit", "root", "K-D4"},
    {"kernel/register-spill", "root", "K-D9"},
    {"kernel/uncoalesced", "root", "K-D2"},
    {"kernel/unfused-elementwise", "root", "K-C5 K-H6"},
    {"kernel/unfused-attention", "root", "K-C5"},
    {"kernel/unfused-optimizer", "root", "K-H6"},
    {"kernel/layout-conversion", "root", "K-H1"},
    {"kernel/low-concurrency", "info", "K-L4 K-L5"},
    {"precision/fp32-gemm", "root", "K-H1 K-H17 K-K13 K-N12 K-N18"},
    {"precision/tensor-idle", "symptom", "K-F4"},
    {"precision/repeated-cast", "root", "K-A4"},
    {"precision/unaligned-shapes", "root", "K-H1"},
    {"memory/alloc-in-loop", "root", "K-B7 K-H14"},
    {"memory/fragmentation", "root", "K-C4"},
    {"memory/leak", "root", "K-C8"},
    {"memory/underused", "root", "K-K15"},
    {"memory/near-capacity", "root", "K-C4 K-N3"},
    {"step/outlier", "symptom", "K-A2"},
    {"step/cold-start", "root", "K-A2 K-C7 K-O5"},
    {"step/backward-heavy", "root", "K-A6"},
    {"step/jitter", "symptom", "K-I4"},
    {"step/periodic-stall", "root", "K-C6"},
    {"comm/exposed", "symptom", "K-C2 K-L8 K-N10 K-N15"},
    {"comm/serial-gradient-sync", "root", "K-B5 K-B6"},
    {"comm/overlap-disabled", "root", "K-K10"},
    {"comm/small-messages", "root", "K-K2"},
    {"comm/low-bandwidth", "root", "K-J1 K-J2"},
    {"comm/no-nvlink", "root", "K-J1 K-J3 K-J4 K-N7"},
    {"comm/no-rdma", "root", "K-J2 K-J4"},
    {"comm/no-infiniband", "root", "K-J2 K-J4"},
    {"comm/every-microstep", "root", "K-K9 K-N13"},
    {"comm/zero3-overhead", "root", "K-K5 K-N14"},
    {"comm/cross-node-gather", "root", "K-K11"},
    {"comm/tensor-parallel-across-nodes", "root", "K-K8"},
    {"comm/data-parallel-replicate", "root", "K-H16"},
    {"comm/contends-with-compute", "root", "K-G4"},
    {"comm/strategy", "info", "K-J7 K-K1 K-K2 K-K3 K-K4 K-K5 K-K6 K-K7 K-K8"},
    {"rank/straggler", "root", "K-I1"},
    {"rank/input-imbalance", "root", "K-I2"},
    {"rank/compute-imbalance", "root", "K-I3"},
    {"rank/clock-skew", "info", "K-I6"},
    {"rank/idle-device", "root", "K-G1"},
    {"rank/outlier-node", "root", "K-I4"},
    {"pipeline/bubble", "root", "K-K7 K-N16"},
    {"pipeline/stage-imbalance", "root", "K-K7"},
    {"scale/poor-efficiency", "symptom", "K-M1 K-M2 K-N11"},
    {"scale/too-early", "root", "K-M3"},
    {"topology/nic-distance", "root", "K-J6"},
    {"topology/missing-nvlink", "root", "K-J6"},
    {"topology/p2p-disabled", "root", "K-J6"},
    {"topology/ib-port", "root", "K-J6"},
    {"topology/nccl-transport", "root", "K-J4"},
    {"topology/nccl-environment", "root", "K-J4"},
    {"host/os-noise", "root", "K-H23"},
    {"host/lock-contention", "root", "K-G5"},
    {"host/gpu-context-switch", "root", "K-H7"},
    {"host/jit-in-loop", "root", "K-A2"},
    {"host/cpu-bound", "symptom", "K-A8 K-B1"},
    {"monitor/low-utilisation", "symptom", "K-C1 K-O6"},
    {"monitor/busy-but-idle-inside", "info", "K-O6"},
    {"monitor/throttled", "root", "K-O6"},
    {"monitor/memory-headroom", "info", "K-K15"},
    {"capture/missing-data", "info", "K-F8 K-O1"},
    {"capture/no-ranges", "info", "K-O2"},
    {"capture/profiler-overhead", "info", "K-O4"},
    {"capture/too-short", "info", "K-I7 K-O5"},
    {"capture/too-long", "info", "K-I7"},
    {"capture/dropped-events", "info", "K-F8"},
    {"capture/secrets", "info", "K-I7"},
};

// Rows of each area of knowledge: K-A1 to K-A8, and so on.
struct Area {
  char letter;
  int rows;
};
constexpr Area kAreas[] = {{'A', 8},  {'B', 8},  {'C', 9},  {'D', 9},  {'E', 3},
                           {'F', 8},  {'G', 6},  {'H', 23}, {'I', 7},  {'J', 8},
                           {'K', 15}, {'L', 11}, {'M', 4},  {'N', 19}, {'O', 8}};

// Rules in all.
constexpr std::size_t kLeastRules = 150;

TEST_CASE("every promised rule is there, of its kind, with the knowledge that it encodes") {
  const Tree& tree = SourceTree();
  for (const Promised& promised : kRules) {
    INFO(promised.id);
    const RuleInfo* rule = tree.rules->Find(promised.id);
    if (rule == nullptr) {
      FAIL_CHECK("no such rule");
      continue;
    }
    CHECK(rule->status != "retired");
    CHECK(RuleKindName(rule->kind) == std::string(promised.kind));
    std::istringstream ids(promised.knowledge);
    for (std::string id; ids >> id;) {
      INFO(id);
      CHECK(std::find(rule->knowledge.begin(), rule->knowledge.end(), id) != rule->knowledge.end());
    }
  }
  CHECK(std::size(kRules) == 113);
  CHECK(tree.rules->rules().size() >= kLeastRules);
}

TEST_CASE("every promised row of knowledge is there, in words, and no other") {
  const Tree& tree = SourceTree();
  std::size_t promised = 0;
  for (const Area& area : kAreas) {
    for (int row = 1; row <= area.rows; ++row) {
      const std::string id = std::string("K-") + area.letter + std::to_string(row);
      INFO(id);
      const auto& rows = tree.knowledge->rows();
      const auto found = rows.find(id);
      CHECK(found != rows.end());
      if (found != rows.end()) CHECK(found->second.text.size() > 20);
      ++promised;
    }
  }
  CHECK(tree.knowledge->rows().size() == promised);
}

}  // namespace
}  // namespace advise
