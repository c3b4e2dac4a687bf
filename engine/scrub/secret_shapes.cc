#include "engine/scrub/secret_shapes.h"

#include <algorithm>
#include <array>

#include "engine/base/ascii.h"
#include "engine/base/trim.h"

namespace advise {
namespace {

bool IsNamePart(char c) { return IsWordChar(c) || c == '-'; }
bool IsBase64(char c) { return IsAlnum(c) || c == '+' || c == '/' || c == '='; }
// Ends a value that stands without quotes.
bool EndsValue(char c) {
  return IsSpace(c) || c == '"' || c == '\'' || c == ',' || c == ';' || c == '}' || c == ')';
}

// No secret that is told by its signs alone is longer: a long text is not read again and again.
constexpr std::size_t kLongestWord = 320;

template <typename Belongs>
std::size_t EndOf(std::string_view text, std::size_t from, Belongs belongs) {
  while (from < text.size() && belongs(text[from])) ++from;
  return from;
}

template <typename Belongs>
std::size_t EndOfWord(std::string_view text, std::size_t from, Belongs belongs) {
  return EndOf(text.substr(0, std::min(text.size(), from + kLongestWord)), from, belongs);
}

// What a name must have for the value behind ":" or a blank to be taken for a secret. Narrower than
// for "=": "tokens: 128" is a number of tokens.
bool PromisesSecret(std::string_view name) {
  const std::string lower = Lower(name);
  for (const char* part : {"passw", "secret", "credential", "apikey", "api_key", "api-key",
                           "access_key", "access-key", "private_key", "authorization"}) {
    if (lower.find(part) != std::string::npos) return true;
  }
  return lower.ends_with("token");
}

// Takes a text apart from front to back and writes it anew.
class Masker {
 public:
  explicit Masker(std::string_view text) : text_(text) {}

  std::string Run() {
    while (at_ < text_.size()) {
      const bool begins = at_ == 0 || !IsNamePart(text_[at_ - 1]);
      if (PrivateKey() || Userinfo() ||
          (begins && (Scheme() || Named() || Mail() || Ports() || Digest() || Random()))) {
        continue;
      }
      clean_ += text_[at_++];
    }
    return std::move(clean_);
  }
  std::size_t keys() const { return keys_; }

 private:
  bool Mask(std::size_t end, std::string_view as = "key") {
    if (text_.substr(at_, end - at_) != as && as == "key") ++keys_;
    clean_ += as;
    at_ = end;
    return true;
  }

  // -----BEGIN OPENSSH PRIVATE KEY-----…-----END OPENSSH PRIVATE KEY-----, also without its end.
  bool PrivateKey() {
    constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "-----END ";
    if (!text_.substr(at_).starts_with(kBegin)) return false;
    const std::size_t head = text_.find("-----", at_ + kBegin.size());
    if (head == std::string_view::npos ||
        text_.substr(at_, head - at_).find("PRIVATE KEY") == std::string_view::npos) {
      return false;
    }
    const std::size_t tail = text_.find(kEnd, head);
    if (tail == std::string_view::npos) return Mask(text_.size());
    const std::size_t end = text_.find("-----", tail + kEnd.size());
    return Mask(end == std::string_view::npos ? text_.size() : end + 5);
  }

  // https://name:password@host
  bool Userinfo() {
    if (!text_.substr(at_).starts_with("://")) return false;
    const std::size_t from = at_ + 3;
    const std::size_t end =
        EndOf(text_, from, [](char c) { return !IsSpace(c) && c != '/' && c != '"' && c != '\''; });
    const std::size_t sign = text_.substr(from, end - from).rfind('@');
    if (sign == std::string_view::npos || sign == 0) return false;
    clean_ += "://";
    at_ = from;
    return Mask(from + sign);
  }

  // "Authorization: Bearer …", "Basic …".
  bool Scheme() {
    for (const std::string_view scheme : {"Bearer ", "bearer ", "Basic "}) {
      if (!text_.substr(at_).starts_with(scheme)) continue;
      const std::size_t from = at_ + scheme.size();
      const std::size_t end = EndOf(text_, from, [](char c) { return !EndsValue(c); });
      const std::string_view value = text_.substr(from, end - from);
      const bool code = std::any_of(value.begin(), value.end(), IsDigit) || value.ends_with('=');
      if (value.size() < 8 || !code) continue;
      clean_ += scheme;
      at_ = from;
      return Mask(end);
    }
    return false;
  }

  // "password: …", "\"api_key\": \"…\"", "--token …", "password='…'".
  bool Named() {
    const std::size_t end = EndOf(text_, at_, IsNamePart);
    const std::string_view name = text_.substr(at_, end - at_);
    if (end >= text_.size() || name.size() < 5 || !PromisesSecret(name)) return false;
    std::size_t from = end;
    if (text_[from] == '"' || text_[from] == '\'') ++from;
    const bool option = name.starts_with("--") && from < text_.size() && IsSpace(text_[from]);
    if (!option && (from >= text_.size() || (text_[from] != ':' && text_[from] != '=')))
      return false;
    if (text_.substr(from).starts_with("::")) return false;  // a scope of C++
    from = EndOf(text_, from + 1, IsSpace);
    const bool quoted = from < text_.size() && (text_[from] == '"' || text_[from] == '\'');
    if (quoted) ++from;
    const char quote = quoted ? text_[from - 1] : '\0';
    std::size_t to =
        EndOf(text_, from, [&](char c) { return quoted ? c != quote : !EndsValue(c); });
    const std::string_view value = text_.substr(from, to - from);
    if (value.size() < 4 || std::all_of(value.begin(), value.end(), IsDigit) ||
        value.starts_with("--") || Lower(value) == "bearer" || Lower(value) == "basic") {
      return false;
    }
    clean_ += text_.substr(at_, from - at_);
    at_ = from;
    return Mask(to);
  }

  // erika.mustermann@example.org
  bool Mail() {
    const auto local = [](char c) {
      return IsAlnum(c) || c == '.' || c == '_' || c == '+' || c == '-';
    };
    const std::size_t sign = EndOfWord(text_, at_, local);
    if (sign == at_ || sign >= text_.size() || text_[sign] != '@') return false;
    std::size_t end = EndOf(text_, sign + 1, [](char c) { return IsNamePart(c) || c == '.'; });
    while (end > sign + 1 && (text_[end - 1] == '.' || text_[end - 1] == '-')) --end;
    const std::string_view domain = text_.substr(sign + 1, end - sign - 1);
    const std::size_t dot = domain.rfind('.');
    if (dot == std::string_view::npos || dot == 0 || domain.size() - dot < 3) return false;
    if (std::any_of(domain.begin() + static_cast<std::ptrdiff_t>(dot) + 1, domain.end(), IsDigit)) {
      return false;  // a version of a symbol
    }
    return Mask(end, "address");
  }

  // Groups of hexadecimal digits between colons: addresses of IPv6 and of network cards. Not times
  // of the day, not scopes of C++.
  bool Ports() {
    const std::size_t end = EndOfWord(text_, at_, [](char c) { return IsHexDigit(c) || c == ':'; });
    if (end < text_.size() && IsNamePart(text_[end])) return false;
    std::size_t groups = 0, single = 0, longest = 0;
    bool letter = false, gap = false;
    for (std::size_t from = at_; from < end;) {
      const std::size_t to = EndOf(text_.substr(0, end), from, IsHexDigit);
      groups += to > from ? 1 : 0;
      longest = std::max(longest, to - from);
      for (std::size_t i = from; i < to; ++i) letter = letter || !IsDigit(text_[i]);
      const std::size_t next = EndOf(text_.substr(0, end), to, [](char c) { return c == ':'; });
      single += next - to == 1 ? 1 : 0;
      gap = gap || next - to == 2;
      from = next;
    }
    if (groups < 4 || single < 2 || longest > 4 || !(letter || gap)) return false;
    return Mask(end, "address");
  }

  // 32, 40 or 64 hexadecimal digits.
  bool Digest() {
    const std::size_t end = EndOf(text_, at_, IsHexDigit);
    const std::size_t size = end - at_;
    if (end < text_.size() && IsNamePart(text_[end])) return false;
    if (size != 32 && size != 40 && size != 64) return false;
    const std::string_view word = text_.substr(at_, size);
    if (std::none_of(word.begin(), word.end(), IsDigit)) return false;
    return Mask(end);
  }

  // 40 signs of Base64 of all kinds, as keys of clouds are.
  bool Random() {
    const std::size_t end = EndOfWord(text_, at_, IsBase64);
    const std::string_view word = text_.substr(at_, end - at_);
    if (word.size() != 40 || (end < text_.size() && IsNamePart(text_[end]))) return false;
    const auto count = [&](bool (*kind)(char)) {
      return std::count_if(word.begin(), word.end(), kind);
    };
    return count(IsDigit) > 0 && count(IsUpper) > 4 && count(IsLower) > 4 && Mask(end);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string clean_;
  std::size_t keys_ = 0;
};

}  // namespace

bool LooksLikeKey(std::string_view word) {
  struct Kind {
    const char* prefix;
    std::size_t least;
  };
  constexpr std::array<Kind, 28> kKinds = {
      {{"sk-", 16},         {"sk_live_", 16}, {"sk_test_", 16}, {"rk_live_", 16},  {"whsec_", 16},
       {"ghp_", 20},        {"gho_", 20},     {"ghs_", 20},     {"ghu_", 20},      {"ghr_", 20},
       {"github_pat_", 20}, {"glpat-", 16},   {"glrt-", 16},    {"hf_", 16},       {"AKIA", 16},
       {"ASIA", 16},        {"AIza", 30},     {"ya29.", 20},    {"xox", 16},       {"xapp-", 16},
       {"eyJ", 24},         {"npm_", 20},     {"pypi-", 20},    {"dckr_pat_", 16}, {"hvs.", 20},
       {"SG.", 30},         {"dop_v1_", 20},  {"nvapi-", 20}}};
  return std::any_of(kKinds.begin(), kKinds.end(), [&](const Kind& kind) {
    return word.size() >= kind.least && word.starts_with(kind.prefix);
  });
}

std::size_t MaskSecretShapes(std::string* text) {
  Masker masker(*text);
  *text = masker.Run();
  return masker.keys();
}

}  // namespace advise
