// The one error type of the project: what went wrong, where, and what to try next.
// Anything that can fail returns Result<T>; exceptions of libraries stop in the file that calls
// them.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace advise {

struct Error {
  std::string what;   // "no kernels were recorded"
  std::string where;  // "run.sqlite", "kb/x.toml:12", may be empty
  std::string hint;   // "capture with --trace=cuda", may be empty

  // One line for a person: "where: what (hint)".
  std::string Line() const {
    std::string line = where.empty() ? what : where + ": " + what;
    return hint.empty() ? line : line + " (" + hint + ")";
  }
};

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> Fail(std::string what, std::string where = "", std::string hint = "") {
  return tl::unexpected<Error>(Error{std::move(what), std::move(where), std::move(hint)});
}

}  // namespace advise
