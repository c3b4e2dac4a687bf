// How facts are declared: each once, with its name, unit, definition and getter. The catalog
// (FactList) and the values (MakeFacts) both come from these declarations, one file a subject.
//
//   auto& syncs = catalog->Of(&Analysis::syncs);
//   syncs.Add("sync.count", "count", "Synchronizing calls of the steady loop.", &Syncs::count);
//   syncs.AddLoss("sync.item", kOfCalls, {"tiny copies …", "Idle time …", "The host …"},
//   &Syncs::item);
//
// Definitions stand alone: they are read one at a time, in an editor or a search. Times in ns are
// means over the devices that did work, so that they compare with window.time. Spans ("….lost") are
// time on devices: their sum over devices compares with window.device_time. What is "per step" is a
// median over the steady steps of the window, or all of the window when there are no steps.
//
// Facts that compare ranks are read from Known, whether the ranks are in one report or in several.
// Of several reports a fact of an analysis is absent, unless its declaration says what it is there:
//
//   all.Add("window.time", "ns", "Length of the analyzed window.", WindowOfReport)
//       .OfRanks([](const Cluster& c) { return c.job.Window(); });
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/cluster/cluster.h"
#include "engine/facts/catalog.h"
#include "engine/facts/facts.h"
#include "engine/metrics/analysis.h"

namespace advise::facts {

using FactMap = std::map<std::string, Fact, std::less<>>;

// What facts are read from: one report and the ranks in it, or the ranks of several reports.
struct Known {
  const Analysis* report;  // nullptr: several
  const Cluster& ranks;
  const FactNames* asked =
      nullptr;  // what nobody asks for may stay away; nullptr: all are asked for
};

// A part of the analysis; computed now, if it was not yet.
template <typename T>
const T& Computed(const T& part) {
  return part;
}
template <typename T>
const T& Computed(const Lazy<T>& part) {
  return part.Get();
}

// What a getter returns, as the value of a fact.
template <typename T>
Value ValueOf(T value) {
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    return static_cast<double>(value);
  } else if constexpr (std::is_same_v<T, std::vector<IntervalSet>>) {
    auto spans = std::make_shared<Spans>();
    spans->by_device = std::move(value);
    return std::shared_ptr<const Spans>(std::move(spans));
  } else if constexpr (std::is_same_v<T, std::shared_ptr<Spans>>) {
    return std::shared_ptr<const Spans>(std::move(value));
  } else if constexpr (std::is_same_v<T, std::shared_ptr<Remedy>>) {
    return std::shared_ptr<const Remedy>(std::move(value));
  } else if constexpr (std::is_convertible_v<T, const char*>) {
    return std::string(value);
  } else {
    return value;
  }
}

// ---- getters whose value may be absent

template <typename Get>
auto IfPositive(Get get, const char* reason, const char* needs) {
  return [=](const auto& source) -> Value {
    const auto value = static_cast<double>(std::invoke(get, source));
    if (value > 0) return value;
    return Absent{reason, needs};
  };
}
template <typename Get>
auto UnlessNegative(Get get, const char* reason, const char* needs) {
  return [=](const auto& source) -> Value {
    const auto value = static_cast<double>(std::invoke(get, source));
    if (value >= 0) return value;
    return Absent{reason, needs};
  };
}
template <typename Get>
auto UnlessEmpty(Get get, const char* reason, const char* needs) {
  return [=](const auto& source) -> Value {
    std::string value = std::invoke(get, source);
    if (!value.empty()) return value;
    return Absent{reason, needs};
  };
}
template <typename Condition, typename Get>
auto If(Condition condition, Get get, const char* reason, const char* needs) {
  return [=](const auto& source) -> Value {
    if (std::invoke(condition, source)) return ValueOf(std::invoke(get, source));
    return Absent{reason, needs};
  };
}

// A member of a member.
template <typename Outer, typename Inner>
auto In(Outer outer, Inner inner) {
  return [=](const auto& source) { return std::invoke(inner, std::invoke(outer, source)); };
}

inline double ShareOf(double part, double whole) { return whole > 0 ? part / whole : 0; }
// Of the time of a device that kernels take, whose times are summed: side by side they take it
// once.
inline double ShareOfDevice(double summed, double device) {
  return std::min(1.0, ShareOf(summed, device));
}

// A small table: a row for each thing of a list, of a long one for the first ones.
template <typename List, typename RowOf>
Rows RowsOf(const List& list, RowOf row_of,
            std::size_t most = std::numeric_limits<std::size_t>::max()) {
  Rows rows;
  for (const auto& one : list) {
    if (rows.size() == most) break;
    rows.push_back(row_of(one));
  }
  return rows;
}

// ---- losses

// Which facts a loss has: a set of these, each a fact "group.part".
enum LossParts : unsigned {
  kCount = 1U,
  kPerStep = 2U,
  kBytes = 4U,
  kTime = 8U,
  kBandwidth = 16U,
  kLost = 32U,
  kRemedy = 64U,
  kShare = 128U,         // of the compute time
  kCountPerStep = 256U,  // ".count" that is per step, as losses of kernels have it

  kOfCopies = kCount | kPerStep | kBytes | kTime | kLost | kRemedy,
  kOfCalls = kCount | kPerStep | kTime | kLost | kRemedy,
  kOfGaps = kCount | kPerStep | kLost | kRemedy,
  kOfKernels = kShare | kCountPerStep | kLost | kRemedy,
  kChange = kLost | kRemedy,
};

struct LossWords {
  std::string things;  // what is lost to, as a noun phrase that follows "Number of"
  std::string lost;    // which time, a sentence
  std::string remedy;  // what a fix changes, a sentence; empty without one
};

// Why facts of a timeline are absent without one, and those of one report in a run of several.
const Absent& NoTimeline();
const Absent& OfOneReport();

// ---- subjects

// A getter of any type behind two plain functions. std::function could hold it as well, but makes
// half a dozen functions of each of a thousand getters: most of the time that this room took to
// compile.
struct Getter {
  std::unique_ptr<const void, void (*)(const void*)> get;
  Value (*read)(const void* get, const void* source, const void* from);
  Value Read(const void* source, const void* from) const { return read(get.get(), source, from); }
};

// `get`: a member of T, or a function of a T, or of a T and what the T is taken from.
template <typename T, typename From, typename Get>
Getter MakeGetter(Get get) {
  const auto read = [](const void* getter, const void* source, const void* from) -> Value {
    const auto& callable = *static_cast<const Get*>(getter);
    const T& given = *static_cast<const T*>(source);
    if constexpr (std::is_invocable_v<Get, const T&>) {
      return ValueOf<std::decay_t<std::invoke_result_t<Get, const T&>>>(
          std::invoke(callable, given));
    } else {
      return ValueOf<std::decay_t<std::invoke_result_t<Get, const T&, const From&>>>(
          std::invoke(callable, given, *static_cast<const From*>(from)));
    }
  };
  return {{new Get(std::move(get)), [](const void* held) { delete static_cast<const Get*>(held); }},
          read};
}

// Facts that are read from one source.
class Subject {
 public:
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject() = default;

  const std::vector<FactInfo>& list() const { return list_; }
  // All values, or why there are none of them.
  virtual void Evaluate(const Known& known, FactMap* facts) const = 0;

 protected:
  struct Requirement {
    std::function<bool(const Known&)> holds;
    Absent otherwise;
  };
  void AddFact(std::string_view name, std::string_view unit, std::string_view definition,
               Getter getter);
  const Absent* WhyAbsent(const Known& known) const;  // nullptr: they are there
  void SetAbsent(const Absent& absent, FactMap* facts) const;
  bool IsAsked(const Known& known) const;  // for any of the facts
  // Each getter's value of the subject's source.
  void ReadAll(const void* source, const void* from, FactMap* facts) const;
  // Of several reports: what was declared with OfRanks.
  void ReadOfRanks(const Cluster& ranks, FactMap* facts) const;

  std::vector<FactInfo> list_;
  std::vector<Getter> getters_;             // one per fact
  std::map<std::size_t, Getter> of_ranks_;  // by the fact's place in list_
  std::vector<Requirement> requirements_;
  bool of_timeline_ = true;
};

// `From`: what the catalog offers, the Analysis of a report or Known. `Source`: a function of it,
// or a member of it. Called once for all facts.
template <typename From, typename Source>
class SubjectFrom : public Subject {
 public:
  using Given = std::remove_cvref_t<std::invoke_result_t<Source, const From&>>;
  using T = std::remove_cvref_t<decltype(Computed(std::declval<const Given&>()))>;

  explicit SubjectFrom(Source source) : source_(std::move(source)) {}

  // Unless this holds, all facts of the subject are absent for this reason.
  SubjectFrom& Needs(std::function<bool(const From&)> holds, const char* reason,
                     const char* needs) {
    requirements_.push_back(
        {[holds = std::move(holds)](const Known& known) { return holds(*Offered(known)); },
         {reason, needs}});
    return *this;
  }
  // Other inputs than a timeline give these facts, too.
  SubjectFrom& AlsoWithoutTimeline() {
    of_timeline_ = false;
    return *this;
  }

  // `get`: as MakeGetter takes it.
  template <typename Get>
  SubjectFrom& Add(std::string_view name, std::string_view unit, std::string_view definition,
                   Get get) {
    AddFact(name, unit, definition, MakeGetter<T, From>(std::move(get)));
    return *this;
  }

  // The fact added last, of several reports. `get`: a function of a Cluster.
  template <typename Get>
  SubjectFrom& OfRanks(Get get) {
    of_ranks_.insert_or_assign(list_.size() - 1, MakeGetter<Cluster, void>(std::move(get)));
    return *this;
  }
  // What all facts of the subject are read from, of several reports. `source`: a function of a
  // Cluster; no getter asks for an Analysis.
  SubjectFrom& FromRanks(std::function<T(const Cluster&)> source) {
    source_of_ranks_ = std::move(source);
    return *this;
  }

  // `loss`: a member of T, or a function of a T, that is a Loss.
  template <typename Get>
  SubjectFrom& AddLoss(const std::string& group, unsigned parts, const LossWords& words, Get loss) {
    const std::string& things = words.things;
    const auto add = [&](LossParts part, const char* name, const char* unit,
                         const std::string& definition, auto get) {
      if ((parts & part) != 0) Add(group + name, unit, definition, In(loss, get));
    };
    add(kCount, ".count", "count", "Number of " + things + ".", &Loss::count);
    add(kPerStep, ".per_step", "count", "Number of " + things + ", per step.", &Loss::per_step);
    add(kCountPerStep, ".count", "count", "Number of " + things + ", per step.", &Loss::per_step);
    add(kBytes, ".bytes", "bytes", "Bytes of " + things + ".", &Loss::bytes);
    add(kTime, ".time", "ns", "Summed time of " + things + ".", &Loss::time_ns);
    add(kBandwidth, ".bandwidth", "bytes_per_s", "Rate of " + things + ": bytes over time.",
        [](const Loss& l) { return ShareOf(l.bytes, l.time_ns) * kNanosPerSecond; });
    if ((parts & kShare) != 0) {
      Add(group + ".share", "share", "Share of the compute time in " + things + ".",
          [loss](const T& source, const From& analysis) {
            const auto lost = static_cast<double>(std::invoke(loss, source).lost->Total());
            return ShareOf(lost, analysis.kernels.compute_ns);
          });
    }
    add(kLost, ".lost", "spans", words.lost, &Loss::lost);
    add(kRemedy, ".remedy", "remedy", words.remedy, &Loss::remedy);
    return *this;
  }

 private:
  // nullptr: an analysis, of several reports.
  static const From* Offered(const Known& known) {
    if constexpr (std::is_same_v<From, Analysis>) {
      return known.report;
    } else {
      return &known;
    }
  }

  void Evaluate(const Known& known, FactMap* facts) const override {
    const From* from = Offered(known);
    if (from == nullptr) {
      SetAbsent(OfOneReport(), facts);
      if (known.ranks.ranks.empty()) return;
      if (source_of_ranks_) {
        const T source = source_of_ranks_(known.ranks);
        ReadAll(&source, nullptr, facts);
      }
      ReadOfRanks(known.ranks, facts);
    } else if (const Absent* absent = WhyAbsent(known)) {
      SetAbsent(*absent, facts);
    } else if (std::is_same_v<Given, T> || IsAsked(known)) {
      // A result lives as long as the full expression.
      ReadAll(&Computed(std::invoke(source_, *from)), from, facts);
    }
  }

  Source source_;
  std::function<T(const Cluster&)> source_of_ranks_;
};

template <typename Source>
using SubjectOf = SubjectFrom<Analysis, Source>;

// All declarations, in the order of the documentation.
class Catalog {
 public:
  template <typename Source>
  auto& Of(Source source) {
    return Make<Analysis>(std::move(source));
  }
  // Facts that need more than one part of the analysis.
  auto& OfAll() {
    return Of([](const Analysis& analysis) -> const Analysis& { return analysis; });
  }
  // Facts that compare ranks. `source`: a function of a Cluster or a member of it.
  template <typename Source>
  auto& OfRanks(Source source) {
    return Make<Known>([source](const Known& known) -> const auto& {
      return std::invoke(source, known.ranks);
    });
  }
  const std::vector<std::unique_ptr<Subject>>& subjects() const { return subjects_; }

 private:
  template <typename From, typename Source>
  SubjectFrom<From, Source>& Make(Source source) {
    auto subject = std::make_unique<SubjectFrom<From, Source>>(std::move(source));
    SubjectFrom<From, Source>& result = *subject;
    subjects_.push_back(std::move(subject));
    return result;
  }

  std::vector<std::unique_ptr<Subject>> subjects_;
};

// One a file of the same name, in the order of the documentation. What names are grouped by is
// data: named_facts.cc.
void DeclareRunFacts(Catalog* catalog);        // window, run, budget, idle, efficiency
void DeclareRunKindFacts(Catalog* catalog);    // run.kind and its kin, startup, serving
void DeclareStepFacts(Catalog* catalog);       // steps, phase
void DeclareCopyFacts(Catalog* catalog);       // copy, memset
void DeclareSyncFacts(Catalog* catalog);       // sync
void DeclareLaunchFacts(Catalog* catalog);     // launch, graph
void DeclareKernelFacts(Catalog* catalog);     // kernel
void DeclarePrecisionFacts(Catalog* catalog);  // precision
void DeclareFamilyFacts(const Knowledge& knowledge, Catalog* catalog);  // family, calls, ranges, os
void DeclareMemoryFacts(Catalog* catalog);                              // memory
void DeclareInputFacts(Catalog* catalog);                               // input
void DeclareMpiFacts(Catalog* catalog);                                 // mpi
void DeclareHostFacts(Catalog* catalog);                                // host
void DeclareCommFacts(Catalog* catalog);     // comm, rank.late, rank.idle
void DeclareCaptureFacts(Catalog* catalog);  // capture
void DeclareEnvironmentFacts(const Knowledge& knowledge, Catalog* catalog);  // environment
void DeclareHardwareFacts(Catalog* catalog);                                 // hw
// op, and which of them waits come from
void DeclareOperatorFacts(const Knowledge& knowledge, Catalog* catalog);
void DeclareWorkFacts(Catalog* catalog);     // work, gemm, collective, link, nic
void DeclareCounterFacts(Catalog* catalog);  // counter, roofline
void DeclareSampleFacts(Catalog* catalog);   // sample
void DeclareShapeFacts(Catalog* catalog);    // roofline.shapes
void DeclareRoofFacts(Catalog* catalog);  // efficiency (of kernels), roofline.below, kernel.unknown
void DeclareMonitorFacts(Catalog* catalog);  // monitor
void DeclareMonitorGpuFacts(Catalog* catalog);
void DeclareMonitorErrorFacts(Catalog* catalog);
void DeclareServerFacts(Catalog* catalog);    // server
void DeclareProfileFacts(Catalog* catalog);   // totals, allocator
void DeclareTopologyFacts(Catalog* catalog);  // topology, nccl
void DeclareSummaryFacts(Catalog* catalog);   // summary
void DeclareScaleFacts(Catalog* catalog);     // scale
void DeclareClusterFacts(Catalog* catalog);   // cluster, rank.imbalance, rank.node
void DeclareStrategyFacts(Catalog* catalog);  // strategy, pipeline, comm.path

}  // namespace advise::facts
