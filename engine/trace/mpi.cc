#include "engine/trace/mpi.h"

#include <algorithm>
#include <array>
#include <string>

#include "engine/base/ascii.h"
#include "engine/base/is_in.h"

namespace advise {
namespace {

// "isend" of "MPI_Isend" and "pmpi_isend_"; empty when it is no function of MPI.
std::string StemOf(std::string_view function) {
  const std::string name = Lower(function);
  std::string_view stem = name;
  if (stem.starts_with("pmpi")) stem.remove_prefix(1);
  if (stem.starts_with("mpix_")) {
    stem.remove_prefix(5);
  } else if (stem.starts_with("mpi_")) {
    stem.remove_prefix(4);
  } else {
    return "";
  }
  while (stem.ends_with('_')) stem.remove_suffix(1);
  for (const std::string_view ending : {"_f08ts", "_f08", "_init"}) {
    if (stem.size() > ending.size() && stem.ends_with(ending)) stem.remove_suffix(ending.size());
  }
  return std::string(stem);
}

template <std::size_t kCount>
bool IsOneOf(std::string_view name, const std::array<std::string_view, kCount>& names) {
  return IsIn(name, names);
}

constexpr std::array<std::string_view, 9> kSends = {"send",   "bsend",  "ssend",  "rsend", "isend",
                                                    "ibsend", "issend", "irsend", "psend"};
constexpr std::array<std::string_view, 9> kReceives = {
    "recv", "irecv", "mrecv", "imrecv", "precv", "probe", "iprobe", "mprobe", "improbe"};
constexpr std::array<std::string_view, 17> kCollectives = {
    "allgather", "allgatherv", "allreduce", "alltoall",       "alltoallv",
    "alltoallw", "barrier",    "bcast",     "exscan",         "gather",
    "gatherv",   "reduce",     "scatter",   "reduce_scatter", "reduce_scatter_block",
    "scan",      "scatterv"};
constexpr std::array<std::string_view, 6> kWindowWaits = {
    "win_fence", "win_wait", "win_complete", "win_unlock", "win_unlock_all", "win_flush"};

}  // namespace

bool IsMpiFunction(std::string_view name) { return !StemOf(name).empty(); }

bool CountsPerRank(std::string_view function) {
  const std::string stem = StemOf(function);
  const auto holds = [&](std::string_view part) { return stem.find(part) != std::string::npos; };
  return holds("alltoall") || holds("gather") || (holds("scatter") && !holds("reduce"));
}

MpiKind MpiKindOf(std::string_view function) {
  const std::string name = StemOf(function);
  const std::string_view stem = name;
  if (stem.starts_with("file_write") || stem.starts_with("file_iwrite")) return MpiKind::kFileWrite;
  if (stem.starts_with("file_")) return MpiKind::kFile;
  if (stem.starts_with("wait") || stem.starts_with("test") || IsOneOf(stem, kWindowWaits)) {
    return stem == "test_cancelled" ? MpiKind::kOther : MpiKind::kWait;
  }
  if (stem.starts_with("sendrecv") || stem.starts_with("isendrecv")) return MpiKind::kExchange;
  if (IsOneOf(stem, kSends)) return MpiKind::kSend;
  if (IsOneOf(stem, kReceives)) return MpiKind::kReceive;
  std::string_view collective = stem;
  for (const std::string_view prefix : {"ineighbor_", "neighbor_", "i"}) {
    if (IsOneOf(collective, kCollectives)) break;
    if (stem.starts_with(prefix)) collective = stem.substr(prefix.size());
  }
  return IsOneOf(collective, kCollectives) ? MpiKind::kCollective : MpiKind::kOther;
}

}  // namespace advise
