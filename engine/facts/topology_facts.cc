// topology.*, nccl.*: links between GPUs and nodes, by topology tools and NCCL logs.
#include <algorithm>
#include <set>

#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

std::string SwitchNames(const Paths& p) {
  std::string names;
  for (const PathSwitch& one : p.switches) {
    names += (names.empty() ? "" : ", ") + one.name + "=" + one.value;
  }
  return names;
}

Rows PairRows(const std::vector<LinkPair>& pairs) {
  return RowsOf(pairs, [&](const LinkPair& pair) {
    return Row{{"a", pair.a}, {"b", pair.b}, {"path", pair.label}, {"of", pair.kind}};
  });
}

void AddPorts(const std::vector<NetworkPort>& ports, const char* what, Rows* rows) {
  for (const NetworkPort& port : ports) {
    rows->push_back({{"port", port.adapter + " port " + std::to_string(port.port)},
                     {"what", what},
                     {"state", port.state},
                     {"rate", port.rate_gbit},
                     {"link", port.link_layer}});
  }
}

Rows NicRows(const Paths& p) {
  return RowsOf(p.nic_distance, [](const NicDistance& nic) {
    return Row{{"gpu", nic.gpu}, {"nic", nic.nic}, {"path", nic.path}};
  });
}

double FarNics(const Paths& p) {
  double far = 0;
  for (const NicDistance& nic : p.nic_distance) far += nic.far ? 1 : 0;
  return far;
}

Rows PortRows(const Paths& p) {
  Rows rows;
  AddPorts(p.ports_down, "not active", &rows);
  AddPorts(p.ports_slow, "slower than its neighbors", &rows);
  return rows;
}

// As NCCL_IB_HCA lists them: an adapter, with its port where another one of it is no good.
std::string UsablePorts(const Paths& p) {
  std::string names;
  for (const NetworkPort& port : p.ports_usable) {
    const auto same = [&](const NetworkPort& other) { return other.adapter == port.adapter; };
    const bool in_part = std::any_of(p.ports_down.begin(), p.ports_down.end(), same) ||
                         std::any_of(p.ports_slow.begin(), p.ports_slow.end(), same);
    const std::string name = port.adapter + (in_part ? ":" + std::to_string(port.port) : "");
    if (("," + names + ",").find("," + name + ",") != std::string::npos) continue;
    names += (names.empty() ? "" : ",") + name;
  }
  return names;
}

// "rank 3", "ranks 3, 5".
std::string RanksOf(const std::vector<CollectiveTimeout>& timeouts) {
  std::set<int> ranks;
  for (const CollectiveTimeout& one : timeouts)
    if (one.rank >= 0) ranks.insert(one.rank);
  constexpr std::size_t kMost = 8;
  std::string words;
  std::size_t said = 0;
  for (const int rank : ranks) {
    if (++said > kMost) return words + " …";
    words += (words.empty() ? ranks.size() == 1 ? "rank " : "ranks " : ", ") + std::to_string(rank);
  }
  return words;
}

// The one that waited longest is nearest to what it waited for.
const CollectiveTimeout* LongestTimeout(const NcclLog& l) {
  const auto longest =
      std::max_element(l.timeouts.begin(), l.timeouts.end(),
                       [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return longest == l.timeouts.end() ? nullptr : &*longest;
}

Rows CallRows(const NcclLog& log) {
  return RowsOf(log.calls, [](const NcclLog::Calls& call) {
    return Row{{"operation", call.operation},
               {"count", static_cast<double>(call.count)},
               {"bytes", call.bytes}};
  });
}

Rows SwitchRows(const Paths& p) {
  return RowsOf(p.switches, [](const PathSwitch& one) {
    return Row{
        {"name", one.name}, {"value", one.value}, {"path", one.path}, {"source", one.source}};
  });
}

void DeclareTopology(Catalog* catalog) {
  auto& paths = catalog->Of(&Analysis::paths);
  paths.AlsoWithoutTimeline();
  const auto size = [](auto list) {
    return [list](const Paths& p) { return std::invoke(list, p).size(); };
  };
  paths.Add("topology.gpus", "count", "GPUs in the matrix of links; 0 when none was given.",
            &Paths::gpus);
  paths.Add("topology.nics", "count", "Network cards in the matrix of links.", &Paths::nics);
  paths.Add("topology.nic.far", "count",
            "GPUs whose nearest network card lies across host bridges or sockets (NODE, SYS).",
            FarNics);
  paths.Add("topology.nic.rows", "rows", "Nearest network card of each GPU: gpu, nic, path.",
            NicRows);
  paths.Add("topology.nvlink.pairs", "count", "Pairs of GPUs that NVLink connects.",
            &Paths::nvlink_pairs);
  paths.Add("topology.nvlink.missing", "count",
            "Pairs of GPUs without NVLink, where others have it.", size(&Paths::nvlink_missing));
  paths.Add("topology.nvlink.rows", "rows",
            "Pairs of GPUs without NVLink, where others have it: a, b, path, of.",
            [](const Paths& p) { return PairRows(p.nvlink_missing); });
  paths.Add("topology.p2p.known", "flag", "A matrix of peer access was given.", &Paths::has_p2p);
  paths.Add("topology.p2p.bad", "count",
            "Pairs of GPUs, by direction, whose peer access is not OK.", size(&Paths::p2p_bad));
  paths.Add("topology.p2p.rows", "rows",
            "Pairs of GPUs whose peer access is not OK: a, b, path (the status), of (which "
            "access).",
            [](const Paths& p) { return PairRows(p.p2p_bad); });
  paths.Add("topology.port.count", "count", "Ports of InfiniBand adapters; 0 when none were given.",
            [](const Paths&, const Analysis& a) { return a.run.trace.topology.ports.size(); });
  paths.Add("topology.port.down", "count", "Ports of InfiniBand adapters that are not active.",
            size(&Paths::ports_down));
  paths.Add("topology.port.slow", "count",
            "Active ports slower than the fastest one of their kind of link.",
            size(&Paths::ports_slow));
  paths.Add("topology.port.rows", "rows",
            "Ports that are down or slow: port, what, state, rate (Gbit/s), link.", PortRows);
  paths.Add("topology.port.usable", "name",
            "Active InfiniBand ports that are as fast as any, as NCCL_IB_HCA lists them; absent "
            "without any.",
            UnlessEmpty(UsablePorts, "no port of InfiniBand is active at the full rate", ""));
  paths.Add("topology.infiniband", "flag", "An active InfiniBand port was listed or found by NCCL.",
            &Paths::has_ib);
}

void DeclareNccl(Catalog* catalog) {
  auto& log = catalog->Of([](const Analysis& a) -> const NcclLog& { return a.run.trace.nccl; });
  log.AlsoWithoutTimeline();
  const char* const kNoLog = "no log of NCCL was given, or it does not say";
  log.Add("nccl.ranks", "count", "Ranks of the largest communicator in NCCL's log; 0 without one.",
          &NcclLog::ranks);
  log.Add("nccl.nodes", "count",
          "Nodes that the largest communicator runs on; absent when NCCL's log does not say.",
          IfPositive(&NcclLog::nodes, "no log of NCCL says how many nodes there are", "nccl"));
  log.Add("nccl.version", "name", "Version of NCCL in its log.",
          UnlessEmpty(&NcclLog::version, kNoLog, ""));
  log.Add("nccl.versions", "name",
          "All versions of NCCL that its log names, where they are several.",
          UnlessEmpty(
              [](const NcclLog& l) {
                std::string all;
                for (const std::string& one : l.versions) all += (all.empty() ? "" : ", ") + one;
                return l.versions.size() > 1 ? all : std::string();
              },
              "no log of NCCL names several versions", ""));
  log.Add("nccl.network", "name", "The network that NCCL chose.",
          UnlessEmpty(&NcclLog::network, kNoLog, ""));
  log.Add("nccl.no_adapter", "flag", "NCCL's log says that it found no adapter for InfiniBand.",
          [](const NcclLog& l) {
            return std::any_of(l.facts.begin(), l.facts.end(), [](const std::string& fact) {
              return fact.find("No device found") != std::string::npos;
            });
          });
  log.Add("nccl.rdma_refused", "flag",
          "NCCL's log says that GPUDirect RDMA is off for the adapters that it found.",
          [](const NcclLog& l) { return l.gdr == 0; });
  log.Add(
      "nccl.calls", "rows",
      "Calls that NCCL's log lists, those of about one size in a row: operation, count, bytes (per "
      "rank).",
      CallRows);
  log.Add("nccl.warnings", "count", "Number of warnings in NCCL's log.",
          [](const NcclLog& l) { return l.warnings.size(); });
  log.Add("nccl.warning", "name",
          "The first warning in NCCL's log, with its place; absent without any.",
          UnlessEmpty([](const NcclLog& l) { return l.warnings.empty() ? "" : l.warnings.front(); },
                      "NCCL warned of nothing", ""));
}

// What ended a job, as its log tells.
void DeclareTimeouts(Catalog* catalog) {
  auto& log = catalog->Of([](const Analysis& a) -> const NcclLog& { return a.run.trace.nccl; });
  log.AlsoWithoutTimeline();
  constexpr const char* kNone = "the log tells of no collective that the watchdog gave up";
  log.Add("nccl.timeout.count", "count",
          "Collectives that the watchdog of PyTorch gave up, by the log; 0 for none.",
          [](const NcclLog& l) { return l.timeouts.size(); });
  log.Add("nccl.timeout.ranks", "name", "Ranks whose watchdog gave a collective up.",
          UnlessEmpty([](const NcclLog& l) { return RanksOf(l.timeouts); }, kNone, ""));
  const auto text = [&](const char* name, const char* words, std::string CollectiveTimeout::*of) {
    log.Add(name, "name", words,
            UnlessEmpty(
                [of](const NcclLog& l) {
                  const CollectiveTimeout* longest = LongestTimeout(l);
                  return longest == nullptr ? std::string() : longest->*of;
                },
                kNone, ""));
  };
  text("nccl.timeout.operation", "The collective that ran longest until the watchdog gave it up.",
       &CollectiveTimeout::operation);
  text("nccl.timeout.source", "Where the log tells of it: file and line.",
       &CollectiveTimeout::source);
  log.Add("nccl.timeout.time", "ns",
          "How long the longest collective ran that the watchdog gave up.",
          IfPositive(
              [](const NcclLog& l) {
                const CollectiveTimeout* longest = LongestTimeout(l);
                return longest == nullptr ? 0 : longest->seconds * kNanosPerSecond;
              },
              kNone, ""));
  log.Add("nccl.peer.status", "count",
          "Status of the first network operation that failed between ranks, as verbs number it; 0 "
          "for none.",
          [](const NcclLog& l) { return l.lost_peers.empty() ? 0 : l.lost_peers.front().status; });
  log.Add("nccl.peer.address", "name",
          "Address of the peer to which the first network operation failed.",
          UnlessEmpty(
              [](const NcclLog& l) {
                return l.lost_peers.empty() ? std::string() : l.lost_peers.front().peer;
              },
              "the log tells of no peer that was lost", ""));
}

void DeclarePairs(Catalog* catalog) {
  auto& paths = catalog->Of(&Analysis::paths);
  paths.AlsoWithoutTimeline();
  paths.Add("nccl.pair.count", "count", "Pairs of ranks with a known transport; 0 without any.",
            [](const Paths& p) { return p.local.peer + p.local.shared + p.local.net + p.remote; });
  paths.Add("nccl.local.peer", "count",
            "Pairs of ranks inside a node that reach each other's memory directly.",
            In(&Paths::local, &PairCounts::peer));
  paths.Add("nccl.local.shared", "count",
            "Pairs of ranks inside a node that go through host memory.",
            In(&Paths::local, &PairCounts::shared));
  paths.Add("nccl.local.net", "count", "Pairs of ranks inside a node that go through the network.",
            In(&Paths::local, &PairCounts::net));
  paths.Add("nccl.remote.pairs", "count", "Pairs of ranks on different nodes.", &Paths::remote);
  paths.Add("nccl.remote.gdr", "count", "Pairs of ranks on different nodes with GPUDirect RDMA.",
            &Paths::remote_gdr);
  paths.Add("nccl.remote.staged", "count",
            "Pairs of ranks on different nodes over RDMA, staged through host memory.",
            &Paths::remote_staged);
  paths.Add("nccl.remote.socket", "count", "Pairs of ranks on different nodes over TCP sockets.",
            &Paths::remote_socket);
  paths.Add("nccl.pair.rows", "rows", "Examples of pairs on slow paths: a, b, path, of.",
            [](const Paths& p) { return PairRows(p.slow_pairs); });
}

void DeclareSwitches(Catalog* catalog) {
  auto& paths = catalog->Of(&Analysis::paths);
  paths.AlsoWithoutTimeline();
  paths.Add("nccl.switch.count", "count",
            "Variables that turn a fast path off, in the log or the run.",
            [](const Paths& p) { return p.switches.size(); });
  paths.Add("nccl.switch.text", "name",
            "Variables that turn a fast path off, with their values; absent without any.",
            UnlessEmpty(SwitchNames, "no variable switches a fast path off", ""));
  paths.Add("nccl.switch.rows", "rows",
            "Variables that turn a fast path off: name, value, path, source.", SwitchRows);
  paths.Add("nccl.peer_off", "flag", "A variable turns off peer-to-peer access in a node.",
            [](const Paths& p) { return p.Off("peer-to-peer"); });
  paths.Add("nccl.rdma_off", "flag", "A variable turns off GPUDirect RDMA.",
            [](const Paths& p) { return p.Off("GPUDirect"); });
  paths.Add("nccl.infiniband_off", "flag", "A variable turns off InfiniBand.",
            [](const Paths& p) { return p.Off("InfiniBand"); });
}

}  // namespace

void DeclareTopologyFacts(Catalog* catalog) {
  DeclareTopology(catalog);
  DeclareNccl(catalog);
  DeclareTimeouts(catalog);
  DeclarePairs(catalog);
  DeclareSwitches(catalog);
}

}  // namespace advise::facts
