// The top-level keys of a Kineto trace beside its events.
//
//   deviceProperties     the visible GPUs                        → devices
//   distributedInfo      rank, world size, process groups        → rank, world_size, groups
//   baseTimeNanoseconds  UTC of the clock's zero, newer writers  → utc_origin_ns
//   with_stack …         options that were on                    → capture_options
//
// Any key may be missing; a value of another shape than expected says nothing.
#include <fmt/format.h>
#include <simdjson.h>

#include "engine/import/kineto/kineto_names.h"
#include "engine/import/kineto/kineto_tables.h"
#include "engine/import/text_input.h"

namespace advise::kineto {
namespace {

namespace dom = simdjson::dom;

std::int64_t IntOf(const dom::element& object, const char* key, std::int64_t otherwise) {
  std::int64_t number = 0;
  if (object[key].get(number) == simdjson::SUCCESS) return number;
  double real = 0;
  if (object[key].get(real) == simdjson::SUCCESS) return WholeOf<std::int64_t>(real);
  std::string_view text;
  if (object[key].get(text) == simdjson::SUCCESS) return ParseInt(text).value_or(otherwise);
  return otherwise;
}

std::string TextOf(const dom::element& object, const char* key) {
  std::string_view text;
  if (object[key].get(text) == simdjson::SUCCESS) return std::string(text);
  std::int64_t number = 0;
  if (object[key].get(number) == simdjson::SUCCESS) return std::to_string(number);
  return "";
}

// Some drivers of AMD call every GPU "AMD Radeon Graphics", or nothing: what tells it from others
// is added.
std::string FullName(const Device& device) {
  constexpr double kGiB = 1 << 30;
  const bool says_nothing = device.name.empty() || device.name == "AMD Radeon Graphics";
  if (!says_nothing || device.sm_count == 0 || device.memory_bytes <= 0) return device.name;
  return fmt::format("{} with {} compute units and {:.0f} GiB",
                     device.name.empty() ? "AMD GPU" : device.name, device.sm_count,
                     device.memory_bytes / kGiB);
}

Device DeviceOf(const dom::element& item) {
  constexpr int kWavefront = 64;  // AMD's warp size; its version numbers are no compute capability
  Device device;
  device.name = TextOf(item, "name");
  device.report_id = IntOf(item, "id", -1);
  device.ordinal = device.report_id;
  device.sm_count = static_cast<int>(IntOf(item, "numSms", 0));
  device.memory_bytes = static_cast<double>(IntOf(item, "totalGlobalMem", 0));
  device.max_threads_per_sm = static_cast<int>(IntOf(item, "maxThreadsPerMultiprocessor", 0));
  if (IntOf(item, "warpSize", 32) == kWavefront) {
    device.name = FullName(device);
  } else {
    device.compute_major = static_cast<int>(IntOf(item, "computeMajor", 0));
    device.compute_minor = static_cast<int>(IntOf(item, "computeMinor", 0));
  }
  return device;
}

CommGroup GroupFrom(const dom::element& item) {
  CommGroup group;
  group.name = TextOf(item, "pg_name");
  if (group.name.empty()) group.name = TextOf(item, "uid");  // early 2024
  group.description = TextOf(item, "pg_desc");
  group.size = static_cast<int>(IntOf(item, "pg_size", 0));
  dom::array ranks;
  if (item["ranks"].get(ranks) == simdjson::SUCCESS) {
    for (const dom::element rank : ranks) {
      std::int64_t number = 0;
      if (rank.get(number) == simdjson::SUCCESS) group.ranks.push_back(static_cast<int>(number));
    }
  }
  if (group.size == 0) group.size = static_cast<int>(group.ranks.size());
  return group;
}

bool IsOption(std::string_view key) {
  return key.starts_with("with_") || key == "record_shapes" || key == "profile_memory";
}

}  // namespace

void Tables::OnHeader(std::string_view key, std::string_view json) {
  dom::parser parser;
  dom::element value;
  if (parser.parse(json.data(), json.size()).get(value) != simdjson::SUCCESS) {
    trace_.diagnostics.Add(Level::kInfo, "top-level values could not be read");
    return;
  }
  std::int64_t number = 0;
  const bool is_number = value.get(number) == simdjson::SUCCESS;
  dom::array list;
  if (key == "deviceProperties" && value.get(list) == simdjson::SUCCESS) {
    for (const dom::element item : list) {
      Device device = DeviceOf(item);
      if (device.ordinal >= 0) trace_.devices.push_back(std::move(device));
    }
  } else if (key == "distributedInfo" && value.is_object()) {
    trace_.rank = static_cast<int>(IntOf(value, "rank", -1));
    trace_.world_size = static_cast<int>(IntOf(value, "world_size", 0));
    if (value["pg_config"].get(list) == simdjson::SUCCESS) {
      for (const dom::element item : list) {
        CommGroup group = GroupFrom(item);
        if (!group.name.empty()) groups_.Add(std::move(group));
      }
    }
  } else if (key == "baseTimeNanoseconds" && is_number) {
    trace_.utc_origin_ns = number;
  } else if (key == "schemaVersion" && is_number) {
    trace_.schema = std::to_string(number);
  } else if (key == "cuda_runtime_version" && is_number) {
    header_.cuda_runtime = number;
  } else if (key.starts_with("hip_") || key == "roctracer_version") {
    header_.is_rocm = true;
  } else if (IsOption(key) && is_number) {
    trace_.capture_options.emplace_back(key, std::to_string(number));
  }
}

}  // namespace advise::kineto
