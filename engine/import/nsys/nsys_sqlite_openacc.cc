// Directives of OpenACC, as ranges of the domain "OpenACC".
//
//   CUPTI_ACTIVITY_KIND_OPENACC_DATA     start, end, globalTid, eventKind, lineNo, srcFile,
//   varName,
//                                        bytes
//   CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH   start, end, globalTid, eventKind, lineNo, srcFile
//   CUPTI_ACTIVITY_KIND_OPENACC_OTHER    start, end, globalTid, eventKind, lineNo, srcFile
//
// The names also without the prefix.
//
//   eventKind          as CUPTI numbers events of OpenACC
//   srcFile, varName   StringIds ids
//
// A range is named by what the directive does and where it stands: "OpenACC upload of a at
// solver.f90:42". What the runtime does on its own (allocations, its start) is left out.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/import/nsys/nsys_sqlite_rows.h"
#include "engine/import/row_order.h"

namespace advise::nsys {
namespace {

struct DirectiveKind {
  std::int64_t number;
  std::string_view words;
};
constexpr auto kDirectives = std::to_array<DirectiveKind>({{4, "launch"},
                                                           {5, "upload"},
                                                           {6, "download"},
                                                           {7, "wait"},
                                                           {8, "implicit wait"},
                                                           {9, "compute construct"},
                                                           {10, "update"},
                                                           {11, "enter data"},
                                                           {12, "exit data"}});

std::string_view WordsOfDirective(std::int64_t number) {
  const auto found = std::find_if(kDirectives.begin(), kDirectives.end(),
                                  [&](const DirectiveKind& kind) { return kind.number == number; });
  return found == kDirectives.end() ? std::string_view() : found->words;
}

void AppendDirectives(Reader& reader, std::string_view table, DirectiveRows& rows) {
  enum { kStart, kEnd, kThread, kKind, kLine, kFile, kVariable, kBytes };
  Scan scan(reader, table,
            {"start", "end", "globalTid", "eventKind", "lineNo", "srcFile", "varName", "bytes"});
  scan.ForEach([&] {
    DirectiveRows::Directive made;
    if (!scan.Span(kStart, made.start, made.end)) return;
    made.model = "OpenACC";
    made.words = WordsOfDirective(scan.Int(kKind));
    if (made.words.empty()) return;
    made.thread = ThreadNumber(scan, kThread, rows.threads);
    made.line = scan.Int(kLine);
    made.file = scan.Name(kFile);
    made.variable = scan.Name(kVariable);
    made.bytes = scan.Int(kBytes);
    rows.directives.push_back(made);
  });
}

// The last part of a path.
std::string_view FileOf(std::string_view path) {
  return path.substr(path.find_last_of("/\\") + 1);  // npos + 1 is 0
}

}  // namespace

DirectiveRows ReadDirectives(Reader& reader) {
  DirectiveRows rows;
  for (const std::string table : {"OPENACC_DATA", "OPENACC_LAUNCH", "OPENACC_OTHER"}) {
    AppendDirectives(reader, table, rows);
    AppendDirectives(reader, "CUPTI_ACTIVITY_KIND_" + table, rows);
  }
  AppendOpenMp(reader, rows);
  return rows;
}

void JoinDirectives(const std::vector<DirectiveRows::Directive>& directives, Trace& trace) {
  if (directives.empty()) return;
  RangeTable& ranges = trace.ranges;
  for (const DirectiveRows::Directive& directive : directives) {
    std::string name = fmt::format("{} {}", directive.model, directive.words);
    const StringId domain = trace.strings.Intern(directive.model);
    const std::string& variable = trace.strings[directive.variable];
    const std::string_view file = FileOf(trace.strings[directive.file]);
    if (!variable.empty()) name += " of " + variable;
    if (!file.empty() && directive.line > 0) name += fmt::format(" at {}:{}", file, directive.line);
    ranges.start.push_back(directive.start);
    ranges.end.push_back(directive.end);
    ranges.thread.push_back(directive.thread);
    ranges.name.push_back(trace.strings.Intern(name));
    ranges.domain.push_back(domain);
    ranges.payload.push_back(directive.bytes);
    if (!ranges.inputs.empty()) ranges.inputs.push_back(kNone);
  }
  SortSpans(trace.threads.size(), &ranges);
}

}  // namespace advise::nsys
