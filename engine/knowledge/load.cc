#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <optional>
#include <utility>

#include "engine/base/ascii.h"
#include "engine/base/side_by_side.h"
#include "engine/base/text.h"
#include "engine/knowledge/embedded.h"
#include "engine/knowledge/loader.h"
#include "engine/knowledge/read_list.h"

namespace advise {
namespace {

const std::vector<std::string>& KnownUnits() {
  static const std::vector<std::string> units = {"share",         "count",       "ns",         "s",
                                                 "bytes",         "bytes_per_s", "flop_per_s", "hz",
                                                 "flop_per_byte", "w",           "celsius"};
  return units;
}

// "K-H18": the id of a row of kb/knowledge.toml.
bool IsRowId(std::string_view text) {
  if (text.size() < 4 || text.substr(0, 2) != "K-") return false;
  return IsUpper(text[2]) && IsDigits(text.substr(3));
}

// Lower-case words joined by `joint`, as ids and names are written.
bool IsName(std::string_view text, char joint) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return IsLower(c) || IsDigit(c) || c == joint;
  });
}

// The last part of a path without its ending.
std::string Stem(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  return std::string(path.substr(0, path.rfind('.')));
}

bool InFolder(std::string_view path, std::string_view folder) {
  return path.substr(0, folder.size()) == folder;
}

}  // namespace

Threshold KnowledgeLoader::ReadNumber(TomlReader& reader, const TomlNode& table, std::string name) {
  Threshold made;
  made.name = std::move(name);
  reader.OnlyFields(table, {"value", "unit", "range", "why", "source"});
  made.value = made.shipped = reader.Number(table, "value");
  made.unit = reader.Choice(table, "unit", KnownUnits());
  std::tie(made.lowest, made.highest) = reader.Range(table, "range");
  made.why = reader.Text(table, "why");
  made.source = reader.Text(table, "source");
  const TomlNode* value = table.Find("value");
  if (value != nullptr && (made.value < made.lowest || made.value > made.highest)) {
    reader.Problem(*value, fmt::format("{}: {:.15g} is outside its range {:.15g} to {:.15g}",
                                       made.name, made.value, made.lowest, made.highest));
  }
  return made;
}

void KnowledgeLoader::Read(const std::string& path, const Result<TomlNode>& parsed) {
  if (!parsed) {
    errors_.push_back(parsed.error());
    return;
  }
  TomlReader reader(path, errors_);
  if (InFolder(path, "kb/thresholds/")) return ReadThresholds(reader, *parsed, Stem(path));
  if (InFolder(path, "kb/hardware/")) return ReadHardware(reader, *parsed, "");
  if (path == "kb/metrics.toml") return ReadNumbers(reader, *parsed, "");
  if (path == "kb/ranking.toml") return ReadNumbers(reader, *parsed, "ranking.");
  if (path == "kb/references.toml") return ReadReferences(reader, *parsed);
  if (path == "kb/knowledge.toml") return ReadRows(reader, *parsed);
  if (path == "kb/capture.toml") return ReadCapture(reader, *parsed);
  if (path == "kb/kernels.toml") return ReadKernels(reader, *parsed, "");
  if (path == "kb/names.toml") return ReadNames(reader, *parsed, "");
  if (path == "kb/families.toml") return ReadFamilies(reader, *parsed, "");
  if (path == "kb/operators.toml") return ReadOperators(reader, *parsed, "");
  if (path == "kb/runs.toml") return ReadRuns(reader, *parsed);
  if (path == "kb/counters.toml") return ReadCounters(reader, *parsed, "");
  if (path == "kb/xids.toml") return ReadXids(reader, *parsed);
  errors_.push_back(
      {"nothing reads this file", path, "see docs/architecture.md for what kb/ holds"});
}

// A number of its own, or `like`: the number that all such thresholds share. `why` may then say
// what the rule adds to that number's reason.
Threshold KnowledgeLoader::ReadThreshold(TomlReader& reader, const TomlNode& entry,
                                         const std::string& name) {
  if (entry.Find("like") == nullptr) {
    Threshold made = ReadNumber(reader, entry, name);
    sources_.emplace_back(reader.Where(entry), made.source);
    return made;
  }
  Threshold made;
  made.name = name;
  reader.OnlyFields(entry, {"like", "why"});
  made.like = reader.Text(entry, "like");
  if (entry.Find("why") != nullptr) made.why = reader.Text(entry, "why");
  followers_.emplace_back(reader.Where(entry), name);
  return made;
}

void KnowledgeLoader::FollowNumbers() {
  for (const auto& [where, name] : followers_) {
    const auto follower = knowledge_.thresholds_.find(name);
    const auto followed = knowledge_.numbers_.find(follower->second.like);
    if (followed == knowledge_.numbers_.end()) {
      errors_.push_back(
          {fmt::format("{}: there is no number \"{}\" to follow", name, follower->second.like),
           where, "numbers to follow are those of kb/metrics.toml and kb/ranking.toml"});
      continue;
    }
    Threshold made = followed->second;
    made.name = name;
    made.like = follower->second.like;
    if (!follower->second.why.empty()) made.why = follower->second.why;
    follower->second = std::move(made);
  }
}

// [rule.threshold] tables; the area is the file's name.
void KnowledgeLoader::ReadThresholds(TomlReader& reader, const TomlNode& root,
                                     const std::string& area) {
  for (const TomlNode& rule : root.items) {
    if (!reader.WantTable(rule)) continue;
    if (!IsName(rule.key, '-')) {
      reader.Problem(rule, fmt::format("\"{}\": a rule's name is lower case with \"-\"", rule.key));
    }
    for (const TomlNode& entry : rule.items) {
      if (!entry.IsTable()) {
        reader.Problem(entry, fmt::format("\"{}\": wanted a table [{}.<threshold>], got {}",
                                          entry.key, rule.key, entry.Described()));
        continue;
      }
      if (!IsName(entry.key, '_')) {
        reader.Problem(
            entry, fmt::format("\"{}\": a threshold's name is lower case with \"_\"", entry.key));
      }
      const std::string name = fmt::format("{}/{}.{}", area, rule.key, entry.key);
      Threshold made = ReadThreshold(reader, entry, name);
      if (!knowledge_.thresholds_.emplace(name, std::move(made)).second) {
        reader.Problem(entry, fmt::format("\"{}\" is defined twice", name));
      }
    }
  }
}

// A table with a value is a number; one without holds numbers.
void KnowledgeLoader::ReadNumbers(TomlReader& reader, const TomlNode& table,
                                  const std::string& prefix) {
  for (const TomlNode& entry : table.items) {
    if (!reader.WantTable(entry)) continue;
    const bool group =
        !entry.items.empty() && std::all_of(entry.items.begin(), entry.items.end(),
                                            [](const TomlNode& item) { return item.IsTable(); });
    const std::string name = prefix + entry.key;
    if (group) {
      ReadNumbers(reader, entry, name + ".");
      continue;
    }
    Threshold made = ReadNumber(reader, entry, name);
    sources_.emplace_back(reader.Where(entry), made.source);
    if (!knowledge_.numbers_.emplace(name, std::move(made)).second) {
      reader.Problem(entry, fmt::format("\"{}\" is defined twice", name));
    }
  }
}

namespace {

// The part of a GPU that a MIG profile is ("3g.40gb": three slices of SMs, 40 GB of memory), as a
// GPU of its own: rates of SMs by its SMs, those of memory by its memory. It has no NVLink, and all
// of the host's link. Nothing for what is no profile.
std::optional<HardwareEntry> SliceOf(const HardwareEntry& gpu, const std::string& profile,
                                     double sms_of_slice) {
  int slices = 0;
  int gigabytes = 0;
  char end = 0;
  if (std::sscanf(profile.c_str(), "%dg.%dg%c", &slices, &gigabytes, &end) != 3 || end != 'b') {
    return std::nullopt;
  }
  const auto whole = [&](const char* name) {
    const auto found = gpu.facts.find(name);
    return found == gpu.facts.end() ? 0.0 : found->second.value;
  };
  const double sms = slices * sms_of_slice;
  const double of_sms = whole("sm_count") > 0 ? sms / whole("sm_count") : 0;
  const double of_memory = whole("memory_bytes") > 0 ? gigabytes * 1e9 / whole("memory_bytes") : 0;
  if (of_sms <= 0 || of_sms > 1 || of_memory <= 0) return std::nullopt;
  HardwareEntry slice = gpu;
  slice.id = gpu.id + "-" + profile;
  for (NamePattern& pattern : slice.match) {
    pattern = NamePattern(pattern.glob() + "*MIG " + profile + "*");
  }
  std::erase_if(slice.facts, [](const auto& fact) {
    return fact.first.starts_with("nvlink") || fact.first == "board_power_w";
  });
  for (auto& [name, fact] : slice.facts) {
    const bool rate = name.starts_with("peak_") || name == "sm_count" ||
                      (name.starts_with("measured_") && name.ends_with("_flops"));
    const bool memory = name.ends_with("memory_bytes_per_s") || name == "l2_bytes";
    if (rate) fact.value *= of_sms;
    if (memory) fact.value *= std::min(1.0, of_memory);
    if (name == "sm_count") fact.value = sms;
    if (name == "memory_bytes") fact.value = gigabytes * 1e9;
    if (rate || memory) fact.source += "; the part of the MIG profile " + profile;
  }
  return slice;
}

}  // namespace

void KnowledgeLoader::ReadHardware(TomlReader& reader, const TomlNode& root,
                                   const std::string& site) {
  HardwareEntry made;
  made.set_by = site;
  reader.OnlyFields(
      root, {"id", "match", "compute_capability", "architecture", "facts", "mig", "mig_sms"});
  made.id = reader.Text(root, "id");
  if (made.id != Stem(reader.path())) {
    reader.Problem(root, fmt::format("field \"id\": wanted \"{}\" (the file's name), got \"{}\"",
                                     Stem(reader.path()), made.id));
  }
  for (std::string& glob : reader.Texts(root, "match")) made.match.emplace_back(std::move(glob));
  if (made.match.empty()) reader.Problem(root, "field \"match\" is empty");
  made.compute_capability = reader.Text(root, "compute_capability");
  made.architecture = reader.Text(root, "architecture");
  if (const TomlNode* facts = root.Find("facts"); facts != nullptr && reader.WantTable(*facts)) {
    for (const TomlNode& entry : facts->items) {
      if (!reader.WantTable(entry)) continue;
      reader.OnlyFields(entry, {"value", "unit", "kind", "source"});
      HardwareFact fact;
      fact.value = reader.Number(entry, "value");
      fact.unit = reader.Choice(entry, "unit", KnownUnits());
      fact.kind = reader.Choice(entry, "kind", {"spec", "listed", "measured", "assumed"});
      fact.source = reader.Text(entry, "source");
      if (!site.empty()) CheckHardwareFact(reader, entry, fact);
      made.facts.emplace(entry.key, std::move(fact));
    }
  } else if (facts == nullptr) {
    reader.Problem(root, "missing table [facts]");
  }
  std::erase_if(knowledge_.hardware_,
                [&](const HardwareEntry& known) { return !site.empty() && known.id == made.id; });
  if (root.Find("mig") != nullptr) {
    const double sms = reader.Number(root, "mig_sms");
    for (const std::string& profile : reader.Texts(root, "mig")) {
      if (auto slice = SliceOf(made, profile, sms)) {
        knowledge_.hardware_.push_back(std::move(*slice));
      } else {
        reader.Problem(root, fmt::format("field \"mig\": wanted a profile such as \"1g.5gb\", "
                                         "got \"{}\"",
                                         profile));
      }
    }
  }
  knowledge_.hardware_.push_back(std::move(made));
}

void KnowledgeLoader::CheckHardwareFact(TomlReader& reader, const TomlNode& entry,
                                        const HardwareFact& fact) {
  std::map<std::string, std::string> units;  // of the facts that shipped GPUs have
  std::vector<std::string> names;
  for (const HardwareEntry& known : knowledge_.hardware_) {
    for (const auto& [name, of_known] : known.facts) {
      if (units.emplace(name, of_known.unit).second) names.push_back(name);
    }
  }
  const auto unit = units.find(entry.key);
  if (unit == units.end()) {
    reader.Problem(entry, fmt::format("\"{}\": no GPU has such a fact", entry.key),
                   Suggestion(entry.key, names));
  } else if (unit->second != fact.unit) {
    reader.Problem(entry, fmt::format("{}: wanted the unit \"{}\", got \"{}\"", entry.key,
                                      unit->second, fact.unit));
  }
}

void KnowledgeLoader::ReadReferences(TomlReader& reader, const TomlNode& root) {
  for (const TomlNode& entry : root.items) {
    if (!reader.WantTable(entry)) continue;
    reader.OnlyFields(entry, {"title", "url", "for"});
    Reference made{entry.key, reader.Text(entry, "title"), reader.Text(entry, "url"),
                   reader.Texts(entry, "for", TomlReader::Need::kMay)};
    if (made.url.rfind("https://", 0) != 0 && made.url.rfind("http://", 0) != 0) {
      reader.Problem(entry, fmt::format("\"{}\": field \"url\": wanted a web address, got \"{}\"",
                                        entry.key, made.url));
    }
    knowledge_.references_.emplace(entry.key, std::move(made));
  }
}

void KnowledgeLoader::ReadRows(TomlReader& reader, const TomlNode& root) {
  for (const TomlNode& entry : root.items) {
    if (!reader.WantTable(entry)) continue;
    reader.OnlyFields(entry, {"area", "text", "home"});
    if (!IsRowId(entry.key)) {
      reader.Problem(entry, fmt::format("\"{}\": wanted an id such as K-A1", entry.key));
    }
    knowledge_.rows_.emplace(
        entry.key, KnowledgeRow{entry.key, reader.Text(entry, "area"), reader.Text(entry, "text"),
                                reader.Texts(entry, "home", TomlReader::Need::kMay)});
  }
}

void KnowledgeLoader::ReadCapture(TomlReader& reader, const TomlNode& root) {
  for (const TomlNode& entry : root.items) {
    if (!reader.WantTable(entry)) continue;
    reader.OnlyFields(entry, {"option", "text", "torch", "level"});
    CaptureHint made;
    made.tag = entry.key;
    made.option = reader.Text(entry, "option", TomlReader::Need::kMay);
    made.text = reader.Text(entry, "text");
    made.torch = reader.Text(entry, "torch", TomlReader::Need::kMay);
    if (entry.Find("level") != nullptr) {
      made.level = reader.Choice(entry, "level", {"light", "standard", "full"});
    }
    knowledge_.capture_hints_.push_back(std::move(made));
  }
}

void KnowledgeLoader::ReadXids(TomlReader& reader, const TomlNode& root) {
  reader.OnlyFields(root, {"xid"});
  ForEachEntry(reader, root, "xid", [&](const TomlNode& entry) {
    reader.OnlyFields(entry, {"code", "kind", "says", "source"});
    XidMeaning xid;
    xid.code = static_cast<int>(reader.Number(entry, "code"));
    xid.kind =
        reader.Choice(entry, "kind", {"memory", "board", "link", "driver", "program", "notice"});
    xid.says = reader.Text(entry, "says");
    reader.Text(entry, "source");
    if (knowledge_.FindXid(xid.code) != nullptr)
      reader.Problem(entry, fmt::format("Xid {} is listed twice", xid.code));
    knowledge_.xids_.push_back(std::move(xid));
  });
}

void KnowledgeLoader::ReadCounters(TomlReader& reader, const TomlNode& root,
                                   const std::string& site) {
  reader.OnlyFields(root, {"quantity"});
  ForEachEntry(reader, root, "quantity", [&](const TomlNode& entry) {
    reader.OnlyFields(entry, {"name", "sum", "any"});
    const std::string name = reader.Text(entry, "name");
    CounterQuantity made{reader.Texts(entry, "any"),
                         reader.Flag(entry, "sum", TomlReader::Need::kMay)};
    const auto known = knowledge_.counters_.find(name);
    if (site.empty()) {
      if (known != knowledge_.counters_.end())
        reader.Problem(entry, fmt::format("\"{}\" is defined twice", name));
      knowledge_.counters_.emplace(name, std::move(made));
    } else if (known == knowledge_.counters_.end()) {
      std::vector<std::string> names;
      for (const auto& [other, metrics] : knowledge_.counters_) names.push_back(other);
      reader.Problem(entry, fmt::format("there is no quantity \"{}\"", name),
                     Suggestion(name, names));
    } else {
      std::vector<std::string>& metrics = known->second.metrics;
      metrics.insert(metrics.begin(), made.metrics.begin(), made.metrics.end());
      knowledge_.site_additions_.push_back(
          fmt::format("counters.{} has metrics of the site ({})", name, site));
    }
  });
}

void KnowledgeLoader::CheckSources() {
  if (knowledge_.rows_.empty()) return;
  std::vector<std::string> ids;
  for (const auto& [id, row] : knowledge_.rows_) ids.push_back(id);
  for (const auto& [where, source] : sources_) {
    if (IsRowId(source) && knowledge_.rows_.find(source) == knowledge_.rows_.end()) {
      errors_.push_back(
          {fmt::format("field \"source\": kb/knowledge.toml has no row \"{}\"", source), where,
           Suggestion(source, ids)});
    }
  }
}

tl::expected<Knowledge, std::vector<Error>> Knowledge::Load(const std::vector<File>& kb) {
  std::vector<const File*> files;
  for (const File& file : kb) {
    if (!file.prepared.empty()) return UnpackKnowledge(file.prepared);
    if (IsKnowledge(file.path)) files.push_back(&file);
  }
  Knowledge knowledge;
  std::vector<Error> errors;
  KnowledgeLoader loader(knowledge, errors);
  std::vector<Result<TomlNode>> parsed(files.size());
  // Long files first: the last one to be begun should be short.
  std::vector<std::size_t> order(files.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return files[a]->text.size() > files[b]->text.size();
  });
  SideBySide(order.size(), StartThreads(), [&](std::size_t i) {
    const File& file = *files[order[i]];
    parsed[order[i]] = ParseToml(file.path, file.text);
  });
  for (std::size_t i = 0; i < files.size(); ++i) {
    loader.Read(files[i]->path, std::exchange(parsed[i], {}));
  }
  loader.FollowNumbers();
  loader.CheckSources();
  if (!errors.empty()) return tl::unexpected<std::vector<Error>>(std::move(errors));
  return knowledge;
}

}  // namespace advise
