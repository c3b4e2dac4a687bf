// How the GPUs and network cards of a node hang together, as tools print it, and what NCCL's log
// says of the paths that it took.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace advise {

// `nvidia-smi topo -m` (links) or `-p2p` (status): a matrix of labels.
struct TopologyMatrix {
  std::string kind;                  // "links", "p2p_read", "p2p_write", "p2p_nvlink", …
  std::vector<std::string> rows;     // "GPU0", "NIC0" …
  std::vector<std::string> columns;  // same, in the order printed
  std::vector<std::vector<std::string>> cells;  // "X", "NV4", "SYS", "OK" …; [row][column]
  std::map<std::string, std::string> legend;    // "NIC0" -> "mlx5_0", where the tool says so
  std::string source;
};

// A port of an InfiniBand adapter (`ibstat`).
struct NetworkPort {
  std::string adapter;  // "mlx5_0"
  int port = 0;
  std::string state;       // "Active"
  double rate_gbit = 0;    // 0 unknown
  std::string link_layer;  // "InfiniBand" | "Ethernet"
};

struct Topology {
  std::vector<TopologyMatrix> matrices;
  std::vector<NetworkPort> ports;
  bool empty() const { return matrices.empty() && ports.empty(); }
};

// How two ranks of a communicator talk, from lines of an NCCL INFO log: one entry a pair and
// transport, whatever the number of channels.
struct NcclChannel {
  int from = -1;
  int to = -1;
  int channels = 0;       // lines that say so
  std::string transport;  // "P2P/CUMEM", "SHM/direct", "NET/IB/0/GDRDMA", "NET/Socket/0" …
  std::string source;     // "path:line" of the first
  int apart = -1;         // whether their hosts differ, by what the lines say: 1, 0, -1 not known
};

// A collective that the watchdog of PyTorch gave up, and with it the job.
struct CollectiveTimeout {
  int rank = -1;            // -1 not said
  std::string operation;    // "ALLREDUCE"
  double seconds = 0;       // for which it had run
  std::int64_t number = 0;  // of the collective in its group; 0 not said
  std::string source;       // "path:line"
};

// A connection that the network gave up: "Got completion from peer … with status=12".
struct LostPeer {
  std::string peer;    // its address; "" not said
  int status = 0;      // of the completion, as verbs number it
  std::string source;  // "path:line"
};

struct NcclLog {
  std::string version;                   // "2.21.5+cuda12.4", may be empty
  std::vector<std::string> versions;     // all that the log names, as they come
  int ranks = 0;                         // of the largest communicator; 0 unknown
  int nodes = 0;                         // 0 unknown
  std::map<int, std::string> rank_host;  // of the ranks of the largest communicators
  // Communicators of several sizes or with the same ranks on other hosts: a rank's number alone
  // does not say which process it is.
  bool several_groups = false;
  std::vector<NcclChannel> channels;
  std::vector<std::pair<std::string, std::string>> environment;  // "set by environment" lines
  std::vector<std::string> warnings;                             // "path:line: text"
  std::string network;                  // "IB", "Socket", "AWS Libfabric" …; "" not said
  std::vector<std::string> ib_devices;  // of "NET/IB : Using": "mlx5_0:1/IB"
  int gdr = -1;                         // GPUDirect RDMA in use: 1 yes, 0 no, -1 not said
  std::vector<std::string> facts;       // other lines worth showing
  struct Calls {
    std::string operation;  // "AllReduce"
    std::int64_t count = 0;
    double bytes = 0;
  };
  std::vector<Calls> calls;  // from the log's call lines, where it has them
  std::vector<CollectiveTimeout> timeouts;
  std::vector<LostPeer> lost_peers;
  bool empty() const {
    return version.empty() && channels.empty() && environment.empty() && timeouts.empty();
  }
};

}  // namespace advise
