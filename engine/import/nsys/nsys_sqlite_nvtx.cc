// NVTX_EVENTS: ranges and names that the program gave.
//
//   eventType 59, 70  push/pop range          → ranges
//             60, 71  start/end range         → ranges, on the thread that started them
//             75      domain create           → the name of (process, domainId); ids repeat across
//                                               processes; domain 0 has no name
//             39      thread name             → threads.name
//             34      mark                    has no length and no place in our tables: counted
//             others  categories, CUDA names  not needed
//   name      text, else StringIds[textId]
//   end       NULL while open: such ranges end with the trace
//   name      of a framework's operator (torch.autograd.profiler.emit_nvtx): → operators
//   payload   the first integer among int64Value, uint64Value, int32Value, uint32Value
//
// A sample row: 155357596302|155357609579|59|…|aten::view, op_id = 314290|281476838981743|…|0|…
// Structured payloads (binaryData) are read where NCCL wrote them: nsys_sqlite_nccl.cc.
#include <algorithm>
#include <array>

#include "engine/base/ascii.h"
#include "engine/base/parse_number.h"
#include "engine/import/nsys/nsys_sqlite_rows.h"
#include "engine/import/row_order.h"

namespace advise::nsys {
namespace {

enum EventType {
  kMark = 34,
  kThreadName = 39,
  kPushPop = 59,
  kStartEnd = 60,
  kImportedPushPop = 70,
  kImportedStartEnd = 71,
  kDomainCreate = 75,
};

enum Column {
  kRangeStart,
  kRangeEnd,
  kRangeType,
  kRangeThread,
  kRangeText,
  kRangeTextId,
  kRangeDomain,
  kRangePayload
};
constexpr int kPayloads = 4;  // columns

NameRef NameOf(Scan& scan, ReadLog& log) {
  const std::string_view text = scan.Text(kRangeText);
  return text.empty() ? scan.Name(kRangeTextId) : log.Inline(WithoutUniqueSuffix(text));
}

// To the last row; rows before and between those with sizes have none.
void AddInputs(std::uint32_t list, RangeTable* ranges) {
  if (list == kNone) return;
  ranges->inputs.resize(ranges->size(), kNone);
  ranges->inputs.back() = list;
}

// "aten::mul, seq = 45328, op_id = 9" → 45328; 0 none.
std::int64_t SequenceIn(std::string_view text) {
  constexpr std::string_view kSequence = ", seq = ";
  const std::size_t at = text.find(kSequence);
  if (at == std::string_view::npos) return 0;
  return NumberAtStart<std::int64_t>(text.substr(at + kSequence.size()));
}

// Operators have their sequence number in place of a payload.
std::int64_t PayloadOf(const Scan& scan) {
  if (const std::int64_t sequence = SequenceIn(scan.Text(kRangeText)); sequence != 0)
    return sequence;
  for (int i = 0; i < kPayloads; ++i) {
    if (!scan.IsNull(kRangePayload + i)) return scan.Int(kRangePayload + i);
  }
  return 0;
}

}  // namespace

bool IsOperatorName(std::string_view name) {
  constexpr std::array<std::string_view, 7> kLibraries = {
      "aten::", "autograd::",  "torch::autograd::", "prims::",
      "c10d::", "quantized::", "torchvision::"};
  if (std::any_of(kLibraries.begin(), kLibraries.end(),
                  [name](std::string_view library) { return name.starts_with(library); })) {
    return true;
  }
  // "AddmmBackward0": a function of the backward pass.
  constexpr std::string_view kBackward = "Backward";
  std::string_view stem = name;
  while (!stem.empty() && IsDigit(stem.back())) stem.remove_suffix(1);
  return stem.size() < name.size() && stem.ends_with(kBackward);
}

void SplitOperators(Trace* trace) {
  const RangeTable& all = trace->ranges;
  constexpr std::uint8_t kNotAsked = 2;
  std::vector<std::uint8_t> is_operator(trace->strings.size(), kNotAsked);
  std::vector<std::uint32_t> operators;
  std::vector<std::uint32_t> others;
  for (std::uint32_t row = 0; row < all.size(); ++row) {
    std::uint8_t& known = is_operator[all.name[row]];
    if (known == kNotAsked) known = IsOperatorName(trace->strings[all.name[row]]) ? 1 : 0;
    (known == 1 ? operators : others).push_back(row);
  }
  if (operators.empty()) return;
  trace->operators = trace->ranges;
  ReorderRows(operators, &trace->operators);
  // Where autograd did not record an operator, its name has no sequence number.
  for (std::int64_t& number : trace->operators.payload) {
    if (number == 0) number = -1;
  }
  if (others.empty()) {
    trace->ranges = {};
  } else {
    ReorderRows(others, &trace->ranges);
  }
}

std::string_view WithoutUniqueSuffix(std::string_view name) {
  constexpr std::array<std::string_view, 4> kSuffixes = {
      "seq = ", "op_id = ", "sizes = ", "input_op_ids = "};
  for (std::size_t comma = name.find(", "); comma != std::string_view::npos;
       comma = name.find(", ", comma + 2)) {
    const std::string_view rest = name.substr(comma + 2);
    for (const std::string_view suffix : kSuffixes) {
      if (rest.size() <= suffix.size() || !rest.starts_with(suffix)) continue;
      const char value = rest[suffix.size()];
      if (IsDigit(value) || value == '[' || value == '-') {
        return name.substr(0, comma);
      }
    }
  }
  return name;
}

RangeRows ReadRanges(Reader& reader) {
  RangeRows rows;
  RangeTable& ranges = rows.ranges;
  Scan scan(reader, "NVTX_EVENTS",
            {"start", "end", "eventType", "globalTid", "text", "textId", "domainId", "int64Value",
             "uint64Value", "int32Value", "uint32Value"});
  const std::size_t limit = scan.RowLimit();
  ranges.start.reserve(limit);
  ranges.end.reserve(limit);
  ranges.thread.reserve(limit);
  ranges.name.reserve(limit);
  ranges.domain.reserve(limit);
  ranges.payload.reserve(limit);

  // A domain of a process, numbered with the key type of streams; names arrive in any order.
  StreamKeys domains;
  std::map<StreamKey, NameRef> domain_names;
  const auto domain_key = [&] {
    return StreamKey{.process = ProcessKey(scan.Int(kRangeThread)),
                     .device = scan.Int(kRangeDomain)};
  };
  scan.ForEach([&] {
    switch (scan.Int(kRangeType)) {
      case kPushPop:
      case kStartEnd:
      case kImportedPushPop:
      case kImportedStartEnd: {
        Nanos start = 0;
        Nanos end = kOpenEnd;
        if (scan.IsNull(kRangeEnd) ? !scan.Instant(kRangeStart, start)
                                   : !scan.Span(kRangeStart, start, end)) {
          break;
        }
        if (scan.IsNull(kRangeThread)) {
          scan.Drop("ranges without a thread were dropped");
          break;
        }
        ranges.start.push_back(start);
        ranges.end.push_back(end);
        ranges.thread.push_back(ThreadNumber(scan, kRangeThread, rows.threads));
        ranges.name.push_back(NameOf(scan, reader.log));
        ranges.domain.push_back(domains.Number(domain_key()));
        ranges.payload.push_back(PayloadOf(scan));
        if (const std::string_view text = scan.Text(kRangeText); KeepsInputs(text)) {
          AddInputs(rows.inputs.Intern(SizesInName(text)), &ranges);
        }
        break;
      }
      case kDomainCreate:
        domain_names[domain_key()] = NameOf(scan, reader.log);
        break;
      case kThreadName:
        rows.thread_names[scan.Int(kRangeThread)] = NameOf(scan, reader.log);
        break;
      case kMark:
        scan.Note(Level::kInfo, "marks (instants without a length) were left out");
        break;
      default:
        break;
    }
  });
  std::vector<NameRef> name_of_domain;
  for (const StreamKey& key : domains.keys()) {
    const auto found = domain_names.find(key);
    name_of_domain.push_back(found == domain_names.end() ? kNone : found->second);
  }
  for (NameRef& domain : ranges.domain) domain = name_of_domain[domain];

  rows.threads.SortKeys({&ranges.thread});
  const std::size_t count = ranges.size();
  if (!ranges.inputs.empty()) ranges.inputs.resize(count, kNone);
  SortSpans(rows.threads.keys().size(), &ranges);
  return rows;
}

}  // namespace advise::nsys
