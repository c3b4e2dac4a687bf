#include "engine/app/output.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "engine/base/leftovers.h"
#include "engine/base/replace.h"
#include "engine/base/text.h"

namespace advise {
namespace {

constexpr int kDefaultWidth = 80;
constexpr int kWidest = 120;

bool ToTerminal(const OutputOptions& options) {
  return (options.path.empty() || options.path == "-") && isatty(STDOUT_FILENO) == 1;
}

std::atomic<bool> line_is_there = false;  // of progress, on the terminal

bool SameFile(const std::string& a, const std::string& b) {
  std::error_code failed;
  return std::filesystem::equivalent(a, b, failed) && !failed;
}

bool WriteFile(const std::string& text, const std::string& path) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  return static_cast<bool>(file);
}

// The file is there whole, or as it was before: it is written under another name and moved. Where
// that cannot be, into a device, a pipe or a folder that takes no new files, it is written in
// place.
Result<void> WriteWhole(const std::string& text, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::path target = fs::canonical(path, failed);
  const std::string place = failed ? path : target.string();  // a link stays one
  const fs::file_status there = fs::status(place, failed);
  const std::string beside = place + "." + std::to_string(getpid()) + ".part";
  if (!fs::exists(there) || fs::is_regular_file(there)) {
    const Leftover unfinished(beside);
    if (WriteFile(text, beside)) {
      if (fs::exists(there)) fs::permissions(beside, there.permissions(), failed);
      return MoveIntoPlace(beside, place);
    }
    const int reason = errno;
    if (fs::remove(beside, failed)) {
      return Fail(std::string("cannot be written: ") + std::strerror(reason), path);
    }
  }
  if (WriteFile(text, place)) return {};
  return Fail(std::string("cannot be written: ") + std::strerror(errno), path);
}

}  // namespace

int OutputOptions::Width() const {
  winsize size = {};
  if (!ToTerminal(*this) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return kDefaultWidth;
  }
  return std::min(static_cast<int>(size.ws_col), kWidest);
}

bool OutputOptions::Color() const {
  const char* no_color_env = std::getenv("NO_COLOR");
  if (no_color || (no_color_env != nullptr && *no_color_env != '\0')) return false;
  const char* terminal = std::getenv("TERM");
  return ToTerminal(*this) && terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

Result<void> WriteOutput(const std::string& text, const OutputOptions& options,
                         const std::vector<std::string>& inputs) {
  if (options.path.empty() || options.path == "-") {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (!written || std::fflush(stdout) != 0) return Fail(std::strerror(errno), "standard output");
    return {};
  }
  for (const std::string& input : inputs) {
    if (SameFile(input, options.path)) {
      return Fail("is an input and is never written to", options.path, "name another file with -o");
    }
  }
  return WriteWhole(text, options.path);
}

Progress::Progress(const std::string& mode)
    : on_(mode == "always" || (mode == "auto" && isatty(STDERR_FILENO) == 1)),
      terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_ && terminal_) Clear();
}

void Progress::Clear() {
  constexpr std::string_view kClearLine = "\r\x1b[K";
  if (line_is_there.exchange(false)) {
    // Nothing is to be done about a terminal that went away.
    static_cast<void>(!write(STDERR_FILENO, kClearLine.data(), kClearLine.size()));
  }
}

void Progress::Stage(const std::string& text) {
  if (!on_) return;
  shown_ = true;
  const std::string safe = SafeText(text);
  if (terminal_) {
    line_is_there = true;
    std::fprintf(stderr, "\r\x1b[K%s …", safe.c_str());
  } else {
    std::fprintf(stderr, "advise: %s\n", safe.c_str());
  }
  std::fflush(stderr);
}

}  // namespace advise
