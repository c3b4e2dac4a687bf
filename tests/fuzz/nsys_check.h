// A report read by its pages, and by SQLite alone.
#pragma once

#include <algorithm>

#include "tests/fuzz/target.h"

namespace advise::fuzz {

inline bool SameDiagnostics(const Trace& one, const Trace& other) {
  const auto& a = one.diagnostics.list();
  const auto& b = other.diagnostics.list();
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].text != b[i].text || a[i].count != b[i].count) return false;
  }
  return true;
}

inline bool HasErrors(const Trace& trace) {
  const auto& all = trace.diagnostics.list();
  return std::any_of(all.begin(), all.end(),
                     [](const Diagnostic& item) { return item.level == Level::kError; });
}

// Aborts when the two differ.
inline void ReadBothWays(std::string_view content) {
  static const ScratchFile file;
  static const ScratchFile journal("-journal");
  unlink(journal.path().c_str());
  file.Write(content);
  const Result<Trace> read = ImportAs("nsys-sqlite", file.path());
  if (!read) CheckError(read.error());
  // An empty journal keeps the reader from the pages, and SQLite ignores it.
  const int stray = open(journal.path().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (stray < 0 || write(stray, "", 1) != 1) Broken("/dev/shm has room");
  close(stray);
  const Result<Trace> expected = ImportAs("nsys-sqlite", file.path());
  unlink(journal.path().c_str());
  if (expected && HasErrors(*expected)) return;  // of a damaged file SQLite says now this, now that
  if (read.has_value() != expected.has_value()) {
    std::fprintf(stderr, "%s: %s\n", read ? "SQLite" : "pages",
                 (read ? expected : read).error().Line().c_str());
    for (const Diagnostic& item : (read ? read : expected)->diagnostics.list()) {
      std::fprintf(stderr, "the other: %s %s\n", item.table.c_str(), item.text.c_str());
    }
    Broken("pages and SQLite: read or refused");
  }
  if (!read) return;
  if (read->table_rows != expected->table_rows) Broken("pages and SQLite: rows of tables");
  if (read->ops.start != expected->ops.start || read->ops.end != expected->ops.end ||
      read->ops.call != expected->ops.call || read->ops.detail != expected->ops.detail) {
    Broken("pages and SQLite: GPU work");
  }
  if (read->calls.start != expected->calls.start || read->calls.end != expected->calls.end ||
      read->calls.name != expected->calls.name) {
    Broken("pages and SQLite: calls");
  }
  if (read->ranges.start != expected->ranges.start || read->ranges.end != expected->ranges.end) {
    Broken("pages and SQLite: ranges");
  }
  if (!SameDiagnostics(*read, *expected)) Broken("pages and SQLite: what is said of the file");
}

}  // namespace advise::fuzz
