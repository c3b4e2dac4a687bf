#include "engine/import/repeated_rows.h"

namespace advise {

std::vector<std::uint32_t> OpsListedOnce(const OpTable& ops, const CopyTable& copies,
                                         const MemsetTable& memsets,
                                         const std::vector<std::uint32_t>& nodes) {
  const auto same_detail = [&](std::uint32_t a, std::uint32_t b) {
    const std::uint32_t x = ops.detail[a];
    const std::uint32_t y = ops.detail[b];
    if (ops.kind[a] == OpKind::kCopy) return SameRow(copies, x, y);
    if (ops.kind[a] == OpKind::kMemset) return SameRow(memsets, x, y);
    return x == y;
  };
  return ListedOnce(ops.start, [&](std::uint32_t a, std::uint32_t b) {
    return ops.call[a] != 0 && ops.call[a] == ops.call[b] && ops.end[a] == ops.end[b] &&
           ops.end[a] > ops.start[a] && ops.kind[a] == ops.kind[b] &&
           ops.stream[a] == ops.stream[b] && nodes[a] == nodes[b] && same_detail(a, b);
  });
}

}  // namespace advise
