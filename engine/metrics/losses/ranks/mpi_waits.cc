#include "engine/metrics/losses/ranks/mpi_waits.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "engine/base/median.h"
#include "engine/replay/stream_waits.h"

namespace advise {
namespace {

bool IsMessage(MpiKind kind) {
  return kind == MpiKind::kSend || kind == MpiKind::kReceive || kind == MpiKind::kExchange;
}

class MpiFinder : Finder {
 public:
  explicit MpiFinder(const Basis& basis)
      : Finder(basis),
        mpi_(basis.run.trace.mpi),
        small_bytes_(BytesOf("mpi.small_message")),
        late_(basis),
        uneven_(basis),
        transfer_(basis),
        small_(basis),
        file_(basis) {}

  Mpi Find() {
    result_.late = result_.uneven = result_.transfer = result_.small = result_.staged =
        result_.file = LossBuilder(basis_).Build();
    if (mpi_.size() == 0) return std::move(result_);
    EstimateNeeds();
    FindSmall();
    DivideGaps();
    staged_ = FindStagedCopies(basis_);
    HideStaged();
    Count();
    Staged();
    result_.late = late_.Build();
    result_.uneven = uneven_.Build();
    result_.transfer = transfer_.Build();
    result_.small = small_.Build();
    result_.file = file_.Build();
    return std::move(result_);
  }

 private:
  // ---- how long each call would take if nobody were late
  void EstimateNeeds() {
    needed_.assign(mpi_.size(), 0);
    const std::unordered_map<StringId, Nanos> usual = QuickCalls();
    for (const std::uint32_t thread : run_.launching_threads) {
      const RowRange rows = run_.mpi_of_thread[thread];
      Posted posted;
      for (const std::uint32_t row : rows) {
        Posted moves;
        moves.Add(mpi_.sent[row], &moves.sent);
        moves.Add(mpi_.received[row], &moves.received);
        if (IsMessage(mpi_.kind[row])) posted.Add(moves);
        if (mpi_.kind[row] == MpiKind::kWait) {
          moves = posted;
          posted = {};
        }
        const Nanos needs = NeedOf(moves);
        const bool known = moves.known || IsBarrier(row);
        needed_[row] = known ? needs : std::max(needs, usual.at(mpi_.name[row]));
      }
    }
  }

  // What calls move. Both directions travel at once.
  struct Posted {
    std::int64_t messages = 0, sent = 0, received = 0;
    bool known = false;  // how much
    void Add(std::int64_t size, std::int64_t* bytes) {
      if (size < 0) return;
      ++messages;
      *bytes += size;
      known = true;
    }
    void Add(const Posted& other) {
      messages += other.messages;
      sent += other.sent;
      received += other.received;
      known = known || other.known;
    }
  };
  Nanos NeedOf(const Posted& moves) const {
    const double rate = Number("mpi.rate") / kNanosPerSecond;
    const auto further = static_cast<double>(std::max<std::int64_t>(moves.messages - 1, 0));
    return static_cast<Nanos>(Number("mpi.latency") + further * Number("mpi.further_message") +
                              static_cast<double>(std::max(moves.sent, moves.received)) / rate);
  }

  bool IsBarrier(std::uint32_t row) const {  // it moves nothing
    return run_.trace.strings[mpi_.name[row]].find("arrier") != std::string::npos;
  }

  // By function: how long the quick calls of it take, which wait for nobody.
  std::unordered_map<StringId, Nanos> QuickCalls() const {
    std::map<StringId, std::vector<Nanos>> lengths;
    for (std::size_t row = 0; row < mpi_.size(); ++row)
      lengths[mpi_.name[row]].push_back(mpi_.end[row] - mpi_.start[row]);
    std::unordered_map<StringId, Nanos> quick;
    for (auto& [name, all] : lengths) {
      quick[name] = Quantile(std::move(all), Number("mpi.quick_call"));
    }
    return quick;
  }

  // ---- messages that could travel with the first one to the same rank in a step
  void FindSmall() {
    spare_.assign(mpi_.size(), 0);
    StepCounter all(run_), small(run_);
    std::vector<double> sizes;
    for (const std::uint32_t thread : run_.launching_threads) {
      const RowRange rows = run_.mpi_of_thread[thread];
      std::set<std::pair<bool, std::int32_t>> met;  // sent or received, peer; in this step
      std::uint32_t step = kNone;
      double posted = 0, spare = 0;
      for (const std::uint32_t row : rows) {
        if (!basis_.InLoop(mpi_.start[row])) continue;
        const std::uint32_t at = run_.steps.At(mpi_.start[row]);
        if (at != step) met.clear();
        step = at;
        if (mpi_.kind[row] == MpiKind::kWait) {
          spare_[row] = posted > 0 ? spare / posted : 0;
          posted = spare = 0;
        }
        if (!IsMessage(mpi_.kind[row])) continue;
        const bool sends = mpi_.kind[row] != MpiKind::kReceive;
        const std::int64_t bytes = sends ? mpi_.sent[row] : mpi_.received[row];
        posted += 1;
        if (sends) {
          all.Count(mpi_.start[row]);
          if (bytes >= 0) sizes.push_back(static_cast<double>(bytes));
        }
        if (bytes < 0 || bytes >= small_bytes_) continue;
        if (sends) small.Count(mpi_.start[row]);
        if (met.insert({sends, mpi_.peer[row]}).second) continue;
        spare_[row] = 1;
        spare += 1;
      }
    }
    result_.messages_per_step = all.PerStep();
    result_.small_per_step = small.PerStep();
    if (!sizes.empty()) result_.message_median_bytes = Median(std::move(sizes));
  }

  // ---- idle time inside calls
  void DivideGaps() {
    for (const GapPiece piece : basis_.idle.pieces) {
      const bool moves = piece.activity == Activity::kMpi;
      const bool files =
          piece.activity == Activity::kFileIo || piece.activity == Activity::kFileWrite;
      if ((!moves && !files) || !basis_.InLoop(piece.start)) continue;
      const std::uint32_t thread = basis_.idle.ThreadOf(piece);
      if (thread == kNone) continue;
      const RowRange rows = run_.mpi_of_thread[thread];
      const auto first = mpi_.start.begin() + rows.first;
      const auto last = mpi_.start.begin() + rows.last;
      auto at = std::upper_bound(first, last, piece.start);
      if (at != first) --at;
      for (; at != last && *at < piece.end; ++at) {
        const auto row = static_cast<std::uint32_t>(at - mpi_.start.begin());
        if (UsesFiles(mpi_.kind[row]) == moves || mpi_.kind[row] == MpiKind::kOther) continue;
        Divide(row, piece);
      }
    }
  }

  // While the GPU computes what needs no message, it also copies those that go through the host,
  // and the host's waits for these copies cost nothing.
  void HideStaged() {
    if (transfer_.count() == 0) return;
    const OpTable& ops = run_.trace.ops;
    Remedy& remedy = transfer_.remedy();
    // They travel as long as before: the run cannot take less time than that, whatever it computes.
    for (const auto& [device, time] : travelled_) remedy.floor_ns = std::max(remedy.floor_ns, time);
    remedy.floor_reason = "the transfer of messages";
    for (const std::vector<std::uint32_t>* way : {&staged_.down, &staged_.up}) {
      for (const std::uint32_t op : *way) {
        remedy.detached_ops.push_back(op);
        if (ops.call[op] != kNone) remedy.unblocked_calls.push_back(ops.call[op]);
      }
    }
    const std::set<std::uint32_t> down(staged_.down.begin(), staged_.down.end());
    const std::vector<std::uint32_t> awaited = AwaitedBySyncs(run_);
    for (std::uint32_t call = 0; call < awaited.size(); ++call) {
      if (awaited[call] != kNone && down.contains(awaited[call]))
        remedy.unblocked_calls.push_back(call);
    }
  }

  // The part of the piece inside the call: first it waits, then its messages travel.
  void Divide(std::uint32_t row, const GapPiece& piece) {
    const Nanos start = std::max(piece.start, mpi_.start[row]);
    const Nanos end = std::min(piece.end, mpi_.end[row]);
    if (end <= start) return;
    const std::uint32_t thread = mpi_.thread[row];
    idle_[mpi_.name[row]] += static_cast<double>(end - start);
    if (UsesFiles(mpi_.kind[row])) {
      Lose(&file_, thread, piece, {start, end});
      return;
    }
    const Nanos arrived = std::clamp(mpi_.end[row] - needed_[row], start, end);
    LossBuilder* waits = mpi_.kind[row] == MpiKind::kCollective ? &uneven_ : &late_;
    Lose(waits, thread, piece, {start, arrived});
    const auto spare = static_cast<Nanos>(spare_[row] * static_cast<double>(end - arrived));
    Lose(&small_, thread, piece, {arrived, arrived + spare});
    Lose(&transfer_, thread, piece, {arrived, end});
    travelled_[piece.device] += end - arrived;
  }

  // What one gap loses in several calls is one event.
  void Lose(LossBuilder* loss, std::uint32_t thread, const GapPiece& piece, Interval when) {
    if (when.end <= when.start) return;
    const auto [counted, first] = last_gap_.try_emplace(loss, piece.gap);
    if (first || counted->second != piece.gap) loss->Count(when.start, 0, 0);
    counted->second = piece.gap;
    loss->AddToCounted(0, when.Length());
    loss->AddSpan(piece.device, when.start, when.end);
    loss->CutHost(thread, when.start, when.end);
  }

  // ---- what functions there are
  void Count() {
    std::map<StringId, MpiFunction> functions;
    for (const std::uint32_t thread : run_.launching_threads) {
      for (const std::uint32_t row : run_.mpi_of_thread[thread]) {
        if (!basis_.InWindow(mpi_.start[row])) continue;
        ++result_.count;
        MpiFunction& function = functions[mpi_.name[row]];
        ++function.count;
        function.time_ns += static_cast<double>(mpi_.end[row] - mpi_.start[row]);
        function.bytes += static_cast<double>(std::max<std::int64_t>(mpi_.sent[row], 0) +
                                              std::max<std::int64_t>(mpi_.received[row], 0));
      }
    }
    for (auto& [name, function] : functions) {
      function.name = run_.trace.strings[name];
      const auto idle = idle_.find(name);
      if (idle != idle_.end()) function.idle_ns = idle->second;
      result_.functions.push_back(function);
    }
    std::stable_sort(result_.functions.begin(), result_.functions.end(),
                     [](const MpiFunction& a, const MpiFunction& b) {
                       return std::pair(-a.idle_ns, -a.time_ns) < std::pair(-b.idle_ns, -b.time_ns);
                     });
  }

  // MPI that takes GPU memory needs neither copy; the host still waits until the data is computed.
  // Of pieces that go the same way one after the other nothing is left, nor of the pauses between.
  void Staged() {
    LossBuilder loss(basis_);
    const OpTable& ops = run_.trace.ops;
    std::vector<std::uint32_t> all;
    std::merge(staged_.down.begin(), staged_.down.end(), staged_.up.begin(), staged_.up.end(),
               std::back_inserter(all));
    std::map<std::uint32_t, std::uint32_t> before;  // by device: the staged copy before
    for (const std::uint32_t op : all) {
      loss.Count(ops.start[op], static_cast<double>(run_.trace.copies.bytes[ops.detail[op]]),
                 ops.end[op] - ops.start[op]);
      loss.RemoveExposed(op);
      const std::uint32_t device = ops.device[op];
      const auto [last, first] = before.try_emplace(device, op);
      const bool piece = !first && IsNextPiece(last->second, op);
      if (piece) {
        loss.AddSpans(device, basis_.times[device].idle.Clip(ops.end[last->second], ops.start[op]));
      }
      last->second = op;
      if (ops.call[op] == kNone) continue;
      // What MPI sends must be there: in place of the download, the host waits for its kernel.
      if (run_.trace.copies.direction[ops.detail[op]] == CopyDirection::kHostToDevice)
        loss.remedy().unblocked_calls.push_back(ops.call[op]);
      if (piece) loss.remedy().vanished_calls.push_back(ops.call[op]);
    }
    result_.staged = loss.Build();
  }

  // Whether the same thread calls for this copy right after that one, which goes the same way.
  bool IsNextPiece(std::uint32_t before, std::uint32_t op) const {
    const Trace& trace = run_.trace;
    const std::uint32_t from = trace.ops.call[before];
    const std::uint32_t to = trace.ops.call[op];
    if (from == kNone || to == kNone || to <= from ||
        trace.calls.thread[from] != trace.calls.thread[to] ||
        trace.DirectionOfCopy(before) != trace.DirectionOfCopy(op))
      return false;
    for (std::uint32_t call = from + 1; call < to; ++call) {
      if (run_.first_op_of_call[call] != kNone) return false;
    }
    return !UsesMpi(run_, trace.calls.thread[from], trace.calls.end[from], trace.calls.start[to]);
  }

  const MpiTable& mpi_;
  std::int64_t small_bytes_;
  std::vector<Nanos> needed_;  // by row
  StagedCopies staged_;
  std::vector<double> spare_;  // by row: the share of its messages that need not travel alone
  std::map<std::uint32_t, Nanos> travelled_;  // by device: what messages need, in gaps
  LossBuilder late_, uneven_, transfer_, small_, file_;
  std::map<const LossBuilder*, std::uint32_t> last_gap_;  // that counted
  std::unordered_map<StringId, double> idle_;             // by function
  Mpi result_;
};

}  // namespace

Mpi FindMpi(const Basis& basis) { return MpiFinder(basis).Find(); }

}  // namespace advise
