// family.*, calls.*, ranges.*, os.*: one group of facts a family of names.
#include "engine/facts/fact_writer.h"
#include "engine/metrics/analysis.h"

namespace advise::facts {
namespace {

// What each family is, in the order of its list.
constexpr std::array<const char*, kKernelFamilies.size()> kKernelWords = {
    "kernels that join batch statistics over ranks",
    "kernels that look for wrong values, or check assertions",
    "kernels that measure and scale gradients",
    "kernels that a compiler made (Triton of torch.compile)",
    "kernels that concatenate or stack tensors",
    "kernels of the loss over classes",
    "attention kernels of single tokens (decode)",
    "kernels that unpack quantised weights",
    "kernels that draw random numbers",
    "embedding, gather and scatter kernels",
    "kernels that fill tensors with a constant",
    "multi-tensor kernels of an optimizer that is not fused",
    "fused optimizer kernels",
    "matrix-vector products",
    "kernels that add gradients up by index",
    "kernels that write, gather or move the key-value cache",
    "kernels of the gradient scaler",
    "kernels that route tokens to experts",
    "convolutions by a plain or fallback algorithm",
    "kernels whose result size depends on the data",
    "normalisation kernels",
    "tensor-core kernels written for an older generation of GPUs",
    "attention kernels of whole prompts (prefill)",
    "reductions",
    "rotary-embedding kernels",
    "kernels that choose tokens",
    "scans (cumulative sums)",
    "sorts and top-k",
    "kernels that interpolate or resample"};
constexpr std::array<const char*, kCallFamilies.size()> kCallWords = {
    "questions to the driver about devices and memory",
    "calls that read the time between events",
    "calls that build or change graphs",
    "calls that capture graphs",
    "calls that pin or unpin host memory",
    "calls that open memory of other processes",
    "calls that create or destroy streams and events",
    "calls of the stream-ordered allocator",
    "calls that ask whether work is done",
    "strided copies",
    "copies to or from symbols"};
constexpr std::array<const char*, kRangeFamilies.size()> kRangeWords = {
    "set-up of communicators",
    "turning tokens into text",
    "collectives on the CPU (Gloo)",
    "collectives of Python objects",
    "preparation of inputs",
    "choosing tokens",
    "searches for parameters without a gradient"};
constexpr std::array<const char*, kOsFamilies.size()> kOsWords = {
    "calls that open or look up files", "calls that start processes"};

std::string Name(const char* prefix, std::string_view family) {
  return std::string(prefix) + "." + std::string(family);
}

void AddHost(const char* prefix, std::string_view family, const char* words,
             std::vector<FactInfo>* list) {
  const std::string name = Name(prefix, family);
  const std::string what = words;
  list->push_back({name + ".count", "count", "Number of " + what + ", in the steady loop."});
  list->push_back({name + ".per_step", "count", "How many a step."});
  list->push_back({name + ".time", "ns", "Their summed host time."});
  list->push_back(
      {name + ".lost", "spans", "Idle time while the launching thread is inside them."});
  list->push_back({name + ".remedy", "remedy", "The host does not do them."});
}

void WriteHost(const std::string& name, const Loss& loss, FactWriter* w) {
  w->Number(name + ".count", static_cast<double>(loss.count));
  w->Number(name + ".per_step", loss.per_step);
  w->Number(name + ".time", loss.time_ns);
  w->Lost(name, loss);
}

}  // namespace

std::vector<FactInfo> FamilyFactList() {
  std::vector<FactInfo> list;
  for (std::size_t i = 0; i < kKernelFamilies.size(); ++i) {
    const std::string name = Name("family", kKernelFamilies[i]);
    const std::string what = kKernelWords[i];
    list.push_back({name + ".count", "count", "Number of " + what + "."});
    list.push_back({name + ".per_step", "count", "How many a step."});
    list.push_back({name + ".share", "share", "Their share of the compute time."});
    list.push_back({name + ".lost", "spans", "Their time."});
    list.push_back({name + ".remedy", "remedy", "They are gone."});
    list.push_back({name + ".halved", "remedy", "They take half of their time."});
  }
  for (std::size_t i = 0; i < kCallFamilies.size(); ++i)
    AddHost("calls", kCallFamilies[i], kCallWords[i], &list);
  for (std::size_t i = 0; i < kRangeFamilies.size(); ++i)
    AddHost("ranges", kRangeFamilies[i], kRangeWords[i], &list);
  for (std::size_t i = 0; i < kOsFamilies.size(); ++i)
    AddHost("os", kOsFamilies[i], kOsWords[i], &list);
  return list;
}

void WriteFamilyFacts(const Analysis& a, FactWriter* w) {
  const Families& f = a.families;
  const double compute = a.kernels.compute_ns;
  for (std::size_t i = 0; i < kKernelFamilies.size(); ++i) {
    const std::string name = Name("family", kKernelFamilies[i]);
    const Loss& loss = f.kernels[i].loss;
    w->Number(name + ".count", static_cast<double>(loss.count));
    w->Number(name + ".per_step", loss.per_step);
    w->Number(name + ".share", compute > 0 ? static_cast<double>(loss.lost->Total()) / compute : 0);
    w->Lost(name, loss);
    Loss half;
    half.remedy = f.kernels[i].halved;
    w->Remedied(name + ".halved", half);
  }
  for (std::size_t i = 0; i < kCallFamilies.size(); ++i)
    WriteHost(Name("calls", kCallFamilies[i]), f.calls[i], w);
  for (std::size_t i = 0; i < kRangeFamilies.size(); ++i)
    WriteHost(Name("ranges", kRangeFamilies[i]), f.ranges[i], w);
  for (std::size_t i = 0; i < kOsFamilies.size(); ++i)
    WriteHost(Name("os", kOsFamilies[i]), f.os[i], w);
}

}  // namespace advise::facts
