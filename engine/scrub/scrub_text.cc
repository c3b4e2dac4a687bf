#include "engine/scrub/scrub_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/base/ascii.h"
#include "engine/base/is_in.h"
#include "engine/base/launcher_variables.h"
#include "engine/base/trim.h"
#include "engine/scrub/secret_shapes.h"

namespace advise {
namespace {

constexpr std::size_t kTellingHost = 6;  // shorter names may be words

bool IsWord(char c) { return IsWordChar(c) || c == '-'; }
// Of a path between slashes.
bool IsPathPart(char c) {
  return IsWord(c) || c == '.' || c == '+' || c == '@' || c == '~' || c == '%' || c == ',' ||
         (static_cast<unsigned char>(c) >= 0x80);
}

bool EndsAddress(char c) {
  return IsSpace(c) || c == '"' || c == '\'' || c == '<' || c == '>' || c == ')' || c == ']' ||
         c == '}' || c == '|' || c == '`';
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool IsAddress(std::string_view word) {
  int parts = 0;
  std::size_t at = 0;
  while (at <= word.size()) {
    const std::size_t end = std::min(word.find('.', at), word.size());
    const std::string_view part = word.substr(at, end - at);
    if (part.empty() || part.size() > 3) return false;
    int value = 0;
    for (const char c : part) {
      if (c < '0' || c > '9') return false;
      value = value * 10 + (c - '0');
    }
    if (value > 255) return false;
    ++parts;
    at = end + 1;
  }
  return parts == 4;
}

// What comes with the system or the framework, and what a diagnosis tells modules by.
bool IsKnownFile(std::string_view directory, std::string_view file) {
  if (Contains(file, ".so") || file.starts_with("python")) return true;
  for (const char* root : {"/usr/", "/lib", "/bin/", "/sbin/", "/opt/nvidia/", "/dev/", "/proc/"}) {
    if (directory.starts_with(root)) return true;
  }
  return false;
}

}  // namespace

bool TextScrubber::IsSecretName(std::string_view name) {
  const std::string upper = Upper(name);
  for (const char* part :
       {"KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "AUTH", "COOKIE", "CERT"}) {
    if (Contains(upper, part)) return true;
  }
  return false;
}

bool TextScrubber::IsSwitch(std::string_view name, std::string_view value) {
  if (IsSecretName(name) || value.size() > 48) return false;
  bool known = name == "PYTORCH_CUDA_ALLOC_CONF" || name == "PYTORCH_ALLOC_CONF";
  for (const char* prefix : {"NCCL_", "TORCH_NCCL_", "RCCL_", "CUDA_", "OMP_", "HIP_", "ROCR_"}) {
    known = known || name.starts_with(prefix);
  }
  bool number = false;
  const auto among = [&](const auto& names) { number = number || IsIn(name, names); };
  among(kRankVariables);
  among(kLocalRankVariables);
  among(kWorldSizeVariables);
  among(kLayoutVariables);
  if (number) return IsDigits(value);
  return known && Clean(value) == value;
}

void TextScrubber::LearnHost(std::string_view host) {
  if (host.size() < 3 || host == "localhost") return;
  hosts_.emplace(host);
  // node17.cluster.example.org is node17 elsewhere.
  const std::size_t dot = host.find('.');
  if (dot != std::string_view::npos && dot >= 3) hosts_.emplace(host.substr(0, dot));
}

void TextScrubber::LearnUser(std::string_view user) {
  if (user.size() < 2 || user == "root" || user == "user") return;
  users_.emplace(user);
}

void TextScrubber::LearnSecret(std::string_view value) {
  if (value.size() >= 6) secrets_.emplace(value);
}

void TextScrubber::LearnVariable(std::string_view name, std::string_view value) {
  const std::string upper = Upper(name);
  if (IsSecretName(name)) LearnSecret(value);
  if (upper == "HOSTNAME" || upper == "HOST" || upper == "SLURMD_NODENAME" ||
      upper == "SLURM_NODELIST" || upper == "SLURM_JOB_NODELIST" || upper == "MASTER_ADDR") {
    LearnHost(value);
  }
  if (upper == "USER" || upper == "LOGNAME" || upper == "USERNAME" || upper == "SUDO_USER" ||
      upper == "SLURM_JOB_USER") {
    LearnUser(value);
  }
  LearnPaths(value);
}

void TextScrubber::LearnPaths(std::string_view text) {
  for (const char* root : {"/home/", "/Users/", "/users/", "\\Users\\"}) {
    const std::string_view start = root;
    for (std::size_t at = text.find(start); at != std::string_view::npos;
         at = text.find(start, at + 1)) {
      std::size_t end = at + start.size();
      while (end < text.size() && IsPathPart(text[end])) ++end;
      LearnUser(text.substr(at + start.size(), end - at - start.size()));
    }
  }
}

std::string TextScrubber::CleanFile(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  const std::string_view directory = slash == std::string_view::npos ? "" : path.substr(0, slash);
  const std::string_view file = slash == std::string_view::npos ? path : path.substr(slash + 1);
  std::string clean;
  if (!directory.empty()) {
    clean = fmt::format("/p{}/",
                        directories_.emplace(directory, directories_.size() + 1).first->second);
  }
  return clean + FileAlias(file);
}

std::string TextScrubber::FileAlias(std::string_view file) {
  const std::size_t one = files_.emplace(file, files_.size() + 1).first->second;
  const std::size_t dot = file.rfind('.');
  const bool ending = dot != std::string_view::npos && file.size() - dot <= 8 && dot > 0;
  return fmt::format("f{}{}", one, ending ? std::string(file.substr(dot)) : "");
}

std::string TextScrubber::CleanPath(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view directory = path.substr(0, slash);
  const std::string_view file = path.substr(slash + 1);
  const std::size_t number = directories_.emplace(directory, directories_.size() + 1).first->second;
  std::string clean = fmt::format("/p{}", number);
  if (file.empty()) return clean + "/";
  if (IsKnownFile(directory, file)) return clean + "/" + CleanWord(file);
  return clean + "/" + FileAlias(file);
}

// What stands behind "://": a bucket, a machine and a folder, or an address that is a key by
// itself.
std::string TextScrubber::CleanAddress(std::string_view rest) {
  return fmt::format("u{}", addresses_.emplace(rest, addresses_.size() + 1).first->second);
}

// A run of letters, digits, "_", "-" and dots.
std::string TextScrubber::CleanWord(std::string_view word) {
  if (LooksLikeKey(word)) {
    ++keys_;
    return "key";
  }
  if (secrets_.contains(word)) return "key";
  if (hosts_.contains(word)) return "host";
  if (users_.contains(word)) return "user";
  if (IsAddress(word)) return "address";
  // Parts between dots and dashes: "alice.log", "rank0-node17", "max_alice" stays when it is a
  // word.
  std::string clean;
  std::size_t at = 0;
  while (at < word.size()) {
    std::size_t end = at;
    while (end < word.size() && word[end] != '.' && word[end] != '-' && word[end] != '_') ++end;
    const std::string_view part = word.substr(at, end - at);
    clean += hosts_.contains(part) ? "host" : users_.contains(part) ? "user" : std::string(part);
    if (end < word.size()) clean += word[end];
    at = end + 1;
  }
  return clean;
}

std::string TextScrubber::Clean(std::string_view text) {
  std::string source(text);
  // Secrets may hold any character: they go first, as they stand. What stands for one may make up
  // the next with what follows it.
  for (const std::string& secret : secrets_) {
    for (std::size_t at = source.find(secret); at != std::string::npos;
         at = source.find(secret, at)) {
      source.replace(at, secret.size(), "key");
      at -= std::min(at, secret.size());
    }
  }
  keys_ += MaskSecretShapes(&source);
  std::string clean;
  std::size_t at = 0;
  while (at < source.size()) {
    const char c = source[at];
    if (c == ':' && at > 0 && IsAlnum(source[at - 1]) && source.compare(at, 3, "://") == 0) {
      std::size_t end = at + 3;
      while (end < source.size() && !EndsAddress(source[end])) ++end;
      clean += "://";
      if (end > at + 3)
        clean += CleanAddress(std::string_view(source).substr(at + 3, end - at - 3));
      at = end;
      continue;
    }
    const bool begins = at == 0 || !(IsPathPart(source[at - 1]) || source[at - 1] == '/');
    if (c == '/' && begins && at + 1 < source.size() && IsPathPart(source[at + 1])) {
      std::size_t end = at;
      std::size_t parts = 0;
      while (end < source.size() && (source[end] == '/' || IsPathPart(source[end]))) {
        parts += source[end] == '/' ? 1 : 0;
        ++end;
      }
      // Sentences end paths with these.
      while (end > at + 1 && (source[end - 1] == '.' || source[end - 1] == ',')) --end;
      if (parts >= 2) {
        clean += CleanPath(std::string_view(source).substr(at, end - at));
        at = end;
        continue;
      }
    }
    if (IsWord(c) || static_cast<unsigned char>(c) >= 0x80) {
      std::size_t end = at;
      while (end < source.size() && (IsWord(source[end]) || source[end] == '.' ||
                                     static_cast<unsigned char>(source[end]) >= 0x80)) {
        ++end;
      }
      while (end > at + 1 && source[end - 1] == '.') --end;
      const std::string_view word = std::string_view(source).substr(at, end - at);
      clean += CleanWord(word);
      // NAME=value, with a name that promises a secret.
      if (end + 1 < source.size() && source[end] == '=' && IsSecretName(word) &&
          !IsSpace(source[end + 1])) {
        std::size_t value = end + 1;
        while (value < source.size() && !IsSpace(source[value])) {
          ++value;
        }
        if (source.compare(end + 1, value - end - 1, "key") != 0) ++keys_;
        clean += "=key";
        end = value;
      }
      at = end;
      continue;
    }
    clean += c;
    ++at;
  }
  // Inside of other words, too: a copy that held them would be refused.
  for (auto name = hosts_.rbegin(); name != hosts_.rend(); ++name) {  // the longer first
    const std::string& host = *name;
    for (std::size_t found = host.size() < kTellingHost ? std::string::npos : clean.find(host);
         found != std::string::npos; found = clean.find(host, found + 4)) {
      clean.replace(found, host.size(), "host");
    }
  }
  return clean;
}

std::set<std::string> TextScrubber::MustBeGone() const {
  std::set<std::string> gone;
  for (const auto* list : {&hosts_, &secrets_}) {
    for (const std::string& one : *list) {
      if (one.size() >= kTellingHost) gone.insert(one);
    }
  }
  return gone;
}

}  // namespace advise
