// Everything the project knows that is not code: kb/**/*.toml, read and checked once. The only room
// that sees toml++. Each number has a value, a unit, a reason and a source; a problem is reported
// as file:line with a suggestion.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/units.h"
#include "engine/knowledge/name_pattern.h"
#include "engine/knowledge/operator_formula.h"
#include "engine/knowledge/step_size.h"

namespace advise {

// A number that a site may change: of a rule (kb/thresholds/) or of the metrics and the ranking.
struct Threshold {
  std::string name;  // "transfer/pageable-copy.min_share", "idle.launch_latency"
  double value = 0;
  double shipped = 0;  // the value before the site changed it
  std::string unit;
  double lowest = 0;
  double highest = 0;
  std::string why;
  std::string source;
  std::string set_by;  // "" shipped; else the file or option that changed it
  std::string like;  // the number that it follows ("ranking.worth_telling"), "" when it has its own
};

struct Reference {
  std::string key;
  std::string title;
  std::string url;
  std::vector<std::string> programs;  // whom the page is for, as Fix::programs; empty: all
};

struct KnowledgeRow {
  std::string id;  // "K-A1"
  std::string area;
  std::string text;
  std::vector<std::string>
      home;  // where it lives when no rule names it: "fact copy.groups", "rule comm/exposed"
};

struct HardwareFact {
  double value = 0;
  std::string unit;
  std::string kind;  // spec | listed | measured | assumed
  std::string source;
};

struct HardwareEntry {
  std::string id;  // "a100-80-sxm"
  std::vector<NamePattern> match;
  std::string compute_capability;
  std::string architecture;
  std::map<std::string, HardwareFact, std::less<>> facts;
  std::string set_by;  // the site's file, "" as shipped

  bool IsAmd() const { return architecture.starts_with("cdna"); }
  // With the maker, much as profilers print it: "NVIDIA A100-SXM4-80GB".
  std::string DisplayName() const;
};

// What a kernel's name tells.
struct KernelClass {
  std::string name;    // "matrix", "communication", "elementwise" …; "other" when nothing matched
  std::string family;  // "cublas", "nccl" …
  std::string collective;  // of communication kernels, when the name tells
  std::string precision;   // "fp32", "bf16" …, "" unknown
  int tensor_core = -1;    // 1 yes, 0 no, -1 unknown
  std::vector<std::string> traits;
  bool HasTrait(std::string_view trait) const;
  bool Multiplies() const {  // the work of matrix units
    return name == "matrix" || name == "convolution" || name == "attention";
  }
};

// Which names a family is of.
enum class FamilyKind : std::uint8_t { kKernel, kCall, kRange, kOs, kOperator };
inline constexpr std::size_t kFamilyKindCount = 5;
// What their facts begin with: "family", "calls", "ranges", "os", "op".
const char* FactGroupOf(FamilyKind kind);

// Lists of kb/names.toml whose value for a name is asked as it stands.
enum class NameList : std::uint8_t {
  kGpuMetric,        // the quantity that a sampled metric is: "dram_read"
  kProfilerMessage,  // what a message of the profiler tells: "lost"
  kPythonLibrary,    // "yes" for files that are not the program's own
  kSecretVariable,   // "yes" for variables whose value is likely to be a credential
  kJobVariable,      // "yes" for those with the id of the job, the likeliest first
  kAmdLibrary,       // "yes" for families of kernels that run on AMD's GPUs only
  kRankSwitch,       // "yes" for those that decide how ranks talk, and hold no secrets
  kClosedPath,       // the path that VARIABLE=VALUE takes away from NCCL
  kGenericKernel,    // "yes" for kernels that are templates over what they do
  kSilentWord,       // "yes" for words in their arguments that do not say it
};
inline constexpr std::size_t kNameListCount = 10;

// Names that belong to one mechanism (kb/families.toml, and what a site adds): a group of facts.
struct NameFamily {
  std::string name;             // "gemv"
  std::string things;           // what its facts call them, as a noun phrase; "": it has no facts
  std::string set_by;           // the site's file that added it or names to it
  std::vector<NameRule> rules;  // a name belongs to it when one of them matches
};

// An environment variable that is a fact: environment.<name>. No other variable is ever shown.
struct EnvironmentSwitch {
  std::string name;      // "launch_blocking"
  std::string variable;  // "CUDA_LAUNCH_BLOCKING"
  std::string meaning;   // "whether each launch waits for its kernel"
  std::string set_by;    // the site's file that added it
};

// What a name says of a run as a whole (kb/runs.toml).
struct RunSign {
  enum class About : std::uint8_t { kKind, kFramework, kLanguage } about = About::kKind;
  std::vector<std::string> languages;  // of a framework
  bool any_kind = false;               // not only models are written with the framework
  std::string record;                  // how to record a program whose loop is the framework's
  bool by_nsys = false;  // Nsight Systems records its programs, not PyTorch's profiler
  // A framework that copies arrays of the host to the GPU before a call, and back after it.
  bool copies_arguments = false;
  std::vector<std::string> in;  // where the name must stand: kernel, range, operator …
  // Of kernels whose grid is one block wide, or wider. FlashAttention's kernels for paged caches
  // read prompts and generate tokens: a grid has a column per tile of queries, and a token that is
  // generated has one query. A grid that was not recorded is one block wide.
  enum class Grid : std::uint8_t { kAny, kOneWide, kWider } grid = Grid::kAny;
  NameRule rule;  // its value: the kind, framework or language

  bool Fits(std::uint32_t blocks_wide) const {
    return grid == Grid::kAny || (grid == Grid::kWider) == (blocks_wide > 1);
  }
};

// An error number of NVIDIA's driver (kb/xids.toml).
struct XidMeaning {
  int code = 0;
  std::string kind;  // "memory", "board", "link", "driver", "program", "notice"
  std::string says;  // a clause
};

// Metrics of Nsight Compute that say the same of a kernel (kb/counters.toml).
struct CounterQuantity {
  std::vector<std::string> metrics;
  bool sum = false;  // all that were collected are added; else the first of them counts
};

// A name in which a model server writes how much a step works on (kb/runs.toml).
struct StepSizePattern {
  std::string server;                 // all steps of one server are one loop
  std::string pattern;                // see ReadStepSize
  std::vector<std::string> examples;  // names that it must fit
  std::string where;                  // "kb/runs.toml:12"
};

// Setting of a rule by the site.
struct SuppressedRule {
  std::string id;
  std::string reason;
  std::string set_by;  // the file
  std::string where;   // "advise.toml:12"
  std::string until;   // "2027-01-01", the last day that the rule is off; empty: for good
};

struct CaptureHint {
  std::string tag;     // "gpu-metrics"
  std::string option;  // of `nsys profile`: "--gpu-metrics-devices=all"; options of the same name
                       // are joined by commas; empty when no option helps
  std::string text;    // one sentence
  std::string level;   // light | standard | full: from where on `advise record` asks for it; empty:
                       // never on its own
  std::string torch;   // the option of torch.profiler that records it; empty when there is none
};

// "2027-01-31", in UTC; "" for 0.
std::string DayOf(std::int64_t utc_ns);

class Knowledge {
 public:
  // Reads all of kb/ from (path, text) pairs, then the site settings. All problems are collected,
  // not only the first.
  struct File {
    std::string path;
    std::string text;
    std::string_view prepared = {};  // built into the program, in place of a text (embedded.h)
  };
  static tl::expected<Knowledge, std::vector<Error>> Load(const std::vector<File>& kb);

  // Site settings: one TOML text; unknown names, wrong types and out-of-range values are errors
  // with file:line.
  std::vector<Error> ApplySite(const File& site);
  // One "--set NAME=VALUE"; NAME is "transfer/pageable-copy.min_share", or with dots throughout.
  std::vector<Error> ApplySetting(std::string_view assignment);

  const Threshold* FindThreshold(std::string_view rule, std::string_view name) const;
  const std::map<std::string, Threshold, std::less<>>& thresholds() const { return thresholds_; }
  const Reference* FindReference(std::string_view key) const;
  const std::map<std::string, Reference, std::less<>>& references() const { return references_; }
  const std::map<std::string, KnowledgeRow, std::less<>>& rows() const { return rows_; }
  const std::vector<HardwareEntry>& hardware() const { return hardware_; }
  // The entry whose match covers `device_name` (the most literal pattern wins, then a site's own)
  // or whose id it is, or nullptr. Never another GPU's.
  const HardwareEntry* FindHardware(std::string_view device_name) const;

  // Classes of names; each is matched once per distinct name by the caller.
  KernelClass ClassifyKernel(std::string_view demangled_name) const;
  std::string RangePhase(std::string_view range_name) const;  // "data_loading" …, "" none
  // "annotation" for steps that the framework's profiler marks, "range" for others, "" none.
  std::string StepRange(std::string_view range_name) const;
  bool IsLayerRange(std::string_view range_name) const;                   // or a module: "blocks.3"
  std::string OsCallClass(std::string_view name) const;                   // "file_io" …, "other"
  std::string CudaCallClass(std::string_view name) const;                 // "launch" …, "other"
  std::string ThreadRole(std::string_view thread_or_process_name) const;  // "loader_worker" …, ""

  std::string ValueIn(NameList list, std::string_view name) const;  // "" none
  const std::vector<NameRule>& rules(NameList list) const {
    return name_lists_[static_cast<std::size_t>(list)];
  }

  // By name.
  const std::vector<NameFamily>& families(FamilyKind kind) const {
    return families_[static_cast<std::size_t>(kind)];
  }
  // The families that a name belongs to, as indices into families(kind). Each distinct name is
  // matched once by the caller.
  std::vector<std::size_t> FamiliesOf(FamilyKind kind, std::string_view name,
                                      std::string_view kernel_class = "") const;
  // The place of a family in families(kind); the program stops when there is none of this name.
  std::size_t FamilyIndex(FamilyKind kind, std::string_view family) const;
  bool IsOfFamily(FamilyKind kind, std::string_view family, std::string_view name,
                  std::string_view kernel_class = "") const;
  const OperatorFormulas& operators() const { return operators_; }
  const std::vector<EnvironmentSwitch>& environment_switches() const { return switches_; }

  // What a name that stands `in` a place says of the run, as indices into run_signs(). The name is
  // matched once per distinct name by the caller.
  std::vector<std::size_t> RunSignsOf(std::string_view in, std::string_view name) const;
  const std::vector<RunSign>& run_signs() const { return run_signs_; }

  // What the first pattern that fits the name of a range says; nothing when none does.
  std::optional<StepSize> StepSizeOf(std::string_view range) const;

  // The command that has this framework's own server write a trace; "" for programs of which the
  // user writes the loop.
  std::string HowToRecord(std::string_view framework) const;

  // Whether PyTorch's profiler is not the one for programs of this framework: Nsight Systems is.
  bool IsRecordedByNsys(std::string_view framework) const;

  // What programs of this framework are written in, and what it builds on; empty where not known.
  std::vector<std::string> LanguagesOf(std::string_view framework) const;

  // Examples of the pattern lists that their own entry does not claim.
  std::vector<Error> CheckExamples() const;

  // A number of kb/metrics.toml ("idle.launch_latency") or kb/ranking.toml ("ranking.high_share"),
  // by name; the program stops when it is unknown.
  double Number(std::string_view name) const;
  // The same in nanoseconds, of things, and in bytes: the fraction is cut off.
  Nanos Time(std::string_view name) const { return static_cast<Nanos>(Number(name)); }
  std::size_t CountOf(std::string_view name) const {
    return static_cast<std::size_t>(Number(name));
  }
  std::int64_t BytesOf(std::string_view name) const {
    return static_cast<std::int64_t>(Number(name));
  }
  // Number for a name that is made of data ("precision.tensor_ratio_90"): 0 when it is unknown.
  double NumberOrZero(std::string_view name) const;
  const std::map<std::string, Threshold, std::less<>>& numbers() const { return numbers_; }

  // By name; the program stops when it is unknown.
  const CounterQuantity& Counter(std::string_view quantity) const;

  // What an error number of NVIDIA's driver means; nullptr for one that is not known.
  const XidMeaning* FindXid(int code) const;
  // The place of a number in the list of kb/xids.toml, where the worst is first; those that are not
  // known come between what boards and what programs do wrong.
  std::size_t XidRank(int code) const;

  const std::vector<CaptureHint>& capture_hints() const { return capture_hints_; }
  const CaptureHint* FindCaptureHint(std::string_view tag) const;
  // Rules that the site turned off, without those whose last day was before `day` ("2027-01-31";
  // empty: the system's clock).
  std::vector<SuppressedRule> suppressed(const std::string& day = "") const;
  // Settings of rules that do not exist, which only the owner of the rule list can tell.
  std::vector<Error> CheckSuppressed(const std::vector<std::string>& rule_ids) const;
  // "rule.threshold = value instead of shipped (file)" for each value the site changed, and a line
  // for each rule it turned off.
  std::vector<std::string> SiteChanges(const std::string& day = "") const;

 private:
  friend class KnowledgeLoader;
  friend auto Fields(Knowledge& of) {
    return std::tie(of.thresholds_, of.references_, of.rows_, of.numbers_, of.hardware_,
                    of.kernel_class_, of.kernel_precision_, of.kernel_tensor_, of.kernel_trait_,
                    of.range_phase_, of.range_step_, of.range_layer_, of.os_call_, of.cuda_call_,
                    of.thread_role_, of.name_lists_, of.families_, of.operators_, of.switches_,
                    of.run_signs_, of.step_sizes_, of.xids_, of.counters_, of.site_additions_,
                    of.capture_hints_, of.switched_off_);
  }

  Threshold* FindSettable(std::string_view name);
  std::vector<std::string> SettableNames() const;
  std::vector<Error> Set(std::string_view name, double value, const std::string& set_by,
                         const std::string& where);

  std::map<std::string, Threshold, std::less<>> thresholds_;
  std::map<std::string, Reference, std::less<>> references_;
  std::map<std::string, KnowledgeRow, std::less<>> rows_;
  std::map<std::string, Threshold, std::less<>> numbers_;
  std::vector<HardwareEntry> hardware_;
  std::vector<NameRule> kernel_class_, kernel_precision_, kernel_tensor_, kernel_trait_;
  std::vector<NameRule> range_phase_, range_step_, range_layer_, os_call_, cuda_call_, thread_role_;
  std::array<std::vector<NameRule>, kNameListCount> name_lists_;
  std::array<std::vector<NameFamily>, kFamilyKindCount> families_;
  OperatorFormulas operators_;
  std::vector<EnvironmentSwitch> switches_;
  std::vector<RunSign> run_signs_;
  std::vector<StepSizePattern> step_sizes_;
  std::vector<XidMeaning> xids_;
  std::map<std::string, CounterQuantity, std::less<>> counters_;
  std::vector<std::string> site_additions_;  // "names.range_phase has names of the site (file)"
  std::vector<CaptureHint> capture_hints_;
  std::vector<SuppressedRule> switched_off_;  // also those whose last day is over
};

}  // namespace advise
