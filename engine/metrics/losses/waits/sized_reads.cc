#include "engine/metrics/losses/waits/sized_reads.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace advise {
namespace {

// Which kernels of a trace belong to the family, by shape; each shape is looked up once.
class SizesDependOnData {
 public:
  explicit SizesDependOnData(const Run& run) : run_(run), known_(run.trace.shapes.size(), 0) {}

  bool Is(std::uint32_t op) {
    if (run_.trace.ops.kind[op] != OpKind::kKernel) return false;
    const std::uint32_t shape = run_.trace.ops.detail[op];
    if (known_[shape] == 0) {
      const std::string& name = run_.trace.strings[run_.trace.shapes[shape].name];
      const bool member = run_.knowledge.IsOfFamily(FamilyKind::kKernel, "nonzero", name,
                                                    run_.names.Kernel(shape).name);
      known_[shape] = member ? 1 : 2;
    }
    return known_[shape] == 1;
  }

 private:
  const Run& run_;
  std::vector<std::uint8_t> known_;  // 1: is one, 2: is none
};

}  // namespace

std::int64_t CountSizedReads(const Basis& basis, const std::vector<std::uint32_t>& copies) {
  const OpTable& ops = basis.run.trace.ops;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> ops_of_stream;
  for (const std::uint32_t copy : copies) ops_of_stream[ops.stream[copy]];
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    const auto stream = ops_of_stream.find(ops.stream[op]);
    if (stream != ops_of_stream.end()) stream->second.push_back(op);
  }
  const auto near = static_cast<std::ptrdiff_t>(basis.run.knowledge.Number("sync.sized_near"));
  SizesDependOnData sizes(basis.run);
  std::int64_t sized = 0;
  for (const std::uint32_t copy : copies) {
    const std::vector<std::uint32_t>& row = ops_of_stream[ops.stream[copy]];
    const auto at = std::lower_bound(row.begin(), row.end(), copy);
    const auto first = at - std::min(near, at - row.begin());
    const auto last = at + std::min(near + 1, row.end() - at);
    if (std::any_of(first, last, [&](std::uint32_t op) { return sizes.Is(op); })) ++sized;
  }
  return sized;
}

}  // namespace advise
