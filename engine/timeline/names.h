// What names tell, looked up once a distinct name: classes of kernels, calls, OS calls, ranges and
// threads.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/knowledge/knowledge.h"
#include "engine/trace/tables.h"

namespace advise {

enum class CallClass : std::uint8_t {
  kOther,
  kLaunch,
  kGraphLaunch,
  kCopy,  // blocking by its name
  kCopyAsync,
  kMemset,
  kMemsetAsync,
  kSyncDevice,
  kSyncStream,
  kSyncEvent,
  kQuery,
  kAllocDevice,
  kFreeDevice,
  kAllocHost,  // pinned: allocate, free, register, unregister
  kAllocAsync,
  kAllocManaged,
  kMapHost,  // asks where the GPU sees memory of the host
  kModuleLoad,
  kModuleData,   // from the program's own memory: what it has compiled
  kLibraryData,  // the same, or a library on its first use
  kJit,
  kEventRecord,
  kStreamWaitEvent,
  kHostFunction,  // its stream waits for a function that runs on the host
  kContext,
};

enum class OsClass : std::uint8_t {
  kOther,
  kFileIo,
  kFileWrite,
  kWait,
  kChild,  // until a child process ends
  kSleep,
  kMemoryMap,
  kNetwork,
  kLock,
  kDevice  // in the driver of a device
};

// What a range says its time is for. Order is specificity: where several are open the later one
// names the time.
enum class Phase : std::uint8_t {
  kUnnamed,
  kForward,
  kBackward,
  kOptimizer,
  kTransfer,
  kCommunication,
  kEvaluation,
  kLogging,
  kCheckpoint,
  kGarbageCollection,
  kCompilation,
  kDataLoading,
};
const char* PhaseName(Phase phase);

enum class Role : std::uint8_t {
  kUnknown,
  kLoaderWorker,
  kAutograd,
  kMain,
  kPinMemory,
  kProfiler,
  kCommunication,
  kCompiler
};

// The thread does nothing meanwhile.
inline bool IsWait(OsClass os) {
  return os == OsClass::kWait || os == OsClass::kSleep || os == OsClass::kLock ||
         os == OsClass::kNetwork;
}
inline bool IsSync(CallClass c) {
  return c == CallClass::kSyncDevice || c == CallClass::kSyncStream || c == CallClass::kSyncEvent;
}
inline bool IsCodeLoading(CallClass c) {
  return c == CallClass::kModuleLoad || c == CallClass::kModuleData ||
         c == CallClass::kLibraryData || c == CallClass::kJit;
}
inline bool IsAllocation(CallClass c) {
  return c == CallClass::kAllocDevice || c == CallClass::kFreeDevice ||
         c == CallClass::kAllocHost || c == CallClass::kAllocManaged;
}

// A set of kernel shapes, made by Names::Shapes: what a name tells is looked up once a shape, since
// shapes are few, and asked once an op.
class ShapeSet {
 public:
  bool Has(std::uint32_t shape) const { return members_[shape] != 0; }
  bool empty() const { return empty_; }

 private:
  friend class Names;
  std::vector<std::uint8_t> members_;
  bool empty_ = true;
};

class Names {
 public:
  Names() = default;  // of nothing
  Names(const Trace& trace, const Knowledge& knowledge);

  CallClass Call(StringId name) const { return calls_[name]; }
  OsClass Os(StringId name) const { return os_[name]; }
  // A backward pass, an update or an evaluation only where the program may learn.
  Phase RangePhase(StringId name) const { return phases_[name]; }
  // Whether anything but the names of ranges is of machine learning: operators of a framework,
  // functions of Python, graphs as a whole, or kernels of a model. A solver evaluates and updates,
  // too.
  bool MayLearn() const { return may_learn_; }
  bool IsStepRange(StringId name) const { return step_[name] != kNoStep; }
  // Of a step that the framework's profiler marks.
  bool IsAnnotatedStep(StringId name) const { return step_[name] == kAnnotation; }
  Role ThreadRole(std::uint32_t thread) const { return thread_roles_[thread]; }
  const KernelClass& Kernel(std::uint32_t shape) const {
    return kernel_classes_[shape_class_[shape]];
  }
  bool IsCommunication(std::uint32_t shape) const { return communication_[shape] != 0; }
  // The shapes whose class is so: `belongs(const KernelClass&)`. O(shapes).
  template <typename Belongs>
  ShapeSet Shapes(Belongs belongs) const {
    ShapeSet set;
    for (const std::uint32_t at : shape_class_) {
      set.members_.push_back(belongs(kernel_classes_[at]) ? 1 : 0);
      set.empty_ = set.empty_ && set.members_.back() == 0;
    }
    return set;
  }

 private:
  void ClassifyKernels(const Trace& trace, const Knowledge& knowledge);

  // Processes that read files for the program without a name that says so: they are called like a
  // process that launches GPU work, launch nothing, and talk to nobody. Loader workers.
  void FindUnnamedWorkers(const Trace& trace);

  // Kernels of a model, by their classes.
  bool ShowsModel() const;

  bool may_learn_ = false;
  std::vector<CallClass> calls_;
  std::vector<OsClass> os_;
  std::vector<Phase> phases_;
  enum StepRange : std::uint8_t { kNoStep, kRange, kAnnotation };
  std::vector<StepRange> step_;
  std::vector<Role> thread_roles_;
  std::vector<KernelClass> kernel_classes_;
  std::vector<std::uint32_t> shape_class_;
  std::vector<std::uint8_t> communication_;
};

}  // namespace advise
