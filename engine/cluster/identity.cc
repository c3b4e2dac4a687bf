#include "engine/cluster/identity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string_view>

#include "engine/base/ascii.h"
#include "engine/base/file_name.h"
#include "engine/base/launcher_variables.h"

namespace advise {
namespace {

std::string JobOf(const Trace& trace, const Knowledge& knowledge) {
  for (const NameRule& rule : knowledge.rules(NameList::kJobVariable)) {
    for (const NamePattern& pattern : rule.any) {
      for (const auto& [name, value] : trace.environment) {
        if (value.empty() || value == "none" || !pattern.Matches(NameKey(name))) continue;
        return name + " " + value;
      }
    }
  }
  return "";
}

}  // namespace

RankSummary IdentityOf(const Trace& trace, std::uint32_t device, std::uint32_t process) {
  RankSummary rank;
  if (process != kNone) {
    rank.pid = trace.processes[process].pid;
    const bool several =
        std::any_of(trace.streams.begin(), trace.streams.end(), [&](const Stream& stream) {
          return stream.process == process && stream.device != kNone && stream.device != device;
        });
    if (!several) rank.rank = trace.processes[process].rank;
    if (rank.rank >= 0) rank.rank_source = "report";
  }
  const Device& gpu = trace.devices[device];
  rank.host = trace.host;
  rank.path = trace.path;
  rank.device = static_cast<int>(gpu.ordinal);
  rank.device_index = device;
  rank.devices_listed = static_cast<int>(trace.devices.size());
  rank.device_name = gpu.name;
  rank.device_uuid = gpu.uuid;
  rank.utc_origin_ns = trace.utc_origin_ns;
  return rank;
}

int RankInFileName(const std::string& path) {
  const std::string name = FileName(path);
  static constexpr std::array<std::string_view, 6> kWords = {"rank",   "worker", "global_rank",
                                                             "procid", "proc",   "task"};
  int found = -1;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!IsDigit(name[i]) || (i > 0 && IsDigit(name[i - 1]))) continue;
    std::size_t end = i;
    while (end < name.size() && IsDigit(name[end])) ++end;
    std::size_t word_end = i;
    while (word_end > 0 && (name[word_end - 1] == '_' || name[word_end - 1] == '-' ||
                            name[word_end - 1] == '.' || name[word_end - 1] == '=')) {
      --word_end;
    }
    std::size_t word = word_end;
    while (word > 0 && IsLetter(name[word - 1])) --word;
    const std::string letters = Lower(name.substr(word, word_end - word));
    const bool local = word >= 6 && name.compare(word - 6, 6, "local_") == 0;
    const bool says = std::find(kWords.begin(), kWords.end(), letters) != kWords.end() ||
                      (letters == "r" && word_end == i);
    if (says && !local && found < 0) {
      found = WholeNumberIn(std::string_view(name).substr(i, end - i));
    }
  }
  return found;
}

std::string HostInFileName(const std::string& path) {
  const std::string name = FileName(path);
  const std::size_t end = name.find(".pt.trace.json");
  // "worker3_step_12.1760000000000.pt.trace.json" is a rank's, and names no host.
  if (end == std::string::npos || RankInFileName(path) >= 0) return "";
  // "node17_41200.1760000000000.pt.trace.json": host, process, time.
  const auto digits_before = [&](std::size_t at, char sign) {
    std::size_t from = at;
    while (from > 0 && IsDigit(name[from - 1])) --from;
    return from < at && from > 0 && name[from - 1] == sign ? from - 1 : std::string::npos;
  };
  const std::size_t dot = digits_before(end, '.');
  if (dot == std::string::npos) return "";
  const std::size_t line = digits_before(dot, '_');
  return line == std::string::npos || line == 0 ? "" : name.substr(0, line);
}

std::vector<int> NumberThatDiffers(const std::vector<std::string>& paths, int world) {
  if (paths.size() < 2) return {};
  // A name as alternating texts and numbers.
  const auto split = [](const std::string& name) {
    std::vector<std::string> parts(1);
    for (const char c : name) {
      const bool digit = IsDigit(c);
      if (!parts.back().empty() && digit != IsDigit(parts.back().back())) parts.emplace_back();
      parts.back() += c;
    }
    return parts;
  };
  std::vector<std::vector<std::string>> names;
  for (const std::string& path : paths) names.push_back(split(FileName(path)));
  std::size_t differs = names.front().size();
  for (const auto& parts : names) {
    if (parts.size() != names.front().size()) return {};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i] == names.front()[i]) continue;
      if (!IsDigit(parts[i].front()) || (differs < parts.size() && differs != i)) return {};
      differs = i;
    }
  }
  if (differs == names.front().size()) return {};
  std::vector<int> numbers;
  std::set<int> seen;
  for (const auto& parts : names) {
    numbers.push_back(WholeNumberIn(parts[differs]));
    if (numbers.back() < 0 || !seen.insert(numbers.back()).second) return {};
    if (world > 0 && numbers.back() >= world) return {};
  }
  // Ranks count from 0. Where 0 is missing, the number may as well be a time, or count from 1.
  if (*seen.begin() != 0) return {};
  return numbers;
}

void IdentifyRanks(const Trace& trace, const Knowledge& knowledge,
                   std::vector<RankSummary>* ranks) {
  const int world = NumberAmong(trace.environment, kWorldSizeVariables);
  const int said = trace.rank >= 0 ? trace.rank : NumberAmong(trace.environment, kRankVariables);
  const int local = NumberAmong(trace.environment, kLocalRankVariables);
  const std::string host = HostInFileName(trace.path);
  for (RankSummary& rank : *ranks) {
    if (rank.host.empty()) rank.host = host;
    rank.world_size = trace.world_size > 0 ? trace.world_size : std::max(world, 0);
    rank.job = JobOf(trace, knowledge);
    for (const auto& [name, value] : trace.environment) {
      if (!knowledge.ValueIn(NameList::kRankSwitch, name).empty())
        rank.switches.emplace_back(name, value);
    }
    // A launcher that starts several ranks has a rank of its own, which is none of theirs.
    if (ranks->size() > 1) continue;
    if (rank.local_rank < 0) rank.local_rank = local;
    if (rank.rank >= 0) continue;
    const int named = RankInFileName(trace.path);
    if (said >= 0) {
      rank.rank = said;
      rank.rank_source = trace.rank >= 0 ? "report" : "environment";
    } else if (named >= 0) {
      rank.rank = named;
      rank.rank_source = "file name";
    }
  }
  if (ranks->size() > 1) {
    const bool none =
        std::all_of(ranks->begin(), ranks->end(), [](const RankSummary& r) { return r.rank < 0; });
    for (std::size_t i = 0; none && i < ranks->size(); ++i) {
      (*ranks)[i].local_rank = static_cast<int>(i);
      (*ranks)[i].rank_source = "device order";
    }
  }
  for (RankSummary& rank : *ranks) {
    std::sort(rank.switches.begin(), rank.switches.end());
    rank.switches.erase(std::unique(rank.switches.begin(), rank.switches.end()),
                        rank.switches.end());
  }
}

}  // namespace advise
