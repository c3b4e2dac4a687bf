// totals.*, allocator.*: summaries of whole runs, without the time of any single event.
#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

constexpr const char* kNoPage = "no memory summary of PyTorch was given, or it does not say";

Rows RowsOfTotals(const TotalsOf& totals) {
  constexpr std::size_t kMost = 100;
  return RowsOf(
      totals.rows,
      [&](const ProfileRow& row) {
        return Row{{"name", row.name},
                   {"time", row.total},
                   {"share", ShareOf(row.total, totals.total)},
                   {"count", row.count}};
      },
      kMost);
}

// The facts of one subject: ".time", ".count", ".rows".
struct SubjectWords {
  const char* name;   // "totals.kernels"
  const char* thing;  // "kernels"
  const char* unit;   // of the total
};

void DeclareSubjectTotals(Catalog* catalog, ProfileOf of, const SubjectWords& words) {
  auto& totals = catalog->Of(&Analysis::totals);
  totals.AlsoWithoutTimeline();
  const std::string name = words.name;
  const std::string thing = words.thing;
  const bool samples = std::string_view(words.unit) == "count";
  totals.Add(name + (samples ? ".samples" : ".time"), words.unit,
             (samples ? "Samples of " + thing : "Summed time of all " + thing) +
                 " in summaries; 0 without a summary.",
             [of](const ProfileTotals& t) { return t.Of(of).total; });
  if (!samples) {
    totals.Add(name + ".count", "count",
               "Number of " + thing + " in summaries; 0 without a summary.",
               [of](const ProfileTotals& t) { return t.Of(of).count; });
  }
  totals.Add(name + ".rows", "rows",
             "The " + thing + " of summaries by name, the longest first: name, time (" +
                 (samples ? "samples" : "ns") + "), share (of all " + thing + "), count.",
             [of](const ProfileTotals& t) { return RowsOfTotals(t.Of(of)); });
}

void DeclareCallTotals(Catalog* catalog) {
  auto& totals = catalog->Of(&Analysis::totals);
  totals.AlsoWithoutTimeline();
  const auto add = [&](const char* name, const char* unit, double ProfileTotals::*value,
                       const char* definition) {
    totals.Add(name, unit, std::string(definition) + "; 0 without a summary.", value);
  };
  add("totals.launches", "count", &ProfileTotals::launches,
      "Calls in summaries that launch kernels or graphs");
  add("totals.launch_time", "ns", &ProfileTotals::launch_time,
      "Summed time of calls in summaries that launch kernels or graphs");
  add("totals.waits", "count", &ProfileTotals::waits, "Synchronization calls in summaries");
  add("totals.wait_time", "ns", &ProfileTotals::wait_time,
      "Summed time of synchronization calls in summaries");
  add("totals.allocations", "count", &ProfileTotals::allocations,
      "Calls in summaries that allocate, register or free memory");
  add("totals.allocation_time", "ns", &ProfileTotals::allocation_time,
      "Summed time of calls in summaries that allocate, register or free memory");
  totals.Add("totals.launch_median", "ns",
             "Median time of the launching call that summaries have most often.",
             UnlessNegative(&ProfileTotals::launch_median,
                            "no summary with medians of launching calls was given", "cuda"));
  add("totals.host_copies", "ns", &ProfileTotals::host_copies,
      "Summed time of copies between host and GPU in summaries");
}

void DeclareAllocatorPage(Catalog* catalog) {
  auto& page = catalog->Of([](const Analysis& a) { return a.totals.allocator; });
  page.AlsoWithoutTimeline();
  const auto add = [&](const char* name, const char* unit, double AllocatorPage::*value,
                       const char* definition) {
    page.Add(name, unit, definition, UnlessNegative(value, kNoPage, "cuda-memory"));
  };
  page.Add("allocator.given", "flag", "Whether a memory summary of PyTorch was given.",
           [](const AllocatorPage& p) { return p.reserved_peak >= 0; });
  add("allocator.tensors.peak", "bytes", &AllocatorPage::allocated_peak,
      "Most memory that tensors held at once, by PyTorch's memory summary.");
  add("allocator.reserved.peak", "bytes", &AllocatorPage::reserved_peak,
      "Most memory that PyTorch's allocator held at once, by its memory summary.");
  add("allocator.unusable.peak", "bytes", &AllocatorPage::unusable_peak,
      "Most memory in blocks that are split and cannot be given back, by PyTorch's memory "
      "summary.");
  add("allocator.retries", "count", &AllocatorPage::retries,
      "Allocations that failed at first, so that PyTorch emptied its cache and tried again, by its "
      "memory summary.");
  add("allocator.out_of_memory", "count", &AllocatorPage::out_of_memory,
      "Allocations that failed for good, by PyTorch's memory summary.");
}

}  // namespace

void DeclareProfileFacts(Catalog* catalog) {
  DeclareSubjectTotals(catalog, ProfileOf::kKernels, {"totals.kernels", "kernels", "ns"});
  DeclareSubjectTotals(catalog, ProfileOf::kCopies, {"totals.copies", "copies and memsets", "ns"});
  DeclareSubjectTotals(catalog, ProfileOf::kCalls, {"totals.calls", "CUDA calls", "ns"});
  DeclareSubjectTotals(
      catalog, ProfileOf::kOsCalls,
      {"totals.os_calls", "calls of the system and of MPI and constructs of OpenACC", "ns"});
  DeclareSubjectTotals(catalog, ProfileOf::kRanges, {"totals.ranges", "named ranges", "ns"});
  DeclareSubjectTotals(catalog, ProfileOf::kStacks, {"totals.stacks", "CPU stacks", "count"});
  DeclareSubjectTotals(catalog, ProfileOf::kInstructions,
                       {"totals.instructions", "instructions and source lines", "count"});
  DeclareCallTotals(catalog);
  DeclareAllocatorPage(catalog);
}

}  // namespace advise::facts
