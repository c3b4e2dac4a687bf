#include "engine/store/packed_json.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/store/compress.h"
#include "engine/store/numbers.h"
#include "engine/store/words.h"

namespace advise {
namespace {

using Json = nlohmann::json;

// One byte a value says what it is. Objects of the same fields share a shape.
enum Tag : unsigned char {
  kNull,
  kFalse,
  kTrue,
  kWhole,
  kUnsigned,  // larger than fits a signed number
  kReal,
  kWord,   // of the list
  kAgain,  // a text that came before
  kText,   // a new one
  kArray,
  kNewShape,
  kOldShape,  // its number follows
  kShape,     // and this less kShape is the number of the shape
};

enum Stream : std::size_t { kTags, kWords, kRepeats, kSizes, kWholes, kReals, kTexts, kStreams };
constexpr int kDeepest = 40;  // nesting

const std::vector<std::string_view>& Words() {
  static const std::vector<std::string_view> kList = [] {
    std::vector<std::string_view> words;
    std::string_view rest = WordFile("words-1.txt");
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      words.push_back(rest.substr(0, end));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    return words;
  }();
  return kList;
}

// What writer and reader both count. Words are told by the distance from the one that came before
// in the same field of the same shape: lists of names in the usual order become ones.
class Shapes {
 public:
  std::size_t Add(std::vector<std::string> fields) {
    first_slot_.push_back(last_word_.size());
    last_word_.resize(last_word_.size() + fields.size(), 0);
    all_.push_back(std::move(fields));
    return all_.size() - 1;
  }
  std::size_t size() const { return all_.size(); }
  const std::vector<std::string>& Fields(std::size_t shape) const { return all_[shape]; }
  std::size_t Slot(std::size_t shape, std::size_t field) const {
    return first_slot_[shape] + field;
  }
  std::int64_t& LastWord(std::size_t slot) { return last_word_[slot]; }

 private:
  std::vector<std::vector<std::string>> all_;
  std::vector<std::size_t> first_slot_;
  std::vector<std::int64_t> last_word_ = {0};  // slot 0: outside of objects
};

class Packer {
 public:
  std::string Pack(const Json& json) {
    Value(json, 0);
    const std::array<const std::string*, kStreams> streams = {
        &tags_,  &words_.bytes(), &repeats_.bytes(), &sizes_.bytes(), &wholes_.bytes(),
        &reals_, &texts_};
    NumberWriter head;
    std::string body;
    for (const std::string* stream : streams) {
      const std::string packed = Compress(*stream);
      head.Put(packed.size());
      body += packed;
    }
    return head.bytes() + body;
  }

 private:
  void Value(const Json& json, std::size_t slot) {
    switch (json.type()) {
      case Json::value_t::boolean:
        Put(json.get<bool>() ? kTrue : kFalse);
        break;
      case Json::value_t::number_integer:
        Put(kWhole);
        wholes_.Put(json.get<std::int64_t>());
        break;
      case Json::value_t::number_unsigned: {
        const auto value = json.get<std::uint64_t>();
        Put(value >> 63U == 0 ? kWhole : kUnsigned);
        wholes_.Put(static_cast<std::int64_t>(value));
        break;
      }
      case Json::value_t::number_float:
        Real(json.get<double>());
        break;
      case Json::value_t::string:
        Text(json.get_ref<const std::string&>(), slot);
        break;
      case Json::value_t::array:
        Put(kArray);
        sizes_.Put(json.size());
        for (const Json& item : json) Value(item, slot);
        break;
      case Json::value_t::object:
        Object(json);
        break;
      default:
        Put(kNull);
    }
  }

  void Put(unsigned tag) { tags_ += static_cast<char>(tag); }

  void Real(double value) {
    Put(std::isfinite(value) ? kReal : kNull);
    if (std::isfinite(value)) reals_ += fmt::format("{},", value);
  }

  void Text(const std::string& text, std::size_t slot) {
    static const std::unordered_map<std::string_view, std::int64_t> kNumbers = [] {
      std::unordered_map<std::string_view, std::int64_t> numbers;
      for (const std::string_view word : Words()) numbers.try_emplace(word, numbers.size());
      return numbers;
    }();
    if (const auto word = kNumbers.find(text); word != kNumbers.end()) {
      Put(kWord);
      words_.Put(word->second - shapes_.LastWord(slot));
      shapes_.LastWord(slot) = word->second;
      return;
    }
    const auto [at, added] = seen_.try_emplace(text, seen_.size());
    Put(added ? kText : kAgain);
    if (added) {
      sizes_.Put(text.size());
      texts_ += text;
    } else {
      repeats_.Put(seen_.size() - at->second);
    }
  }

  void Object(const Json& json) {
    std::vector<std::string> fields;
    for (const auto& [name, value] : json.items()) fields.push_back(name);
    auto at = shape_of_.find(fields);
    if (at == shape_of_.end()) {
      Put(kNewShape);
      sizes_.Put(fields.size());
      for (const std::string& name : fields) Text(name, 0);
      at = shape_of_.emplace(fields, shapes_.Add(fields)).first;
    } else if (at->second < 256U - kShape) {
      Put(kShape + static_cast<unsigned>(at->second));
    } else {
      Put(kOldShape);
      sizes_.Put(at->second);
    }
    std::size_t field = 0;
    for (const auto& [name, value] : json.items()) Value(value, shapes_.Slot(at->second, field++));
  }

  std::string tags_;
  NumberWriter words_, repeats_, sizes_, wholes_;
  std::string reals_, texts_;
  std::unordered_map<std::string, std::size_t> seen_;
  std::map<std::vector<std::string>, std::size_t> shape_of_;
  Shapes shapes_;
};

class Unpacker {
 public:
  explicit Unpacker(const std::array<std::string, kStreams>& streams)
      : tags_(streams[kTags]),
        words_(streams[kWords]),
        repeats_(streams[kRepeats]),
        sizes_(streams[kSizes]),
        wholes_(streams[kWholes]),
        reals_(streams[kReals]),
        texts_(streams[kTexts]) {}

  std::optional<Json> Unpack() {
    Json json = Value(0, 0);
    const bool broken = broken_ || words_.broken() || repeats_.broken() || sizes_.broken() ||
                        wholes_.broken() || !tags_.empty();
    if (broken) return std::nullopt;
    return json;
  }

 private:
  Json Value(std::size_t slot, int depth) {
    if (tags_.empty() || depth > kDeepest) return Broken();
    const auto tag = static_cast<unsigned char>(tags_.front());
    tags_.remove_prefix(1);
    switch (tag) {
      case kNull:
        return nullptr;
      case kFalse:
      case kTrue:
        return tag == kTrue;
      case kWhole:
        return wholes_.Take();
      case kUnsigned:
        return static_cast<std::uint64_t>(wholes_.Take());
      case kReal:
        return Real();
      case kWord:
      case kAgain:
      case kText:
        return Text(tag, slot);
      case kArray: {
        const std::size_t size = Size();
        Json json = Json::array();
        for (std::size_t i = 0; i < size && !broken_; ++i) json.push_back(Value(slot, depth + 1));
        return json;
      }
      case kNewShape:
        return Object(NewShape(), depth);
      case kOldShape:
        return Object(Size(), depth);
      default:
        return Object(tag - std::size_t{kShape}, depth);
    }
  }

  Json Broken() {
    broken_ = true;
    tags_ = {};
    return nullptr;
  }

  // Of things that each take a tag, or of bytes: never more than there are left of both.
  std::size_t Size() {
    const std::int64_t size = sizes_.Take();
    if (size < 0 || sizes_.broken() ||
        size > static_cast<std::int64_t>(tags_.size() + texts_.size() + shapes_.size())) {
      Broken();
      return 0;
    }
    return static_cast<std::size_t>(size);
  }

  Json Real() {
    double value = 0;
    const char* const end = reals_.data() + reals_.size();
    const auto [at, problem] = std::from_chars(reals_.data(), end, value);
    if (problem != std::errc() || at == end || *at != ',') return Broken();
    reals_.remove_prefix(static_cast<std::size_t>(at - reals_.data()) + 1);
    return value;
  }

  std::string Text(unsigned tag, std::size_t slot) {
    if (tag == kWord) {
      const std::int64_t word = shapes_.LastWord(slot) + words_.Take();
      if (word < 0 || word >= static_cast<std::int64_t>(Words().size())) {
        Broken();
        return "";
      }
      shapes_.LastWord(slot) = word;
      return std::string(Words()[static_cast<std::size_t>(word)]);
    }
    if (tag == kAgain) {
      const std::int64_t back = repeats_.Take();
      if (back < 1 || back > static_cast<std::int64_t>(seen_.size())) {
        Broken();
        return "";
      }
      return seen_[seen_.size() - static_cast<std::size_t>(back)];
    }
    const std::size_t size = Size();
    if (tag != kText || size > texts_.size()) {
      Broken();
      return "";
    }
    seen_.emplace_back(texts_.substr(0, size));
    texts_.remove_prefix(size);
    return seen_.back();
  }

  std::size_t NewShape() {
    std::vector<std::string> fields(Size());
    for (std::string& name : fields) {
      if (tags_.empty()) break;
      const auto tag = static_cast<unsigned char>(tags_.front());
      tags_.remove_prefix(1);
      name = Text(tag, 0);
    }
    return shapes_.Add(std::move(fields));
  }

  Json Object(std::size_t shape, int depth) {
    if (shape >= shapes_.size()) return Broken();
    Json json = Json::object();
    const std::size_t count = shapes_.Fields(shape).size();
    for (std::size_t field = 0; field < count && !broken_; ++field) {
      Json value = Value(shapes_.Slot(shape, field), depth + 1);
      json[shapes_.Fields(shape)[field]] = std::move(value);
    }
    return json;
  }

  std::string_view tags_;
  NumberReader words_, repeats_, sizes_, wholes_;
  std::string_view reals_, texts_;
  std::vector<std::string> seen_;
  Shapes shapes_;
  bool broken_ = false;
};

}  // namespace

std::string PackJson(const Json& json) { return Packer().Pack(json); }

std::optional<Json> UnpackJson(const std::string& packed) {
  NumberReader head(packed);
  std::array<std::size_t, kStreams> sizes{};
  std::size_t total = 0;
  for (std::size_t& size : sizes) {
    const std::int64_t read = head.Take();
    if (read < 0 || static_cast<std::size_t>(read) > packed.size()) return std::nullopt;
    size = static_cast<std::size_t>(read);
    total += size;
  }
  if (head.broken() || total != head.left()) return std::nullopt;
  std::size_t at = packed.size() - total;
  std::array<std::string, kStreams> streams;
  for (std::size_t i = 0; i < kStreams; ++i) {
    if (!Uncompress(std::string_view(packed).substr(at, sizes[i]), &streams[i]))
      return std::nullopt;
    at += sizes[i];
  }
  return Unpacker(streams).Unpack();
}

}  // namespace advise
