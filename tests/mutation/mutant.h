// Mutants that are compiled into one program: the environment's ADVISE_MUTANT names the one that
// lives. tests/mutation/mutate.py puts these in the place of operators: `a < b` becomes
// `a <mutant::Relation{7, …}> b`, which compares as before unless 7 lives.
#pragma once

#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <type_traits>

namespace mutant {

inline const int living = [] {
  const char* const text = std::getenv("ADVISE_MUTANT");
  return text == nullptr ? 0 : std::atoi(text);
}();

inline const bool recording = std::getenv("ADVISE_MUTANTS_REACHED") != nullptr;
inline std::array<std::atomic<bool>, 4096> reached{};  // by number, as far as it goes

inline bool Lives(int id) {
  if (recording)
    reached[static_cast<std::size_t>(id) % reached.size()].store(true, std::memory_order_relaxed);
  return id == living;
}

template <class Before, class After, int kId>
struct Operator {};

template <class Left, class Op>
struct Half {
  const Left& left;
};

template <class Left, class Before, class After, int kId, class Right>
auto Apply(const Left& left, Operator<Before, After, kId>, const Right& right) {
  using Type = decltype(Before()(left, right));
  static_assert(std::is_same_v<Type, decltype(After()(left, right))>);
  return Lives(kId) ? After()(left, right) : Before()(left, right);
}

#define ADVISE_INFIX(left_op, right_op)                                                       \
  template <class Left, class Before, class After, int kId>                                   \
  Half<Left, Operator<Before, After, kId>> operator left_op(const Left& left,                 \
                                                            Operator<Before, After, kId>) {   \
    return {left};                                                                            \
  }                                                                                           \
  template <class Left, class Before, class After, int kId, class Right>                      \
  auto operator right_op(Half<Left, Operator<Before, After, kId>> half, const Right& right) { \
    return Apply(half.left, Operator<Before, After, kId>(), right);                           \
  }

ADVISE_INFIX(<, >)
ADVISE_INFIX(==, ==)
ADVISE_INFIX(+, +)
ADVISE_INFIX(*, *)
#undef ADVISE_INFIX

// Whole numbers may lie on the edge of a comparison: there it changes its mind. Measured ones with
// a fraction never do, and nobody could see that: of them, it is turned round.
template <class AtEdge, class Round>
struct Other {
  template <class Left, class Right>
  bool operator()(const Left& left, const Right& right) const {
    if constexpr (std::is_floating_point_v<Left> || std::is_floating_point_v<Right>)
      return Round()(left, right);
    else
      return AtEdge()(left, right);
  }
};

template <int kId>
using LessOrEqual = Operator<std::less<>, Other<std::less_equal<>, std::greater<>>, kId>;
template <int kId>
using LessOnly = Operator<std::less_equal<>, Other<std::less<>, std::greater<>>, kId>;
template <int kId>
using MoreOrEqual = Operator<std::greater<>, Other<std::greater_equal<>, std::less<>>, kId>;
template <int kId>
using MoreOnly = Operator<std::greater_equal<>, Other<std::greater<>, std::less<>>, kId>;
template <int kId>
using Differs = Operator<std::equal_to<>, std::not_equal_to<>, kId>;
template <int kId>
using Equals = Operator<std::not_equal_to<>, std::equal_to<>, kId>;
template <int kId>
using Minus = Operator<std::plus<>, std::minus<>, kId>;
template <int kId>
using Plus = Operator<std::minus<>, std::plus<>, kId>;
template <int kId>
using Over = Operator<std::multiplies<>, std::divides<>, kId>;
template <int kId>
using Times = Operator<std::divides<>, std::multiplies<>, kId>;

}  // namespace mutant
