// Values as bytes: what the build reads and checks, for the program to take over when it starts
// (docs/decisions/0033-embedded-files-are-read-by-the-build.md). Both are compiled from the same
// sources for the same machine; bytes are trusted, and never come from a file.
//
// A struct is packed by its fields, which an overload names beside it:
//   inline auto Fields(Fix& of) { return std::tie(of.action, of.snippet); }
//   static_assert(kNamesAllFields<Fix>);
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace advise {

// What any field can be made of.
struct AnyField {
  template <typename T>
  operator T() const;  // NOLINT(google-explicit-constructor)
};

template <typename T, typename... Given>
constexpr std::size_t FieldCount() {
  if constexpr (requires { T{std::declval<Given>()..., AnyField{}}; }) {
    return FieldCount<T, Given..., AnyField>();
  } else {
    return sizeof...(Given);
  }
}

// Of a struct without constructors: whether Fields() has each of its fields.
template <typename T>
constexpr bool kNamesAllFields = std::tuple_size_v<decltype(Fields(std::declval<T&>()))> ==
                                 FieldCount<T>();

template <typename T>
constexpr bool kIsPlain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class Packer {
 public:
  template <typename T>
  void Add(const T& value) {
    if constexpr (kIsPlain<T>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      std::apply([this](const auto&... field) { (this->Add(field), ...); },
                 Fields(const_cast<T&>(value)));
    }
  }
  void Add(const std::string& text) {
    AddSize(text.size());
    bytes_ += text;
  }
  // Something that has a name, by which the reader finds it; nullptr is "".
  template <typename T>
  void Add(const T* named) {
    Add(named == nullptr ? std::string() : named->name);
  }
  template <typename T>
  void Add(const std::vector<T>& list) {
    AddSize(list.size());
    for (const T& item : list) Add(item);
  }
  template <typename T, std::size_t N>
  void Add(const std::array<T, N>& list) {
    for (const T& item : list) Add(item);
  }
  template <typename Key, typename T, typename Less>
  void Add(const std::map<Key, T, Less>& map) {
    AddSize(map.size());
    for (const auto& [key, value] : map) {
      Add(key);
      Add(value);
    }
  }
  template <typename... T>
  void Add(const std::variant<T...>& one) {
    AddSize(one.index());
    std::visit([this](const auto& value) { this->Add(value); }, one);
  }

  std::string Take() { return std::move(bytes_); }

 private:
  void AddSize(std::size_t size) { Add(static_cast<std::uint32_t>(size)); }

  std::string bytes_;
};

// `Find`: from a name to the pointer that stands for it.
template <typename Find = std::nullptr_t>
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes, Find find = {})
      : rest_(bytes), find_(std::move(find)) {}

  template <typename T>
  void Get(T& value) {
    if constexpr (kIsPlain<T>) {
      std::memcpy(&value, Bytes(sizeof value).data(), sizeof value);
    } else {
      std::apply([this](auto&... field) { (this->Get(field), ...); }, Fields(value));
    }
  }
  void Get(std::string& text) { text = Bytes(Size()); }
  template <typename T>
  void Get(const T*& named) {
    const std::string_view name = Bytes(Size());
    named = name.empty() ? nullptr : find_(name);
  }
  template <typename T>
  void Get(std::vector<T>& list) {
    list.resize(Size());
    for (T& item : list) Get(item);
  }
  template <typename T, std::size_t N>
  void Get(std::array<T, N>& list) {
    for (T& item : list) Get(item);
  }
  template <typename Key, typename T, typename Less>
  void Get(std::map<Key, T, Less>& map) {
    for (std::size_t left = Size(); left > 0; --left) {
      Key key{};
      Get(key);
      Get(map.emplace_hint(map.end(), std::move(key), T())->second);
    }
  }
  template <typename... T>
  void Get(std::variant<T...>& one) {
    const std::size_t index = Size();
    std::size_t at = 0;
    (void)((at++ == index && (Get(one.template emplace<T>()), true)) || ...);
  }

  // What was not read yet.
  std::string_view rest() const { return rest_; }

 private:
  std::size_t Size() {
    std::uint32_t size = 0;
    Get(size);
    return size;
  }
  std::string_view Bytes(std::size_t size) {
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  std::string_view rest_;
  [[no_unique_address]] Find find_;
};

}  // namespace advise
