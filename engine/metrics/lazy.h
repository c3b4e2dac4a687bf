// A part of the analysis that is computed when somebody first asks for it.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace advise {

// Computed once, whichever threads ask; what it is computed from must be there until then.
template <typename T>
class Lazy {
 public:
  explicit Lazy(std::function<T()> make) : make_(std::move(make)) {}

  const T& Get() const {
    const std::lock_guard<std::mutex> lock(asked_);
    if (!value_) value_ = make_();
    return *value_;
  }
  const T* operator->() const { return &Get(); }
  operator const T&() const { return Get(); }  // NOLINT(google-explicit-constructor)

 private:
  std::function<T()> make_;
  mutable std::mutex asked_;
  mutable std::optional<T> value_;
};

}  // namespace advise
