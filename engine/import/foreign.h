// What to say of files that no importer reads: what they look like, and what to do instead.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/error.h"

namespace advise {

// `head`: the first bytes of the file.
Error ForeignFile(std::string_view head, const std::string& path);

// "nsys export --type sqlite …" for a report, quoted for a shell.
std::string ExportCommand(const std::string& path);

}  // namespace advise
