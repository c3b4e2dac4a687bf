// Which importer reads a file, and what to say of files that none reads.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "engine/import/importer.h"
#include "engine/import/kineto.h"
#include "engine/import/nsys_sqlite.h"

namespace advise {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeadBytes = 4096;

// The first bytes of a file that has some.
Result<std::string> ReadHead(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    return Fail("no such file", path, "check the path");
  }
  if (fs::is_directory(status)) {
    return Fail("a directory, not a report", path, "give the files inside it");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Fail(fmt::format("cannot be opened: {}", std::strerror(errno)), path,
                "check that you may read it");
  std::string head(kHeadBytes, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  if (head.empty()) return Fail("the file is empty", path, "was the export or the copy cut short?");
  return head;
}

bool HasExtension(const std::string& path, std::initializer_list<std::string_view> extensions) {
  const std::string own = fs::path(path).extension().string();
  return std::find(extensions.begin(), extensions.end(), own) != extensions.end();
}

// A path as a shell takes it: quoted where it must be.
std::string Quoted(const std::string& path) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@%";
  if (path.find_first_not_of(kPlain) == std::string::npos) return path;
  std::string quoted = "'";
  for (const char c : path) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

// What a file that no importer knows is instead, as far as it can be told.
Error Unknown(std::string_view head, const std::string& path) {
  if (head.starts_with("version https://git-lfs.github.com/spec/")) {
    return {"a Git LFS pointer, not the file itself", path, "fetch it with: git lfs pull"};
  }
  if (HasExtension(path, {".nsys-rep", ".qdrep"})) {
    const std::string target = fs::path(path).replace_extension(".sqlite").string();
    return {"a report that only nsys itself can read", path,
            fmt::format("nsys export --type sqlite -o {} {}", Quoted(target), Quoted(path))};
  }
  if (HasExtension(path, {".qdstrm"})) {
    return {"a capture that nsys has not processed yet", path,
            "import it with QdstrmImporter, then: nsys export --type sqlite"};
  }
  const std::string what = "not an Nsight Systems SQLite export";
  if (head.starts_with("\x1f\x8b")) {
    return {"a gzip file that holds no PyTorch profiler trace", path,
            "unpack other reports with gunzip"};
  }
  const std::size_t text = head.find_first_not_of(" \t\r\n");
  if (text != std::string_view::npos && (head[text] == '{' || head[text] == '[')) {
    return {"a JSON file, but no PyTorch profiler trace", path,
            "of a report of nsys, export: nsys export --type sqlite"};
  }
  if (head.find('\0') == std::string_view::npos && head.find(',') != std::string_view::npos) {
    return {what + ": a text file", path, "export the report with: nsys export --type sqlite"};
  }
  return {what, path, "make one with: nsys export --type sqlite REPORT.nsys-rep"};
}

}  // namespace

const std::vector<const Importer*>& Importers() {
  static const NsysSqliteImporter nsys_sqlite;
  static const KinetoImporter kineto;
  static const std::vector<const Importer*> all = {&nsys_sqlite, &kineto};
  return all;
}

Result<Trace> ImportReport(const std::string& path, const ImportOptions& options) {
  const Result<std::string> head = ReadHead(path);
  if (!head) return tl::unexpected(head.error());
  for (const Importer* importer : Importers()) {
    if (importer->Sniff(*head, path)) return importer->Import(path, options);
  }
  return tl::unexpected(Unknown(*head, path));
}

}  // namespace advise
