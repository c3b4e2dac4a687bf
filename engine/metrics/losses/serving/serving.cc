#include "engine/metrics/losses/serving/serving.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace advise {
namespace {

// When ranges of each kind were open on one thread.
struct Open {
  IntervalSet engine, sampling, tokenizer;

  // The piece, cut where one of these ranges begins or ends in it.
  std::vector<GapPiece> Split(const GapPiece& piece) const {
    std::vector<Nanos> cuts = {piece.start, piece.end};
    for (const IntervalSet* set : {&engine, &sampling, &tokenizer}) {
      const IntervalSet inside = set->Clip(piece.start, piece.end);
      for (const Interval& open : inside.intervals()) {
        cuts.push_back(open.start);
        cuts.push_back(open.end);
      }
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    std::vector<GapPiece> parts;
    for (std::size_t i = 1; i < cuts.size(); ++i) {
      parts.push_back(piece);
      parts.back().start = cuts[i - 1];
      parts.back().end = cuts[i];
    }
    return parts;
  }
};

bool WaitsInOs(const GapPiece& piece) {
  return piece.cause == IdleCause::kNoWorkQueued || piece.activity == Activity::kOsWait ||
         piece.activity == Activity::kSleep || piece.activity == Activity::kNetwork ||
         piece.activity == Activity::kLock;
}

class ServingFinder : Finder {
 public:
  ServingFinder(const Basis& basis, bool decodes) : Finder(basis) {
    if (decodes) FindLogits();
  }

  Serving Find() {
    for (const std::uint32_t thread : run_.launching_threads) OpenOn(thread);
    const auto named = [&](const IntervalSet Open::*ranges) {
      return std::any_of(open_.begin(), open_.end(),
                         [&](const auto& one) { return !(one.second.*ranges).empty(); });
    };
    result_.steps_named = named(&Open::engine);
    result_.sampling_named = named(&Open::sampling) || !after_logits_.empty();
    result_.tokenizer_named = named(&Open::tokenizer);
    result_.known = (result_.steps_named && trace_.os_calls.size() > 0) || basis_.idle.serves;
    if (result_.known || result_.steps_named || result_.sampling_named || result_.tokenizer_named)
      Divide();
    return std::move(result_);
  }

 private:
  enum Says : std::uint8_t { kEngine = 1, kSampling = 2, kTokenizer = 4 };

  std::uint8_t SaysOf(StringId name) {
    const auto [at, is_new] = says_.try_emplace(name, 0);
    if (!is_new) return at->second;
    const std::string& text = trace_.strings[name];
    const Knowledge& knowledge = run_.knowledge;
    if (run_.names.IsStepRange(name)) at->second |= kEngine;
    for (const std::size_t i : knowledge.RunSignsOf("range", text)) {
      const RunSign& sign = knowledge.run_signs()[i];
      const bool kind = sign.about == RunSign::About::kKind;
      if (kind && sign.rule.value != "training" && sign.rule.value != "solver")
        at->second |= kEngine;
    }
    const auto is = [&](const char* family) {
      return knowledge.IsOfFamily(FamilyKind::kRange, family, text);
    };
    if (is("sampling")) at->second |= kSampling;
    if (is("detokenize")) at->second |= kTokenizer;
    return at->second;
  }

  void OpenOn(std::uint32_t thread) {
    std::vector<Interval> engine, sampling, tokenizer;
    for (const std::uint32_t r : run_.ranges_of_thread[thread]) {
      const std::uint8_t says = SaysOf(trace_.ranges.name[r]);
      const Interval when{trace_.ranges.start[r], trace_.ranges.end[r]};
      if ((says & kEngine) != 0) engine.push_back(when);
      if ((says & kSampling) != 0) sampling.push_back(when);
      if ((says & kTokenizer) != 0) tokenizer.push_back(when);
    }
    open_[thread] = {IntervalSet::Of(std::move(engine)), IntervalSet::Of(std::move(sampling)),
                     IntervalSet::Of(std::move(tokenizer))};
  }

  struct Part {
    explicit Part(const Basis& basis) : loss(basis) {}
    void Add(const GapPiece& piece, std::uint32_t thread) {
      loss.CountPiece(piece);
      loss.CutHost(thread, piece.start, piece.end);
    }
    Loss Build() { return loss.Build(); }
    LossBuilder loss;
  };

  // The host makes the next call for the device only once it has the copy, or all in a row of them.
  // What it has queued already does not depend on the content: no token is picked from that.
  bool IsReadAtOnce(const std::vector<std::uint32_t>& ops, std::size_t i) const {
    const Nanos done = trace_.ops.end[ops[i]];
    const auto is_download = [&](std::uint32_t op) {
      return trace_.ops.kind[op] == OpKind::kCopy &&
             trace_.DirectionOfCopy(op) == CopyDirection::kDeviceToHost;
    };
    while (++i < ops.size() && is_download(ops[i])) continue;
    if (i == ops.size()) return true;
    const std::uint32_t call = trace_.ops.call[ops[i]];
    return call == kNone || trace_.calls.start[call] >= done;
  }

  // From the end of each copy of logits to the host until the device works again: the host picks a
  // token meanwhile. Nothing but logits is so large and comes back with each token: IDs of tokens
  // are a few bytes per request.
  void FindLogits() {
    const double least = Number("serving.logits");
    std::vector<std::vector<Interval>> after(trace_.devices.size());
    std::set<std::uint32_t> tokens_with;  // one copy may come in pieces
    for (const std::uint32_t d : run_.active_devices) {
      const std::vector<std::uint32_t>& ops = run_.ops_of_device[d];
      for (std::size_t i = 0; i + 1 < ops.size(); ++i) {
        const std::uint32_t op = ops[i];
        if (trace_.ops.kind[op] != OpKind::kCopy || !run_.InWindow(trace_.ops.start[op])) continue;
        const std::uint32_t copy = trace_.ops.detail[op];
        if (trace_.copies.direction[copy] != CopyDirection::kDeviceToHost ||
            static_cast<double>(trace_.copies.bytes[copy]) < least || !IsReadAtOnce(ops, i))
          continue;
        logits_.push_back(op);
        tokens_with.insert(run_.steps.At(trace_.ops.start[op]));
        if (trace_.ops.start[ops[i + 1]] > trace_.ops.end[op])
          after[d].push_back({trace_.ops.end[op], trace_.ops.start[ops[i + 1]]});
      }
    }
    const std::size_t tokens = run_.steps.known() ? run_.steps.steady_count() : 0;
    if (tokens == 0 || 2 * tokens_with.size() < tokens) {  // what comes now and then is no token's
      logits_.clear();
      return;
    }
    for (auto& intervals : after) after_logits_.push_back(IntervalSet::Of(std::move(intervals)));
  }

  bool AfterLogits(const GapPiece& piece) const {
    return piece.cause == IdleCause::kHostCompute && !after_logits_.empty() &&
           after_logits_[piece.device].Contains(piece.start);
  }

  // What makes one step far longer than the others is not what each of them needs.
  bool InOutlier(Nanos time) const {
    const std::uint32_t step = run_.steps.At(time);
    return step != kNone && run_.steps.IsOutlier(step);
  }

  void Divide() {
    Part no_request(basis_), scheduler(basis_), tokenizer(basis_), sampling(basis_), launch(basis_);
    const std::vector<std::uint32_t>& used = run_.active_devices;
    for (const GapPiece piece : basis_.idle.pieces) {
      if (!std::binary_search(used.begin(), used.end(), piece.device)) continue;  // serves nobody
      const std::uint32_t thread = basis_.idle.ThreadOf(piece);
      const auto open = open_.find(thread);
      if (piece.cause == IdleCause::kNoWorkQueued && basis_.idle.serves) {
        no_request.Add(piece, thread);
        continue;
      }
      if (open == open_.end()) continue;
      for (const GapPiece& part : open->second.Split(piece)) {
        if (open->second.sampling.Contains(part.start) || AfterLogits(part)) {
          sampling.Add(part, thread);
        } else if (open->second.tokenizer.Contains(part.start)) {
          tokenizer.Add(part, thread);
        } else if (!result_.steps_named) {
          continue;
        } else if (open->second.engine.Contains(part.start)) {
          const bool host =
              part.cause == IdleCause::kLaunch || part.cause == IdleCause::kHostCompute;
          if (host) launch.Add(part, thread);
        } else if (WaitsInOs(part)) {
          no_request.Add(part, thread);
        } else if (part.cause == IdleCause::kHostCompute && !InOutlier(part.start)) {
          scheduler.Add(part, thread);
        }
      }
    }
    // Tokens that are chosen on the device go to the host without the logits.
    for (const std::uint32_t op : logits_) {
      sampling.loss.RemoveExposed(op);
    }
    result_.no_request = no_request.Build();
    result_.scheduler = scheduler.Build();
    result_.tokenizer = tokenizer.Build();
    result_.sampling = sampling.Build();
    result_.launch = launch.Build();
    const auto device = static_cast<double>(std::max<Nanos>(1, basis_.Device()));
    result_.load = 1 - static_cast<double>(result_.no_request.lost->Total()) / device;
  }

  std::map<StringId, std::uint8_t> says_;
  std::map<std::uint32_t, Open> open_;
  std::vector<std::uint32_t> logits_;      // their copies to the host
  std::vector<IntervalSet> after_logits_;  // by device; none where the run copies no logits
  Serving result_;
};

}  // namespace

Serving FindServing(const Basis& basis, const RunKind& kind) {
  if (kind.kind != KindOfRun::kInference || basis.run.active_devices.empty()) return {};
  return ServingFinder(basis, kind.decode).Find();
}

}  // namespace advise
