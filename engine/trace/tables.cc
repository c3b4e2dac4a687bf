#include "engine/trace/tables.h"

namespace advise {

std::vector<RowRange> RowsByThread(const std::vector<std::uint32_t>& thread,
                                   std::size_t thread_count) {
  std::vector<RowRange> rows(thread_count);
  for (std::uint32_t i = 0; i < thread.size(); ++i) {
    if (thread[i] >= thread_count) continue;  // rows tied to no thread sort last
    RowRange& range = rows[thread[i]];
    if (range.empty()) range.first = i;
    range.last = i + 1;
  }
  return rows;
}

}  // namespace advise
