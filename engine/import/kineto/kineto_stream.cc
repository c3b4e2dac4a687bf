// Events are parsed in batches: the window is cut behind what looks like its last whole event, put
// into brackets, and given to simdjson. What does not parse that way (a cut in the wrong place, a
// broken event, the end of the file) is gone through byte by byte, one event at a time (`Careful`):
// a broken event is skipped up to the next place that looks like the start of one.
#include "engine/import/kineto/kineto_stream.h"

#include <simdjson.h>

#include <algorithm>
#include <string>

#include "engine/base/ascii.h"
#include "engine/import/kineto/kineto_keys.h"
#include "engine/import/kineto/kineto_scan.h"
#include "engine/import/kineto/kineto_window.h"
#include "engine/import/operator_sizes.h"

namespace advise::kineto {
namespace {

namespace od = simdjson::ondemand;

static_assert(simdjson::SIMDJSON_PADDING >= Keys::kLongest);

// A scalar without the quotes of a string.
std::string_view Scalar(std::string_view token) {
  token = Trimmed(token);
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') {
    token = token.substr(1, token.size() - 2);
  }
  return token;
}

// "[216,2,1]" as it stands, for nearly every kernel has two of these. `at` is readable for the
// padding behind the text.
bool ReadPlainTriple(const char* at, std::array<std::uint32_t, 3>* into) {
  std::array<std::uint32_t, 3> read{};
  for (std::uint32_t& number : read) {
    const char before = &number == read.data() ? '[' : ',';
    if (*at++ != before) return false;
    int digits = 0;
    for (; IsDigit(*at) && digits < 9; ++at, ++digits) {
      number = number * 10 + static_cast<std::uint32_t>(*at - '0');
    }
    if (digits == 0) return false;
  }
  if (*at != ']') return false;
  *into = read;
  return true;
}

void ReadTriple(od::value value, std::array<std::uint32_t, 3>* into) {
  if (ReadPlainTriple(value.raw_json_token().data(), into)) return;
  od::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return;
  std::size_t i = 0;
  for (auto element : array) {
    std::string_view token;
    if (element.raw_json_token().get(token) != simdjson::SUCCESS) return;
    const auto number = ParseInt(Scalar(token));
    if (i < 3 && number && *number >= 0) (*into)[i] = static_cast<std::uint32_t>(*number);
    ++i;
  }
}

simdjson::error_code ReadArgs(od::value value, Keys* keys, Event* event) {
  od::object args;
  if (value.get_object().get(args) != simdjson::SUCCESS) return simdjson::SUCCESS;
  for (auto field : args) {
    od::raw_json_string raw;
    if (const auto error = field.key().get(raw)) return error;
    const Key& key = keys->Read(raw.raw(), event->category);
    od::value inner;
    if (const auto error = field.value().get(inner)) return error;
    if (key.is_grid || key.is_block) {
      ReadTriple(inner, key.is_grid ? &event->grid : &event->block);
      continue;
    }
    const std::optional<Arg> arg = key.arg;
    if (!arg) continue;
    if (IsInputList(*arg)) {
      // Most operators' sizes tell nothing: their lists are stepped over.
      od::array array;
      std::string_view list;
      if (event->category == Category::kOperator &&
          (event->name.empty() || KeepsInputs(event->name)) &&
          inner.get_array().get(array) == simdjson::SUCCESS &&
          array.raw_json().get(list) == simdjson::SUCCESS) {
        event->Set(*arg, Trimmed(list));
      }
      continue;
    }
    const std::string_view token = inner.raw_json_token();
    const bool is_scalar = !token.starts_with('[') && !token.starts_with('{');
    if (is_scalar && !token.starts_with("null")) event->Set(*arg, Scalar(token));
  }
  return simdjson::SUCCESS;
}

// Fields come in any order; once the event turns out to be of no use the rest is left unread.
// Where the text of a field is kept; nothing for one that is not.
std::string_view* PlaceOf(Field field, Event* event) {
  switch (field) {
    case Field::kPhase:
      return &event->phase;
    case Field::kCategory:
      return &event->category_text;
    case Field::kName:
      return &event->name;
    case Field::kProcess:
      return &event->pid;
    case Field::kThread:
      return &event->tid;
    case Field::kStart:
      return &event->start;
    case Field::kDuration:
      return &event->duration;
    default:
      return nullptr;
  }
}

simdjson::error_code ReadEvent(od::object object, Keys* keys, Event* event) {
  for (auto field : object) {
    od::raw_json_string raw;
    if (const auto error = field.key().get(raw)) return error;
    const Field meaning = keys->Read(raw.raw(), event->category).field;
    od::value value;
    if (const auto error = field.value().get(value)) return error;
    if (meaning == Field::kArgs) {
      if (IsSkipped(*event)) return simdjson::SUCCESS;
      if (event->category == Category::kPython) continue;
      if (const auto error = ReadArgs(value, keys, event)) return error;
      continue;
    }
    std::string_view* const into = PlaceOf(meaning, event);
    if (into == nullptr) continue;
    *into = Scalar(value.raw_json_token());
    if (meaning == Field::kCategory) event->category = CategoryOf(*into);
    if ((meaning == Field::kCategory || meaning == Field::kPhase) && IsSkipped(*event)) {
      return simdjson::SUCCESS;
    }
  }
  return simdjson::SUCCESS;
}

class Reader {
 public:
  Reader(ByteSource& source, Visitor& visitor)
      : window_(source, simdjson::SIMDJSON_PADDING), visitor_(visitor) {}

  StreamStats Read() {
    window_.Refill();
    if (window_.text().starts_with("\xef\xbb\xbf")) window_.Drop(3);
    if (Next() == '[') {
      window_.Drop(1);
      Events();
    } else if (Next() == '{') {
      window_.Drop(1);
      TopLevel();
    } else {
      stats_.cut_off = true;
    }
    stats_.bytes = window_.bytes();
    return stats_;
  }

 private:
  // The next character that is no white space, 0 at the end of the text.
  char Next() {
    while (true) {
      const std::string_view text = window_.text();
      std::size_t at = 0;
      while (at < text.size() && IsSpace(text[at])) ++at;
      window_.Drop(at);
      if (at < text.size()) return text[at];
      if (!window_.Refill()) return 0;
    }
  }

  // The text of the value that comes next, moved past; "" when the file ends inside.
  std::string_view Value() {
    Next();
    while (true) {
      const std::size_t end = EndOfValue(window_.text());
      if (end == kNoValue) return {};
      if (end != kNotWhole) {
        const std::string_view value = window_.text().substr(0, end);
        window_.Drop(end);
        return value;
      }
      if (!window_.Refill()) return {};
    }
  }

  // Keys and values up to the brace that closes the file.
  void TopLevel() {
    while (true) {
      const char c = Next();
      if (c == '}') return;
      if (c == ',') {
        window_.Drop(1);
        continue;
      }
      const std::string key = c == '"' ? std::string(Scalar(Value())) : "";
      if (key.empty() || Next() != ':') break;
      window_.Drop(1);
      if (Next() == '[' && key == "traceEvents") {
        window_.Drop(1);
        Events();
        if (stats_.cut_off) return;
        continue;
      }
      const std::string_view json = Value();
      if (json.empty()) break;
      visitor_.OnHeader(key, json);
    }
    // A broken header does not cost the events.
    if (!stats_.has_events && SkipTo("\"traceEvents\"") && Next() == ':') {
      ++stats_.broken;
      window_.Drop(1);
      if (Next() == '[') {
        window_.Drop(1);
        Events();
        if (!stats_.cut_off) TopLevel();
        return;
      }
    }
    stats_.cut_off = true;
  }

  // Past the next place where the text stands; false when it comes no more.
  bool SkipTo(std::string_view wanted) {
    while (true) {
      const std::size_t at = window_.text().find(wanted);
      if (at != std::string_view::npos) {
        window_.Drop(at + wanted.size());
        return true;
      }
      window_.Drop(window_.size() - std::min(window_.size(), wanted.size()));
      if (!window_.Refill()) return false;
    }
  }

  // Events up to the bracket that closes the array, which is moved past.
  void Events() {
    stats_.has_events = true;
    while (true) {
      while (Next() == ',') window_.Drop(1);
      if (Next() == ']') {
        window_.Drop(1);
        return;
      }
      if (Next() == 0) break;
      window_.Refill();
      const std::size_t cut = Next() == '{' ? LastStart(window_.text()) : std::string_view::npos;
      const bool has_cut = cut != std::string_view::npos;
      const std::int64_t until =
          window_.position() + static_cast<std::int64_t>(has_cut ? cut : window_.size());
      if (has_cut) Batch(cut);
      if (!closed_ && window_.position() < until && !Careful(until)) break;
      if (closed_) return;
    }
    stats_.cut_off = true;
  }

  // The events before `cut`, all at once; the window moves past those that could be read. O(cut).
  void Batch(std::size_t cut) {
    char* const text = window_.data();
    std::size_t end = cut - 1;
    while (text[end] != ',') --end;
    text[-1] = '[';
    text[end] = ']';
    std::size_t read = 0;  // where the events that were read end
    const bool whole = BatchEvents(text - 1, end + 2, &read);
    text[end] = ',';
    window_.Drop(whole && !closed_ ? cut : read);
  }

  bool BatchEvents(const char* text, std::size_t size, std::size_t* read) {
    od::document document;
    od::array events;
    if (parser_.iterate(text, size, size + simdjson::SIMDJSON_PADDING).get(document) !=
            simdjson::SUCCESS ||
        document.get_array().get(events) != simdjson::SUCCESS) {
      return false;
    }
    for (auto element : events) {
      od::value value;
      if (element.get(value) != simdjson::SUCCESS) return false;
      *read = static_cast<std::size_t>(value.raw_json_token().data() - text) - 1;
      od::object object;
      event_.Clear();
      if (value.get_object().get(object) != simdjson::SUCCESS ||
          ReadEvent(object, &keys_, &event_) != simdjson::SUCCESS) {
        return false;
      }
      ++stats_.events;
      visitor_.OnEvent(event_);
    }
    // An array that ends before the batch does was closed by the file itself.
    const char* location = nullptr;
    if (document.current_location().get(location) == simdjson::SUCCESS &&
        location < text + size - 1) {
      while (location > text && location[-1] != ']') --location;
      if (location == text) return false;  // damaged: what closed it is no bracket
      closed_ = true;
      *read = static_cast<std::size_t>(location - text) - 1;
    }
    return true;
  }

  // One event at a time, until the window has come to `until`. False at the end of the file.
  bool Careful(std::int64_t until) {
    while (window_.position() < until) {
      while (Next() == ',') window_.Drop(1);
      const char c = Next();
      if (c == 0) return false;
      if (c == ']') {
        window_.Drop(1);
        closed_ = true;
        return true;
      }
      std::size_t end = c == '{' ? EndOfValue(window_.text()) : kNoValue;
      while (end == kNotWhole && window_.Refill()) end = EndOfValue(window_.text());
      if (end != kNoValue && end != kNotWhole && One(window_.text().substr(0, end))) {
        window_.Drop(end);
      } else if (!Resynchronize(end == kNotWhole)) {
        return false;
      }
    }
    return true;
  }

  bool One(std::string_view text) {
    scratch_.assign(text);
    const bool odd = Sanitise(&scratch_);
    scratch_.reserve(scratch_.size() + simdjson::SIMDJSON_PADDING);
    od::document document;
    od::object object;
    event_.Clear();
    const bool readable =
        parser_.iterate(scratch_.data(), scratch_.size(), scratch_.capacity()).get(document) ==
            simdjson::SUCCESS &&
        document.get_object().get(object) == simdjson::SUCCESS &&
        ReadEvent(object, &keys_, &event_) == simdjson::SUCCESS &&
        (!event_.phase.empty() || IsSkipped(event_));
    if (!readable) return false;
    ++stats_.events;
    stats_.repaired += odd ? 1 : 0;
    visitor_.OnEvent(event_);
    return true;
  }

  // Puts a question mark for each byte that JSON text may not hold; true when there was one.
  static bool Sanitise(std::string* text) {
    bool odd = false;
    bool valid = simdjson::validate_utf8(text->data(), text->size());
    bool inside = false;
    for (std::size_t i = 0; i < text->size(); ++i) {
      char& c = (*text)[i];
      if (inside && c == '\\') {
        ++i;
        continue;
      }
      if (c == '"') inside = !inside;
      const auto code = static_cast<unsigned char>(c);
      if ((inside && code < 0x20) || (!valid && code >= 0x80)) {
        c = '?';
        odd = true;
      }
    }
    return odd;
  }

  // Past a broken event: to the next that looks like one, or to the end of the array. False at the
  // end of the file. An event that the file cuts off is no broken one.
  bool Resynchronize(bool is_open) {
    while (true) {
      const std::string_view text = window_.text();
      const std::size_t next = std::min(NextStart(text, 1), EndOfArray(text));
      if (next != std::string_view::npos) {
        ++stats_.broken;
        window_.Drop(next);
        return true;
      }
      if (!window_.Refill()) break;
    }
    const bool is_cut_off = is_open && window_.ended();
    if (!is_cut_off) ++stats_.broken;
    window_.Drop(window_.size());
    return !window_.ended();
  }

  Window window_;
  Visitor& visitor_;
  od::parser parser_;
  std::string scratch_;
  Keys keys_;
  Event event_;
  StreamStats stats_;
  bool closed_ = false;  // the array of events has ended
};

}  // namespace

StreamStats ReadChromeTrace(ByteSource& source, Visitor& visitor) {
  return Reader(source, visitor).Read();
}

}  // namespace advise::kineto
