#include "engine/import/rocprof/rocprof_rows.h"

#include <algorithm>
#include <utility>

#include "engine/import/rocprof/rocprof_fields.h"

namespace advise::rocprof {
namespace {

CopyDirection DirectionNamed(std::string_view way) {
  const auto has = [&](std::string_view part) { return way.find(part) != std::string_view::npos; };
  if (has("HOST_TO_DEVICE")) return CopyDirection::kHostToDevice;
  if (has("DEVICE_TO_HOST")) return CopyDirection::kDeviceToHost;
  if (has("DEVICE_TO_DEVICE")) return CopyDirection::kDeviceToDevice;
  return has("HOST_TO_HOST") ? CopyDirection::kHostToHost : CopyDirection::kUnknown;
}

}  // namespace

Agent AgentOf(const dom::element& record) {
  constexpr std::uint64_t kGpu = 2;
  constexpr double kMegahertz = 1e6;
  Agent agent;
  agent.is_gpu = NumberAt(record, "type") == kGpu;
  Device& device = agent.device;
  const std::uint64_t lanes = NumberAt(record, "wave_front_size");
  device.sm_count = static_cast<int>(SmallAt(record, "cu_count"));
  device.clock_hz = static_cast<double>(NumberAt(record, "max_engine_clk_fcompute")) * kMegahertz;
  device.max_threads_per_sm =
      static_cast<int>(std::min<std::uint64_t>(NumberAt(record, "max_waves_per_cu") * lanes, 4096));
  device.name = TextAt(record, "product_name");
  if (device.name.empty()) device.name = TextAt(record, "name");
  device.report_id = static_cast<std::int64_t>(SmallAt(record, "node_id"));
  device.ordinal = static_cast<std::int64_t>(SmallAt(record, "logical_node_type_id"));
  device.cuda_ordinal = device.ordinal;
  ForEachIn(record, "mem_banks", [&](const dom::element& bank) {
    device.memory_bytes += static_cast<double>(NumberAt(bank, "size_in_bytes"));
  });
  return agent;
}

void Rows::AddAgent(std::uint64_t id, Agent agent) {
  if (agent.is_gpu) AddDevice(id, std::move(agent.device));
}

void Rows::AddKernelName(std::uint64_t id, std::string_view name, std::string_view plain) {
  constexpr std::string_view kDescriptor = ".kd";
  if (name.empty()) name = plain;
  if (name.ends_with(kDescriptor)) name.remove_suffix(kDescriptor.size());
  kernels_[id] = trace_->strings.Intern(name);
}

void Rows::AddDispatch(const TimedRecord& work, const Dispatch& dispatch) {
  KernelShape shape;
  shape.block = dispatch.block;
  shape.grid = dispatch.threads;
  for (std::size_t i = 0; i < shape.grid.size(); ++i) {
    if (shape.block[i] == 0) continue;
    const std::uint64_t threads = shape.grid[i];
    shape.grid[i] = static_cast<std::uint32_t>((threads + shape.block[i] - 1) / shape.block[i]);
  }
  if (const auto found = kernels_.find(dispatch.kernel); found != kernels_.end())
    shape.name = shape.short_name = found->second;
  AddKernel(work, shape);
}

void Rows::AddCopyRecord(TimedRecord work, const CopyRecord& copy) {
  const CopyDirection direction = DirectionNamed(copy.way);
  if (direction == CopyDirection::kHostToHost) return;
  const bool up = direction == CopyDirection::kHostToDevice;
  const bool down = direction == CopyDirection::kDeviceToHost;
  work.device = up ? copy.to : copy.from;
  // Whether the host's memory is pinned is not recorded.
  AddCopy(work, {.direction = direction,
                 .bytes = copy.bytes,
                 .source = up ? MemoryKind::kUnknown : MemoryKind::kDevice,
                 .target = down ? MemoryKind::kUnknown : MemoryKind::kDevice,
                 .to_device = copy.to});
}

void Rows::AddHipCall(std::uint64_t thread, StringId name, std::uint64_t correlation, Nanos start,
                      Nanos end) {
  if (!trace_->strings[name].starts_with("__hip")) AddCall(thread, name, correlation, start, end);
}

}  // namespace advise::rocprof
