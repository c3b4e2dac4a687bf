#include "engine/knowledge/step_size.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "engine/base/ascii.h"

namespace advise {
namespace {

struct Piece {
  std::string literal;                      // what stands there, in lower case
  std::int64_t StepSize::*field = nullptr;  // or digits
  bool anywhere = false;                    // behind a `*`
};

std::int64_t StepSize::*FieldOf(std::string_view name) {
  if (name == "sequences") return &StepSize::sequences;
  if (name == "prompts") return &StepSize::prompts;
  return name == "tokens" ? &StepSize::tokens : nullptr;
}

// Nothing when a brace is left open or holds no field.
std::optional<std::vector<Piece>> PiecesOf(std::string_view pattern) {
  std::vector<Piece> pieces;
  bool anywhere = false;
  while (!pattern.empty()) {
    if (pattern.front() == '*') {
      anywhere = true;
      pattern.remove_prefix(1);
      continue;
    }
    Piece piece;
    piece.anywhere = anywhere;
    anywhere = false;
    std::size_t end = pattern.find_first_of("*{");
    if (pattern.front() == '{') {
      end = pattern.find('}');
      if (end == std::string_view::npos) return std::nullopt;
      piece.field = FieldOf(pattern.substr(1, end - 1));
      if (piece.field == nullptr) return std::nullopt;
      ++end;
    } else {
      end = std::min(end, pattern.size());
      piece.literal = Lower(pattern.substr(0, end));
    }
    pieces.push_back(std::move(piece));
    pattern.remove_prefix(end);
  }
  if (anywhere) pieces.push_back({"", nullptr, true});
  return pieces;
}

}  // namespace

std::optional<StepSize> ReadStepSize(std::string_view pattern, std::string_view name) {
  const auto pieces = PiecesOf(pattern);
  if (!pieces) return std::nullopt;
  const std::string lower = Lower(name);
  std::size_t at = 0;
  StepSize size;
  for (const Piece& piece : *pieces) {
    if (piece.field != nullptr) {
      const char* const from = lower.data() + at;
      const char* const end = lower.data() + lower.size();
      const auto [next, failed] = std::from_chars(from, end, size.*piece.field);
      if (failed != std::errc() || *from == '-') return std::nullopt;
      at = static_cast<std::size_t>(next - lower.data());
    } else if (piece.literal.empty()) {  // a `*` at the end
      at = lower.size();
    } else {
      const std::size_t found = lower.find(piece.literal, at);
      if (found == std::string::npos || (found != at && !piece.anywhere)) return std::nullopt;
      at = found + piece.literal.size();
    }
  }
  if (at != lower.size()) return std::nullopt;
  return size;
}

std::string ProblemOfStepSize(std::string_view pattern) {
  const auto pieces = PiecesOf(pattern);
  if (!pieces) return "{…} must be {sequences}, {prompts} or {tokens}";
  const auto has_field = [](const Piece& piece) { return piece.field != nullptr; };
  if (std::none_of(pieces->begin(), pieces->end(), has_field)) return "says no size";
  // Digits behind a `*` would begin anywhere.
  for (const Piece& piece : *pieces) {
    if (has_field(piece) && piece.anywhere) return "a size must stand behind what is written";
  }
  return "";
}

}  // namespace advise
