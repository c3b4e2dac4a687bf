#include "engine/metrics/summaries.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

namespace advise {
namespace {

// "step 12" and "step 13" are one row.
std::string WithoutNumbers(const std::string& name) {
  std::string plain;
  for (const char c : name) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (digit && !plain.empty() && plain.back() == '#') continue;
    plain += digit ? '#' : c;
  }
  return plain;
}

class Table {
 public:
  void Add(const std::string& name, double value) { values_[name].push_back(value); }

  std::vector<SummaryRow> Rows(std::size_t most) {
    std::vector<SummaryRow> rows;
    double all = 0;
    for (auto& [name, values] : values_) {
      SummaryRow row;
      row.name = name;
      row.count = static_cast<std::int64_t>(values.size());
      row.min = *std::min_element(values.begin(), values.end());
      row.max = *std::max_element(values.begin(), values.end());
      for (const double value : values) row.total += value;
      const auto count = static_cast<double>(values.size());
      row.mean = row.total / count;
      double squares = 0;
      for (const double value : values) squares += (value - row.mean) * (value - row.mean);
      row.stddev = std::sqrt(squares / count);
      row.median = Middle(std::move(values));
      all += row.total;
      rows.push_back(std::move(row));
    }
    for (SummaryRow& row : rows) row.share = all > 0 ? row.total / all : 0;
    std::stable_sort(rows.begin(), rows.end(),
                     [](const SummaryRow& a, const SummaryRow& b) { return a.total > b.total; });
    if (rows.size() > most) rows.resize(most);
    return rows;
  }

 private:
  // The median as tables of other tools give it: between the two middle values.
  static double Middle(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  }

  std::map<std::string, std::vector<double>> values_;
};

const char* DirectionName(CopyDirection direction) {
  switch (direction) {
    case CopyDirection::kHostToDevice:
      return "host to device";
    case CopyDirection::kDeviceToHost:
      return "device to host";
    case CopyDirection::kDeviceToDevice:
      return "inside a device";
    case CopyDirection::kPeerToPeer:
      return "device to device";
    case CopyDirection::kHostToHost:
      return "host to host";
    case CopyDirection::kMigrationToDevice:
      return "migration to device";
    case CopyDirection::kMigrationToHost:
      return "migration to host";
    case CopyDirection::kMigrationPeer:
      return "migration between devices";
    case CopyDirection::kUnknown:
      break;
  }
  return "unknown direction";
}

}  // namespace

Summaries Summarize(const Basis& basis, std::size_t most) {
  const Trace& trace = basis.run.trace;
  Table kernels, calls, copy_times, copy_sizes, ranges, os_calls;
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    if (!basis.InWindow(trace.ops.start[op])) continue;
    const auto length = static_cast<double>(trace.ops.end[op] - trace.ops.start[op]);
    const std::uint32_t detail = trace.ops.detail[op];
    switch (trace.ops.kind[op]) {
      case OpKind::kKernel:
        kernels.Add(trace.strings[trace.shapes[detail].name], length);
        break;
      case OpKind::kGraph:
        kernels.Add("(a CUDA graph as a whole)", length);
        break;
      case OpKind::kCopy:
        copy_times.Add(DirectionName(trace.copies.direction[detail]), length);
        copy_sizes.Add(DirectionName(trace.copies.direction[detail]),
                       static_cast<double>(trace.copies.bytes[detail]));
        break;
      case OpKind::kMemset:
        copy_times.Add("memset", length);
        copy_sizes.Add("memset", static_cast<double>(trace.memsets.bytes[detail]));
        break;
    }
  }
  for (std::size_t i = 0; i < trace.calls.size(); ++i) {
    if (!basis.InWindow(trace.calls.start[i])) continue;
    calls.Add(trace.strings[trace.calls.name[i]],
              static_cast<double>(trace.calls.end[i] - trace.calls.start[i]));
  }
  std::map<StringId, std::string> plain;
  for (std::size_t i = 0; i < trace.ranges.size(); ++i) {
    if (!basis.InWindow(trace.ranges.start[i])) continue;
    const StringId name = trace.ranges.name[i];
    const auto known = plain.find(name);
    const std::string& shown =
        known != plain.end()
            ? known->second
            : plain.emplace(name, WithoutNumbers(trace.strings[name])).first->second;
    ranges.Add(shown, static_cast<double>(trace.ranges.end[i] - trace.ranges.start[i]));
  }
  for (std::size_t i = 0; i < trace.os_calls.size(); ++i) {
    if (!basis.InWindow(trace.os_calls.start[i])) continue;
    os_calls.Add(trace.strings[trace.os_calls.name[i]],
                 static_cast<double>(trace.os_calls.end[i] - trace.os_calls.start[i]));
  }
  return {kernels.Rows(most),    calls.Rows(most),  copy_times.Rows(most),
          copy_sizes.Rows(most), ranges.Rows(most), os_calls.Rows(most)};
}

}  // namespace advise
