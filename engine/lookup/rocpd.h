// How rows are looked up in a database of rocprofv3 (rocpd): words of its tables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/trace/intervals.h"
#include "engine/trace/tables.h"

namespace advise::rocpd {

inline constexpr const char* kKernels = "rocpd_kernel_dispatch";
inline constexpr const char* kCopies = "rocpd_memory_copy";
inline constexpr const char* kCalls = "rocpd_region";

class Queries {
 public:
  // `trace` must outlive this.
  explicit Queries(const Trace& trace);

  // Whether the trace came from a database that one statement can ask: of one process, with times
  // in its rows. The functions below need that.
  bool CanAsk() const { return !set_.empty(); }

  // The name of a table, which ends in the id of the process's set of tables.
  std::string Table(const char* name) const { return name + set_; }
  // The conditions on times below are SQL.
  std::string Longest(const char* table, const std::string& condition) const;
  // All GPU work of a device as one source with columns start and "end".
  std::string OpsOf(std::uint32_t device) const;
  std::string TimeOfKernel(const std::string& quoted_names, const std::string& condition) const;
  // Nothing for directions that the tables do not tell.
  std::string BytesCopied(const std::vector<CopyDirection>& directions,
                          const std::string& condition) const;
  std::string CountOfCalls(const std::string& quoted_name, const std::string& condition) const;

 private:
  const Trace& trace_;
  std::string set_;
};

}  // namespace advise::rocpd
