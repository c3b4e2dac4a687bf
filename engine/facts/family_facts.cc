// family.*, calls.*, ranges.*, os.*: one loss for each family of names. Which names belong to which
// family is said by kb/families.toml.
#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

struct Named {
  const char* group;   // of facts: "family.gemv"
  const char* things;  // what is lost to, as a noun phrase
};

// In the order of the lists in metrics/losses/families.h.
constexpr std::array<Named, kKernelFamilies.size()> kKernels = {
    {{"family.batch_norm_sync", "kernels that join batch statistics over ranks"},
     {"family.checks", "kernels that look for wrong values, or check assertions"},
     {"family.clip", "kernels that measure and scale gradients"},
     {"family.compiled", "kernels that a compiler made (Triton of torch.compile)"},
     {"family.concat", "kernels that concatenate or stack tensors"},
     {"family.cross_entropy", "kernels of the loss over classes"},
     {"family.decode", "attention kernels of single tokens (decode)"},
     {"family.dequantise", "kernels that unpack quantized weights"},
     {"family.dropout", "kernels that draw random numbers"},
     {"family.embedding", "embedding, gather and scatter kernels"},
     {"family.foreach", "multi-tensor kernels of an optimizer that is not fused"},
     {"family.gemv", "matrix-vector products"},
     {"family.index_backward", "kernels that add gradients up by index"},
     {"family.kv_cache", "kernels that write, gather or move the key-value cache"},
     {"family.loss_scaling", "kernels of the gradient scaler"},
     {"family.moe_routing", "kernels that route tokens to experts"},
     {"family.naive_convolution", "convolutions by a plain or fallback algorithm"},
     {"family.nonzero", "kernels whose result size depends on the data"},
     {"family.old_tensor", "tensor-core kernels written for an older generation of GPUs"},
     {"family.prefill", "attention kernels of whole prompts (prefill)"},
     {"family.reduction", "reduction kernels"},
     {"family.rotary", "rotary-embedding kernels"},
     {"family.sampling", "kernels that choose tokens"},
     {"family.scan", "scans (cumulative sums)"},
     {"family.sort", "sorts and top-k kernels"},
     {"family.upsample", "kernels that interpolate or resample"}}};
constexpr std::array<Named, kCallFamilies.size()> kCalls = {
    {{"calls.device_query", "questions to the driver about devices and memory"},
     {"calls.event_timing", "calls that read the time between events"},
     {"calls.graph_build", "calls that build or change graphs"},
     {"calls.graph_capture", "calls that capture graphs"},
     {"calls.host_register", "calls that pin or unpin host memory"},
     {"calls.ipc", "calls that open memory of other processes"},
     {"calls.objects", "calls that create or destroy streams and events"},
     {"calls.pool", "calls of the stream-ordered allocator"},
     {"calls.query", "calls that ask whether work is done"},
     {"calls.strided_copy", "calls of strided copies"},
     {"calls.symbol_copy", "calls of copies to or from symbols"}}};
constexpr std::array<Named, kRangeFamilies.size()> kRanges = {
    {{"ranges.communicator", "ranges that set up communicators"},
     {"ranges.detokenise", "ranges that turn tokens into text"},
     {"ranges.gloo", "ranges of collectives on the CPU (Gloo)"},
     {"ranges.object_collective", "ranges of collectives of Python objects"},
     {"ranges.prepare", "ranges that prepare inputs"},
     {"ranges.unused_search", "searches for parameters without a gradient"}}};
constexpr std::array<Named, kOsFamilies.size()> kOs = {
    {{"os.open", "OS calls that open or look up files"},
     {"os.process", "OS calls that start processes"}}};

template <std::size_t kSize>
constexpr bool InOrder(const std::array<Named, kSize>& groups,
                       const std::array<std::string_view, kSize>& families) {
  for (std::size_t i = 0; i < kSize; ++i) {
    const std::string_view group = groups[i].group;
    if (group.substr(group.find('.') + 1) != families[i]) return false;
  }
  return true;
}
static_assert(InOrder(kKernels, kKernelFamilies) && InOrder(kCalls, kCallFamilies) &&
              InOrder(kRanges, kRangeFamilies) && InOrder(kOs, kOsFamilies));

// What threads do in the steady loop.
template <std::size_t kSize>
void DeclareHost(const std::array<Named, kSize>& groups, std::vector<Loss> Families::*losses,
                 Catalog* catalog) {
  auto& families = catalog->Of(&Analysis::families);
  for (std::size_t i = 0; i < kSize; ++i) {
    const std::string things = groups[i].things;
    families.AddLoss(groups[i].group, kOfCalls,
                     {things + ", in the steady loop",
                      "Idle time while the launching thread is inside " + things + ".",
                      "The steady loop has no " + things + "."},
                     [losses, i](const Families& f) -> const Loss& { return (f.*losses)[i]; });
  }
}

}  // namespace

void DeclareFamilyFacts(Catalog* catalog) {
  auto& families = catalog->Of(&Analysis::families);
  for (std::size_t i = 0; i < kKernels.size(); ++i) {
    const std::string group = kKernels[i].group;
    const std::string things = kKernels[i].things;
    families.AddLoss(group, kCount | kPerStep | kShare | kLost | kRemedy,
                     {things, "Time of " + things + ".", "There are no " + things + "."},
                     [i](const Families& f) -> const Loss& { return f.kernels[i].loss; });
    families.Add(group + ".halved", "remedy", "Half the time of " + things + " is saved.",
                 [i](const Families& f) { return f.kernels[i].halved; });
  }
  DeclareHost(kCalls, &Families::calls, catalog);
  DeclareHost(kRanges, &Families::ranges, catalog);
  DeclareHost(kOs, &Families::os, catalog);
}

}  // namespace advise::facts
