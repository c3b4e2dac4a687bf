#include "engine/metrics/system/paths.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "engine/base/ascii.h"
#include "engine/base/glob.h"

namespace advise {
namespace {

bool IsGpu(const std::string& name) { return name.starts_with("GPU"); }
bool IsNvlink(const std::string& label) {
  return label.size() > 2 && label.starts_with("NV") && IsDigit(label[2]);
}

// Nearest first.
constexpr auto kNearestFirst =
    std::to_array<const char*>({"X", "PIX", "PXB", "PSB", "PHB", "NODE", "SYS", "SOC"});

// What no tool calls a path, as in a matrix that was cut, is behind all of them.
int Distance(const std::string& label) {
  for (std::size_t i = 0; i < kNearestFirst.size(); ++i) {
    if (label == kNearestFirst[i]) return static_cast<int>(i);
  }
  return IsNvlink(label) ? 0 : static_cast<int>(kNearestFirst.size());
}
bool IsPath(const std::string& label) { return Distance(label) < std::ssize(kNearestFirst); }
bool IsFar(const std::string& label) { return Distance(label) >= Distance("NODE"); }

void ReadLinks(const TopologyMatrix& matrix, Paths* paths) {
  std::vector<LinkPair> without;
  std::size_t with = 0;
  for (std::size_t r = 0; r < matrix.rows.size(); ++r) {
    if (!IsGpu(matrix.rows[r])) {
      paths->nics += 1;
      continue;
    }
    paths->gpus += 1;
    NicDistance nearest;
    for (std::size_t c = 0; c < matrix.columns.size(); ++c) {
      const std::string& column = matrix.columns[c];
      const std::string& label = matrix.cells[r][c];
      if (IsGpu(column)) {
        if (column == matrix.rows[r] || r >= c) continue;
        if (IsNvlink(label)) {
          ++with;
        } else {
          without.push_back({matrix.rows[r], column, label, "links"});
        }
      } else if (IsPath(label) &&
                 (nearest.nic.empty() || Distance(label) < Distance(nearest.path))) {
        const auto adapter = matrix.legend.find(column);
        nearest = {matrix.rows[r], adapter == matrix.legend.end() ? column : adapter->second, label,
                   IsFar(label)};
      }
    }
    if (!nearest.nic.empty()) paths->nic_distance.push_back(nearest);
  }
  paths->nvlink_pairs += with;
  if (with > 0) {
    paths->nvlink_missing.insert(paths->nvlink_missing.end(), without.begin(), without.end());
  }
}

void ReadPeerAccess(const TopologyMatrix& matrix, Paths* paths) {
  // Whether NVLink serves a pair is another question than whether peers may access each other.
  if (matrix.kind == "p2p_nvlink" || matrix.kind == "p2p_atomics") return;
  paths->has_p2p = true;
  for (std::size_t r = 0; r < matrix.rows.size(); ++r) {
    for (std::size_t c = 0; c < matrix.columns.size(); ++c) {
      const std::string& label = matrix.cells[r][c];
      if (label == "X" || label == "OK" || matrix.rows[r] == matrix.columns[c]) continue;
      paths->p2p_bad.push_back({matrix.rows[r], matrix.columns[c], label, matrix.kind});
    }
  }
}

void ReadPorts(const Topology& topology, Paths* paths) {
  std::map<std::string, double> fastest;  // by kind of link
  for (const NetworkPort& port : topology.ports) {
    if (port.state == "Active") {
      fastest[port.link_layer] = std::max(fastest[port.link_layer], port.rate_gbit);
      paths->has_ib = paths->has_ib || port.link_layer == "InfiniBand";
    }
  }
  for (const NetworkPort& port : topology.ports) {
    if (port.state != "Active") {
      paths->ports_down.push_back(port);
    } else if (port.rate_gbit > 0 && port.rate_gbit < fastest[port.link_layer]) {
      paths->ports_slow.push_back(port);
    } else if (port.link_layer == "InfiniBand") {
      paths->ports_usable.push_back(port);
    }
  }
}

void ReadTransports(const NcclLog& log, Paths* paths) {
  struct Way {
    bool shared = false, net = false, staged = false, socket = false, gdr = false;
    int apart = -1;
    std::string transport;
  };
  std::map<std::pair<int, int>, Way> pairs;
  for (const NcclChannel& channel : log.channels) {
    Way& way = pairs[{channel.from, channel.to}];
    const std::string& t = channel.transport;
    const bool socket = MatchesGlob(t, "NET/Socket*");
    const bool net = t.starts_with("NET/");
    const bool gdr = t.find("GDRDMA") != std::string::npos;
    way.shared = way.shared || t.starts_with("SHM");
    way.net = way.net || net;
    way.socket = way.socket || socket;
    way.gdr = way.gdr || gdr;
    way.apart = std::max(way.apart, channel.apart);
    way.staged = way.staged || (net && !socket && !gdr);
    if (way.transport.empty() || net || t.starts_with("SHM")) way.transport = t;
  }
  const auto host_of = [&](int rank) {
    const auto found = log.rank_host.find(rank);
    return found == log.rank_host.end() ? std::string() : found->second;
  };
  std::map<std::string, int> shown;                     // examples of each transport
  std::set<std::tuple<int, int, std::string>> counted;  // both directions are one pair
  constexpr int kExamples = 4;
  for (const auto& [pair, way] : pairs) {
    const std::string a = host_of(pair.first);
    const std::string b = host_of(pair.second);
    // The network serves ranks of one node, too, where nothing better may.
    const bool placed = !a.empty() && !b.empty() && !log.several_groups;
    const bool by_lines = log.nodes == 0 && !placed;
    if (way.net && by_lines && way.apart < 0) continue;  // where the ranks are is not known
    const bool same =
        !way.net || log.nodes == 1 || (placed && a == b) || (by_lines && way.apart == 0);
    const auto [first, second] = std::minmax(pair.first, pair.second);
    if (!counted.insert({first, second, way.transport}).second) continue;
    bool slow = false;
    if (same) {
      (way.net ? paths->local.net : way.shared ? paths->local.shared : paths->local.peer) += 1;
      slow = way.net || way.shared;
    } else {
      paths->remote += 1;
      // One side of a pair may log the bare name of the card: what the other says of RDMA counts.
      const bool staged = way.staged && !way.gdr;
      (way.socket ? paths->remote_socket : staged ? paths->remote_staged : paths->remote_gdr) += 1;
      slow = way.socket || staged;
    }
    if (slow && shown[way.transport]++ < kExamples) {
      paths->slow_pairs.push_back({"rank " + std::to_string(pair.first),
                                   "rank " + std::to_string(pair.second), way.transport,
                                   same ? "in a node" : "between nodes"});
    }
  }
  paths->has_ib = paths->has_ib ||
                  std::any_of(log.ib_devices.begin(), log.ib_devices.end(),
                              [](const std::string& device) { return device.ends_with("/IB"); });
}

void ReadSwitches(const Trace& trace, const Knowledge& knowledge, Paths* paths) {
  std::set<std::pair<std::string, std::string>> known;
  const auto read = [&](const auto& list, const char* source) {
    for (const auto& [name, value] : list) {
      const std::string path = PathTakenAway(knowledge, name, value);
      if (path.empty() || !known.insert({name, value}).second) continue;
      paths->switches.push_back({name, value, path, source});
    }
  };
  read(trace.nccl.environment, "NCCL log");
  read(trace.environment, "environment of the run");
}

}  // namespace

std::string PathTakenAway(const Knowledge& knowledge, const std::string& name,
                          const std::string& value) {
  return knowledge.ValueIn(NameList::kClosedPath, name + "=" + value);
}

bool Paths::Off(std::string_view path) const {
  return std::any_of(switches.begin(), switches.end(),
                     [&](const PathSwitch& one) { return one.path.starts_with(path); });
}

Paths FindPaths(const Trace& trace, const Knowledge& knowledge) {
  Paths paths;
  for (const TopologyMatrix& matrix : trace.topology.matrices) {
    if (matrix.kind == "links") {
      ReadLinks(matrix, &paths);
    } else {
      ReadPeerAccess(matrix, &paths);
    }
  }
  ReadPorts(trace.topology, &paths);
  ReadTransports(trace.nccl, &paths);
  ReadSwitches(trace, knowledge, &paths);
  return paths;
}

}  // namespace advise
