// Reads Nsight Compute's own report files (.ncu-rep), told by their content.
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <array>
#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>

#include "engine/import/formats.h"
#include "engine/import/ncu/ncu_metrics.h"

// The container, worked out from report files of 2022 to 2025; names of fields are ours.
//
//   "NVR\0", u32 n, file header of n bytes, then blocks: u32 n, block header of n bytes, payload
//   block header   1 sources in the payload, 2 results, 4 names {1 name…}, 5 bytes of the payload
//   payload        (u32 n, message of n bytes)…: first the sources, then the results
//   result         6 function, 7 its demangled name, 10 grid {1,2,3}, 11 block {1,2,3}, 13 metric…
//   metric         1 index of its name, 2 value {1 text, 2 float, 3 double, 4 or 5 whole number}
//
// Numbers are in base units. All of it little-endian, messages in protobuf's wire format.
namespace advise {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr std::string_view kMagic{"NVR\0", 4};
constexpr std::string_view kLostMagic{"\x97\0\0\0", 4};  // a file whose header was cut off

const std::uint8_t* Bytes(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

// One field of a message: what stands in `number` or in `bytes` depends on its wire type.
struct WireField {
  int id = 0;
  WireFormatLite::WireType type = WireFormatLite::WIRETYPE_VARINT;
  std::uint64_t number = 0;
  std::string_view bytes;

  double Double() const { return std::bit_cast<double>(number); }
  float Float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(number)); }
};

// Calls `use` with each field; false when the message is damaged. Unknown fields are the caller's
// to skip.
template <typename Use>
bool ForEachField(std::string_view message, const Use& use) {
  if (message.size() > std::numeric_limits<int>::max()) return false;
  CodedInputStream stream(Bytes(message), static_cast<int>(message.size()));
  while (const std::uint32_t tag = stream.ReadTag()) {
    WireField field;
    field.id = WireFormatLite::GetTagFieldNumber(tag);
    field.type = WireFormatLite::GetTagWireType(tag);
    switch (field.type) {
      case WireFormatLite::WIRETYPE_VARINT:
        if (!stream.ReadVarint64(&field.number)) return false;
        break;
      case WireFormatLite::WIRETYPE_FIXED64:
        if (!stream.ReadLittleEndian64(&field.number)) return false;
        break;
      case WireFormatLite::WIRETYPE_FIXED32: {
        std::uint32_t value = 0;
        if (!stream.ReadLittleEndian32(&value)) return false;
        field.number = value;
        break;
      }
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: {
        std::uint32_t size = 0;
        if (!stream.ReadVarint32(&size)) return false;
        const auto at = static_cast<std::size_t>(stream.CurrentPosition());
        if (size > message.size() - at) return false;
        field.bytes = message.substr(at, size);
        if (!stream.Skip(static_cast<int>(size))) return false;
        break;
      }
      default:
        return false;  // groups do not occur
    }
    use(field);
  }
  return stream.ConsumedEntireMessage();
}

class NcuRepReader {
 public:
  NcuRepReader(Trace* trace, std::string_view file) : trace_(trace), rest_(file) {}

  // Everything up to the end or the first damage; what is complete stays.
  void Read() {
    rest_.remove_prefix(kMagic.size());
    std::string_view header;
    if (!Sized(&header)) return Damage();
    while (!rest_.empty()) {
      if (!ReadBlock()) return Damage();
    }
    Finish();
  }

 private:
  void Damage() {
    trace_->diagnostics.Add(Level::kWarning,
                            "the report is cut short or damaged: what comes before was read");
    Finish();
  }
  void Finish() {
    ncu::DescribeDevice(trace_);
    trace_->table_rows["kernels"] = static_cast<std::int64_t>(trace_->counters.size());
  }

  // A length of four bytes and that many bytes, taken from the rest.
  bool Sized(std::string_view* bytes) {
    if (rest_.size() < 4) return false;
    std::uint32_t size = 0;
    CodedInputStream::ReadLittleEndian32FromArray(Bytes(rest_), &size);
    if (size > rest_.size() - 4) return false;
    *bytes = rest_.substr(4, size);
    rest_.remove_prefix(4 + std::size_t{size});
    return true;
  }

  bool ReadBlock() {
    std::string_view header;
    if (!Sized(&header)) return false;
    std::uint64_t sources = 0, results = 0, size = 0;
    const bool sound = ForEachField(header, [&](const WireField& field) {
      if (field.id == 1) sources = field.number;
      if (field.id == 2) results = field.number;
      if (field.id == 5) size = field.number;
      if (field.id == 4) {
        ForEachField(field.bytes, [&](const WireField& name) {
          if (name.id == 1) names_.emplace_back(name.bytes);
        });
      }
    });
    if (!sound) return false;
    const bool whole = size <= rest_.size();
    const std::size_t after = rest_.size() - static_cast<std::size_t>(whole ? size : rest_.size());
    for (std::uint64_t i = 0; i < sources + results; ++i) {
      std::string_view message;
      if (rest_.size() <= after || !Sized(&message)) return false;
      if (i >= sources && !ReadResult(message)) return false;
    }
    if (rest_.size() < after) return false;
    rest_.remove_prefix(rest_.size() - after);
    return whole;
  }

  static std::array<std::uint32_t, 3> Extent(std::string_view message) {
    std::array<std::uint32_t, 3> extent{};
    ForEachField(message, [&](const WireField& field) {
      if (field.id >= 1 && field.id <= 3) {
        extent[static_cast<std::size_t>(field.id - 1)] = static_cast<std::uint32_t>(field.number);
      }
    });
    return extent;
  }

  bool ReadResult(std::string_view message) {
    KernelCounters counters;
    std::string function;
    const bool sound = ForEachField(message, [&](const WireField& field) {
      if (field.id == 6) function = field.bytes;
      if (field.id == 7) counters.kernel = field.bytes;
      if (field.id == 10) counters.grid = Extent(field.bytes);
      if (field.id == 11) counters.block = Extent(field.bytes);
      if (field.id == 13) ReadMetric(field.bytes, &counters);
    });
    if (!sound) return false;
    if (counters.kernel.empty()) counters.kernel = function;
    const auto major = counters.metrics.find("device__attribute_compute_capability_major");
    const auto minor = counters.metrics.find("device__attribute_compute_capability_minor");
    if (major != counters.metrics.end() && minor != counters.metrics.end()) {
      counters.compute_capability = fmt::format("{}.{}", major->second, minor->second);
    }
    counters.source = fmt::format("{}, result {}", trace_->path, trace_->counters.size() + 1);
    trace_->counters.push_back(std::move(counters));
    return true;
  }

  void ReadMetric(std::string_view message, KernelCounters* counters) {
    std::optional<std::uint64_t> name;
    std::optional<double> value;
    std::string text;
    ForEachField(message, [&](const WireField& field) {
      if (field.id == 1) name = field.number;
      if (field.id != 2) return;
      ForEachField(field.bytes, [&](const WireField& part) {
        if (part.id == 1 && part.type == WireFormatLite::WIRETYPE_LENGTH_DELIMITED)
          text = part.bytes;
        if (part.type == WireFormatLite::WIRETYPE_FIXED32) value = part.Float();
        if (part.type == WireFormatLite::WIRETYPE_FIXED64) value = part.Double();
        if (part.type == WireFormatLite::WIRETYPE_VARINT) value = static_cast<double>(part.number);
      });
    });
    // The first name has index 0, which the wire format leaves out.
    const std::uint64_t index = name.value_or(0);
    if (index >= names_.size()) {
      trace_->diagnostics.Add(Level::kWarning, "metrics without a name were dropped");
      return;
    }
    if (names_[index] == "device__attribute_display_name") counters->device = text;
    if (value && std::isfinite(*value)) counters->metrics.emplace(names_[index], *value);
  }

  Trace* trace_;
  std::string_view rest_;
  std::vector<std::string> names_;
};

}  // namespace

bool SniffNcuReport(std::string_view head, const std::string& path) {
  return head.starts_with(kMagic) || (head.starts_with(kLostMagic) && path.ends_with(".ncu-rep"));
}

Result<Trace> ReadNcuReport(const std::string& path, const ImportOptions& /*options*/) {
  const char* const kPrint =
      "print it instead: ncu --import REPORT --csv --page raw --print-units base";
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail("cannot be opened", path, "check that you may read it");
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!std::string_view(bytes).starts_with(kMagic)) {
    return Fail("an Nsight Compute report whose first bytes are missing", path,
                "copy it again; or " + std::string(kPrint));
  }
  Trace trace;
  trace.path = path;
  trace.producer = "Nsight Compute";
  trace.path = path;
  NcuRepReader(&trace, bytes).Read();
  if (trace.counters.empty()) {
    return Fail("no kernel could be read from the Nsight Compute report", path, kPrint);
  }
  return trace;
}

}  // namespace advise
