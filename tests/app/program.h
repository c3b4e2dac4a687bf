// Runs the program as a user does, and keeps what it printed.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace advise {

struct Ran {
  int status = -1;
  std::string out;
  std::string err;
};

// A folder of its own for each test, gone with it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "advise-test-XXXXXX").string();
    path_ = mkdtemp(name.data()) == nullptr ? "" : name;
  }
  ~Folder() {
    std::error_code failed;
    std::filesystem::remove_all(path_, failed);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

  std::string Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ + "/" + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }

 private:
  std::string path_;
};

inline std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// `arguments` as typed in a shell, in the folder, without the user's own settings.
inline Ran RunAdvise(const Folder& folder, const std::string& arguments,
                     const std::string& program = ADVISE_PROGRAM) {
  // What the shell does itself takes less time than another program, and there are thousands of
  // runs.
  const std::string command = "cd '" + folder.path() +
                              "' && unset ADVISE_SHARE ADVISE_RULES NO_COLOR && XDG_CONFIG_HOME='" +
                              folder.path() + "/config' '" + program + "' " + arguments +
                              " >out.txt 2>err.txt";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, ReadAll(folder / "out.txt"),
          ReadAll(folder / "err.txt")};
}

}  // namespace advise
