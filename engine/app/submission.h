// What a student handed in: a file or a directory, taken apart into reports and an answer sheet.
// Nothing in it is run, no link is followed, and sizes are bounded before anything is read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

struct Submission {
  std::string name;                  // of the file or directory
  std::vector<std::string> reports;  // of the run that is judged
  std::vector<std::string> before;   // of the run before the change, when both were handed in
  std::string answers;               // path of the sheet, "" none
  std::vector<std::string> notes;    // what was left out, and why
};

// `size_limit`: bytes of all files together. Fails on a path that is no plain file or directory, on
// a link, and on more than is allowed. Files named (or in a folder named) before… or baseline… are
// the run before.
Result<Submission> ReadSubmission(const std::string& path, std::uint64_t size_limit);

// Path and text of each shipped exercise, and the id that a path stands for.
std::vector<Knowledge::File> ShippedExercises();
std::string ExerciseId(const std::string& path);

}  // namespace advise
