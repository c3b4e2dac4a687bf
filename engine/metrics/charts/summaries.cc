#include "engine/metrics/charts/summaries.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <unordered_map>

#include "engine/base/ascii.h"
#include "engine/base/text.h"
#include "engine/metrics/losses/copies/copy.h"

namespace advise {
namespace {

// The median as tables of other tools give it: between the two middle values. Reorders them.
double Middle(std::span<std::int64_t> values) {
  const auto half = static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), values.begin() + half, values.end());
  const auto upper = static_cast<double>(values[values.size() / 2]);
  if (values.size() % 2 == 1) return upper;
  return (static_cast<double>(*std::max_element(values.begin(), values.begin() + half)) + upper) /
         2;
}

SummaryRow RowOf(std::string name, std::span<std::int64_t> values) {
  SummaryRow row;
  row.name = std::move(name);
  row.count = static_cast<std::int64_t>(values.size());
  std::int64_t least = values.front();
  std::int64_t most = values.front();
  for (const std::int64_t value : values) {
    least = std::min(least, value);
    most = std::max(most, value);
    row.total += static_cast<double>(value);
  }
  row.min = static_cast<double>(least);
  row.max = static_cast<double>(most);
  const auto count = static_cast<double>(values.size());
  row.mean = row.total / count;
  double squares = 0;
  for (const std::int64_t value : values) {
    squares += (static_cast<double>(value) - row.mean) * (static_cast<double>(value) - row.mean);
  }
  row.stddev = std::sqrt(squares / count);
  row.median = Middle(values);
  return row;
}

// A table of what `visit(add)` adds, as add(name, value) with a name below `names`. Visited twice,
// to count and to collect: the values then need no more memory than themselves.
template <typename Visit, typename NameOf>
std::vector<SummaryRow> Tabulate(std::size_t names, Visit visit, NameOf name_of) {
  std::vector<std::size_t> next(names + 1, 0);  // where the next value of the name goes
  visit([&](std::size_t name, std::int64_t) { ++next[name + 1]; });
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::int64_t> values(next.back());
  visit([&](std::size_t name, std::int64_t value) { values[next[name]++] = value; });

  std::vector<SummaryRow> rows;
  double all = 0;
  std::size_t first = 0;
  for (std::size_t name = 0; name < names; ++name) {
    const std::size_t last = next[name];
    if (last > first) {
      rows.push_back(RowOf(name_of(name), std::span(values).subspan(first, last - first)));
      all += rows.back().total;
    }
    first = last;
  }
  for (SummaryRow& row : rows) row.share = all > 0 ? row.total / all : 0;
  std::sort(rows.begin(), rows.end(), [](const SummaryRow& a, const SummaryRow& b) {
    return std::tie(b.total, a.name) < std::tie(a.total, b.name);
  });
  if (rows.size() > kSummaryRows) rows.resize(kSummaryRows);
  return rows;
}

}  // namespace

Summaries Summarize(const Run& run) {
  const Trace& trace = run.trace;
  const std::size_t texts = trace.strings.size();
  const auto text = [&trace](std::size_t name) {
    return trace.strings[static_cast<StringId>(name)];
  };
  Summaries result;

  const OpTable& ops = trace.ops;
  const std::size_t whole_graph = texts;
  result.kernels = Tabulate(
      texts + 1,
      [&](auto add) {
        for (const std::uint32_t op : run.OpsInWindow()) {
          if (ops.kind[op] == OpKind::kKernel) {
            add(trace.shapes[ops.detail[op]].name, ops.end[op] - ops.start[op]);
          } else if (ops.kind[op] == OpKind::kGraph) {
            add(whole_graph, ops.end[op] - ops.start[op]);
          }
        }
      },
      [&](std::size_t name) {
        return name == whole_graph ? "(a CUDA graph as a whole)" : text(name);
      });

  // Copies by direction, memsets after them.
  constexpr auto kMemsets = static_cast<std::size_t>(CopyDirection::kMigrationPeer) + 1;
  const auto movements = [&](bool bytes) {
    return Tabulate(
        kMemsets + 1,
        [&, bytes](auto add) {
          for (const std::uint32_t op : run.OpsInWindow()) {
            const Nanos length = ops.end[op] - ops.start[op];
            const std::uint32_t detail = ops.detail[op];
            if (ops.kind[op] == OpKind::kCopy) {
              add(static_cast<std::size_t>(trace.copies.direction[detail]),
                  bytes ? trace.copies.bytes[detail] : length);
            } else if (ops.kind[op] == OpKind::kMemset) {
              add(kMemsets, bytes ? trace.memsets.bytes[detail] : length);
            }
          }
        },
        [=](std::size_t name) -> std::string {
          return name == kMemsets ? "memset" : DirectionName(static_cast<CopyDirection>(name));
        });
  };
  result.copy_times = movements(false);
  result.copy_sizes = movements(true);

  const auto lengths = [&](const auto& table, const auto& name_of_row, std::size_t names,
                           auto name_of) {
    return Tabulate(
        names,
        [&](auto add) {
          for (std::size_t i = 0; i < table.size(); ++i) {
            if (run.InWindow(table.start[i])) {
              add(name_of_row(table.name[i]), table.end[i] - table.start[i]);
            }
          }
        },
        name_of);
  };
  const auto itself = [](StringId name) { return name; };
  result.calls = lengths(trace.calls, itself, texts, text);
  result.os_calls = lengths(trace.os_calls, itself, texts, text);
  result.mpi = lengths(trace.mpi, itself, texts, text);

  std::vector<std::string> plain;  // names of ranges without numbers
  std::map<std::string, std::size_t> known;
  std::unordered_map<StringId, std::size_t> plain_of;
  for (const StringId name : trace.ranges.name) {
    if (plain_of.contains(name)) continue;
    const auto [at, is_new] = known.emplace(WithoutNumbers(trace.strings[name]), plain.size());
    if (is_new) plain.push_back(at->first);
    plain_of.emplace(name, at->second);
  }
  result.ranges = lengths(
      trace.ranges, [&](StringId name) { return plain_of.at(name); }, plain.size(),
      [&](std::size_t name) { return plain[name]; });
  return result;
}

}  // namespace advise
