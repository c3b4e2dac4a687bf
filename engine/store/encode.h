// A saved report as named sections of bytes, the same for files and for messages between processes.
//
//   summary      JSON: the report with its facts, findings, verdicts and claims, and its ranks
//   collectives  columns of each rank's collectives, as differences in variable-length numbers
//
// both compressed (compress.h). Readers ignore sections and JSON fields they do not know, and take
// defaults for fields that are not there.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/store/saved_report.h"

namespace advise {

using Sections = std::vector<std::pair<std::string, std::string>>;  // name, compressed bytes

Sections Encode(const SavedReport& saved);
// `where` names the file in errors. Findings of rules that are not known are left out, and said so.
Result<SavedReport> Decode(const Sections& sections, const Vocabulary& known,
                           const std::string& where);

// All sections in one text, for messages.
std::string Pack(const Sections& sections);
Result<Sections> Unpack(const std::string& packed);

std::uint32_t ChecksumOf(const std::string& bytes);  // CRC-32

}  // namespace advise
