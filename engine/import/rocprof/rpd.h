// The databases of rocmProfileData's tracer (.rpd), an older relative of rocprofv3's.
#pragma once

#include "engine/base/error.h"
#include "engine/import/sqlite/sqlite_file.h"
#include "engine/trace/tables.h"

namespace advise::rocprof {

inline constexpr std::string_view kRpdTable = "rocpd_api";  // that no database of rocprofv3 has

// Throws SQLite::Exception.
Result<Trace> ReadRpd(const sqlite::Source& source);

}  // namespace advise::rocprof
