#include "engine/metrics/losses/families.h"

#include <algorithm>
#include <map>
#include <string>

namespace advise {
namespace {

using Members = std::vector<std::size_t>;  // indices of the families that a name belongs to

// The families of names, each name matched once.
class Membership {
 public:
  Membership(const Knowledge& knowledge, const StringPool& names, FamilyKind kind)
      : knowledge_(knowledge), kind_(kind), row_(names.size(), kNone) {}

  const Members& Of(StringId id, const std::string& name, const std::string& kernel_class = "") {
    if (row_[id] != kNone) return known_[row_[id]];
    row_[id] = static_cast<std::uint32_t>(known_.size());
    return known_.emplace_back(knowledge_.FamiliesOf(kind_, name, kernel_class));
  }

 private:
  const Knowledge& knowledge_;
  FamilyKind kind_;
  std::vector<std::uint32_t> row_;  // in known_, by name; kNone until asked for
  std::vector<Members> known_;
};

class FamilyFinder : Finder {
 public:
  explicit FamilyFinder(const Basis& basis)
      : Finder(basis),
        scope_(basis.run.knowledge.FamilyIndex(FamilyKind::kRange, "library_scope")),
        symbols_(basis.run.knowledge.FamilyIndex(FamilyKind::kCall, "symbol_copy")),
        operators_(RowsByThread(trace_.operators.thread, trace_.threads.size())) {}

  Families Find() {
    Kernels();
    result_.calls = Host(FamilyKind::kCall, trace_.calls, run_.calls_of_thread, true);
    result_.ranges = Host(FamilyKind::kRange, trace_.ranges, run_.ranges_of_thread, true);
    result_.os = Host(FamilyKind::kOs, trace_.os_calls, run_.os_of_thread, false);
    return std::move(result_);
  }

 private:
  // Not copies of one: builders share nothing.
  std::vector<LossBuilder> Builders(FamilyKind kind) const {
    const std::size_t count = run_.knowledge.families(kind).size();
    std::vector<LossBuilder> builders;
    builders.reserve(count);
    for (std::size_t i = 0; i < count; ++i) builders.emplace_back(basis_);
    return builders;
  }

  void Kernels() {
    Membership membership(run_.knowledge, trace_.strings, FamilyKind::kKernel);
    std::vector<LossBuilder> builders = Builders(FamilyKind::kKernel);
    std::vector<std::shared_ptr<Remedy>> halved;
    for (std::size_t i = 0; i < builders.size(); ++i) halved.push_back(std::make_shared<Remedy>());
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      if (trace_.ops.kind[op] != OpKind::kKernel) continue;
      const std::uint32_t shape = trace_.ops.detail[op];
      const StringId name = trace_.shapes[shape].name;
      for (const std::size_t f :
           membership.Of(name, trace_.strings[name], run_.names.Kernel(shape).name)) {
        builders[f].CountOp(op);
        builders[f].RemoveOp(op);
        halved[f]->scaled_ops.emplace_back(op, 0.5F);
      }
    }
    for (std::size_t i = 0; i < builders.size(); ++i) {
      result_.kernels.push_back({builders[i].Build(), halved[i]});
    }
  }

  // What threads did, by name: `only_launching` counts the launching threads only.
  template <typename Table>
  std::vector<Loss> Host(FamilyKind kind, const Table& table, const std::vector<RowRange>& rows,
                         bool only_launching) {
    Membership membership(run_.knowledge, trace_.strings, kind);
    std::vector<LossBuilder> builders = Builders(kind);
    // Per family and thread: when it was inside.
    std::vector<std::map<std::uint32_t, std::vector<Interval>>> inside(builders.size());
    for (std::uint32_t thread = 0; thread < trace_.threads.size(); ++thread) {
      const bool launching =
          std::binary_search(run_.launching_threads.begin(), run_.launching_threads.end(), thread);
      if (only_launching && !launching) continue;
      const auto add = [&](const auto& of, std::uint32_t i, const Members& families) {
        for (const std::size_t f : families) {
          builders[f].Count(of.start[i], 0, of.end[i] - of.start[i]);
          if (!launching) continue;
          inside[f][thread].push_back({of.start[i], of.end[i]});
          // What is gone does not wait for the GPU either.
          if (kind != FamilyKind::kCall) continue;
          builders[f].remedy().unblocked_calls.push_back(i);
          if (f == symbols_ && FitsArguments(i))
            builders[f].RemoveExposed(run_.first_op_of_call[i]);
        }
      };
      for (const std::uint32_t i : rows[thread]) {
        if (basis_.InLoop(table.start[i]))
          add(table, i, membership.Of(table.name[i], trace_.strings[table.name[i]]));
      }
      if (kind != FamilyKind::kRange) continue;
      const OperatorTable& operators = trace_.operators;
      for (const std::uint32_t i : operators_[thread]) {
        if (!basis_.InLoop(operators.start[i])) continue;
        const StringId name = operators.name[i];
        const Members& of = membership.Of(name, trace_.strings[name]);
        if (std::find(of.begin(), of.end(), scope_) != of.end()) add(operators, i, of);
      }
    }
    if (kind == FamilyKind::kCall) AddCaptures(&inside);
    std::vector<Loss> losses;
    for (std::size_t f = 0; f < builders.size(); ++f) {
      if (inside[f].empty()) {  // most families, in most runs
        losses.push_back(builders[f].Build());
        continue;
      }
      HostTime when = Joined(std::move(inside[f]));
      builders[f].AddIdleInside(when);
      for (auto& [thread, set] : when) {
        builders[f].remedy().host_cuts.push_back({thread, std::move(set)});
      }
      losses.push_back(builders[f].Build());
    }
    return losses;
  }

  // What the call sends is as small as the arguments of a kernel may be: with these it needs no
  // copy.
  bool FitsArguments(std::uint32_t call) const {
    const std::uint32_t op = run_.first_op_of_call[call];
    return op != kNone && IsOfHost(op) && Bytes(op) <= Number("copy.argument_bytes") &&
           trace_.DirectionOfCopy(op) == CopyDirection::kHostToDevice;
  }

  // Between the calls that begin and end a capture a thread goes through the program without giving
  // the GPU work, and then instantiates what it captured: all that belongs to the capture.
  void AddCaptures(std::vector<std::map<std::uint32_t, std::vector<Interval>>>* inside) {
    const auto index = [&](const char* name) {
      return run_.knowledge.FamilyIndex(FamilyKind::kCall, name);
    };
    const std::size_t begins = index("graph_capture_begin");
    const std::size_t captures = index("graph_capture");
    const std::size_t builds = index("graph_build");
    if ((*inside)[begins].empty()) return;
    Membership membership(run_.knowledge, trace_.strings, FamilyKind::kCall);
    for (const auto& [thread, unused] : (*inside)[begins]) {
      Nanos begun = 0;
      enum { kNothing, kCapturing, kCaptured } state = kNothing;
      for (const std::uint32_t call : run_.calls_of_thread[thread]) {
        const StringId name = trace_.calls.name[call];
        const Members& of = membership.Of(name, trace_.strings[name]);
        const auto is = [&](std::size_t family) {
          return std::find(of.begin(), of.end(), family) != of.end();
        };
        if (is(begins)) {
          begun = trace_.calls.start[call];
          state = kCapturing;
        } else if (state == kNothing) {
          continue;
        } else if (is(state == kCapturing ? captures : builds)) {
          if (basis_.InLoop(begun))
            (*inside)[captures][thread].push_back({begun, trace_.calls.end[call]});
          state = state == kCapturing ? kCaptured : kNothing;
        } else if (state == kCaptured && run_.ClassOfCall(call) == CallClass::kGraphLaunch) {
          state = kNothing;
        }
      }
    }
  }

  const std::size_t scope_;  // the family of operators that are ranges, too
  const std::size_t symbols_;
  const std::vector<RowRange> operators_;  // by thread
  Families result_;
};

}  // namespace

Families FindFamilies(const Basis& basis) { return FamilyFinder(basis).Find(); }

}  // namespace advise
