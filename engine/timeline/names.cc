#include "engine/timeline/names.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "engine/base/is_in.h"

namespace advise {
namespace {

CallClass CallClassOf(const std::string& name) {
  static const std::map<std::string, CallClass, std::less<>> kClasses = {
      {"launch", CallClass::kLaunch},
      {"graph_launch", CallClass::kGraphLaunch},
      {"copy", CallClass::kCopy},
      {"copy_async", CallClass::kCopyAsync},
      {"memset", CallClass::kMemset},
      {"memset_async", CallClass::kMemsetAsync},
      {"sync_device", CallClass::kSyncDevice},
      {"sync_stream", CallClass::kSyncStream},
      {"sync_event", CallClass::kSyncEvent},
      {"query", CallClass::kQuery},
      {"alloc_device", CallClass::kAllocDevice},
      {"free_device", CallClass::kFreeDevice},
      {"alloc_host", CallClass::kAllocHost},
      {"free_host", CallClass::kAllocHost},
      {"register_host", CallClass::kAllocHost},
      {"alloc_async", CallClass::kAllocAsync},
      {"free_async", CallClass::kAllocAsync},
      {"alloc_managed", CallClass::kAllocManaged},
      {"map_host", CallClass::kMapHost},
      {"module_load", CallClass::kModuleLoad},
      {"module_data", CallClass::kModuleData},
      {"library_data", CallClass::kLibraryData},
      {"jit", CallClass::kJit},
      {"graph_build", CallClass::kOther},
      {"event_record", CallClass::kEventRecord},
      {"stream_wait_event", CallClass::kStreamWaitEvent},
      {"host_function", CallClass::kHostFunction},
      {"context", CallClass::kContext},
  };
  const auto found = kClasses.find(name);
  return found == kClasses.end() ? CallClass::kOther : found->second;
}

OsClass OsClassOf(const std::string& name) {
  if (name == "file_io") return OsClass::kFileIo;
  if (name == "file_write") return OsClass::kFileWrite;
  if (name == "wait") return OsClass::kWait;
  if (name == "child") return OsClass::kChild;
  if (name == "sleep") return OsClass::kSleep;
  if (name == "memory_map") return OsClass::kMemoryMap;
  if (name == "network") return OsClass::kNetwork;
  if (name == "lock") return OsClass::kLock;
  if (name == "device") return OsClass::kDevice;
  return OsClass::kOther;
}

Phase PhaseOf(const std::string& name) {
  if (name == "data_loading") return Phase::kDataLoading;
  if (name == "transfer") return Phase::kTransfer;
  if (name == "forward") return Phase::kForward;
  if (name == "backward") return Phase::kBackward;
  if (name == "optimizer") return Phase::kOptimizer;
  if (name == "checkpoint") return Phase::kCheckpoint;
  if (name == "logging") return Phase::kLogging;
  if (name == "evaluation") return Phase::kEvaluation;
  if (name == "garbage_collection") return Phase::kGarbageCollection;
  if (name == "compilation") return Phase::kCompilation;
  if (name == "communication") return Phase::kCommunication;
  return Phase::kUnnamed;
}

bool IsOfLearning(Phase phase) {
  return phase == Phase::kBackward || phase == Phase::kOptimizer || phase == Phase::kEvaluation;
}

Role RoleOf(const std::string& name) {
  if (name == "loader_worker") return Role::kLoaderWorker;
  if (name == "autograd") return Role::kAutograd;
  if (name == "main") return Role::kMain;
  if (name == "pin_memory") return Role::kPinMemory;
  if (name == "profiler") return Role::kProfiler;
  if (name == "nccl") return Role::kCommunication;
  if (name == "compiler") return Role::kCompiler;
  return Role::kUnknown;
}

}  // namespace

const char* PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return "forward";
    case Phase::kBackward:
      return "backward";
    case Phase::kOptimizer:
      return "optimizer";
    case Phase::kTransfer:
      return "transfer";
    case Phase::kCommunication:
      return "communication";
    case Phase::kEvaluation:
      return "evaluation";
    case Phase::kLogging:
      return "logging";
    case Phase::kCheckpoint:
      return "checkpoint";
    case Phase::kGarbageCollection:
      return "garbage collection";
    case Phase::kCompilation:
      return "compilation";
    case Phase::kDataLoading:
      return "data loading";
    case Phase::kUnnamed:
      break;
  }
  return "";
}

Names::Names(const Trace& trace, const Knowledge& knowledge)
    : calls_(trace.strings.size(), CallClass::kOther),
      os_(trace.strings.size(), OsClass::kOther),
      phases_(trace.strings.size(), Phase::kUnnamed),
      step_(trace.strings.size(), kNoStep),
      thread_roles_(trace.threads.size(), Role::kUnknown) {
  std::vector<std::uint8_t> seen(trace.strings.size(), 0);
  enum : std::uint8_t { kOfCall = 1, kOfOs = 2, kOfRange = 4 };
  for (const StringId id : trace.calls.name) {
    if ((seen[id] & kOfCall) != 0) continue;
    seen[id] |= kOfCall;
    calls_[id] = CallClassOf(knowledge.CudaCallClass(trace.strings[id]));
  }
  for (const StringId id : trace.os_calls.name) {
    if ((seen[id] & kOfOs) != 0) continue;
    seen[id] |= kOfOs;
    os_[id] = OsClassOf(knowledge.OsCallClass(trace.strings[id]));
  }
  ClassifyKernels(trace, knowledge);
  const bool graphs = IsIn(OpKind::kGraph, trace.ops.kind);  // what they hold is not known
  may_learn_ = graphs || trace.operators.size() + trace.python_frames.size() > 0 || ShowsModel();
  for (const StringId id : trace.ranges.name) {
    if ((seen[id] & kOfRange) != 0) continue;
    seen[id] |= kOfRange;
    phases_[id] = PhaseOf(knowledge.RangePhase(trace.strings[id]));
    if (!may_learn_ && IsOfLearning(phases_[id])) phases_[id] = Phase::kUnnamed;
    const std::string step = knowledge.StepRange(trace.strings[id]);
    if (!step.empty()) step_[id] = step == "annotation" ? kAnnotation : kRange;
  }
  for (std::size_t t = 0; t < trace.threads.size(); ++t) {
    const Thread& thread = trace.threads[t];
    Role role = RoleOf(knowledge.ThreadRole(trace.strings[thread.name]));
    if (role == Role::kUnknown && thread.process != kNone) {
      const Role by_process = RoleOf(knowledge.ThreadRole(trace.processes[thread.process].name));
      if (by_process == Role::kLoaderWorker || by_process == Role::kCompiler) role = by_process;
    }
    thread_roles_[t] = role;
  }
  FindUnnamedWorkers(trace);
}

void Names::ClassifyKernels(const Trace& trace, const Knowledge& knowledge) {
  std::unordered_map<StringId, std::uint32_t> class_of_name;
  shape_class_.reserve(trace.shapes.size());
  communication_.reserve(trace.shapes.size());
  for (const KernelShape& shape : trace.shapes) {
    const auto [at, is_new] =
        class_of_name.try_emplace(shape.name, static_cast<std::uint32_t>(kernel_classes_.size()));
    if (is_new) kernel_classes_.push_back(knowledge.ClassifyKernel(trace.strings[shape.name]));
    shape_class_.push_back(at->second);
    communication_.push_back(kernel_classes_[at->second].name == "communication" ? 1 : 0);
  }
}

bool Names::ShowsModel() const {
  static const std::set<std::string, std::less<>> kOfModels = {
      "attention", "convolution", "matrix", "normalization", "optimizer", "softmax"};
  return std::any_of(kernel_classes_.begin(), kernel_classes_.end(),
                     [](const KernelClass& c) { return kOfModels.contains(c.name); });
}

// Worker processes that are spawned bear the name of the program that they work for.
void Names::FindUnnamedWorkers(const Trace& trace) {
  struct Traits {
    std::string program;
    bool launches = false;
    bool reads_files = false;
    bool other = false;  // talks to others, or what it does is known
  };
  if (trace.processes.size() < 2 || trace.os_calls.size() == 0) return;
  std::vector<Traits> traits(trace.processes.size());
  for (std::size_t t = 0; t < trace.threads.size(); ++t) {
    const Thread& thread = trace.threads[t];
    if (thread.process == kNone) continue;
    Traits& of = traits[thread.process];
    const Process& process = trace.processes[thread.process];
    if (of.program.empty()) of.program = process.name;
    if (process.name.empty() && thread.tid == process.pid) of.program = trace.strings[thread.name];
    of.other = of.other || (thread_roles_[t] != Role::kUnknown && thread_roles_[t] != Role::kMain);
  }
  const auto of_thread = [&](std::uint32_t thread) -> Traits* {
    const std::uint32_t process = thread == kNone ? kNone : trace.threads[thread].process;
    return process == kNone ? nullptr : &traits[process];
  };
  for (const std::uint32_t thread : trace.calls.thread) {
    if (Traits* of = of_thread(thread)) of->launches = true;
  }
  for (const std::uint32_t thread : trace.mpi.thread) {
    if (Traits* of = of_thread(thread)) of->other = true;
  }
  for (std::size_t i = 0; i < trace.os_calls.name.size(); ++i) {
    Traits* of = of_thread(trace.os_calls.thread[i]);
    if (of == nullptr) continue;
    const OsClass os = os_[trace.os_calls.name[i]];
    of->reads_files = of->reads_files || os == OsClass::kFileIo;
    of->other = of->other || os == OsClass::kNetwork;
  }
  std::set<std::string> programs;
  for (const Traits& of : traits) {
    if (of.launches && !of.program.empty()) programs.insert(of.program);
  }
  for (std::size_t t = 0; t < trace.threads.size(); ++t) {
    const Traits* of = of_thread(static_cast<std::uint32_t>(t));
    if (of == nullptr || of->launches || of->other || !of->reads_files) continue;
    if (programs.contains(of->program)) thread_roles_[t] = Role::kLoaderWorker;
  }
}

}  // namespace advise
