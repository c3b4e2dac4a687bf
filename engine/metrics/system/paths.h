// How GPUs and network cards hang together, and which way their traffic takes: from topology tools,
// NCCL's log, and the environment that was captured.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/knowledge/knowledge.h"
#include "engine/trace/tables.h"

namespace advise {

struct NicDistance {
  std::string gpu;
  std::string nic;   // the nearest, by its adapter's name where known
  std::string path;  // "PIX", "NODE" …
  bool far = false;  // across host bridges or sockets
};

struct LinkPair {
  std::string a, b;
  std::string label;  // "SYS", "CNS" …
  std::string kind;   // which matrix says so
};

// A variable that switches a fast path off.
struct PathSwitch {
  std::string name, value;
  std::string path;    // what it takes away: "peer-to-peer", "InfiniBand", "GPUDirect RDMA" …
  std::string source;  // "NCCL log" | "environment of the run"
};

// Pairs of ranks by how they talk. A pair that takes several ways counts where it is slowest.
struct PairCounts {
  int peer = 0;    // direct between GPUs
  int shared = 0;  // through host memory
  int net = 0;     // through the network, also inside a node
};

// The fast path that a variable with this value takes away from NCCL, in the words of PathSwitch;
// "" when it takes none.
std::string PathTakenAway(const Knowledge& knowledge, const std::string& name,
                          const std::string& value);

struct Paths {
  std::size_t gpus = 0, nics = 0;  // of the link matrix
  std::vector<NicDistance> nic_distance;
  std::size_t nvlink_pairs = 0;          // GPU pairs with NVLink
  std::vector<LinkPair> nvlink_missing;  // without, while others of their matrix have it
  bool has_p2p = false;
  std::vector<LinkPair> p2p_bad;  // peer access that is not OK
  std::vector<NetworkPort> ports_down, ports_slow;
  std::vector<NetworkPort> ports_usable;  // of InfiniBand: active, and as fast as any
  bool has_ib = false;                    // an active InfiniBand port or an adapter that NCCL found

  PairCounts local;                  // ranks of one host
  int remote = 0;                    // pairs of ranks on different hosts
  int remote_gdr = 0;                // … with GPUDirect RDMA
  int remote_staged = 0;             // … over RDMA, staged through host memory
  int remote_socket = 0;             // … over sockets
  std::vector<LinkPair> slow_pairs;  // examples of pairs on slow ways, by transport
  std::vector<PathSwitch> switches;
  // Whether one of them takes away a path whose words begin so.
  bool Off(std::string_view path) const;
};

// O(cells + channels).
Paths FindPaths(const Trace& trace, const Knowledge& knowledge);

}  // namespace advise
