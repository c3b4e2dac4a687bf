#include "engine/metrics/losses/copies/repeated_uploads.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "engine/metrics/losses/copies/answered_uploads.h"

namespace advise {
namespace {

class UploadFinder : Finder {
 public:
  UploadFinder(const Basis& basis, const Phases& phases, const std::vector<std::uint32_t>& copies,
               const std::vector<std::uint8_t>& in_series,
               const std::unordered_map<std::uint32_t, std::uint32_t>& sync_of_copy,
               double link_bytes_per_s, bool of_tokens)
      : Finder(basis),
        phases_(phases),
        copies_(copies),
        in_series_(in_series),
        sync_of_copy_(sync_of_copy),
        steps_(run_.steps),
        link_(link_bytes_per_s),
        of_tokens_(of_tokens),
        losses_(run_.names.Shapes([](const KernelClass& c) { return c.HasTrait("loss"); })) {
    if (!steps_.known()) steps_.all = run_.steps.offloaded;
  }

  RepeatedUploads Find() {
    LossBuilder loss(basis_);
    if (steps_.known()) {
      FindRecurring();
      stops_ = Stops();
      LeaveOutWhatFeedsNoLayer();
      result_.looks = Looks();
      result_.answered = !by_step_.empty() && AreAnswered(run_, Recurring());
      if (result_.looks != UploadLooks::kBatch) Tell(&loss);
    }
    result_.loss = loss.Build();
    return std::move(result_);
  }

 private:
  std::int64_t Bytes(std::uint32_t op) const { return trace_.BytesOfCopy(op); }
  bool IsUpload(std::uint32_t op) const {
    return trace_.DirectionOfCopy(op) == CopyDirection::kHostToDevice;
  }
  // A batch that takes long because the link is slow is still a batch.
  double TimeOnLink(std::uint32_t op) const {
    const auto length = static_cast<double>(Length(op));
    if (link_ <= 0) return length;
    return std::min(length, static_cast<double>(Bytes(op)) / link_ * kNanosPerSecond);
  }

  UploadLooks Looks() const {
    if (!AreMany() && !AreHeavy() && !AreStoppedFor() && !AreNoTokens()) return UploadLooks::kBatch;
    if (AreStream()) return UploadLooks::kBatch;
    if (AreStoppedFor() || AreNoTokens() || MayBeBesideTheBatch()) return UploadLooks::kConstant;
    const bool one_go = ComeInOneGo();
    const bool pieces = (AreAlike() && (stops_ <= Devices() || one_go)) || (AreSmall() && one_go);
    return pieces ? UploadLooks::kBatchInPieces : UploadLooks::kConstant;
  }

  // A range says so: the program loads data, and sends this where it loads or moves it.
  bool IsNamedBatch(std::uint32_t op) const {
    if (!phases_.known(Phase::kDataLoading)) return false;
    const Phase phase = phases_.OfOp(run_, op);
    return phase == Phase::kDataLoading || phase == Phase::kTransfer;
  }

  // Sizes of which most uploads follow a download of as many bytes in the same step: the host keeps
  // for the GPU what does not fit there (activations, states), and nothing of that is constant.
  std::set<std::int64_t> SwappedSizes() const {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, std::int64_t> away;
    std::map<std::int64_t, std::int64_t> swapped;  // more than not, by size
    for (const std::uint32_t op : copies_) {
      const std::uint32_t step = steps_.At(trace_.ops.start[op]);
      if (step == kNone) continue;
      std::int64_t& kept = away[{trace_.ops.device[op], step, Bytes(op)}];
      if (trace_.DirectionOfCopy(op) == CopyDirection::kDeviceToHost) ++kept;
      if (!IsUpload(op)) continue;
      swapped[Bytes(op)] += kept > 0 ? 1 : -1;
      kept = std::max<std::int64_t>(0, kept - 1);
    }
    std::set<std::int64_t> sizes;
    for (const auto& [size, more] : swapped) {
      if (more > 0) sizes.insert(size);
    }
    return sizes;
  }

  // Uploads whose size comes back in most steps. Those that nothing holds back run ahead of their
  // steps, and are done long before the end.
  void FindRecurring() {
    const auto least = BytesOf("copy.repeated_bytes");
    const std::set<std::int64_t> answered =
        AnsweredSizes(run_, static_cast<double>(steps_.steady_count()) * Devices());
    const std::set<std::int64_t> swapped = SwappedSizes();
    std::map<std::pair<std::size_t, std::int64_t>, std::vector<std::uint32_t>> by_step_size;
    std::map<std::int64_t, std::set<std::size_t>> steps_with;
    for (const std::uint32_t op : copies_) {
      const std::uint32_t step = steps_.At(trace_.ops.start[op]);
      if (!IsUpload(op) || step == kNone || swapped.contains(Bytes(op))) continue;
      if (Bytes(op) < least || in_series_[op] != 0 || IsNamedBatch(op) ||
          answered.contains(Bytes(op))) {
        ++others_;  // tokens, indices: a batch may be small
        continue;
      }
      by_step_size[{step, Bytes(op)}].push_back(op);
      steps_with[Bytes(op)].insert(step);
    }
    for (const auto& [key, list] : by_step_size) {
      if (!Recurs(steps_with[key.second])) {
        others_ += list.size();
        continue;
      }
      std::vector<std::uint32_t>& ops = by_step_[key.first];
      ops.insert(ops.end(), list.begin(), list.end());
    }
    LeaveOutBatch();
    std::vector<double> counts;
    std::uint32_t from = 0;
    for (auto& [step, ops] : by_step_) {
      std::sort(ops.begin(), ops.end());
      counts.push_back(static_cast<double>(ops.size()) / Batches(ops, &from));
      for (const std::uint32_t op : ops) upload_ns_ += TimeOnLink(op);
    }
    per_batch_ = Median(counts);
    for (const std::uint32_t d : run_.active_devices)
      compute_ns_ += static_cast<double>(basis_.times[d].ComputeNs());
  }

  std::set<std::uint32_t> Recurring() const {
    std::set<std::uint32_t> recurring;
    for (const auto& [step, ops] : by_step_) recurring.insert(ops.begin(), ops.end());
    return recurring;
  }

  // Few uploads from another kind of memory than many others are the batch beside weights: who
  // keeps weights on the host allocates them alike.
  void LeaveOutBatch() {
    std::map<MemoryKind, std::size_t> by_memory;
    const auto memory_of = [&](std::uint32_t op) {
      return trace_.copies.source[trace_.ops.detail[op]];
    };
    for (const auto& [step, ops] : by_step_) {
      for (const std::uint32_t op : ops) ++by_memory[memory_of(op)];
    }
    const auto in_steps = static_cast<double>(by_step_.size()) * Devices();
    const double many = Number("copy.repeated_count") * in_steps;
    const bool weights = std::any_of(by_memory.begin(), by_memory.end(), [&](const auto& kind) {
      return static_cast<double>(kind.second) >= many;
    });
    if (!weights) return;
    for (auto& [step, ops] : by_step_) {
      others_ += std::erase_if(ops, [&](std::uint32_t op) {
        return static_cast<double>(by_memory[memory_of(op)]) < many;
      });
    }
    std::erase_if(by_step_, [](const auto& of_step) { return of_step.second.empty(); });
  }

  // `with`: the steps that have one, not empty.
  bool Recurs(const std::set<std::size_t>& with) const {
    const double share = Number("copy.repeated_steps");
    const auto from_first = static_cast<double>(*with.rbegin() - *with.begin() + 1);
    const auto all = static_cast<double>(steps_.steady_count());
    const auto count = static_cast<double>(with.size());
    return count >= share * from_first && 2 * from_first >= all;
  }

  // How many batches these uploads of a step can be: where gradients are accumulated, a step takes
  // one a pass, and a loss lies between two of them. `from`: an op before the first of them, moved
  // on to the last.
  double Batches(const std::vector<std::uint32_t>& uploads, std::uint32_t* from) const {
    double batches = 1;
    bool loss = false;
    std::uint32_t op = std::max(*from, uploads.front());
    for (const std::uint32_t upload : uploads) {
      for (; op < upload; ++op) {
        loss |= trace_.ops.kind[op] == OpKind::kKernel && losses_.Has(trace_.ops.detail[op]);
      }
      batches += loss ? 1 : 0;
      loss = false;
    }
    *from = op;
    return batches;
  }

  // Of one kind of memory: the tensors of a batch may lie in several.
  bool AreMany() const {
    std::map<MemoryKind, std::size_t> by_memory;
    std::size_t all = 0;
    for (const auto& [step, ops] : by_step_) {
      for (const std::uint32_t op : ops) ++by_memory[trace_.copies.source[trace_.ops.detail[op]]];
      all += ops.size();
    }
    std::size_t most = 0;
    for (const auto& [memory, count] : by_memory) most = std::max(most, count);
    const auto share =
        static_cast<double>(most) / static_cast<double>(std::max<std::size_t>(1, all));
    return per_batch_ * share >= Number("copy.repeated_count") * Devices();
  }
  bool AreSeveral() const { return 2 * per_batch_ >= Number("copy.repeated_count") * Devices(); }
  bool AreHeavy() const {
    return AreSeveral() && upload_ns_ >= Number("copy.heavy_upload") * compute_ns_;
  }
  // For how many of them the computing stops in a step, and goes on when each has come; median.
  double Stops() const {
    std::vector<std::size_t> stops;
    for (const auto& [step, ops] : by_step_) {
      std::size_t count = 0;
      for (const std::uint32_t op : ops) count += IsStoppedFor(op) ? 1 : 0;
      stops.push_back(count);
    }
    return static_cast<double>(Median(stops));
  }
  bool IsStoppedFor(std::uint32_t op) const {
    const auto near = Time("idle.launch_latency");
    const DeviceTime& time = basis_.times[trace_.ops.device[op]];
    const Nanos end = trace_.ops.end[op];
    return time.compute.OverlapWith(end - near, end) == 0 &&
           time.compute.OverlapWith(end, end + 2 * near) > 0;
  }
  // The computing stops for at least two of them in a step; and they take longer than what is
  // computed from them.
  bool AreStoppedFor() const {
    return feed_layers_ || (upload_ns_ >= compute_ns_ && stops_ >= 2 * Devices());
  }
  // Uploads of one size that feed one layer after the other, by size: computing stops for one and
  // goes on when it has come, and the next one takes far longer than what is computed until then;
  // so twice in most steps. On a batch, or a part of it, more is computed than that.
  std::set<std::int64_t> SizesThatFeedLayers() const {
    std::map<std::pair<std::uint32_t, std::int64_t>, Nanos> stopped;  // by device and size: until
    std::map<std::int64_t, std::size_t> followed;
    for (const auto& [step, ops] : by_step_) {
      for (const std::uint32_t op : ops) {
        if (!IsStoppedFor(op)) continue;
        const std::uint32_t device = trace_.ops.device[op];
        Nanos& before = stopped.try_emplace({device, Bytes(op)}, run_.window.start).first->second;
        const Nanos computed = basis_.times[device].compute.OverlapWith(before, trace_.ops.end[op]);
        before = trace_.ops.end[op];
        if (TimeOnLink(op) >= Number("copy.heavy_upload") * static_cast<double>(computed))
          ++followed[Bytes(op)];
      }
    }
    const auto steps = static_cast<double>(by_step_.size());
    std::set<std::int64_t> sizes;
    for (const auto& [size, count] : followed) {
      if (static_cast<double>(count) >= 2 * Number("copy.repeated_steps") * steps * Devices())
        sizes.insert(size);
    }
    return sizes;
  }
  // Where a few uploads feed layers, others beside them are the batch.
  void LeaveOutWhatFeedsNoLayer() {
    if (AreMany() || !AreSeveral()) return;
    const std::set<std::int64_t> sizes = SizesThatFeedLayers();
    feed_layers_ = !sizes.empty();
    if (!feed_layers_) return;
    for (auto& [step, ops] : by_step_)
      std::erase_if(ops, [&](std::uint32_t op) { return !sizes.contains(Bytes(op)); });
    std::erase_if(by_step_, [](const auto& of_step) { return of_step.second.empty(); });
  }
  // Something else is uploaded that may be the batch.
  bool MayBeBesideTheBatch() const { return 2 * others_ >= steps_.steady_count(); }
  template <typename Is>
  bool All(Is is) const {
    return std::all_of(by_step_.begin(), by_step_.end(), [&](const auto& of_step) {
      return std::all_of(of_step.second.begin(), of_step.second.end(), is);
    });
  }
  bool AreAlike() const {
    const std::int64_t size = Bytes(by_step_.begin()->second.front());
    return All([&](std::uint32_t op) { return Bytes(op) == size; });
  }
  // Each is worked on by the same kernels, and nothing else is done: pieces of a stream of data, of
  // which any number makes an iteration. A pass through layers whose weights come one by one begins
  // and ends with kernels of its own, or is marked.
  bool AreStream() const {
    if (run_.steps.source != "period" || others_ > 0 || !AreAlike()) return false;
    double uploads = 0;
    for (const auto& [step, ops] : by_step_) uploads += static_cast<double>(ops.size());
    std::map<StringId, double> launches;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] != OpKind::kKernel) continue;
      if (by_step_.contains(steps_.At(trace_.ops.start[op])))
        ++launches[trace_.shapes[trace_.ops.detail[op]].name];
    }
    const double least = Number("copy.repeated_steps") * uploads;
    return std::all_of(launches.begin(), launches.end(),
                       [&](const auto& kernel) { return kernel.second >= least; });
  }
  // Smaller than the matrices of a model: a batch has an index per table, for example.
  bool AreSmall() const {
    const auto matrix = BytesOf("copy.batch_piece_bytes");
    return All([&](std::uint32_t op) { return Bytes(op) < matrix; });
  }
  // What goes in to generate a token is the one before it: a few bytes per sequence.
  bool AreNoTokens() const {
    const auto matrix = BytesOf("copy.batch_piece_bytes");
    return of_tokens_ && !by_step_.empty() &&
           All([&](std::uint32_t op) { return Bytes(op) >= matrix; });
  }
  // All of them come once a step without computing in between. The bounds of the steps may divide
  // them.
  bool ComeInOneGo() const {
    std::size_t breaks = 0;
    std::map<std::uint32_t, std::uint32_t> previous;  // by device
    for (const auto& [step, ops] : by_step_) {
      for (const std::uint32_t op : ops) {
        const std::uint32_t device = trace_.ops.device[op];
        const auto [before, first] = previous.try_emplace(device, op);
        if (first) continue;
        const Nanos end = trace_.ops.end[before->second];
        if (basis_.times[device].compute.OverlapWith(end, trace_.ops.start[op]) > 0) ++breaks;
        before->second = op;
      }
    }
    return breaks <= by_step_.size() * previous.size();
  }

  // A window that is no loop may begin and end inside a layer: its uploads, which have the sizes of
  // those of the whole layers.
  std::vector<std::uint32_t> OfCutLayers() const {
    std::vector<std::uint32_t> cut;
    if (run_.steps.known()) return cut;
    std::set<std::int64_t> sizes;
    for (const auto& [step, ops] : by_step_) {
      for (const std::uint32_t op : ops) sizes.insert(Bytes(op));
    }
    for (const std::uint32_t op : copies_) {
      const bool outside = steps_.At(trace_.ops.start[op]) == kNone;
      if (outside && IsUpload(op) && in_series_[op] == 0 && sizes.contains(Bytes(op)))
        cut.push_back(op);
    }
    return cut;
  }

  void Tell(LossBuilder* loss) {
    std::vector<std::uint32_t> ops = OfCutLayers();
    for (const auto& [step, list] : by_step_) ops.insert(ops.end(), list.begin(), list.end());
    std::sort(ops.begin(), ops.end());
    std::vector<std::uint8_t> blamed(trace_.calls.size(), 0);
    double pageable = 0;
    double bytes = 0;
    for (const std::uint32_t op : ops) {
      bytes += static_cast<double>(Bytes(op));
      loss->CountOp(op, static_cast<double>(Bytes(op)));
      loss->RemoveExposed(op);
      if (trace_.copies.source[trace_.ops.detail[op]] == MemoryKind::kPageable) {
        pageable += static_cast<double>(Bytes(op));
      }
      const std::uint32_t call = trace_.ops.call[op];
      if (call == kNone) continue;
      const auto sync = sync_of_copy_.find(call);
      for (const std::uint32_t held : {call, sync == sync_of_copy_.end() ? kNone : sync->second}) {
        if (held == kNone) continue;
        blamed[held] = 1;
        loss->remedy().unblocked_calls.push_back(held);
      }
      loss->remedy().vanished_calls.push_back(call);
    }
    AddWaitsForTheLink(ops, loss);
    loss->AddBlamed(blamed);
    result_.memory = pageable == 0 ? "pinned" : pageable == bytes ? "pageable" : "mixed";
  }

  // An upload that is ready, but finds the link taken by another one, has its stream wait for both.
  void AddWaitsForTheLink(const std::vector<std::uint32_t>& repeated, LossBuilder* loss) const {
    std::vector<std::uint8_t> is_repeated(trace_.ops.size(), 0);
    for (const std::uint32_t op : repeated) is_repeated[op] = 1;
    std::map<std::uint32_t, std::uint32_t>
        last_upload;  // by device: the last that was not repeated
    std::map<std::uint32_t, Nanos> stream_free;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      const std::uint32_t device = trace_.ops.device[op];
      const std::uint32_t stream = trace_.ops.stream[op];
      if (is_repeated[op] != 0 && trace_.ops.call[op] != kNone && last_upload.contains(device)) {
        const std::uint32_t other = last_upload[device];
        const Nanos ready = std::max(stream_free[stream], trace_.calls.end[trace_.ops.call[op]]);
        const Nanos from = std::max(ready, trace_.ops.start[other]);
        if (trace_.ops.stream[other] != stream && trace_.ops.end[other] <= trace_.ops.start[op] &&
            from < trace_.ops.end[other]) {
          loss->AddSpans(device,
                         basis_.times[device].copy_exposed.Clip(from, trace_.ops.end[other]));
        }
      }
      const bool upload = trace_.ops.kind[op] == OpKind::kCopy && IsUpload(op);
      if (upload && is_repeated[op] == 0) last_upload[device] = op;
      if (stream != kNone) stream_free[stream] = std::max(stream_free[stream], trace_.ops.end[op]);
    }
  }

  const Phases& phases_;
  const std::vector<std::uint32_t>& copies_;
  const std::vector<std::uint8_t>& in_series_;
  const std::unordered_map<std::uint32_t, std::uint32_t>& sync_of_copy_;
  Steps steps_;  // or the layers of one pass, each with its own weights
  double link_;  // bytes per second, 0 unknown
  bool of_tokens_;
  ShapeSet losses_;
  std::map<std::size_t, std::vector<std::uint32_t>> by_step_;  // recurring uploads
  std::size_t others_ = 0;                                     // other uploads of the loop
  double per_batch_ = 0;                                       // uploads, median
  double stops_ = 0;                                           // of the computing, a step
  bool feed_layers_ = false;
  double upload_ns_ = 0;
  double compute_ns_ = 0;
  RepeatedUploads result_;
};

}  // namespace

RepeatedUploads FindRepeatedUploads(
    const Basis& basis, const Phases& phases, const std::vector<std::uint32_t>& copies,
    const std::vector<std::uint8_t>& in_series,
    const std::unordered_map<std::uint32_t, std::uint32_t>& sync_of_copy, double link_bytes_per_s,
    bool of_tokens) {
  return UploadFinder(basis, phases, copies, in_series, sync_of_copy, link_bytes_per_s, of_tokens)
      .Find();
}

}  // namespace advise
