#include "tests/fuzz/smoke.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace advise::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kSlowest = 10;  // seconds for one input

// What a handler of signals may read: the input that runs, and where it is kept.
const std::string* running = nullptr;
std::string kept_as;

void Keep(int signal) {
  const int file = open(kept_as.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  const bool kept =
      file >= 0 && running != nullptr &&
      write(file, running->data(), running->size()) == static_cast<ssize_t>(running->size());
  const char* const said = signal == SIGALRM ? ": an input takes too long: " : ": an input fails: ";
  for (const char* text : {"fuzz", said, kept ? kept_as.c_str() : "not kept", "\n"}) {
    if (write(STDERR_FILENO, text, std::char_traits<char>::length(text)) < 0) break;
  }
  std::_Exit(1);
}

std::string Content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> Seeds(const SmokeTarget& target) {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path path : target.seeds) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());  // the order of a folder is that of the disk
  std::vector<std::string> seeds;
  for (const auto& path : files) {
    std::string content = Content(path);
    if (!content.empty() && content.size() <= target.largest) seeds.push_back(std::move(content));
  }
  return seeds;
}

class Mutations {
 public:
  explicit Mutations(const std::vector<std::string>& seeds) : seeds_(seeds) {}

  std::string Next() {
    std::string input = seeds_[Below(seeds_.size())];
    for (std::size_t left = 1 + Below(4); left > 0; --left) Change(&input);
    return input;
  }

 private:
  std::size_t Below(std::size_t limit) { return limit == 0 ? 0 : dice_() % limit; }

  void Change(std::string* input) {
    const std::size_t at = Below(input->size() + 1);
    const std::size_t length = 1 + Below(std::min<std::size_t>(input->size() - at + 1, 64));
    switch (Below(9)) {
      case 0:
        if (at < input->size()) (*input)[at] = static_cast<char>((*input)[at] ^ (1 << Below(8)));
        break;
      case 1:
        if (at < input->size()) (*input)[at] = static_cast<char>(Below(256));
        break;
      case 2:
        input->erase(at, length);
        break;
      case 3:
        input->insert(at, input->substr(at, length));
        break;
      case 4: {
        const std::string& other = seeds_[Below(seeds_.size())];
        input->insert(at, other.substr(Below(other.size()), 1 + Below(200)));
        break;
      }
      case 5:
        input->resize(at);
        break;
      case 6:
        input->insert(at, length, static_cast<char>(Below(256)));
        break;
      default:
        ReplaceWord(input, at);
    }
  }

  // Another number, or another sign that formats know, in the place of a word.
  void ReplaceWord(std::string* input, std::size_t at) {
    constexpr std::array<const char*, 20> kWords = {"0",
                                                    "-1",
                                                    "18446744073709551616",
                                                    "9223372036854775807",
                                                    "1e999",
                                                    "nan",
                                                    "",
                                                    "0.1",
                                                    "\"",
                                                    "\n",
                                                    ",",
                                                    "{",
                                                    "}",
                                                    "[",
                                                    "null",
                                                    "\\u",
                                                    "\xff\xff\xff\xff",
                                                    "\xe2\x80\xae",
                                                    "=",
                                                    "-"};
    const auto in_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-';
    };
    std::size_t end = at;
    while (end < input->size() && in_word((*input)[end])) ++end;
    while (at > 0 && in_word((*input)[at - 1])) --at;
    input->replace(at, end - at, kWords[Below(kWords.size())]);
  }

  const std::vector<std::string>& seeds_;
  std::mt19937_64 dice_{1};  // its numbers are the same everywhere
};

}  // namespace

int Smoke(const std::vector<SmokeTarget>& targets, double seconds) {
  for (const int signal : {SIGABRT, SIGALRM}) std::signal(signal, Keep);
#ifdef __SANITIZE_ADDRESS__  // it has handlers of its own, which say where
  __sanitizer_set_death_callback([] { Keep(SIGABRT); });
#else
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, Keep);
#endif
  std::uint64_t all = 0;
  for (const SmokeTarget& target : targets) {
    const std::vector<std::string> seeds = Seeds(target);
    if (seeds.empty()) {
      std::fprintf(stderr, "fuzz: %s has no seeds\n", target.name.c_str());
      return 1;
    }
    kept_as = "fuzz-" + target.name + ".input";
    const auto run = [&](std::string input) {
      input.resize(std::min(input.size(), target.largest));
      running = &input;
      alarm(kSlowest);
      target.run(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
      alarm(0);
      running = nullptr;
    };
    for (const std::string& seed : seeds) run(seed);
    Mutations mutations(seeds);
    std::uint64_t count = seeds.size();
    const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                     std::chrono::duration<double>(seconds));
    for (; Clock::now() < end; ++count) run(mutations.Next());
    std::printf("%s: %llu runs, of %zu seeds\n", target.name.c_str(),
                static_cast<unsigned long long>(count), seeds.size());
    all += count;
  }
  std::printf("all: %llu runs\n", static_cast<unsigned long long>(all));
  return 0;
}

}  // namespace advise::fuzz
