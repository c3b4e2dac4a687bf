// Readers of foreign files. An importer maps rows to our tables and counts what it cannot use; it
// does no arithmetic. The format of a file is told by its content, never by its name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/trace/tables.h"

namespace advise {

struct ImportOptions {
  int jobs = 2;  // readers side by side
};

class Importer {
 public:
  virtual ~Importer() = default;
  virtual std::string_view Name() const = 0;  // "nsys-sqlite"
  // `head`: the first bytes of the file (up to 64 KiB). True when this importer should try it.
  virtual bool Sniff(std::string_view head, const std::string& path) const = 0;
  virtual Result<Trace> Import(const std::string& path, const ImportOptions& options) const = 0;
};

// All importers, the most specific first.
const std::vector<const Importer*>& Importers();

// Reads one file with the importer that knows it. Errors name the file, what it is instead, and
// what to do.
Result<Trace> ImportReport(const std::string& path, const ImportOptions& options);

}  // namespace advise
