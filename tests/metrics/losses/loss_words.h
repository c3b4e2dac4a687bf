// Losses and what their fixes change, as one line each, so that a test sees all of it.
#pragma once

#include <fmt/format.h>

#include <string>

#include "engine/metrics/losses/loss.h"
#include "tests/support/analyzed.h"

namespace advise {

// "3 times, 96 bytes, 30 us in all, 20 us lost": times in ns.
inline std::string Told(const Loss& loss) {
  return fmt::format("{} times, {:.0f} bytes, {:.0f} ns in all, {} ns lost", loss.count, loss.bytes,
                     loss.time_ns, loss.lost->Total());
}

// "unblocks 1 2, drops 3, scales 4 to 0.5, detaches 5, cuts 100 ns": rows of calls and of ops.
inline std::string Changes(const Loss& loss) {
  const Remedy& remedy = *loss.remedy;
  std::string text;
  const auto list = [&](const char* verb, const std::vector<std::uint32_t>& rows) {
    if (rows.empty()) return;
    text += text.empty() ? "" : ", ";
    text += fmt::format("{} {}", verb, fmt::join(rows, " "));
  };
  list("unblocks", remedy.unblocked_calls);
  list("drops", remedy.vanished_calls);
  list("detaches", remedy.detached_ops);
  list("frees", remedy.freed_ops);
  for (const auto& [op, factor] : remedy.scaled_ops) {
    text += text.empty() ? "" : ", ";
    text += fmt::format("scales {} to {:.3g}", op, factor);
  }
  Nanos cut = 0;
  for (const auto& [thread, when] : CutsByThread(remedy.host_cuts)) cut += when.Total();
  if (cut > 0) text += fmt::format("{}cuts {} ns", text.empty() ? "" : ", ", cut);
  if (remedy.data_ready) text += text.empty() ? "readies data" : ", readies data";
  return text;
}

}  // namespace advise
