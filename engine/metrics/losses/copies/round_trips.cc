#include "engine/metrics/losses/copies/round_trips.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "engine/metrics/losses/copies/copy.h"
#include "engine/metrics/losses/copies/passages.h"
#include "engine/metrics/losses/directives.h"
#include "engine/metrics/losses/ranks/mpi_waits.h"
#include "engine/timeline/awaited.h"
#include "engine/timeline/blocking_calls.h"
#include "engine/timeline/pause.h"

namespace advise {
namespace {

class RoundTripFinder : Finder {
 public:
  RoundTripFinder(const Basis& basis, const Phases& phases,
                  const std::vector<std::uint32_t>& copies,
                  std::unordered_map<std::uint32_t, std::uint32_t> sync_of_copy)
      : Finder(basis),
        phases_(phases),
        copies_(copies),
        sync_of_copy_(std::move(sync_of_copy)),
        least_bytes_(Number("copy.tiny_bytes")) {
    TieRowsOfDownloads();
  }

  // A download whose exact bytes are uploaded again within a step's time: to the same device, or to
  // another.
  RoundTrips Find() {
    LossBuilder trip(basis_);
    LossBuilder through(basis_);
    const auto direct = static_cast<float>(Number("copy.direct_left"));
    std::vector<std::pair<std::uint32_t, std::uint32_t>> trips;  // that end where they began
    WeighedCalls uploads;
    for (const std::uint32_t op : copies_) {
      const bool up = trace_.DirectionOfCopy(op) == CopyDirection::kHostToDevice;
      if (up && trace_.ops.call[op] != kNone) uploads.emplace_back(trace_.ops.call[op], Bytes(op));
    }
    // A region of a directive copies in what the one before it copied out, also where the host does
    // nothing in between.
    const auto by_directives = [](const KernelClass& c) {
      return c.family == "openacc" || c.family == "openmp";
    };
    const bool directives =
        !DirectiveOf(trace_, uploads).empty() || AreMost(run_.names.Shapes(by_directives));
    const std::vector<Pair> pairs = Pairs(directives);
    result_.by_directives = directives;
    std::set<std::int64_t> untouched;
    std::set<std::int64_t> exchanged;
    std::set<DeviceAndSize> frames;
    if (!directives && !CopiesArguments()) {
      const std::map<DeviceAndSize, Passages> passages = PassagesOf(run_, least_bytes_);
      untouched = SizesUntouched(pairs, passages);
      frames = Frames(run_, passages);
      exchanged = SizesExchanged(pairs, untouched, frames);
    }
    double activations = 0;
    for (const Pair& pair : pairs) {
      const bool same = OnOneDevice(pair) && !exchanged.contains(trace_.BytesOfCopy(pair.up));
      if (same && untouched.contains(trace_.BytesOfCopy(pair.up))) continue;
      if (same && frames.contains(Of(pair.up))) continue;
      LossBuilder& loss = same ? trip : through;
      loss.Count(trace_.ops.start[pair.down], Bytes(pair.up), Length(pair.up) + Length(pair.down));
      for (const std::uint32_t part : {pair.down, pair.up}) {
        loss.AddExposed(part);
        loss.ScaleOp(part, same ? 0.0F : direct);
        const std::uint32_t call = trace_.ops.call[part];
        if (call == kNone) continue;
        loss.remedy().unblocked_calls.push_back(call);
        if (SyncOf(call) != kNone) loss.remedy().unblocked_calls.push_back(SyncOf(call));
      }
      AddBetween(pair.down, pair.up, &loss);
      if (!same) {
        result_.ops_through_host.insert({pair.down, pair.up});
        continue;
      }
      trips.emplace_back(pair.down, pair.up);
      activations +=
          IsOfBackward(run_, phases_, pair.up) && !IsOfBackward(run_, phases_, pair.down);
    }
    if (!trips.empty()) result_.activations = activations / static_cast<double>(trips.size());
    if (directives) TakeInputsOfRegions(trips, &trip);
    CutBesideTrips(trips, &trip);
    result_.trip = trip.Build();
    result_.through_host = through.Build();
    return std::move(result_);
  }

 private:
  struct Pair {
    std::uint32_t down = 0;
    std::uint32_t up = 0;
    bool touched = false;  // the host could have changed in between what it uploads
  };

  bool AreMost(const ShapeSet& shapes) const {
    if (shapes.empty()) return false;
    std::size_t of_these = 0, kernels = 0;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] != OpKind::kKernel) continue;
      ++kernels;
      of_these += shapes.Has(trace_.ops.detail[op]) ? 1 : 0;
    }
    return 2 * of_these > kernels;
  }

  // Whether a framework copies what it is given: most kernels are of one that copies the host's
  // arrays to the GPU before a call and back after it, several arrays go up in a row, and as many
  // come down. A single one may be the next piece of a stream.
  bool CopiesArguments() const {
    std::vector<std::uint8_t> copies_arguments;  // by shape
    for (const KernelShape& shape : trace_.shapes) {
      const auto signs = run_.knowledge.RunSignsOf("kernel", trace_.strings[shape.name]);
      copies_arguments.push_back(std::any_of(signs.begin(), signs.end(), [&](std::size_t sign) {
        return run_.knowledge.run_signs()[sign].copies_arguments;
      }));
    }
    std::size_t of_framework = 0, kernels = 0, ups = 0, downs = 0, rows = 0;
    CopyDirection last = CopyDirection::kUnknown;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] == OpKind::kKernel) {
        ++kernels;
        of_framework += copies_arguments[trace_.ops.detail[op]];
      }
      if (trace_.ops.kind[op] != OpKind::kCopy || Bytes(op) <= least_bytes_) continue;
      const CopyDirection direction = trace_.DirectionOfCopy(op);
      if (!IsHostDevice(direction)) continue;
      ++(direction == CopyDirection::kHostToDevice ? ups : downs);
      if (direction != last && direction == CopyDirection::kHostToDevice) ++rows;
      last = direction;
    }
    const std::size_t apart = ups > downs ? ups - downs : downs - ups;
    return 2 * of_framework > kernels && ups >= 2 * rows && apart * rows <= ups;
  }

  DeviceAndSize Of(std::uint32_t copy) const {
    return {trace_.ops.device[copy], trace_.BytesOfCopy(copy)};
  }

  struct Balance {
    std::int64_t uploads = 0;         // less downloads
    std::set<std::uint32_t> devices;  // that upload
  };

  std::map<std::int64_t, Balance> Balances() const {
    std::map<std::int64_t, Balance> by_size;
    for (const std::uint32_t op : copies_) {
      if (!IsHostDevice(trace_.DirectionOfCopy(op))) continue;
      const bool up = trace_.DirectionOfCopy(op) == CopyDirection::kHostToDevice;
      Balance& of_size = by_size[trace_.BytesOfCopy(op)];
      of_size.uploads += up ? 1 : -1;
      if (up) of_size.devices.insert(trace_.ops.device[op]);
    }
    return by_size;
  }

  // What a region only reads goes up with what it changes, in arrays of the same size, and stays on
  // the GPU with it. The runtime fills its buffer between one piece and the next.
  void TakeInputsOfRegions(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& trips,
                           LossBuilder* trip) {
    std::set<std::uint32_t> paired;
    std::map<DeviceAndSize, std::uint32_t> first;  // upload of a trip
    for (const auto& [down, up] : trips) {
      paired.insert(up);
      first.try_emplace(Of(up), up);
    }
    std::map<std::uint32_t, std::uint32_t> copy_before;  // by device
    for (const std::uint32_t op : copies_) {
      const auto [last, is_first] = copy_before.try_emplace(trace_.ops.device[op], op);
      const std::uint32_t before = std::exchange(last->second, op);
      if (trace_.DirectionOfCopy(op) != CopyDirection::kHostToDevice || paired.contains(op))
        continue;
      const auto of_trip = first.find(Of(op));
      if (of_trip == first.end() || op < of_trip->second) continue;  // they have to go up once
      trip->CountOp(op, Bytes(op));
      trip->AddExposed(op);
      trip->ScaleOp(op, 0);
      if (trace_.ops.call[op] != kNone)
        trip->remedy().unblocked_calls.push_back(trace_.ops.call[op]);
      if (before != op && FollowsPiece(before, op)) AddBetween(before, op, trip);
    }
  }

  // Both go up, with nothing of the GPU's in between.
  bool FollowsPiece(std::uint32_t before, std::uint32_t op) const {
    const IntervalSet& compute = basis_.times[trace_.ops.device[op]].compute;
    return trace_.DirectionOfCopy(before) == CopyDirection::kHostToDevice &&
           compute.OverlapWith(trace_.ops.end[before], trace_.ops.start[op]) == 0;
  }

  // Downloads for which the host waits, each with the next upload of as many bytes. Where a
  // directive copies, uploads of that size that outnumber them are what its region only reads.
  std::vector<Pair> Pairs(bool directives) {
    std::vector<Pair> pairs;
    const auto reach =
        static_cast<Nanos>(Number("copy.back_within") * static_cast<double>(run_.window.Length()));
    const std::map<std::int64_t, Balance> balance = Balances();
    std::multimap<std::int64_t, std::uint32_t> waiting;
    for (const std::uint32_t op : copies_) {
      const std::int64_t bytes = trace_.BytesOfCopy(op);
      if (static_cast<double>(bytes) <= least_bytes_ || !IsHostDevice(trace_.DirectionOfCopy(op)))
        continue;
      if (trace_.DirectionOfCopy(op) == CopyDirection::kDeviceToHost) {
        // Only a host that waited for the download can have worked on it.
        const std::uint32_t call = trace_.ops.call[op];
        if (call != kNone && (BlocksHost(run_, call) || SyncOf(call) != kNone))
          waiting.emplace(bytes, op);
        continue;
      }
      // More uploads than downloads of a size (but for one at the edge of each device): these are
      // inputs, and the results happen to have their size.
      const Balance& of_size = balance.at(bytes);
      if (!directives && of_size.uploads > static_cast<std::int64_t>(of_size.devices.size()))
        continue;
      auto [at, last] = waiting.equal_range(bytes);
      if (at == last) continue;
      const bool touched = CouldTouch(std::prev(last)->second, op);
      for (; at != last; ++at) {
        const std::uint32_t down = at->second;
        const bool in_time = trace_.ops.end[down] <= trace_.ops.start[op] &&
                             trace_.ops.start[op] - trace_.ops.end[down] <= reach;
        if (!in_time || !AreOfOneStep(down, op)) continue;
        if (IsExchanged(down, op)) {
          const std::uint32_t sync = SyncOf(trace_.ops.call[down]);
          if (sync != kNone) result_.calls_to_exchange.insert(sync);
          continue;
        }
        pairs.push_back({down, op, touched});
        waiting.erase(at);
        break;
      }
    }
    return pairs;
  }

  // By their calls as well: an upload at the end of a range begins on the GPU behind it. Steps
  // found from periodicity begin anywhere, perhaps between the two ways.
  bool AreOfOneStep(std::uint32_t down, std::uint32_t up) const {
    const Steps& steps = run_.steps;
    if (!steps.known() || steps.At(trace_.ops.start[up]) == steps.At(trace_.ops.start[down]))
      return true;
    if (steps.source == "period")
      return trace_.ops.end[up] - trace_.ops.start[down] <= steps.Median();
    const std::uint32_t a = trace_.ops.call[down];
    const std::uint32_t b = trace_.ops.call[up];
    return a != kNone && b != kNone &&
           steps.At(trace_.calls.start[b]) == steps.At(trace_.calls.start[a]);
  }

  bool OnOneDevice(const Pair& pair) const {
    return trace_.ops.device[pair.down] == trace_.ops.device[pair.up];
  }

  // Sizes of which most uploads follow so soon that the host cannot have changed anything: other
  // data, unless it passes through the GPU. One that is quick with a small change, such as the
  // edges of a field, is like its fellows.
  std::set<std::int64_t> SizesUntouched(const std::vector<Pair>& pairs,
                                        const std::map<DeviceAndSize, Passages>& passages) const {
    std::map<std::int64_t, std::int64_t> touched;  // more than not, by size
    for (const Pair& pair : pairs) {
      const bool changes = pair.touched || passages.at(Of(pair.up)).PassesThrough();
      if (OnOneDevice(pair)) touched[trace_.BytesOfCopy(pair.up)] += changes ? 1 : -1;
    }
    std::set<std::int64_t> sizes;
    for (const auto& [size, more] : touched) {
      if (more < 0) sizes.insert(size);
    }
    return sizes;
  }

  // Of the sizes that the host leaves untouched, those that one thread brings down from several
  // devices before it sends as many bytes to any of them: no device needs its own data back, so
  // each gets that of another. Pieces of a stream go up first.
  std::set<std::int64_t> SizesExchanged(const std::vector<Pair>& pairs,
                                        const std::set<std::int64_t>& untouched,
                                        const std::set<DeviceAndSize>& frames) const {
    std::map<std::int64_t, std::int64_t> together;  // more than not, by size
    const auto thread_of = [&](std::uint32_t op) {
      const std::uint32_t call = trace_.ops.call[op];
      return call == kNone ? kNone : trace_.calls.thread[call];
    };
    const auto meets = [&](const Pair& pair, const Pair& other) {
      return thread_of(other.up) == thread_of(pair.up) &&
             trace_.BytesOfCopy(other.up) == trace_.BytesOfCopy(pair.up) &&
             trace_.ops.device[other.up] != trace_.ops.device[pair.up] &&
             trace_.ops.end[other.down] <= trace_.ops.start[pair.up] &&
             trace_.ops.end[pair.down] <= trace_.ops.start[other.up];
    };
    const std::size_t reach = run_.active_devices.size();
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const std::int64_t bytes = trace_.BytesOfCopy(pairs[i].up);
      if (!untouched.contains(bytes) || frames.contains(Of(pairs[i].up))) continue;
      bool any = false;
      for (std::size_t j = i - std::min(i, reach); j < std::min(pairs.size(), i + reach + 1); ++j)
        any = any || meets(pairs[i], pairs[j]);
      together[bytes] += any ? 1 : -1;
    }
    std::set<std::int64_t> sizes;
    for (const auto& [size, more] : together) {
      if (more > 0) sizes.insert(size);
    }
    return sizes;
  }

  // The synchronize call that waits for the copy of this call, kNone.
  std::uint32_t SyncOf(std::uint32_t call) const {
    const auto found = sync_of_copy_.find(call);
    return found == sync_of_copy_.end() ? kNone : found->second;
  }

  // What waits for a download waits for those right before it as well.
  void TieRowsOfDownloads() {
    for (const std::uint32_t thread : run_.launching_threads) {
      const RowRange calls = run_.calls_of_thread[thread];
      std::uint32_t sync = kNone;
      for (std::uint32_t c = calls.last; c-- > calls.first;) {
        const std::uint32_t op = run_.first_op_of_call[c];
        const bool download = op != kNone && trace_.ops.kind[op] == OpKind::kCopy &&
                              trace_.DirectionOfCopy(op) == CopyDirection::kDeviceToHost;
        if (SyncOf(c) != kNone) {
          sync = download ? SyncOf(c) : kNone;
        } else if (download && sync != kNone) {
          sync_of_copy_.emplace(c, sync);
        } else if (op != kNone || IsSync(run_.ClassOfCall(c))) {
          sync = kNone;
        }
      }
    }
  }

  // Whether the host had time to change what it downloaded before it uploaded as much, or ran code
  // of its own that may have changed a part, such as the edges of a field. If not, the upload is
  // other data, such as the next piece of a stream.
  bool CouldTouch(std::uint32_t down, std::uint32_t up) {
    const std::uint32_t call = trace_.ops.call[up];
    if (call == kNone || OwnCodeBefore(call)) return true;
    const auto host = static_cast<double>(trace_.calls.start[call] - trace_.ops.end[down]);
    const auto bytes = static_cast<double>(trace_.BytesOfCopy(down));
    return host * Number("copy.touch_rate") >= bytes * kNanosPerSecond;
  }

  // Whether the thread runs code of its own right before the call, for longer than between
  // launches.
  bool OwnCodeBefore(std::uint32_t call) {
    const std::uint32_t thread = trace_.calls.thread[call];
    if (long_pauses_.empty()) long_pauses_ = LongPauses(run_);
    return PauseAround(run_, thread, trace_.calls.start[call] - 1).Length() > long_pauses_[thread];
  }

  // What came down was sent, and what goes up was received: an exchange with another rank, no round
  // trip. Calls of MPI tell, a range that names communication, or kernels that pack messages.
  bool IsExchanged(std::uint32_t down, std::uint32_t up) const {
    const std::uint32_t a = trace_.ops.call[down];
    const std::uint32_t b = trace_.ops.call[up];
    if (a == kNone || b == kNone) return false;
    const std::uint32_t thread = trace_.calls.thread[b];
    const Nanos from = trace_.calls.end[a];
    const Nanos to = trace_.calls.start[b];
    const std::uint32_t process = trace_.threads[thread].process;
    return UsesMpi(run_, thread, from, to) ||
           phases_.Of(process, Phase::kCommunication).OverlapWith(from, to) > 0;
  }

  // Idle time between the two ways, when the host works on the data there.
  void AddBetween(std::uint32_t down, std::uint32_t up, LossBuilder* loss) {
    const std::uint32_t device = trace_.ops.device[up];
    const IntervalSet idle =
        basis_.times[device].idle.Clip(trace_.ops.end[down], trace_.ops.start[up]);
    loss->AddSpans(device, idle);
    const std::uint32_t a = trace_.ops.call[down];
    const std::uint32_t b = trace_.ops.call[up];
    if (a == kNone || b == kNone || trace_.calls.thread[a] != trace_.calls.thread[b]) return;
    const Nanos from = trace_.calls.end[a];
    const Nanos to = trace_.calls.start[b];
    IntervalSet cut = idle.Clip(from, to);
    if (cut.empty()) return;
    loss->remedy().host_cuts.push_back({trace_.calls.thread[a], std::move(cut)});
  }

  // Code between the two ways that runs beside copies of round trips goes, too: it fills and
  // empties the buffers of a runtime that copies piece by piece.
  void CutBesideTrips(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& trips,
                      LossBuilder* loss) {
    std::map<std::uint32_t, std::vector<Interval>> copying;                            // by device
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Interval>> between;  // + thread
    WeighedCalls back;
    for (const auto& [down, up] : trips) {
      const std::uint32_t device = trace_.ops.device[up];
      for (const std::uint32_t op : {down, up})
        copying[device].push_back({trace_.ops.start[op], trace_.ops.end[op]});
      const std::uint32_t a = trace_.ops.call[down];
      const std::uint32_t b = trace_.ops.call[up];
      if (b == kNone) continue;
      back.emplace_back(b, Bytes(up));
      const std::uint32_t thread = trace_.calls.thread[b];
      if (a != kNone && trace_.calls.thread[a] == thread)
        between[{device, thread}].push_back({trace_.calls.end[a], trace_.calls.start[b]});
    }
    for (auto& [where, spans] : between) {
      const auto& [device, thread] = where;
      // Kernels that run meanwhile need the host, and keep it.
      IntervalSet cut = IntervalSet::Of(copying[device])
                            .Subtract(basis_.times[device].compute)
                            .Intersect(IntervalSet::Of(std::move(spans)));
      if (!cut.empty()) loss->remedy().host_cuts.push_back({thread, std::move(cut)});
    }
    result_.directive = DirectiveOf(trace_, back);
  }

  const Phases& phases_;
  const std::vector<std::uint32_t>& copies_;
  std::unordered_map<std::uint32_t, std::uint32_t> sync_of_copy_;
  double least_bytes_;
  std::vector<Nanos> long_pauses_;  // by thread, once asked for
  RoundTrips result_;
};

}  // namespace

RoundTrips FindRoundTrips(const Basis& basis, const Phases& phases,
                          const std::vector<std::uint32_t>& copies,
                          const std::unordered_map<std::uint32_t, std::uint32_t>& sync_of_copy) {
  return RoundTripFinder(basis, phases, copies, sync_of_copy).Find();
}

}  // namespace advise
