#include "engine/app/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "engine/base/is_in.h"
#include "engine/base/leftovers.h"
#include "engine/base/replace.h"
#include "engine/base/text.h"

namespace advise {
namespace {

constexpr int kDefaultWidth = 80;
constexpr int kWidest = 120;
constexpr int kFewestRows = 23;
constexpr int kMostRows = 30;

bool ToTerminal(const OutputOptions& options) {
  return (options.path.empty() || options.path == "-") && isatty(STDOUT_FILENO) == 1;
}

// The line of progress has one writer at a time: a signal that ends the program may come to one
// thread while another writes the line. No lock that a handler may not take.
std::atomic_flag line_is_being_written;
bool line_is_there = false;  // on the terminal; of whoever writes

// Waits for the right to write the line; no signal comes to the thread that has it. Returns the
// signals that it did not take before.
sigset_t BeginLine() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (line_is_being_written.test_and_set()) {
  }
  return before;
}

void EndLine(const sigset_t& before) {
  line_is_being_written.clear();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void TakeOffLine() {
  constexpr std::string_view kClearLine = "\r\x1b[K";
  if (!std::exchange(line_is_there, false)) return;
  // Nothing is to be done about a terminal that went away.
  static_cast<void>(!write(STDERR_FILENO, kClearLine.data(), kClearLine.size()));
}

// At most so many bytes, and no half character.
std::string FirstBytes(const std::string& text, std::size_t most) {
  std::size_t end = std::min(text.size(), most);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return text.substr(0, end);
}

// The columns of the terminal that a line of progress has beside `rest`.
std::size_t RoomFor(const std::string& rest) {
  winsize size = {};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  const std::size_t columns = known ? size.ws_col : kDefaultWidth;
  const std::size_t taken = rest.size() + 3;  // " …", and a cursor that stays in its line
  return columns > taken ? columns - taken : 0;
}

// Of the terminal that the output goes to; zeros where it goes to none.
winsize SizeOfTerminal(const OutputOptions& options) {
  winsize size = {};
  if (!ToTerminal(options) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
  return size;
}

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
  const winsize size = SizeOfTerminal(*this);
  return size.ws_col == 0 ? kDefaultWidth : std::min(static_cast<int>(size.ws_col), kWidest);
}

int OutputOptions::Rows() const {
  const winsize size = SizeOfTerminal(*this);
  return size.ws_row == 0 ? kMostRows : std::clamp(size.ws_row - 1, kFewestRows, kMostRows);
}

bool OutputOptions::Color() const {
  const char* no_color_env = std::getenv("NO_COLOR");
  if (no_color || (no_color_env != nullptr && *no_color_env != '\0')) return false;
  const char* terminal = std::getenv("TERM");
  return ToTerminal(*this) && terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

std::string FormatOfFile(const std::string& path, const std::vector<std::string>& formats) {
  // The longer ending first where one ends with another.
  static constexpr std::array<std::pair<std::string_view, const char*>, 7> kEndings = {{
      {".sarif.json", "sarif"},
      {".sarif", "sarif"},
      {".json", "json"},
      {".md", "markdown"},
      {".html", "html"},
      {".htm", "html"},
      {".csv", "csv"},
  }};
  for (const auto& [ending, format] : kEndings) {
    if (path.ends_with(ending) && IsIn(format, formats)) return format;
  }
  return "text";
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

std::string ShownHowFar(const HowFar& how_far, double seconds) {
  const auto all = static_cast<double>(how_far.all());
  const double done = std::min(static_cast<double>(how_far.done()), all);
  if (all == 0) return fmt::format("{:.0f} s so far", seconds);
  std::string amount;
  switch (how_far.unit()) {
    case HowFar::Unit::kRows:
      amount = all < 1e6 ? fmt::format("{:.0f} thousand rows", std::ceil(all / 1e3))
                         : fmt::format("{:.1f} million rows", all / 1e6);
      break;
    case HowFar::Unit::kBytes:
      amount = FormatQuantity(all, "bytes");
      break;
    case HowFar::Unit::kReports:
      amount = fmt::format("{:.0f} reports", all);
      break;
  }
  std::string shown = fmt::format("{:.0f} % of {}", std::floor(100 * done / all), amount);
  constexpr double kTooLittle = 0.02;  // to tell the rest by
  if (done >= kTooLittle * all) {
    shown += fmt::format(", {:.0f} s left", std::ceil(seconds * (all - done) / done));
  }
  return shown;
}

Progress::Progress(const std::string& mode)
    : on_(mode == "always" || (mode == "auto" && isatty(STDERR_FILENO) == 1)),
      terminal_(isatty(STDERR_FILENO) == 1) {
  if (on_ && terminal_) watch_ = std::jthread([this](const std::stop_token& stop) { Watch(stop); });
}

Progress::~Progress() {
  if (watch_.joinable()) {
    watch_.request_stop();
    watch_.join();
  }
  if (!terminal_) return;
  const sigset_t before = BeginLine();
  TakeOffLine();
  EndLine(before);
}

void Progress::End() {
  BeginLine();  // and keeps the right to it
  TakeOffLine();
}

void Progress::Stage(const std::string& text) {
  if (!on_) return;
  const std::lock_guard lock(mutex_);
  stage_ = SafeText(text);
  since_ = std::chrono::steady_clock::now();
  how_far_.Begin(HowFar::Unit::kRows, 0);
  Show("");
}

void Progress::Show(const std::string& how_far) {
  if (terminal_) {
    // A line that wraps could not be taken off again.
    const std::string line = "\r\x1b[K" + FirstBytes(stage_, RoomFor(how_far)) + how_far + " …";
    const sigset_t before = BeginLine();
    line_is_there = true;
    static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
    EndLine(before);
  } else {
    std::fprintf(stderr, "advise: %s\n", stage_.c_str());
    std::fflush(stderr);
  }
}

void Progress::Watch(const std::stop_token& stop) {
  using namespace std::chrono_literals;
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    woken_.wait_for(lock, stop, 250ms, [] { return false; });
    const auto passed = std::chrono::steady_clock::now() - since_;
    if (stop.stop_requested() || stage_.empty() || passed < 500ms) continue;
    Show(": " + ShownHowFar(how_far_, std::chrono::duration<double>(passed).count()));
  }
}

}  // namespace advise
