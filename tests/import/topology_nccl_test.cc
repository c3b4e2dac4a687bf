// Topology tools and NCCL's log.
#include "tests/import/text_inputs.h"

using namespace advise;
using namespace advise::testing;

namespace {

TEST_CASE("topo -m: colors, tabs, blanks around X, columns of the host, the legend of NICs") {
  const Trace trace = ImportedText(
      "\t\x1b[4mGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
      "GPU0\t X \tNV18\tPIX\tSYS\t0-55,112-167\t0\t\tN/A\n"
      "GPU1\tNV18\t X \tNODE\tSYS\t0-55,112-167\t0\t\tN/A\n"
      "NIC0\tPIX\tNODE\t X \tSYS\t\t\t\t\n"
      "NIC1\tSYS\tSYS\tSYS\t X \t\t\t\t\n"
      "\nLegend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe as well as the SMP\n\n"
      "NIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n");
  CHECK(trace.kind == "topology");
  REQUIRE(trace.topology.matrices.size() == 1);
  const TopologyMatrix& matrix = trace.topology.matrices[0];
  CHECK(matrix.kind == "links");
  CHECK(matrix.columns == std::vector<std::string>{"GPU0", "GPU1", "NIC0", "NIC1"});
  CHECK(matrix.rows == matrix.columns);
  CHECK(matrix.cells[0] == std::vector<std::string>{"X", "NV18", "PIX", "SYS"});
  CHECK(matrix.cells[1] == std::vector<std::string>{"NV18", "X", "NODE", "SYS"});
  CHECK(matrix.legend.at("NIC1") == "mlx5_1");
}

TEST_CASE("topo -m of old drivers names the adapters; a single GPU is a matrix, too") {
  const Trace old = ImportedText(
      "\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\nGPU0\t X \tNV1\tPHB\t0-9\nGPU1\tNV1\t X \tSOC\t10-19\n"
      "mlx5_0\tPHB\tSOC\t X \t\n");
  REQUIRE(old.topology.matrices.size() == 1);
  CHECK(old.topology.matrices[0].columns[2] == "mlx5_0");
  CHECK(old.topology.matrices[0].cells[1][2] == "SOC");
  const Trace one = ImportedText("\tGPU0\tCPU Affinity\nGPU0\t X \t0-9\n");
  REQUIRE(one.topology.matrices.size() == 1);
  CHECK(one.topology.matrices[0].cells[0][0] == "X");
}

TEST_CASE("topo -p2p: which question it answers is known only when the command stands beside it") {
  const std::string matrix =
      " \tGPU0\tGPU1\n GPU0\tX\tOK\n GPU1\tCNS\tX\n\nLegend:\n\n  X    = Self\n"
      "  OK   = Status Ok\n";
  CHECK(ImportedText(matrix).topology.matrices[0].kind == "p2p");
  const Trace named =
      ImportedText("$ nvidia-smi topo -p2p r\n" + matrix + "$ nvidia-smi topo -p2p n\n" + matrix);
  REQUIRE(named.topology.matrices.size() == 2);
  CHECK(named.topology.matrices[0].kind == "p2p_read");
  CHECK(named.topology.matrices[1].kind == "p2p_nvlink");
  CHECK(named.topology.matrices[1].cells[1][0] == "CNS");
}

TEST_CASE("ibstat: ports with state, rate and kind of link; also behind a matrix in one file") {
  const std::string ports =
      "CA 'mlx5_0'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Active\n"
      "\t\tPhysical state: LinkUp\n\t\tRate: 400\n\t\tBase lid: 12\n\t\tLink layer: InfiniBand\n"
      "CA 'mlx5_1'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Down\n"
      "\t\tPhysical state: Polling\n\t\tRate: 10\n\t\tLink layer: InfiniBand\n";
  const Trace trace = ImportedText(ports);
  REQUIRE(trace.topology.ports.size() == 2);
  CHECK(trace.topology.ports[0].adapter == "mlx5_0");
  CHECK(trace.topology.ports[0].rate_gbit == 400);
  CHECK(trace.topology.ports[0].link_layer == "InfiniBand");
  CHECK(trace.topology.ports[1].state == "Down");
  const Trace both = ImportedText("\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tNV4\t X \n\n" + ports);
  CHECK(both.topology.matrices.size() == 1);
  CHECK(both.topology.ports.size() == 2);
}

const char* const kTwoNodes =
    "some output of the program\n"
    "n1:100:110 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n"
    "n1:100:110 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.\n"
    "NCCL version 2.21.5+cuda12.4\n"
    "n1:100:110 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB "
    "eth0:10.0.0.1<0>\n"
    "n1:100:110 [0] NCCL INFO Using network IB\n"
    "n1:100:110 [0] NCCL INFO comm 0x5580 rank 0 nRanks 4 nNodes 2 localRanks 2 localRank 0 MNNVL "
    "0\n"
    "1: n1:101:111 [1] NCCL INFO comm 0x5581 rank 1 nRanks 4 nNodes 2 localRanks 2 localRank 1 "
    "MNNVL 0\n"
    "n2:200:210 [0] NCCL INFO comm 0x5582 rank 2 nRanks 4 nNodes 2 localRanks 2 localRank 0 MNNVL "
    "0\n"
    "n2:201:211 [1] NCCL INFO comm 0x5583 rank 3 nRanks 4 nNodes 2 localRanks 2 localRank 1 MNNVL "
    "0\n"
    "n1:100:110 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via SHM/direct\n"
    "n1:100:110 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[1] via SHM/direct\n"
    "n1:101:111 [1] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [send] via NET/IB/0(0)/GDRDMA\n"
    "n2:200:210 [0] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [receive] via NET/IB/0\n"
    "n2:200:210 [0] NCCL INFO Channel 00/0 : 2[1a000] -> 3[3d000] via P2P/IPC/read\n"
    "n1:100:110 [0] NCCL INFO Connected all rings, use ring PXN 0 GDR 1\n"
    "n1:100:110 [0] NCCL INFO AllReduce: opCount 1a sendbuff 0x7f recvbuff 0x7e count 1048576 "
    "datatype 9 op 0 root 0 comm 0x5580 [nranks=4] stream 0x56\n"
    "n1:100:110 [0] NCCL INFO AllReduce: opCount 1b sendbuff 0x7f recvbuff 0x7e count 10 datatype "
    "7 op 0 root 0 comm 0x5580 [nranks=4] stream 0x56\n"
    "\n"
    "n2:201:211 [1] transport/net.cc:123 NCCL WARN Timeout waiting for connection\n";

TEST_CASE("NCCL log: ranks, hosts, transports, environment, calls, warnings") {
  const Trace trace = ImportedText(kTwoNodes, "train.log");
  CHECK(trace.kind == "nccl-log");
  const NcclLog& log = trace.nccl;
  CHECK(log.version == "2.21.5+cuda12.4");
  CHECK(log.ranks == 4);
  CHECK(log.nodes == 2);
  CHECK(log.rank_host == std::map<int, std::string>{{0, "n1"}, {1, "n1"}, {2, "n2"}, {3, "n2"}});
  CHECK(log.network == "IB");
  CHECK(log.gdr == 1);
  CHECK(log.ib_devices == std::vector<std::string>{"mlx5_0:1/IB", "mlx5_1:1/RoCE"});
  REQUIRE(log.environment.size() == 1);
  CHECK(log.environment[0] == std::pair<std::string, std::string>{"NCCL_P2P_DISABLE", "1"});
  REQUIRE(log.channels.size() == 4);
  CHECK(log.channels[0].transport == "SHM/direct");
  CHECK(log.channels[0].channels == 2);
  CHECK(log.channels[1].transport == "NET/IB/0");
  CHECK(log.channels[2].transport == "NET/IB/0(0)/GDRDMA");
  CHECK(log.channels[3].from == 2);
  CHECK(log.channels[3].transport == "P2P/IPC/read");
  REQUIRE(log.calls.size() == 2);  // small ones by themselves
  CHECK(log.calls[0].operation == "AllReduce");
  CHECK(log.calls[0].count == 1);
  CHECK(log.calls[0].bytes == 40);
  CHECK(log.calls[1].bytes == 2 * 1048576);
  REQUIRE(log.warnings.size() == 1);
  CHECK(log.warnings[0].find("Timeout waiting") != std::string::npos);
}

TEST_CASE("NCCL log: communicators of several sizes are noted, one of all ranks is not") {
  CHECK_FALSE(ImportedText(kTwoNodes).nccl.several_groups);
  CHECK(ImportedText(std::string(kTwoNodes) +
                     "n1:100:110 [0] NCCL INFO comm 0x99 rank 0 nRanks 2 nNodes 2 localRanks 1 "
                     "localRank 0 MNNVL 0\n")
            .nccl.several_groups);
  CHECK(ImportedText("n1:1:1 [0] NCCL INFO comm 0x1 rank 0 nRanks 2 nNodes 1\n"
                     "n2:1:1 [0] NCCL INFO comm 0x2 rank 0 nRanks 2 nNodes 1\n")
            .nccl.several_groups);
}

TEST_CASE("NCCL log: torn lines give what is whole, and nothing that is not") {
  const Trace trace = ImportedText(
      "n1:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> n1:3:4 [1] NCCL INFO Channel 01/0 : 1[1] -> "
      "0[0] via P2P/CUMEM\n"
      "n1:1:2 [0] NCCL INFO Channel 02/0 : 0[0] -> 1[1] vi\n"
      "n1:1:2 [0] NCCL INFO Channel 03/0 : 0[0] -> 1[1] via something else\n"
      "n1:1:2 [0] NCCL INFO comm 0x55 rank 7 nRanks 4 nNodes 1\n");
  REQUIRE(trace.nccl.channels.size() == 1);
  CHECK(trace.nccl.channels[0].from == 1);
  CHECK(trace.nccl.channels[0].to == 0);
  CHECK(trace.nccl.ranks == 0);  // no rank 7 of 4
  CHECK(Said(trace, "wrote at once") == 1);
}

TEST_CASE("NCCL log: a version that was torn off is none") {
  const Trace trace = ImportedText(
      "NCCL version \nn1:10:10 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n"
      "n1:10:10 [0] NCCL INFO Channel 00/02 : 0 1\n");
  CHECK(trace.nccl.version.empty());
}

TEST_CASE("NCCL log: sockets, and prefixes of launchers and clocks") {
  const Trace trace = ImportedText(
      "[2026-01-02 10:00:00] n9:77:78 [0] NCCL INFO NET/IB : No device found.\n"
      "[2026-01-02 10:00:00] n9:77:78 [0] NCCL INFO Using network Socket\n"
      "[2026-01-02 10:00:00] n9:77:78 [0] NCCL INFO ncclCommInitRank comm 0x9 rank 0 nranks 2 "
      "cudaDev 0 busId 1a000 - Init COMPLETE\n"
      "[2026-01-02 10:00:00] n9:77:78 [0] NCCL INFO Channel 00 : 0[1a000] -> 1[1a000] [send] via "
      "NET/Socket/0\n");
  CHECK(trace.nccl.network == "Socket");
  CHECK(trace.nccl.ranks == 2);
  CHECK(trace.nccl.rank_host.at(0) == "n9");
  REQUIRE(trace.nccl.channels.size() == 1);
  CHECK(trace.nccl.channels[0].transport == "NET/Socket/0");
  CHECK(trace.nccl.facts.size() == 2);
}

TEST_CASE("networks whose names hold blanks: Slingshot and EFA by libfabric") {
  const Trace trace = ImportedText(
      "NCCL version 2.21.5+cuda12.4\n"
      "n1:10:11 [0] NCCL INFO Using network AWS Libfabric\n"
      "n1:10:11 [0] NCCL INFO Channel 00/0 : 0[0] -> 4[0] [send] via NET/AWS "
      "Libfabric/0/GDRDMA/Shared\n"
      "n1:10:11 [0] NCCL INFO Channel 00/0 : 4[0] -> 0[0] [receive] via NET/AWS Libfabric/1 comm "
      "0x9bb nRanks 8\n"
      "n1:10:11 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC/read\n");
  const auto& channels = trace.nccl.channels;
  REQUIRE(channels.size() == 3);
  CHECK(channels[0].transport == "P2P/IPC/read");
  CHECK(channels[1].transport == "NET/AWS Libfabric/0/GDRDMA/Shared");
  CHECK(channels[2].transport == "NET/AWS Libfabric/1");
}

// Of all pairs of the log, in their order.
std::vector<int> Apart(const std::string& text) {
  std::vector<int> apart;
  for (const NcclChannel& pair : ImportedText(text).nccl.channels) apart.push_back(pair.apart);
  return apart;
}

TEST_CASE("who writes of a channel, and which GPU it names, tells whether a pair shares a host") {
  using All = std::vector<int>;
  // The sender writes of sending, the receiver of receiving; mpirun's label stands before both.
  const std::string receives =
      "[1,1]<stdout>:n1:21:26 [0] NCCL INFO Channel 00/0 : 0[35000] -> 1[f5000] [receive] via "
      "NET/AWS Libfabric/0\n";
  const std::string sends =
      "[1,0]<stdout>:n0:21:27 [0] NCCL INFO Channel 00/0 : 0[35000] -> 1[f5000] [send] via "
      "NET/AWS Libfabric/0\n";
  CHECK(Apart(receives + sends) == All{1});
  CHECK(Apart(receives) == All{-1});  // where rank 0 runs is not known
  CHECK(Apart("n1:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] [send] via NET/Socket/0\n"
              "n1:3:4 [1] NCCL INFO Channel 00/0 : 0[0] -> 1[1] [receive] via NET/Socket/0\n") ==
        All{0});
  // Two ranks of one host have two GPUs.
  CHECK(Apart("n0:1:2 [0] NCCL INFO Channel 00/0 : 3[0] -> 0[0] [receive] via NET/Socket/0\n") ==
        All{1});
  // Rank 1 of another group runs elsewhere: rank 1 has no place.
  CHECK(Apart(receives + sends +
              "n9:1:2 [0] NCCL INFO Channel 00/0 : 0[1] -> 1[2] [receive] via SHM/direct\n")[0] ==
        -1);
}

TEST_CASE("who sends writes the line, also where it does not say so") {
  const Trace trace = ImportedText(
      "a:1:11 [1] NCCL INFO Channel 00 : 1[1] -> 2[0] via NET/IB/0\n"
      "b:2:12 [0] NCCL INFO Channel 00 : 2[0] -> 3[1] via P2P/CUMEM\n"
      "b:3:13 [1] NCCL INFO Channel 00 : 3[1] -> 0[0] via NET/IB/0\n"
      "a:0:10 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via P2P/CUMEM\n");
  REQUIRE(trace.nccl.channels.size() == 4);
  for (const NcclChannel& pair : trace.nccl.channels)
    CHECK(pair.apart == (pair.transport.starts_with("NET") ? 1 : 0));
}

TEST_CASE("lines from which hosts and processes were cut are a log, one such line is not") {
  const std::string line = "NCCL INFO Channel 00/0 : 17[1] -> 0[0] [receive] via NET/Socket/0\n";
  const Trace trace = ImportedText("NCCL INFO Using network Socket\n" + line);
  CHECK(trace.nccl.network == "Socket");
  CHECK(trace.nccl.channels.size() == 1);
  CHECK(Refused(line) == "a text file, but none of the reports and logs that advise reads");
}

TEST_CASE("a program that merely mentions NCCL is no log") {
  CHECK(Refused("we use NCCL INFO in our code\nand NCCL version too\n") ==
        "a text file, but none of the reports and logs that advise reads");
}

}  // namespace
