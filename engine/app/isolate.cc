#include "engine/app/isolate.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>

namespace advise {
namespace {

constexpr int kNoMemory = 71;
constexpr int kException = 72;

bool WriteAll(int fd, const std::string& text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t wrote = write(fd, text.data() + at, text.size() - at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    at += static_cast<std::size_t>(wrote);
  }
  return true;
}

void Limit(int resource, rlim_t value) {
  const rlimit limit = {value, value};
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

[[noreturn]] void RunChild(int out, const IsolateLimits& limits,
                           const std::function<std::string()>& work) {
  setpgid(0, 0);
  const int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  dup2(nothing, STDERR_FILENO);
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_AS, limits.memory_bytes);
  // Of processor time a good deal more than of wall time: threads run side by side.
  Limit(RLIMIT_CPU, static_cast<rlim_t>(std::ceil(limits.seconds * 16)) + 1);
  int code = kException;
  try {
    const std::string text = work();
    code = WriteAll(out, text) ? 0 : kException;
  } catch (const std::bad_alloc&) {
    code = kNoMemory;
  } catch (const std::exception&) {
    code = kException;
  }
  close(out);
  _exit(code);
}

std::string Ended(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    if (signal == SIGXCPU) return "took too much processor time";
    return fmt::format("ended with signal {} ({})", signal, strsignal(signal));
  }
  if (WEXITSTATUS(status) == kNoMemory) return "needed more memory than is allowed";
  return "ended with an internal error";
}

}  // namespace

Result<std::string> RunIsolated(const IsolateLimits& limits,
                                const std::function<std::string()>& work) {
  std::array<int, 2> ends = {};
  if (pipe(ends.data()) != 0) return Fail(std::strerror(errno), "pipe");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return Fail(std::strerror(errno), "fork");
  }
  if (child == 0) {
    close(ends[0]);
    RunChild(ends[1], limits, work);
  }
  close(ends[1]);
  setpgid(child, child);
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(limits.seconds));
  std::string output;
  std::string problem;
  std::array<char, 65536> buffer = {};
  while (problem.empty()) {
    const double left = std::chrono::duration<double>(until - Clock::now()).count();
    if (left <= 0) {
      problem = fmt::format("took longer than {:g} s", limits.seconds);
      break;
    }
    fd_set reads;
    FD_ZERO(&reads);
    FD_SET(ends[0], &reads);
    timeval wait = {static_cast<time_t>(left),
                    static_cast<suseconds_t>((left - std::floor(left)) * 1e6)};
    const int ready = select(ends[0] + 1, &reads, nullptr, nullptr, &wait);
    if (ready < 0 && errno != EINTR) problem = std::strerror(errno);
    if (ready <= 0) continue;
    const ssize_t got = read(ends[0], buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    output.append(buffer.data(), static_cast<std::size_t>(got));
    if (output.size() > limits.output_bytes) problem = "gave more output than is allowed";
  }
  close(ends[0]);
  // With its own children: a converter that hangs goes, too.
  if (!problem.empty()) kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  kill(-child, SIGKILL);
  if (problem.empty() && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) problem = Ended(status);
  if (!problem.empty()) return Fail(problem);
  return output;
}

}  // namespace advise
