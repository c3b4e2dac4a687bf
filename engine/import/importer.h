// Readers of foreign files. An importer maps rows to our tables and counts what it cannot use; it
// does no arithmetic. The format of a file is recognized by its content, never by its name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/base/how_far.h"
#include "engine/trace/tables.h"

namespace advise {

struct ImportOptions {
  int jobs = 2;               // readers side by side
  HowFar* how_far = nullptr;  // is told what was read; null: nobody asks
};

// A format that can be read.
struct Importer {
  std::string_view kind;  // Trace::kind, "nsys-sqlite"
  // `head`: the first bytes of the file (up to 64 KiB). True when this importer should try it.
  bool (*sniff)(std::string_view head, const std::string& path);
  Result<Trace> (*read)(const std::string& path, const ImportOptions& options);
  bool timeline = false;  // the format says when things happened
};

// All importers, the most specific first.
std::span<const Importer> Importers();

// The kind of the importer that would read the file; "" when none knows it, or it cannot be opened.
std::string_view ImporterNameOf(const std::string& path);

// Whether the file is of a format with a timeline, as reports are. What no importer knows is taken
// for a report: reading it says what is wrong with it.
bool MayHaveTimeline(const std::string& path);

// Reads one file with the importer that knows it. Errors name the file, what it is instead, and
// what to do.
Result<Trace> ImportReport(const std::string& path, const ImportOptions& options);

// The same with an importer that is already known.
Result<Trace> ImportWith(const Importer& importer, const std::string& path,
                         const ImportOptions& options);

}  // namespace advise
