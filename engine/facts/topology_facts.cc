// Facts of topology tools and NCCL logs: the list and the values.
#include <set>

#include "engine/facts/fact_writer.h"
#include "engine/metrics/analysis.h"

namespace advise::facts {
namespace {

Rows PairRows(const std::vector<LinkPair>& pairs) {
  Rows rows;
  for (const LinkPair& pair : pairs) {
    rows.push_back({{"a", pair.a}, {"b", pair.b}, {"path", pair.label}, {"of", pair.kind}});
  }
  return rows;
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

}  // namespace

std::vector<FactInfo> TopologyFactList() {
  return {
      {"topology.gpus", "count", "GPUs in the matrix of links; 0 when none was given."},
      {"topology.nics", "count", "Network cards in it."},
      {"topology.nic.far", "count",
       "GPUs whose nearest network card lies across host bridges or sockets (NODE, SYS)."},
      {"topology.nic.rows", "rows", "Each GPU's nearest network card: gpu, nic, path."},
      {"topology.nvlink.pairs", "count", "Pairs of GPUs that NVLink connects."},
      {"topology.nvlink.missing", "count", "Pairs without NVLink, where others have it."},
      {"topology.nvlink.rows", "rows", "These pairs: a, b, path, of."},
      {"topology.p2p.known", "flag", "A matrix of peer access was given."},
      {"topology.p2p.bad", "count", "Pairs of GPUs, by direction, whose peer access is not OK."},
      {"topology.p2p.rows", "rows", "These pairs: a, b, path (the status), of (which access)."},
      {"topology.port.count", "count", "Ports of InfiniBand adapters; 0 when none were given."},
      {"topology.port.down", "count", "Ports that are not active."},
      {"topology.port.slow", "count",
       "Active ports slower than the fastest one of their kind of link."},
      {"topology.port.rows", "rows", "These ports: port, what, state, rate (Gbit/s), link."},
      {"topology.infiniband", "flag", "An active InfiniBand port was listed or found by NCCL."},

      {"nccl.ranks", "count", "Ranks of the largest communicator in NCCL's log; 0 without one."},
      {"nccl.nodes", "count", "Nodes that they run on; absent when the log does not say."},
      {"nccl.version", "name", "NCCL's version."},
      {"nccl.network", "name", "The network that NCCL chose."},
      {"nccl.pair.count", "count", "Pairs of ranks with a known transport; 0 without any."},
      {"nccl.local.peer", "count", "Pairs inside a node that reach each other's memory directly."},
      {"nccl.local.shared", "count", "Pairs inside a node that go through host memory."},
      {"nccl.local.net", "count", "Pairs inside a node that go through the network."},
      {"nccl.remote.pairs", "count", "Pairs of ranks on different nodes."},
      {"nccl.remote.gdr", "count", "Of these, with GPUDirect RDMA."},
      {"nccl.remote.staged", "count", "Over RDMA, staged through host memory."},
      {"nccl.remote.socket", "count", "Over TCP sockets."},
      {"nccl.pair.rows", "rows", "Examples of pairs on slow paths: a, b, path, of."},
      {"nccl.calls", "rows", "Calls that the log lists: operation, count, bytes (a rank)."},
      {"nccl.warnings", "count", "Warnings in NCCL's log."},
      {"nccl.warning", "name", "The first of them, with its place; absent without any."},
      {"nccl.switch.count", "count",
       "Variables that switch a fast path off, in the log or the run."},
      {"nccl.switch.text", "name", "These variables with their values; absent without any."},
      {"nccl.switch.path", "name", "What they switch off; absent without any."},
      {"nccl.switch.rows", "rows", "The same: name, value, path, source."},
      {"nccl.peer_off", "flag", "A variable switches peer-to-peer access in a node off."},
      {"nccl.rdma_off", "flag", "A variable switches GPUDirect RDMA off."},
      {"nccl.infiniband_off", "flag", "A variable switches InfiniBand off."},
  };
}

void WriteTopologyFacts(const Analysis& a, FactWriter* w) {
  const Paths& p = a.paths;
  const NcclLog& log = a.run.trace.nccl;
  const auto count = [&](const char* name, std::size_t value) {
    w->Number(name, static_cast<double>(value));
  };
  const auto text = [&](const char* name, const std::string& value, const char* reason) {
    if (value.empty()) {
      w->Missing(name, reason, "");
    } else {
      w->Text(name, value);
    }
  };
  count("topology.gpus", p.gpus);
  count("topology.nics", p.nics);
  Rows nics;
  double far = 0;
  for (const NicDistance& nic : p.nic_distance) {
    far += nic.far ? 1 : 0;
    nics.push_back({{"gpu", nic.gpu}, {"nic", nic.nic}, {"path", nic.path}});
  }
  w->Number("topology.nic.far", far);
  w->Table("topology.nic.rows", std::move(nics));
  count("topology.nvlink.pairs", p.nvlink_pairs);
  count("topology.nvlink.missing", p.nvlink_missing.size());
  w->Table("topology.nvlink.rows", PairRows(p.nvlink_missing));
  w->Flag("topology.p2p.known", p.has_p2p);
  count("topology.p2p.bad", p.p2p_bad.size());
  w->Table("topology.p2p.rows", PairRows(p.p2p_bad));
  count("topology.port.count", a.run.trace.topology.ports.size());
  count("topology.port.down", p.ports_down.size());
  count("topology.port.slow", p.ports_slow.size());
  Rows ports;
  AddPorts(p.ports_down, "not active", &ports);
  AddPorts(p.ports_slow, "slower than its neighbours", &ports);
  w->Table("topology.port.rows", std::move(ports));
  w->Flag("topology.infiniband", p.has_ib);

  w->Number("nccl.ranks", log.ranks);
  w->KnownNumber("nccl.nodes", log.nodes, "no log of NCCL says how many nodes there are", "nccl");
  text("nccl.version", log.version, "no log of NCCL was given, or it does not say");
  text("nccl.network", log.network, "no log of NCCL was given, or it does not say");
  const PairCounts& local = p.local;
  w->Number("nccl.pair.count", local.peer + local.shared + local.net + p.remote);
  w->Number("nccl.local.peer", local.peer);
  w->Number("nccl.local.shared", local.shared);
  w->Number("nccl.local.net", local.net);
  w->Number("nccl.remote.pairs", p.remote);
  w->Number("nccl.remote.gdr", p.remote_gdr);
  w->Number("nccl.remote.staged", p.remote_staged);
  w->Number("nccl.remote.socket", p.remote_socket);
  w->Table("nccl.pair.rows", PairRows(p.slow_pairs));
  Rows calls;
  for (const NcclLog::Calls& call : log.calls) {
    calls.push_back({{"operation", call.operation},
                     {"count", static_cast<double>(call.count)},
                     {"bytes", call.bytes}});
  }
  w->Table("nccl.calls", std::move(calls));
  count("nccl.warnings", log.warnings.size());
  text("nccl.warning", log.warnings.empty() ? "" : log.warnings.front(), "NCCL warned of nothing");

  Rows switches;
  std::string names;
  std::set<std::string> taken;
  for (const PathSwitch& one : p.switches) {
    switches.push_back(
        {{"name", one.name}, {"value", one.value}, {"path", one.path}, {"source", one.source}});
    names += (names.empty() ? "" : ", ") + one.name + "=" + one.value;
    taken.insert(one.path);
  }
  std::string paths;
  for (const std::string& path : taken) paths += (paths.empty() ? "" : "; ") + path;
  count("nccl.switch.count", p.switches.size());
  text("nccl.switch.text", names, "no variable switches a fast path off");
  text("nccl.switch.path", paths, "no variable switches a fast path off");
  w->Table("nccl.switch.rows", std::move(switches));
  w->Flag("nccl.peer_off", p.Off("peer-to-peer"));
  w->Flag("nccl.rdma_off", p.Off("GPUDirect"));
  w->Flag("nccl.infiniband_off", p.Off("InfiniBand"));
}

}  // namespace advise::facts
