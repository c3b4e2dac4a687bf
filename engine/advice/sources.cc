#include <algorithm>
#include <optional>
#include <string_view>

#include "engine/advice/views.h"
#include "engine/base/parse_number.h"
#include "engine/timeline/python_frames.h"

namespace advise {
namespace {

// "train.py(12): forward" taken apart; nothing for builtins and modules.
std::optional<FindingSource> ParseFrame(std::string_view frame) {
  const std::size_t close = frame.find("): ");
  if (close == std::string_view::npos) return std::nullopt;
  const std::size_t open = frame.rfind('(', close);
  if (open == std::string_view::npos || open == 0) return std::nullopt;
  FindingSource source;
  source.line = ParseNumber<int>(frame.substr(open + 1, close - open - 1)).value_or(0);
  if (source.line <= 0) return std::nullopt;
  source.file = frame.substr(0, open);
  source.function = frame.substr(close + 3);
  return source;
}

// Who was at work for the example, and when: the launching thread.
struct Moment {
  std::uint32_t thread = kNone;
  Nanos time = 0;
};

Moment MomentOf(const Analysis& analysis, const WorstExample& example) {
  const Trace& trace = analysis.run.trace;
  const Nanos middle = example.start + (example.end - example.start) / 2;
  for (const Gap gap : analysis.idle.gaps) {
    const bool same = example.device == kNone || gap.device == example.device;
    if (!same || middle < gap.start || middle >= gap.end) continue;
    const GapPieces& pieces = analysis.idle.pieces;
    const std::size_t piece = pieces.FirstEndingAfter(gap.device, middle);
    return {piece < pieces.size() ? analysis.idle.ThreadOf(pieces[piece]) : gap.thread, middle};
  }
  for (std::uint32_t op = 0; op < trace.ops.size() && trace.ops.start[op] <= middle; ++op) {
    const bool same = example.device == kNone || trace.ops.device[op] == example.device;
    const std::uint32_t call = trace.ops.call[op];
    if (same && trace.ops.end[op] > middle && call != kNone) {
      return {trace.calls.thread[call], trace.calls.start[call]};
    }
  }
  return {};
}

std::optional<FindingSource> SourceAt(const Run& run, const RowRange& rows, Nanos time) {
  const Trace& trace = run.trace;
  std::optional<FindingSource> own;
  std::optional<FindingSource> any;
  // Rows of a thread are in order of their start: the last that is open is the innermost.
  for (std::uint32_t r = rows.first; r < rows.last && trace.python_frames.start[r] <= time; ++r) {
    if (trace.python_frames.end[r] <= time) continue;
    auto source = ParseFrame(trace.strings[trace.python_frames.name[r]]);
    if (!source) continue;
    if (!IsLibraryFile(run.knowledge, source->file)) own = source;
    any = std::move(source);
  }
  return own ? own : any;
}

}  // namespace

std::vector<FindingSource> FindSources(const Analysis& analysis, const Report& report) {
  std::vector<FindingSource> sources;
  const Trace& trace = analysis.run.trace;
  if (trace.python_frames.size() == 0) return sources;
  const std::vector<RowRange> rows = RowsByThread(trace.python_frames.thread, trace.threads.size());
  for (const Finding& finding : report.findings) {
    const WorstExample worst = FindWorstExample(analysis, report, finding);
    if (worst.end <= worst.start) continue;
    const Moment moment = MomentOf(analysis, worst);
    if (moment.thread == kNone) continue;
    auto source = SourceAt(analysis.run, rows[moment.thread], moment.time);
    if (!source) continue;
    source->finding = finding.rank;
    if (finding.rule != nullptr) source->rule = finding.rule->id;
    sources.push_back(std::move(*source));
  }
  return sources;
}

}  // namespace advise
