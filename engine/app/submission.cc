#include "engine/app/submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "engine/base/ascii.h"
#include "engine/base/text.h"
#include "engine/grade/answer_sheet.h"
#include "engine/import/importer.h"
#include "engine/pipeline/session.h"

namespace advise {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 4;
constexpr std::size_t kMostFiles = 500;

bool IsBefore(const fs::path& below) {
  for (const fs::path& part : below) {
    const std::string name = Lower(part.string());
    if (name.starts_with("before") || name.starts_with("baseline")) return true;
  }
  return false;
}

}  // namespace

Result<Submission> ReadSubmission(const std::string& path, std::uint64_t size_limit) {
  Submission submission;
  fs::path root(path);
  if (root.filename().empty()) root = root.parent_path();
  submission.name = root.filename().string();
  std::error_code failed;
  const fs::file_status status = fs::symlink_status(root, failed);
  if (!fs::exists(status)) return Fail("no such file", path);
  if (fs::is_symlink(status)) return Fail("is a link, and links are not followed", path);
  std::vector<fs::path> files;
  if (fs::is_regular_file(status)) {
    files.push_back(root);
  } else if (fs::is_directory(status)) {
    for (fs::recursive_directory_iterator
             it(root, fs::directory_options::skip_permission_denied, failed),
         end;
         !failed && it != end; it.increment(failed)) {
      const std::string below = it->path().lexically_relative(root).string();
      const fs::file_status one = it->symlink_status(failed);
      if (failed) break;
      if (fs::is_symlink(one)) {
        submission.notes.push_back(SafeText(below) + " is a link: not followed");
        continue;
      }
      if (fs::is_directory(one)) {
        if (it.depth() + 1 >= kDeepest) it.disable_recursion_pending();
        continue;
      }
      if (!fs::is_regular_file(one)) {
        submission.notes.push_back(SafeText(below) + " is no plain file: left out");
        continue;
      }
      files.push_back(it->path());
      if (files.size() > kMostFiles) {
        return Fail(fmt::format("holds more than {} files", kMostFiles), path);
      }
    }
    if (failed) return Fail(failed.message(), path);
  } else {
    return Fail("is neither a file nor a directory", path);
  }
  std::sort(files.begin(), files.end());
  std::uint64_t bytes = 0;
  for (const fs::path& file : files) {
    const std::uint64_t size = fs::file_size(file, failed);
    if (failed) return Fail(failed.message(), file.string());
    bytes += size;
  }
  if (bytes > size_limit) {
    return Fail(fmt::format("holds {}, more than the limit of {}",
                            FormatQuantity(static_cast<double>(bytes), "bytes"),
                            FormatQuantity(static_cast<double>(size_limit), "bytes")),
                path, "--size-limit");
  }
  for (const fs::path& file : files) {
    const std::string name = file.filename().string();
    if (IsAnswerSheet(name)) {
      if (!submission.answers.empty()) {
        submission.notes.push_back("a second answer sheet, " + SafeText(name) + ": left out");
        continue;
      }
      submission.answers = file.string();
    } else if (!name.starts_with('.') && !ImporterNameOf(file.string()).empty()) {
      const bool before = file != root && IsBefore(file.lexically_relative(root));
      (before ? submission.before : submission.reports).push_back(file.string());
    }
  }
  // A lone run is the run, whatever it is called.
  if (submission.reports.empty()) std::swap(submission.reports, submission.before);
  return submission;
}

std::vector<Knowledge::File> ShippedExercises() {
  std::vector<Knowledge::File> exercises;
  const auto files = ShippedFiles();
  if (!files) return exercises;
  for (const Knowledge::File& file : *files) {
    if (file.path.starts_with("kb/exercises/")) exercises.push_back(file);
  }
  return exercises;
}

std::string ExerciseId(const std::string& path) { return fs::path(path).stem().string(); }

}  // namespace advise
