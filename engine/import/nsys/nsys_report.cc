// Reads Nsight Systems' own report files (.nsys-rep, .qdrep) by way of `nsys export`.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "engine/base/leftovers.h"
#include "engine/import/foreign.h"
#include "engine/import/formats.h"
#include "engine/import/text_input.h"

namespace advise {
namespace {

namespace fs = std::filesystem;

// A folder of its own in the place for temporary files, gone with this object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code failed;
    std::string name = (fs::temp_directory_path(failed) / "advise-XXXXXX").string();
    if (!failed && mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code failed;
    if (!path_.empty()) fs::remove_all(path_, failed);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The program as PATH finds it; "" when it does not.
std::string FindProgram(const std::string& name) {
  const char* list = std::getenv("PATH");
  std::istringstream folders(list == nullptr ? "" : list);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string path = (folder.empty() ? "." : folder) + "/" + name;
    struct stat status {};
    const bool plain = stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
    if (plain && access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

// Runs a program without a shell, with all it prints in `log`. Its exit status; -1 when it could
// not be run or was killed.
int Run(const std::string& program, std::vector<std::string> arguments, const std::string& log) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int failed = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The last line that is not empty.
std::string LastWords(const std::string& log) {
  std::ifstream file(log, std::ios::binary);
  const std::string text = NormalText(
      std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
  std::string last;
  for (const std::string_view line : LinesOf(text)) {
    if (!Trimmed(line).empty()) last = Trimmed(line);
  }
  return last;
}

}  // namespace

bool SniffNsysReport(std::string_view head, const std::string& path) {
  // The format is private and has no known mark: any binary file that nobody else knows, under
  // one of its two names.
  const std::string extension = fs::path(path).extension().string();
  return (extension == ".nsys-rep" || extension == ".qdrep") &&
         !head.starts_with("version https://git-lfs") && !head.starts_with("SQLite format 3");
}

Result<Trace> ReadNsysReport(const std::string& path, const ImportOptions& options) {
  const std::string command = ExportCommand(path);
  const std::string program = FindProgram("nsys");
  if (program.empty()) {
    return Fail("a report that only nsys itself can read, and nsys is not on PATH", path, command);
  }
  const TemporaryFolder folder;
  if (folder.path().empty()) {
    return Fail("no folder for temporary files to export the report into", path,
                "set TMPDIR; or " + command);
  }
  const std::string target = folder.path() + "/report.sqlite";
  const std::string log = folder.path() + "/log.txt";
  const Leftover leftovers[] = {Leftover(folder.path()), Leftover(target),
                                Leftover(target + "-journal"), Leftover(log)};
  std::error_code failed;
  const std::string source = fs::absolute(path, failed).string();
  const int status =
      Run(program, {"nsys", "export", "--type", "sqlite", "--output", target, source}, log);
  if (status != 0 || !fs::exists(target, failed)) {
    const std::string said = LastWords(log);
    return Fail(fmt::format("nsys could not export the report{}{}", said.empty() ? "" : ": ", said),
                path, command);
  }
  Result<Trace> trace = ReadNsysSqlite(target, options);
  if (!trace) {
    Error error = trace.error();
    error.where = path;
    return tl::unexpected(error);
  }
  trace->diagnostics.Add(
      Level::kWarning,
      fmt::format("read through nsys: to run the SQL given here, export it: {}", command));
  return trace;
}

}  // namespace advise
