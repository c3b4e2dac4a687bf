// The small tables.
//
//   META_DATA_EXPORT, EXPORT_META_DATA (old)  name, value: product, schema version, time shift
//   META_DATA_CAPTURE            name, value; names repeat       → capture_options;
//     PROCESS_n:ENVIRONMENT_VARIABLE  NAME="value"               → environment
//   TARGET_INFO_SESSION_START_TIME  utcEpochNs                   → utc_origin_ns
//   ANALYSIS_DETAILS             duration                        → session_ns
//     (startTime and stopTime are on another clock than the events and are not read)
//   TARGET_INFO_SYSTEM_ENV       Hostname, NvDriverVersion, CpuCores
//   TARGET_INFO_GPU              one row a GPU, also of other vendors' (no SMs): those are left out
//   TARGET_INFO_CUDA_DEVICE      (pid, cudaId) → gpuId, since 2025.1
//   TARGET_INFO_CUDA_CONTEXT_INFO, …_NULL_STREAM (old), …_STREAM (flag 3)  → default streams
//   TARGET_INFO_NVTX_CUDA_STREAM name                            → stream names
//   ThreadNames, PROCESSES, MPI_RANKS                            → names and ranks
//   DIAGNOSTIC_EVENT             severity 2 warning, 3 error     → profiler_messages
#include "engine/import/nsys/nsys_sqlite_system.h"

#include <algorithm>

#include "engine/base/ascii.h"
#include "engine/base/parse_number.h"

namespace advise::nsys {
namespace {

constexpr std::int64_t kNullStreamFlag = 3;  // CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL

// "2025.3.2" of "2025.3.2.367": without the build number.
std::string_view Release(std::string_view version) {
  std::size_t end = 0;
  for (int parts = 0; parts < 3 && end != std::string_view::npos; ++parts) {
    end = version.find('.', end == 0 ? 0 : end + 1);
  }
  return version.substr(0, end);
}

void ReadExportOptions(Reader& reader, std::string_view table, Trace& trace) {
  Scan scan(reader, table, {"name", "value"});
  while (scan.Next()) {
    const std::string_view name = scan.Text(0);
    if (name == "EXPORT_PRODUCT_VERSION") {
      trace.producer = "nsys " + std::string(Release(scan.Text(1)));
    } else if (name == "EXPORT_SCHEMA_VERSION") {
      trace.schema = scan.Text(1);
    } else if (name == "EXPORT_PARAM_TIME_NORMALIZE" && scan.Text(1) == "true") {
      scan.Note(Level::kInfo, "times were moved to UTC by the export (--ts-normalize)");
    } else if (name == "EXPORT_PARAM_TIME_SHIFT" &&
               NumberAtStart<std::int64_t>(scan.Text(1)) != 0) {
      scan.Note(Level::kInfo, "times were shifted by the export (--ts-shift)");
    }
  }
}

void ReadCaptureOptions(Reader& reader, Trace& trace) {
  Scan scan(reader, "META_DATA_CAPTURE", {"name", "value"});
  while (scan.Next()) {
    const std::string_view name = scan.Text(0);
    if (!name.ends_with("ENVIRONMENT_VARIABLE")) {
      trace.capture_options.emplace_back(name, "");
      trace.capture_options.back().second = scan.Text(1);
      continue;
    }
    const std::string_view pair = scan.Text(1);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    std::string_view value = pair.substr(equals + 1);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    trace.environment.emplace_back(pair.substr(0, equals), value);
  }
}

void ReadSession(Reader& reader, Trace& trace) {
  int sessions = 0;
  Scan start(reader, "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"});
  while (start.Next()) {
    if (++sessions == 1) trace.utc_origin_ns = start.Int(0);
  }
  if (sessions > 1) {
    start.Note(Level::kWarning,
               "several reports share this database (--append); their clocks may "
               "not agree");
  }
  Scan details(reader, "ANALYSIS_DETAILS", {"duration"});
  while (details.Next()) trace.session_ns = std::max(trace.session_ns, details.Int(0));

  Scan environment(reader, "TARGET_INFO_SYSTEM_ENV", {"name", "value"});
  while (environment.Next()) {
    const std::string_view name = environment.Text(0);
    if (name == "Hostname" && trace.host.empty()) trace.host = environment.Text(1);
    if (name == "CpuCores" && trace.cpu_cores == 0) {
      trace.cpu_cores = static_cast<int>(
          std::clamp<std::int64_t>(NumberAtStart<std::int64_t>(environment.Text(1)), 0, 1 << 20));
    }
    if (name == "NvDriverVersion" && trace.driver_version.empty()) {
      trace.driver_version = DriverVersion(environment.Text(1));
    }
  }
}

void ReadGpus(Reader& reader, SystemInfo& info) {
  Scan scan(
      reader, "TARGET_INFO_GPU",
      {"id", "cuDevice", "name", "uuid", "smCount", "clockRate", "memoryBandwidth", "totalMemory",
       "l2CacheSize", "maxWarpsPerSm", "threadsPerWarp", "computeMajor", "computeMinor"});
  while (scan.Next()) {
    const auto small = [&](int column) {
      return static_cast<int>(std::clamp<std::int64_t>(scan.Int(column), 0, 1 << 20));
    };
    const bool is_cuda = scan.IsNull(4) || scan.IsNull(11) || scan.Int(4) > 0 || scan.Int(11) > 0;
    if (!is_cuda) {
      scan.Note(Level::kInfo, "display adapters that cannot run CUDA were left out");
      continue;
    }
    ListedGpu gpu;
    gpu.cuda_ordinal = scan.IsNull(1) ? -1 : scan.Int(1);
    gpu.device.report_id = scan.Int(0);
    gpu.device.name = scan.Text(2);
    gpu.device.uuid = scan.Text(3);
    gpu.device.sm_count = small(4);
    gpu.device.clock_hz = scan.Real(5);
    gpu.device.memory_bytes_per_s = scan.Real(6);
    gpu.device.memory_bytes = scan.Real(7);
    gpu.device.l2_bytes = scan.Real(8);
    gpu.device.max_threads_per_sm = small(9) * small(10);
    gpu.device.compute_major = small(11);
    gpu.device.compute_minor = small(12);
    const auto same = [&](const ListedGpu& other) {
      return other.device.report_id == gpu.device.report_id && other.device.uuid == gpu.device.uuid;
    };
    if (std::none_of(info.gpus.begin(), info.gpus.end(), same)) info.gpus.push_back(gpu);
  }
  std::stable_sort(info.gpus.begin(), info.gpus.end(), [](const ListedGpu& a, const ListedGpu& b) {
    return a.device.report_id < b.device.report_id;
  });

  Scan cuda(reader, "TARGET_INFO_CUDA_DEVICE",
            {"pid", "cudaId", "gpuId", "uuid", "numMultiprocessors"});
  while (cuda.Next()) {
    info.cuda_devices[{cuda.Int(0), cuda.Int(1)}] = {
        .gpu_id = cuda.IsNull(2) ? -1 : cuda.Int(2),
        .uuid = std::string(cuda.Text(3)),
        .sm_count = static_cast<int>(std::clamp<std::int64_t>(cuda.Int(4), 0, 1 << 20))};
  }
}

void ReadStreams(Reader& reader, SystemInfo& info) {
  Scan contexts(reader, "TARGET_INFO_CUDA_CONTEXT_INFO",
                {"processId", "contextId", "nullStreamId"});
  while (contexts.Next()) {
    info.default_streams.emplace(contexts.Int(0), contexts.Int(1), contexts.Int(2));
  }
  Scan null_streams(reader, "TARGET_INFO_CUDA_NULL_STREAM", {"processId", "contextId", "streamId"});
  while (null_streams.Next()) {
    info.default_streams.emplace(null_streams.Int(0), null_streams.Int(1), null_streams.Int(2));
  }
  Scan streams(reader, "TARGET_INFO_CUDA_STREAM", {"processId", "contextId", "streamId", "flag"});
  while (streams.Next()) {
    if (streams.Int(3) != kNullStreamFlag) continue;
    info.default_streams.emplace(streams.Int(0), streams.Int(1), streams.Int(2));
  }
  Scan names(reader, "TARGET_INFO_NVTX_CUDA_STREAM",
             {"processId", "contextId", "streamId", "name"});
  while (names.Next()) {
    info.stream_names[{names.Int(0), names.Int(1), names.Int(2)}] = names.Text(3);
  }
}

void ReadNames(Reader& reader, SystemInfo& info) {
  Scan threads(reader, "ThreadNames", {"globalTid", "nameId"});
  while (threads.Next()) info.thread_names[threads.Int(0)] = threads.Name(1);  // the last name wins
  Scan processes(reader, "PROCESSES", {"globalPid", "name"});
  while (processes.Next()) {
    info.process_names[ProcessKey(processes.Int(0))] = processes.Text(1);
  }
  Scan ranks(reader, "MPI_RANKS", {"globalTid", "rank"});
  while (ranks.Next()) {
    info.ranks[ProcessKey(ranks.Int(0))] =
        static_cast<int>(std::clamp<std::int64_t>(ranks.Int(1), -1, 1 << 30));
  }
}

void ReadMessages(Reader& reader, Trace& trace) {
  Scan scan(reader, "DIAGNOSTIC_EVENT", {"severity", "text"});
  while (scan.Next()) {
    const Level level = scan.Int(0) == 2   ? Level::kWarning
                        : scan.Int(0) == 3 ? Level::kError
                                           : Level::kInfo;
    trace.profiler_messages.push_back({level, std::string(scan.Text(1))});
  }
}

}  // namespace

std::string DriverVersion(std::string_view text) {
  if (text == "0") return "";
  if (text.size() < 5 || !IsDigits(text)) return std::string(text);
  const std::string version = std::string(text.substr(0, 3)) + ".";
  if (text.size() == 5) return version + std::string(text.substr(3));
  const std::size_t middle = text.size() - 5;
  return version + std::string(text.substr(3, middle)) + "." + std::string(text.substr(3 + middle));
}

SystemInfo ReadSystem(Reader& reader, Trace& trace) {
  trace.producer = "nsys";
  SystemInfo info;
  ReadExportOptions(reader, "EXPORT_META_DATA", trace);
  ReadExportOptions(reader, "META_DATA_EXPORT", trace);
  ReadCaptureOptions(reader, trace);
  ReadSession(reader, trace);
  ReadGpus(reader, info);
  ReadStreams(reader, info);
  ReadNames(reader, info);
  ReadMessages(reader, trace);
  return info;
}

}  // namespace advise::nsys
