#include "engine/metrics/system/profile_totals.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace advise {
namespace {

void SumCalls(const TotalsOf& calls, const Knowledge& knowledge, ProfileTotals* totals) {
  double most = 0;
  for (const ProfileRow& row : calls.rows) {
    const std::string kind = knowledge.CudaCallClass(row.name);
    if (kind == "launch" || kind == "graph_launch") {
      totals->launches += row.count;
      totals->launch_time += row.total;
      if (row.count > most) {
        most = row.count;
        totals->launch_median = row.median;
      }
    } else if (kind.starts_with("sync_")) {
      totals->waits += row.count;
      totals->wait_time += row.total;
    } else if (kind == "alloc_device" || kind == "free_device" || kind == "alloc_host" ||
               kind == "free_host" || kind == "register_host") {
      totals->allocations += row.count;
      totals->allocation_time += row.total;
    }
  }
}

bool IsHostCopy(const std::string& name) {
  for (const char* words : {"Host-to-Device", "Device-to-Host", "HtoD", "DtoH"}) {
    if (name.find(words) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

const TotalsOf& ProfileTotals::Of(ProfileOf what) const {
  static const TotalsOf kNothing;
  const auto found = of.find(what);
  return found == of.end() ? kNothing : found->second;
}

ProfileTotals SumProfile(const Trace& trace, const Knowledge& knowledge) {
  ProfileTotals totals;
  std::map<std::pair<ProfileOf, std::string_view>, std::size_t> known;  // into the rows
  for (const ProfileTable& table : trace.profile.tables) {
    TotalsOf& sum = totals.of[table.of];
    for (const ProfileRow& row : table.rows) {
      sum.total += row.total;
      sum.count += row.count;
      const std::string_view name = row.name;
      const auto [place, is_new] = known.emplace(std::pair(table.of, name), sum.rows.size());
      if (is_new) {
        sum.rows.push_back(row);
      } else {
        ProfileRow& same = sum.rows[place->second];
        same.total += row.total;
        same.count += row.count;
        same.median = -1;
      }
    }
    sum.total = std::max(sum.total, table.whole);
  }
  for (auto& [what, sum] : totals.of) {
    std::stable_sort(sum.rows.begin(), sum.rows.end(),
                     [](const ProfileRow& a, const ProfileRow& b) { return a.total > b.total; });
  }
  for (const ProfileRow& row : totals.Of(ProfileOf::kCopies).rows) {
    if (IsHostCopy(row.name)) totals.host_copies += row.total;
  }
  SumCalls(totals.Of(ProfileOf::kCalls), knowledge, &totals);
  for (const AllocatorPage& page : trace.profile.allocators) {
    if (page.reserved_peak >= totals.allocator.reserved_peak) totals.allocator = page;
  }
  return totals;
}

}  // namespace advise
