// Reads a log with NCCL's INFO lines, of one or of many ranks, with other output in between.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "engine/base/ascii.h"
#include "engine/base/is_in.h"
#include "engine/import/formats.h"
#include "engine/import/text_input.h"

namespace advise {
namespace {

constexpr std::string_view kInfo = "NCCL INFO ";
constexpr std::string_view kWarn = "NCCL WARN ";
constexpr std::size_t kMostTexts = 50;  // kept of each kind of free text

// Reads words of one message from left to right; once one does not fit, all that follow fail, too.
class LogWords {
 public:
  explicit LogWords(std::string_view text) : rest_(text) {}

  LogWords& Text(std::string_view expected) {
    if (ok_ && rest_.starts_with(expected)) {
      rest_.remove_prefix(expected.size());
    } else {
      ok_ = false;
    }
    return *this;
  }
  LogWords& Number(int* value) {
    const auto [stop, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), *value);
    ok_ = ok_ && error == std::errc();
    if (ok_) rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
    return *this;
  }
  // Up to a blank or the end; must not be empty.
  LogWords& Word(std::string_view* word) {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    *word = rest_.substr(0, end);
    ok_ = ok_ && end > 0;
    rest_.remove_prefix(end);
    return *this;
  }
  // "[0]", "[1a000]": what stands in it.
  LogWords& Bracket(std::string_view* inside) {
    const std::size_t end = rest_.find(']');
    if (ok_ && rest_.starts_with("[") && end != std::string_view::npos) {
      *inside = rest_.substr(1, end - 1);
      rest_.remove_prefix(end + 1);
    } else {
      ok_ = false;
    }
    return *this;
  }
  bool Take(std::string_view text) {
    if (!ok_ || !rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  bool ok() const { return ok_; }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// The host in "…host:pid:tid [dev]" that stands before a message; "" when the prefix has another
// form.
std::string HostOf(std::string_view prefix) {
  const auto words = WordsOf(prefix);
  for (std::size_t i = words.size(); i-- > 0;) {
    const std::string_view word = words[i];
    if (word.starts_with("[") && word.ends_with(']')) continue;
    const std::size_t second = word.rfind(':');
    const std::size_t first =
        second == std::string_view::npos || second == 0 ? second : word.rfind(':', second - 1);
    if (first == std::string_view::npos || first == 0) return "";
    if (!IsDigits(word.substr(first + 1, second - first - 1)) || !IsDigits(word.substr(second + 1)))
      return "";
    std::string_view host = word.substr(0, first);
    // "0:host:pid:tid", as srun -l or mpirun write the rank before it without a blank.
    const std::size_t label = host.rfind(':');
    if (label != std::string_view::npos) host = host.substr(label + 1);
    return std::string(host);
  }
  return "";
}

bool IsTransport(std::string_view word) {
  return word.starts_with("P2P/") || word.starts_with("SHM") || word.starts_with("NET/") ||
         word.starts_with("COLLNET/") || word == "P2P";
}

// The word at the start. Names of networks may hold blanks: "NET/AWS Libfabric/0/GDRDMA".
std::string_view TransportAt(std::string_view text) {
  std::size_t name_end = 0;
  if (text.starts_with("NET/")) name_end = text.find('/', 4);
  if (name_end == std::string_view::npos) name_end = 0;
  return text.substr(0, text.find(' ', name_end));
}

double BytesOfType(int type) {
  static constexpr std::array<double, 12> kBytes = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type >= 0 && type < static_cast<int>(kBytes.size())
             ? kBytes[static_cast<std::size_t>(type)]
             : 0;
}

// Text between two marks; "" where one is missing.
std::string_view Between(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t at = text.find(begin);
  if (at == std::string_view::npos) return "";
  text.remove_prefix(at + begin.size());
  const std::size_t stop = text.find_first_of(end);
  return text.substr(0, stop);
}

bool IsTimeoutLine(std::string_view line) {
  return line.find("Watchdog caught collective operation timeout") != std::string_view::npos;
}

class NcclLogReader {
 public:
  NcclLogReader(Trace* trace, std::string path)
      : trace_(trace), log_(trace->nccl), path_(std::move(path)) {}

  bool Read(std::string_view text) {
    for (const std::string_view line : LinesOf(text)) {
      ++number_;
      ReadLine(line);
    }
    Finish();
    return messages_ > 0;
  }

 private:
  std::string Place() const { return fmt::format("{}:{}", path_, number_); }

  // "NCCL version 2.19.3+cuda12.3"; a torn line may end before it.
  void ReadVersion(std::string_view line) {
    const auto words = WordsOf(line);
    if (words.size() <= 2) return;
    log_.version = words[2];
    if (!IsIn(log_.version, log_.versions)) log_.versions.push_back(log_.version);
  }

  // "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1123, OpType=ALLREDUCE,
  // …, Timeout(ms)=600000) ran for 600012 milliseconds before timing out."
  void ReadTimeout(std::string_view line) {
    ++messages_;
    CollectiveTimeout timeout;
    const auto number = [&](std::string_view begin, std::string_view end) {
      return NumberOf(Trimmed(Between(line, begin, end)));
    };
    timeout.rank = WholeOf<int>(number("[Rank ", "]").value_or(number("[rank", "]").value_or(-1)));
    timeout.operation = Between(line, "OpType=", ",)");
    timeout.number = WholeOf<std::int64_t>(number("SeqNum=", ",)").value_or(0));
    timeout.seconds = number(") ran for ", " ").value_or(0) / 1000;
    timeout.source = Place();
    if (log_.timeouts.size() < kMostTexts) log_.timeouts.push_back(std::move(timeout));
  }

  // "NET/IB: Got completion from peer 10.0.0.2<44321> with status=12 opcode=0 …"
  void ReadLostPeer(std::string_view message) {
    if (message.find("Got completion") == std::string_view::npos) return;
    std::string_view status = Between(message, "status=", " (");
    if (status.empty()) status = Between(message, "with error ", " (,");
    const auto number = NumberOf(status);
    if (!number || *number <= 0 || log_.lost_peers.size() >= kMostTexts) return;
    log_.lost_peers.push_back(
        {std::string(Between(message, "from peer ", "< ")), WholeOf<int>(*number), Place()});
  }

  void ReadLine(std::string_view line) {
    if (IsTimeoutLine(line)) return ReadTimeout(line);
    if (line.starts_with("NCCL version ")) {
      ReadVersion(line);
      ++messages_;
      return;
    }
    const std::size_t warn = line.find(kWarn);
    if (warn != std::string_view::npos) {
      ++messages_;
      ReadLostPeer(line.substr(warn + kWarn.size()));
      if (log_.warnings.size() < kMostTexts) {
        log_.warnings.push_back(
            fmt::format("{}: {}", Place(), Trimmed(line.substr(warn + kWarn.size()))));
      }
      return;
    }
    std::size_t at = line.find(kInfo);
    if (at == std::string_view::npos) return;
    // Lines of ranks that write at once are torn: a message may hold the start of another.
    std::string_view prefix = line.substr(0, at);
    while (at != std::string_view::npos) {
      const std::size_t start = at + kInfo.size();
      const std::size_t next = line.find(kInfo, start);
      std::string_view message = line.substr(start, next - start);
      ++messages_;
      const bool whole = next == std::string_view::npos;
      if (!whole) {
        trace_->diagnostics.Add(Level::kInfo, "lines that several ranks wrote at once were broken",
                                "NCCL log");
      }
      ReadMessage(Trimmed(message), HostOf(prefix), whole);
      prefix = message;
      at = next;
    }
  }

  // `whole`: nothing of another message stands at its end.
  void ReadMessage(std::string_view message, const std::string& host, bool whole) {
    if (ReadChannel(message, host) || !whole) return;
    if (ReadRank(message, host) || ReadCall(message) || ReadEnvironment(message)) return;
    if (message.starts_with("NCCL version ")) ReadVersion(message);
    if (message.starts_with("Using network ")) log_.network = message.substr(14);
    if (message.starts_with("NET/IB : Using ")) ReadDevices(message.substr(15));
    const auto has = [&](std::string_view part) {
      return message.find(part) != std::string_view::npos;
    };
    if (message.starts_with("Connected all rings") || message.starts_with("Connected all trees")) {
      if (has("GDR 1")) log_.gdr = 1;
      if (has("GDR 0") && log_.gdr < 0) log_.gdr = 0;
    }
    if (has("GPU Direct RDMA Enabled")) log_.gdr = 1;
    if (has("GPU Direct RDMA Disabled") && log_.gdr < 0) log_.gdr = 0;
    if (has("NET/IB : No device found") || has("GPU Direct RDMA ") || has("NVLS multicast") ||
        message.starts_with("NET/Socket : Using ") || message.starts_with("Using network ")) {
      const std::string fact(message);
      if (known_.insert(fact).second && log_.facts.size() < kMostTexts) log_.facts.push_back(fact);
    }
  }

  // "Channel 00/0 : 0[0] -> 1[1] [send] via P2P/CUMEM", "Ring 00 : 0[1a000] -> 1[3d000] via …".
  bool ReadChannel(std::string_view message, const std::string& host) {
    const std::size_t via = message.find(" via ");
    if (via == std::string_view::npos) return false;
    int channel = 0, part = 0, from = -1, to = -1;
    std::string_view from_gpu, to_gpu;  // numbers of their devices, or places on the bus
    LogWords words(message);
    if (!words.Take("Channel ")) words.Text("Ring ");
    words.Number(&channel);
    if (words.Take("/")) words.Number(&part);
    words.Text(" : ").Number(&from).Bracket(&from_gpu).Text(" -> ");
    words.Number(&to).Bracket(&to_gpu).Text(" ");
    const bool receives = !words.Take("[send] ") && words.Take("[receive] ");
    words.Text("via ");
    const std::string_view transport = TransportAt(message.substr(via + 5));
    if (!words.ok() || !IsTransport(transport) || from < 0 || to < 0) return false;
    std::string kind(transport);
    if (message.substr(via + 5 + transport.size()).starts_with(" pointer")) kind += " pointer";
    NcclChannel& pair = pairs_[{from, to, kind}];
    if (pair.channels++ == 0) {
      pair.from = from;
      pair.to = to;
      pair.transport = kind;
      pair.source = Place();
    }
    // No two ranks of a host share a GPU: NCCL refuses that.
    if (from_gpu == to_gpu) pair.apart = 1;
    if (!host.empty()) {
      hosts_.insert(host);
      PlaceRank(receives ? to : from, host);
    }
    return true;
  }

  // Who sends writes the line, also where it does not say so, or else who receives. Ranks of
  // several groups have the same numbers: such a rank has no place.
  void PlaceRank(int rank, const std::string& host) {
    const auto [known, is_new] = host_of_channels_.emplace(rank, host);
    if (!is_new && known->second != host) known->second.clear();
  }

  int Apart(const NcclChannel& pair) const {
    const auto from = host_of_channels_.find(pair.from);
    const auto to = host_of_channels_.find(pair.to);
    const auto end = host_of_channels_.end();
    if (from == end || to == end || from->second.empty() || to->second.empty()) return pair.apart;
    return from->second == to->second ? 0 : 1;
  }

  // "ncclCommInitRank comm 0x… rank 3 nranks 8 …", "comm 0x… rank 3 nRanks 8 nNodes 2 …".
  bool ReadRank(std::string_view message, const std::string& host) {
    const std::size_t start = message.find("comm 0x");
    if (start == std::string_view::npos) return false;
    LogWords words(message.substr(start + 5));
    std::string_view id, all;
    int rank = -1, ranks = -1, nodes = -1;
    words.Word(&id).Text(" rank ").Number(&rank).Text(" ").Word(&all).Text(" ").Number(&ranks);
    if (!words.ok() || Lower(all) != "nranks" || rank < 0 || rank >= ranks) return false;
    if (words.Take(" nNodes ")) {
      words.Number(&nodes);
      if (words.ok()) log_.nodes = std::max(log_.nodes, nodes);
    }
    log_.several_groups = log_.several_groups || (log_.ranks > 0 && ranks != log_.ranks);
    if (ranks > log_.ranks) log_.rank_host.clear();
    log_.ranks = std::max(log_.ranks, ranks);
    if (ranks == log_.ranks && !host.empty()) {
      const auto [known, is_new] = log_.rank_host.emplace(rank, host);
      log_.several_groups = log_.several_groups || (!is_new && known->second != host);
    }
    if (!host.empty()) hosts_.insert(host);
    return true;
  }

  // "AllReduce: opCount 1a sendbuff … count 1048576 datatype 7 op 0 root 0 comm 0x…".
  bool ReadCall(std::string_view message) {
    const std::size_t colon = message.find(": opCount ");
    const std::size_t count_at = message.find(" count ");
    const std::size_t type_at = message.find(" datatype ");
    if (colon == std::string_view::npos || count_at == std::string_view::npos ||
        type_at == std::string_view::npos) {
      return false;
    }
    const auto count_word = WordsOf(message.substr(count_at + 7));
    const auto type_word = WordsOf(message.substr(type_at + 10));
    const auto count = count_word.empty() ? std::nullopt : NumberOf(count_word[0]);
    const auto type = type_word.empty() ? std::nullopt : NumberOf(type_word[0]);
    if (!count || !type) return false;
    // Small calls are apart from large ones: their mean would be that of neither.
    const double bytes = *count * BytesOfType(WholeOf<int>(*type));
    NcclLog::Calls& calls = calls_[{std::string(message.substr(0, colon)), std::ilogb(bytes)}];
    calls.operation = message.substr(0, colon);
    calls.count += 1;
    calls.bytes += bytes;
    return true;
  }

  // "NCCL_P2P_LEVEL set by environment to LOC."
  bool ReadEnvironment(std::string_view message) {
    constexpr std::string_view kSet = " set by environment to ";
    const std::size_t at = message.find(kSet);
    if (at == std::string_view::npos || !message.starts_with("NCCL_")) return false;
    std::string_view value = Trimmed(message.substr(at + kSet.size()));
    if (value.ends_with('.')) value.remove_suffix(1);
    const std::string name(message.substr(0, at));
    if (name.find(' ') == std::string::npos) environment_[name] = value;
    return true;
  }

  // "[0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>"
  void ReadDevices(std::string_view text) {
    for (const std::string_view word : WordsOf(text.substr(0, text.find(';')))) {
      const std::size_t end = word.find(']');
      if (!word.starts_with("[") || end == std::string_view::npos || end + 1 >= word.size())
        continue;
      const std::string device(word.substr(end + 1));
      if (known_.insert("device " + device).second) log_.ib_devices.push_back(device);
    }
  }

  void Finish() {
    for (auto& [key, pair] : pairs_) {
      pair.apart = Apart(pair);
      log_.channels.push_back(std::move(pair));
    }
    for (auto& [kind, calls] : calls_) log_.calls.push_back(std::move(calls));
    log_.environment.assign(environment_.begin(), environment_.end());
    if (log_.nodes == 0 && log_.ranks > 0 &&
        log_.rank_host.size() == static_cast<std::size_t>(log_.ranks)) {
      std::set<std::string> hosts;
      for (const auto& [rank, host] : log_.rank_host) hosts.insert(host);
      log_.nodes = static_cast<int>(hosts.size());
    }
    if (hosts_.size() == 1) trace_->host = *hosts_.begin();
    trace_->table_rows["messages"] = messages_;
  }

  Trace* trace_;
  NcclLog& log_;
  std::string path_;
  std::size_t number_ = 0;
  std::int64_t messages_ = 0;
  std::map<std::tuple<int, int, std::string>, NcclChannel> pairs_;
  std::map<int, std::string> host_of_channels_;
  std::map<std::pair<std::string, int>, NcclLog::Calls> calls_;  // by operation and size
  std::map<std::string, std::string> environment_;
  std::set<std::string> hosts_, known_;
};

}  // namespace

bool SniffNcclLog(std::string_view head) {
  if (head.find('\0') != std::string_view::npos) return false;
  // A JSON trace may quote such lines, and a program's source may print them.
  const std::size_t first = head.find_first_not_of(" \t\n");
  if (first == std::string_view::npos || head[first] == '{') return false;
  int without_prefix = 0;  // lines from which people cut host and process
  for (const std::string_view line : LinesOf(head)) {
    if (line.starts_with("NCCL version ") || IsTimeoutLine(line)) return true;
    if (line.starts_with(kInfo) && ++without_prefix > 1) return true;
    const std::size_t at = std::min(line.find(kInfo), line.find(kWarn));
    if (at != std::string_view::npos && at > 0 && !HostOf(line.substr(0, at)).empty()) return true;
    // "[2025-01-02 10:11:12] host:pid:tid [0] file.cc:123 NCCL WARN …"
    if (at == std::string_view::npos) continue;
    for (std::size_t bracket = line.find(']'); bracket < at;
         bracket = line.find(']', bracket + 1)) {
      if (!HostOf(line.substr(0, bracket + 1)).empty()) return true;
    }
  }
  return false;
}

std::optional<Error> ReadNcclLog(std::string_view text, const std::string& path, Trace* trace) {
  if (!NcclLogReader(trace, path).Read(text)) {
    return Error{"no message of NCCL in the log", path, "run with NCCL_DEBUG=INFO"};
  }
  trace->producer = trace->nccl.version.empty() ? "NCCL" : "NCCL " + trace->nccl.version;
  return std::nullopt;
}

}  // namespace advise
