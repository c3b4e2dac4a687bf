// Tables of totals of a printed output: what they hold goes into Trace::profile.
#pragma once

#include "engine/import/profiles/printed_tables.h"
#include "engine/trace/tables.h"

namespace advise {

bool IsTotals(const PrintedTable& table);

// "cudaLaunchKernel", "cuMemAlloc_v2", "hipMalloc": a call of CUDA or HIP, and not a kernel or a
// call of the operating system.
bool IsGpuCall(std::string_view name);

// Adds the tables of totals. Returns the number of their rows.
std::size_t AddTotals(const PrintedTables& printed, Trace* trace);

}  // namespace advise
