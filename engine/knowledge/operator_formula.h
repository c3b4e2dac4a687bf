// How much work a call of a framework operator is, by its name (kb/operators.toml): which
// formula counts it, and which of its arguments the formula needs, counted from 0.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "engine/knowledge/name_pattern.h"

namespace advise {

inline constexpr int kNoArgument = -1;

// Products of matrices: two operands, the second next to the first.
struct ProductFormula {
  enum class Form : std::uint8_t {
    kMatrices,
    kSummed,
    kVector,
    kAny,
    kLinear,
    kGrouped,
    kPacked,  // weights of a few bits each, several to an integer
  };
  Form form = Form::kMatrices;
  int first = 0;
  int result_type = kNoArgument;  // of operands whose products are wider: which type that is
  int bits = 0;  // of a packed weight; 0 where scales tell how many results there are
};

struct ConvolutionFormula {
  enum class Form : std::uint8_t { kForward, kBackward, kTransposed, kOldBackward };
  Form form = Form::kForward;
  int stride = kNoArgument, padding = kNoArgument, dilation = kNoArgument;
  int transposed = kNoArgument;  // whether it is one; the padding of the result and groups follow
};

// Query, key and value are next to each other.
struct AttentionFormula {
  enum class Layout : std::uint8_t { kHeadsFirst, kSequenceFirst, kPacked };
  Layout layout = Layout::kSequenceFirst;
  int query = 0;
  int causal = kNoArgument;
  int window = kNoArgument;  // the first of two: how far a query looks to either side
  int used = kNoArgument;    // how many keys of each sequence are looked at, where not all are
  bool backward = false;
  bool of_mask = false;  // `causal` is a kind of mask: 0 is none
};

// A mixture of experts; its operands are recognized by their sizes.
struct ExpertsFormula {};

// The bytes that are moved.
struct MemoryFormula {
  enum class Flow : std::uint8_t {
    kWrite,      // writes its first tensor
    kCopy,       // reads the second, writes the first
    kNorm,       // rows are read, read again when they are long, and written
    kNormGrad,   // the same with two tensors
    kBatchNorm,  // a row is a channel: whether it is training stands at `at`
    kSoftmax,    // reads and writes
    kSoftmaxGrad,
    kReduce,   // reads
    kPoolAll,  // reads, of pooling
    kScan,     // reads and writes
    kSort,
    kJoin,       // reads a list of tensors, writes one as large
    kLookup,     // rows of the table at 0, for each index at `at`
    kGather,     // as many as there are indices at `at`
    kScatter,    // rows at `at` are read, and added to what is there
    kPut,        // writes the values at `at` to places of the first
    kBag,        // sums rows of a table, by the indices at `at`; bags begin at the offsets behind
    kTableGrad,  // gradient of a table: reads rows, writes all of the table; its rows at `at`
    kPool,
    kPoolGrad,
    kResize,  // to the sizes at `at`: of each image, or of all
    kLists,   // lists of tensors: each is read, the first written
    kFused,   // an optimizer's update of parameter, gradient and state lists
    kOneWay,  // reads or writes a list
  };
  enum class Rows : std::uint8_t { kOfWeight, kOfChannel, kOfGroup };

  Flow flow = Flow::kWrite;
  int at = kNoArgument;
  int dimension = kNoArgument;  // of kLookup: which one is looked up in; the first without
  Rows rows = Rows::kOfWeight;  // of kNorm and kNormGrad; `at` is the weight
  std::size_t dimensions = 2;   // of kPool
  bool positions = false;       // of kPool and kPoolGrad: where each value was found, too
};

// Its caller has all of the tensors of which it sees a part, and counts them.
struct PartFormula {};

using OperatorFormula = std::variant<ProductFormula, ConvolutionFormula, AttentionFormula,
                                     ExpertsFormula, MemoryFormula, PartFormula>;

class OperatorFormulas {
 public:
  struct Entry {
    NameRule names;
    OperatorFormula formula;
    std::string set_by;  // the site's file that added it
  };

  // Gives back the name that another entry has already; "" when there is none.
  std::string Add(Entry entry);
  // Nullptr for operators that have no formula. A name that an entry gives in full comes before
  // those that its patterns match. Case does not matter.
  const OperatorFormula* Find(std::string_view name) const;
  template <typename T>
  const T* FindAs(std::string_view name) const {
    const OperatorFormula* found = Find(name);
    return found == nullptr ? nullptr : std::get_if<T>(found);
  }
  const std::vector<Entry>& entries() const { return entries_; }
  friend auto Fields(OperatorFormulas& of) {
    return std::tie(of.entries_, of.by_name_, of.by_pattern_);
  }

 private:
  struct CaseLess {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const;
  };

  std::vector<Entry> entries_;
  std::map<std::string, std::size_t, CaseLess> by_name_;  // -> entries_
  std::vector<std::size_t> by_pattern_;                   // entries_ that have patterns
};

}  // namespace advise
