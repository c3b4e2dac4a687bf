// Ways between GPUs: what matrices, ports, NCCL's channels and variables add up to.
#include "engine/metrics/system/paths.h"

#include <catch2/catch.hpp>

#include "tests/support/analyzed.h"

namespace advise {
namespace {

TopologyMatrix Links(std::vector<std::string> names, std::vector<std::vector<std::string>> cells) {
  TopologyMatrix matrix;
  matrix.kind = "links";
  matrix.rows = matrix.columns = std::move(names);
  matrix.cells = std::move(cells);
  return matrix;
}

TEST_CASE("the nearest card of each GPU, by the adapter's name") {
  Trace trace;
  trace.topology.matrices.push_back(
      Links({"GPU0", "GPU1", "NIC0", "NIC1"}, {{"X", "NV4", "PIX", "SYS"},
                                               {"NV4", "X", "SYS", "NODE"},
                                               {"PIX", "SYS", "X", "SYS"},
                                               {"SYS", "NODE", "SYS", "X"}}));
  trace.topology.matrices[0].legend["NIC1"] = "mlx5_7";
  const Paths paths = FindPaths(trace, ShippedKnowledge());
  CHECK(paths.gpus == 2);
  CHECK(paths.nics == 2);
  REQUIRE(paths.nic_distance.size() == 2);
  CHECK(paths.nic_distance[0].nic == "NIC0");
  CHECK(paths.nic_distance[0].path == "PIX");
  CHECK_FALSE(paths.nic_distance[0].far);
  CHECK(paths.nic_distance[1].nic == "mlx5_7");
  CHECK(paths.nic_distance[1].far);
  CHECK(paths.nvlink_pairs == 1);
  CHECK(paths.nvlink_missing.empty());
}

TEST_CASE("a word that names no path, in a matrix that was cut, makes no card near or far") {
  Trace trace;
  trace.topology.matrices.push_back(Links(
      {"GPU0", "GPU1", "NIC0"}, {{"X", "NV4", "NO"}, {"NV4", "X", "PIX"}, {"NO", "PIX", "X"}}));
  const Paths paths = FindPaths(trace, ShippedKnowledge());
  REQUIRE(paths.nic_distance.size() == 1);
  CHECK(paths.nic_distance[0].gpu == "GPU1");
  CHECK_FALSE(paths.nic_distance[0].far);
}

TEST_CASE("a pair without NVLink is missing only where others have it") {
  Trace some;
  some.topology.matrices.push_back(Links(
      {"GPU0", "GPU1", "GPU2"}, {{"X", "NV4", "SYS"}, {"NV4", "X", "PHB"}, {"SYS", "PHB", "X"}}));
  CHECK(FindPaths(some, ShippedKnowledge()).nvlink_missing.size() == 2);
  Trace none;
  none.topology.matrices.push_back(Links({"GPU0", "GPU1"}, {{"X", "PHB"}, {"PHB", "X"}}));
  CHECK(FindPaths(none, ShippedKnowledge()).nvlink_missing.empty());
}

TEST_CASE("peer access: what is not OK, but not whether NVLink serves it") {
  Trace trace;
  TopologyMatrix matrix = Links({"GPU0", "GPU1"}, {{"X", "OK"}, {"CNS", "X"}});
  matrix.kind = "p2p_read";
  trace.topology.matrices.push_back(matrix);
  matrix.kind = "p2p_nvlink";
  trace.topology.matrices.push_back(matrix);
  const Paths paths = FindPaths(trace, ShippedKnowledge());
  CHECK(paths.has_p2p);
  REQUIRE(paths.p2p_bad.size() == 1);
  CHECK(paths.p2p_bad[0].a == "GPU1");
  CHECK(paths.p2p_bad[0].label == "CNS");
}

TEST_CASE("peer access: every pair that lacks it, in both directions") {
  Trace trace;
  trace.topology.matrices.push_back(
      Links({"GPU0", "GPU1", "GPU2"}, {{"X", "NS", "OK"}, {"NS", "X", "OK"}, {"OK", "TNS", "X"}}));
  trace.topology.matrices[0].kind = "p2p_read";
  std::string bad;
  for (const auto& pair : FindPaths(trace, ShippedKnowledge()).p2p_bad)
    bad += pair.a + " " + pair.b + " " + pair.label + "; ";
  CHECK(bad == "GPU0 GPU1 NS; GPU1 GPU0 NS; GPU2 GPU1 TNS; ");
}

TEST_CASE("NVLink of one link is NVLink") {
  Trace trace;
  trace.topology.matrices.push_back(Links({"GPU0", "GPU1"}, {{"X", "NV1"}, {"NV1", "X"}}));
  CHECK(FindPaths(trace, ShippedKnowledge()).nvlink_pairs == 1);
}

TEST_CASE("ports: down, and slower than their neighbors of the same kind") {
  Trace trace;
  trace.topology.ports = {{"mlx5_0", 1, "Active", 400, "InfiniBand"},
                          {"mlx5_1", 1, "Active", 200, "InfiniBand"},
                          {"mlx5_2", 1, "Down", 10, "InfiniBand"},
                          {"mlx5_3", 1, "Active", 100, "Ethernet"}};
  const Paths paths = FindPaths(trace, ShippedKnowledge());
  CHECK(paths.has_ib);
  REQUIRE(paths.ports_down.size() == 1);
  CHECK(paths.ports_down[0].adapter == "mlx5_2");
  REQUIRE(paths.ports_slow.size() == 1);
  CHECK(paths.ports_slow[0].adapter == "mlx5_1");
}

NcclChannel Channel(int from, int to, const char* transport) {
  return {from, to, 1, transport, "log:1"};
}

TEST_CASE("transports: where two ranks are decides what their network is called") {
  Trace trace;
  NcclLog& log = trace.nccl;
  log.ranks = 4;
  log.nodes = 2;
  log.rank_host = {{0, "a"}, {1, "a"}, {2, "b"}, {3, "b"}};
  log.channels = {Channel(0, 1, "P2P/CUMEM"),       Channel(1, 0, "SHM/direct"),
                  Channel(2, 3, "NET/IB/0"),  // in a node: neither peers nor shared memory
                  Channel(1, 2, "NET/IB/0/GDRDMA"), Channel(1, 2, "NET/IB/1"),
                  Channel(3, 0, "NET/IB/1")};
  const Paths paths = FindPaths(trace, ShippedKnowledge());
  CHECK(paths.local.peer == 1);
  CHECK(paths.local.shared == 1);
  CHECK(paths.local.net == 1);
  CHECK(paths.remote == 2);
  CHECK(paths.remote_gdr == 1);  // one side logs the bare card
  CHECK(paths.remote_staged == 1);
  CHECK(paths.remote_socket == 0);
  CHECK(paths.slow_pairs.size() == 3);
  // Both ways of a pair are one pair.
  log.channels = {Channel(1, 2, "NET/Socket/0"), Channel(2, 1, "NET/Socket/0")};
  CHECK(FindPaths(trace, ShippedKnowledge()).remote_socket == 1);
  CHECK(FindPaths(trace, ShippedKnowledge()).slow_pairs.size() == 1);
}

TEST_CASE("transports: ranks of several groups are not taken for each other") {
  // Two groups of two across the nodes, whose ranks are called 0 and 1 as well.
  Trace trace;
  trace.nccl.ranks = 4;
  trace.nccl.nodes = 2;
  trace.nccl.several_groups = true;
  trace.nccl.rank_host = {{0, "a"}, {1, "a"}, {2, "b"}, {3, "b"}};
  trace.nccl.channels = {Channel(0, 1, "NET/IB/0/GDRDMA"), Channel(1, 0, "P2P/CUMEM")};
  const Paths paths = FindPaths(trace, ShippedKnowledge());
  CHECK(paths.local.net == 0);
  CHECK(paths.local.peer == 1);
  CHECK(paths.remote_gdr == 1);
  CHECK(paths.slow_pairs.empty());
  // Where nothing says how many nodes there are, nothing is said of such a pair.
  trace.nccl.nodes = 0;
  CHECK(FindPaths(trace, ShippedKnowledge()).remote == 0);
  CHECK(FindPaths(trace, ShippedKnowledge()).local.net == 0);
}

TEST_CASE("transports: without a count of nodes, what the lines say of a pair decides") {
  Trace trace;
  NcclChannel apart = Channel(0, 1, "NET/AWS Libfabric/0");
  apart.apart = 1;
  NcclChannel near = Channel(2, 3, "NET/Socket/0");
  near.apart = 0;
  trace.nccl.channels = {apart, near, Channel(4, 5, "NET/Socket/0")};
  const Paths paths = FindPaths(trace, ShippedKnowledge());
  CHECK(paths.remote == 1);
  CHECK(paths.remote_staged == 1);
  CHECK(paths.local.net == 1);
  // What the communicator says of its nodes counts more.
  trace.nccl.nodes = 1;
  CHECK(FindPaths(trace, ShippedKnowledge()).remote == 0);
}

TEST_CASE("transports: on one node sockets are no link between nodes") {
  Trace trace;
  trace.nccl.ranks = 2;
  trace.nccl.nodes = 1;
  trace.nccl.channels = {Channel(0, 1, "NET/Socket/0")};
  const Paths paths = FindPaths(trace, ShippedKnowledge());
  CHECK(paths.local.net == 1);
  CHECK(paths.remote == 0);
}

TEST_CASE("variables: only values that take something away, each once") {
  Trace trace;
  trace.nccl.environment = {{"NCCL_P2P_LEVEL", "LOC"}, {"NCCL_IB_DISABLE", "0"}};
  trace.environment = {{"NCCL_P2P_LEVEL", "LOC"},  {"NCCL_IB_DISABLE", "1"},
                       {"NCCL_P2P_DISABLE", "0"},  {"NCCL_DEBUG", "INFO"},
                       {"NCCL_NET", "Socket"},     {"NCCL_P2P_LEVEL", "NVL"},
                       {"NCCL_NET_GDR_LEVEL", "0"}};
  const Paths paths = FindPaths(trace, ShippedKnowledge());
  std::vector<std::string> names;
  for (const PathSwitch& one : paths.switches) names.push_back(one.name + "=" + one.value);
  CHECK(names == std::vector<std::string>{"NCCL_P2P_LEVEL=LOC", "NCCL_IB_DISABLE=1",
                                          "NCCL_NET=Socket", "NCCL_NET_GDR_LEVEL=0"});
  CHECK(paths.switches[0].source == "NCCL log");
  CHECK(paths.switches[1].source == "environment of the run");
  CHECK(paths.Off("peer-to-peer"));
  CHECK(paths.Off("InfiniBand"));
  CHECK(paths.Off("GPUDirect"));
}

}  // namespace
}  // namespace advise
