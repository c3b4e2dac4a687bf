#include "engine/store/encode.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/parse_number.h"
#include "engine/store/compress.h"
#include "engine/store/numbers.h"
#include "engine/store/summary_json.h"

namespace advise {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kColumns = 10;  // later versions add columns behind

std::string EncodeCollectives(const std::vector<RankSummary>& ranks) {
  NumberWriter out;
  out.Put(static_cast<std::int64_t>(ranks.size()));
  for (const RankSummary& rank : ranks) {
    const RankCollectives& list = rank.collectives;
    const std::size_t n = list.size();
    out.Put(static_cast<std::int64_t>(n));
    out.Put(kColumns);
    const auto column = [&](auto value_of) {
      for (std::size_t i = 0; i < n; ++i) out.Put(static_cast<std::int64_t>(value_of(i)));
    };
    column([&](std::size_t i) { return list.start[i] - (i == 0 ? 0 : list.start[i - 1]); });
    column([&](std::size_t i) { return list.end[i] - list.start[i]; });
    column([&](std::size_t i) { return list.exposed[i]; });
    column([&](std::size_t i) { return list.kind[i]; });
    column([&](std::size_t i) { return list.phase[i]; });
    column([&](std::size_t i) { return list.lane[i]; });
    column([&](std::size_t i) { return list.group[i]; });
    column([&](std::size_t i) { return list.bytes[i]; });
    column([&](std::size_t i) { return list.peer[i]; });
    column([&](std::size_t i) { return list.BareEnd(i); });
  }
  return out.bytes();
}

bool DecodeCollectives(const std::string& bytes, std::vector<RankSummary>* ranks) {
  NumberReader in(bytes);
  if (in.Take() != static_cast<std::int64_t>(ranks->size())) return false;
  for (RankSummary& rank : *ranks) {
    const std::int64_t n = in.Take();
    const std::int64_t columns = in.Take();
    if (n < 0 || columns < kColumns || columns > 1000 || n > static_cast<std::int64_t>(in.left())) {
      return false;
    }
    RankCollectives& list = rank.collectives;
    const auto count = static_cast<std::size_t>(n);
    const auto column = [&](auto* into) {
      into->resize(count);
      for (auto& value : *into) {
        value = static_cast<std::decay_t<decltype(value)>>(in.Take());
      }
    };
    column(&list.start);
    column(&list.end);
    column(&list.exposed);
    column(&list.kind);
    column(&list.phase);
    column(&list.lane);
    column(&list.group);
    column(&list.bytes);
    column(&list.peer);
    column(&list.bare_end);
    for (std::int64_t extra = kColumns * n; extra < columns * n; ++extra) in.Take();
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) list.start[i] += list.start[i - 1];
      list.end[i] += list.start[i];
      const bool known = list.kind[i] < rank.kinds.size() &&
                         list.group[i] < static_cast<int>(rank.groups.size()) &&
                         list.group[i] >= -1;
      if (!known) return false;
    }
  }
  return !in.broken();
}

const std::string* Find(const Sections& sections, const std::string& name) {
  for (const auto& [key, bytes] : sections) {
    if (key == name) return &bytes;
  }
  return nullptr;
}

auto Damaged(const char* section, const char* how, const std::string& where) {
  return Fail(fmt::format("the section \"{}\" is {}", section, how), where,
              "write the facts again: advise facts REPORT -o run.facts");
}

// JSON knows no infinities: 0 in their place.
void MakeFinite(Json* json) {
  if (json->is_number_float() && !std::isfinite(json->get<double>())) *json = 0.0;
  if (!json->is_structured()) return;
  for (Json& item : *json) MakeFinite(&item);
}

}  // namespace

std::uint32_t ChecksumOf(const std::string& bytes) {
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

Sections Encode(const SavedReport& saved) {
  Json summary = SummaryToJson(saved);
  MakeFinite(&summary);
  return {{"summary", Compress(summary.dump(-1, ' ', false, Json::error_handler_t::replace))},
          {"collectives", Compress(EncodeCollectives(saved.ranks))}};
}

Result<SavedReport> Decode(const Sections& sections, const Vocabulary& known,
                           const std::string& where) {
  std::string summary;
  std::string collectives;
  for (const auto& [name, plain] :
       {std::pair("summary", &summary), std::pair("collectives", &collectives)}) {
    const std::string* packed = Find(sections, name);
    if (packed == nullptr) return Damaged(name, "not there", where);
    if (!Uncompress(*packed, plain)) return Damaged(name, "damaged", where);
  }
  SavedReport saved;
  std::vector<std::string> unknown;
  try {
    saved = SummaryFromText(summary, known, &unknown);
  } catch (const BadSummary& problem) {
    return Fail(std::string("the facts cannot be understood: ") + problem.what(), where,
                "write them again: advise facts REPORT -o run.facts");
  }
  if (!DecodeCollectives(collectives, &saved.ranks)) {
    return Damaged("collectives", "damaged", where);
  }
  if (!unknown.empty()) {
    std::sort(unknown.begin(), unknown.end());
    saved.report.diagnostics.push_back(
        {Level::kWarning,
         fmt::format("findings of rules that this version does not have were left out: {}",
                     fmt::join(unknown, ", ")),
         "", 1});
  }
  return saved;
}

std::string Pack(const Sections& sections) {
  NumberWriter head;
  head.Put(static_cast<std::int64_t>(sections.size()));
  for (const auto& [name, bytes] : sections) {
    head.Put(static_cast<std::int64_t>(name.size()));
    head.Put(static_cast<std::int64_t>(bytes.size()));
  }
  std::string packed = std::to_string(head.bytes().size()) + ":" + head.bytes();
  for (const auto& [name, bytes] : sections) packed += name + bytes;
  return packed;
}

Result<Sections> Unpack(const std::string& packed) {
  const auto broken = [] { return Fail("a message between processes was cut"); };
  const std::size_t colon = packed.find(':');
  if (colon == std::string::npos) return broken();
  const auto size = ParseNumber<std::size_t>(std::string_view(packed).substr(0, colon));
  if (!size || *size > packed.size() - colon - 1) return broken();
  NumberReader head(std::string_view(packed).substr(colon + 1, *size));
  std::size_t at = colon + 1 + *size;
  Sections sections;
  const std::int64_t count = head.Take();
  for (std::int64_t i = 0; i < count && !head.broken(); ++i) {
    const auto name = static_cast<std::size_t>(head.Take());
    const auto bytes = static_cast<std::size_t>(head.Take());
    const std::size_t left = packed.size() - at;
    if (name > left || bytes > left - name) return broken();
    sections.emplace_back(packed.substr(at, name), packed.substr(at + name, bytes));
    at += name + bytes;
  }
  if (head.broken()) return broken();
  return sections;
}

}  // namespace advise
