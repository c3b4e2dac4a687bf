// The facts file: a small SQLite database that stands in for a report.
//
//   meta      name, value   format, reads_from (oldest reader that understands it), tool, created
//   sections  name, checksum, content: see encode.h
//
// The header's application id tells it from other SQLite files. It holds no environment but the
// switches of communication libraries, and no command lines.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/store/encode.h"

namespace advise {

// `head`: the first bytes of a file.
bool IsFactsFile(std::string_view head);
bool IsFactsFileAt(const std::string& path);

// Writes a new file in place of one of that name.
Result<void> WriteFactsFile(const SavedReport& saved, const std::string& path);

// Sections that pass their checksums, in a file that this version understands.
Result<Sections> ReadFactsSections(const std::string& path);
Result<SavedReport> ReadFactsFile(const std::string& path, const Vocabulary& known);

}  // namespace advise
