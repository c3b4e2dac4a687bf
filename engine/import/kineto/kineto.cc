// Bytes → events → columns → trace:
//
//   byte_source         the file, unpacked
//   kineto_stream       JSON text → events, a window at a time
//   kineto_event        one event: fields, arguments, numbers
//   kineto_tables       events → columns; kineto_header, kineto_collectives and kineto_names help
//   kineto_assemble     order and joins
#include <algorithm>
#include <new>

#include "engine/import/byte_source.h"
#include "engine/import/formats.h"
#include "engine/import/kineto/kineto_stream.h"
#include "engine/import/kineto/kineto_tables.h"

namespace advise {
namespace {

constexpr std::size_t kSniffBytes = 1 << 20;
constexpr const char* kCaptureHint =
    "write one with torch.profiler: prof.export_chrome_trace(\"trace.json\")";

bool HasText(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Whether the beginning of a JSON text is that of a Chrome trace.
bool LooksLikeTrace(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  if (text[first] == '[') return HasText(text, "\"ph\"");
  return text[first] == '{' &&
         (HasText(text, "\"traceEvents\"") || HasText(text, "\"deviceProperties\""));
}

Result<Trace> Read(const std::string& path, const ImportOptions& options) {
  auto source = OpenBytes(path, options.jobs > 1, options.how_far);
  if (!source) return tl::unexpected(source.error());
  Trace trace;
  trace.path = path;
  kineto::Tables tables(trace);
  const kineto::StreamStats stats = kineto::ReadChromeTrace(**source, tables);
  const std::string problem = (*source)->Problem();
  if (!stats.has_events) {
    return Fail(problem.empty() ? "a JSON file without trace events" : problem, path,
                problem.empty() ? kCaptureHint : "was the file copied completely?");
  }
  if (stats.events == 0) {
    return Fail(problem.empty() ? "the trace holds no events" : problem, path,
                "profile at least one step: prof.step(), or a schedule with active > 0");
  }
  if (tables.known() == 0) {
    return Fail("a Chrome trace that PyTorch's profiler did not write", path, kCaptureHint);
  }
  tables.Assemble();
  Diagnostics& diagnostics = trace.diagnostics;
  if (!problem.empty()) {
    diagnostics.Add(Level::kError, problem + ": what comes before was read");
  } else if (stats.cut_off) {
    diagnostics.Add(Level::kError, "the file is cut off: the events that were complete were read");
  }
  if (stats.broken > 0) {
    diagnostics.Add(Level::kWarning, "events that are not valid JSON were skipped", "",
                    stats.broken);
  }
  if (stats.repaired > 0) {
    diagnostics.Add(Level::kInfo, "events with stray bytes in their names were repaired", "",
                    stats.repaired);
  }
  return trace;
}

}  // namespace

bool SniffKineto(std::string_view head, const std::string& path) {
  const bool packed = head.starts_with("\x1f\x8b");
  const std::size_t first = head.find_first_not_of("\xef\xbb\xbf \t\r\n");
  const bool json = first != std::string_view::npos && (head[first] == '{' || head[first] == '[');
  if (!packed && !json) return false;
  if (!packed && LooksLikeTrace(head)) return true;
  // Long headers come before the events in some files; packed ones must be opened anyway.
  auto source = OpenBytes(path);
  if (!source) return false;
  std::string text(kSniffBytes, '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const std::size_t count = (*source)->Read(text.data() + filled, text.size() - filled);
    if (count == 0) break;
    filled += count;
  }
  text.resize(filled);
  return LooksLikeTrace(text);
}

Result<Trace> ReadKineto(const std::string& path, const ImportOptions& options) {
  try {
    return Read(path, options);
  } catch (const std::bad_alloc&) {
    return Fail("there is not enough memory for this trace", path,
                "profile fewer steps: schedule(wait=1, warmup=1, active=3)");
  }
}

}  // namespace advise
