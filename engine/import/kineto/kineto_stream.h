// Walks a Chrome trace (JSON) from front to back in a window of bounded size, and survives what
// writers leave behind: files that were cut off, bare quotes and control characters in names, NaN,
// trailing commas.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/import/byte_source.h"
#include "engine/import/kineto/kineto_event.h"

namespace advise::kineto {

class Visitor {
 public:
  virtual ~Visitor() = default;
  // The texts of `event` live only during the call.
  virtual void OnEvent(const Event& event) = 0;
  // A top-level value beside the events: its key and its JSON text.
  virtual void OnHeader(std::string_view key, std::string_view json) = 0;
};

struct StreamStats {
  bool has_events = false;    // there was an array of events
  std::int64_t events = 0;    // handed on
  std::int64_t broken = 0;    // that could not be read
  std::int64_t repaired = 0;  // with bytes that are no UTF-8 or control characters
  bool cut_off = false;       // the text ends before the JSON does
  std::int64_t bytes = 0;     // of JSON text read
};

// One pass, O(bytes). Memory: a few MiB, or the size of the largest event (64 MiB at most; a larger
// one counts as broken).
StreamStats ReadChromeTrace(ByteSource& source, Visitor& visitor);

}  // namespace advise::kineto
