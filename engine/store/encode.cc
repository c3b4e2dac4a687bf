#include "engine/store/encode.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/store/report_json.h"

namespace advise {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLargest = std::size_t{1} << 30;  // no section is that large when unpacked

// The length before compression stands in front, in eight bytes.
std::string Compress(const std::string& plain) {
  std::string packed(8 + compressBound(plain.size()), '\0');
  for (std::size_t i = 0; i < 8; ++i) {
    packed[i] = static_cast<char>((plain.size() >> (8 * i)) & 0xFFU);
  }
  uLongf size = packed.size() - 8;
  compress2(reinterpret_cast<Bytef*>(packed.data() + 8), &size,
            reinterpret_cast<const Bytef*>(plain.data()), plain.size(), 9);
  packed.resize(8 + size);
  return packed;
}

bool Uncompress(const std::string& packed, std::string* plain) {
  if (packed.size() < 8) return false;
  std::size_t size = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    size |= static_cast<std::size_t>(static_cast<unsigned char>(packed[i])) << (8 * i);
  }
  if (size > kLargest) return false;
  plain->resize(size);
  uLongf got = size;
  return uncompress(reinterpret_cast<Bytef*>(plain->data()), &got,
                    reinterpret_cast<const Bytef*>(packed.data() + 8), packed.size() - 8) == Z_OK &&
         got == size;
}

// Whole numbers in as few bytes as they need, small negative ones too.
class Numbers {
 public:
  Numbers() = default;
  explicit Numbers(std::string bytes) : bytes_(std::move(bytes)) {}
  void Put(std::int64_t value) {
    auto rest = (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
    while (rest >= 0x80) {
      bytes_ += static_cast<char>(rest | 0x80U);
      rest >>= 7U;
    }
    bytes_ += static_cast<char>(rest);
  }
  std::int64_t Take() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == bytes_.size()) {
        broken_ = true;
        return 0;
      }
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) break;
    }
    return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
  }
  bool broken() const { return broken_; }
  std::size_t left() const { return bytes_.size() - at_; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
  bool broken_ = false;
};

constexpr std::int64_t kColumns = 9;  // later versions add columns behind

std::string EncodeCollectives(const std::vector<RankSummary>& ranks) {
  Numbers out;
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
  }
  return out.bytes();
}

bool DecodeCollectives(const std::string& bytes, std::vector<RankSummary>* ranks) {
  Numbers in(bytes);
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

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::uint32_t ChecksumOf(const std::string& bytes) {
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

Sections Encode(const SavedReport& saved) {
  return {{"report", Compress(Dump(ReportToJson(saved.report)))},
          {"verdicts", Compress(Dump(VerdictsToJson(saved.report.verdicts)))},
          {"ranks", Compress(Dump(RanksToJson(saved.ranks)))},
          {"collectives", Compress(EncodeCollectives(saved.ranks))}};
}

Result<SavedReport> Decode(const Sections& sections, const FindRuleInfo& find_rule,
                           const std::string& where) {
  std::string plain[4];
  const char* const names[4] = {"report", "verdicts", "ranks", "collectives"};
  for (int i = 0; i < 4; ++i) {
    const std::string* packed = Find(sections, names[i]);
    if (packed == nullptr || !Uncompress(*packed, &plain[i])) {
      return Fail(fmt::format("the section \"{}\" is {}", names[i],
                              packed == nullptr ? "not there" : "damaged"),
                  where, "write the facts again: advise facts REPORT -o run.facts");
    }
  }
  SavedReport saved;
  std::vector<std::string> unknown;
  try {
    saved.report = ReportFromJson(Json::parse(plain[0]), find_rule, &unknown);
    saved.report.verdicts = VerdictsFromJson(Json::parse(plain[1]), find_rule);
    saved.ranks = RanksFromJson(Json::parse(plain[2]));
  } catch (const Json::exception& problem) {
    return Fail(std::string("the facts cannot be understood: ") + problem.what(), where,
                "write them again: advise facts REPORT -o run.facts");
  }
  if (!DecodeCollectives(plain[3], &saved.ranks)) {
    return Fail("the section \"collectives\" is damaged", where,
                "write the facts again: advise facts REPORT -o run.facts");
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
  Numbers head;
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
  if (colon == std::string::npos || colon > 12) return broken();
  const std::size_t size = std::stoul(packed.substr(0, colon));
  if (colon + 1 + size > packed.size()) return broken();
  Numbers head(packed.substr(colon + 1, size));
  std::size_t at = colon + 1 + size;
  Sections sections;
  const std::int64_t count = head.Take();
  for (std::int64_t i = 0; i < count && !head.broken(); ++i) {
    const auto name = static_cast<std::size_t>(head.Take());
    const auto bytes = static_cast<std::size_t>(head.Take());
    if (at + name + bytes > packed.size()) return broken();
    sections.emplace_back(packed.substr(at, name), packed.substr(at + name, bytes));
    at += name + bytes;
  }
  return sections;
}

}  // namespace advise
