// Where output goes and how it looks there: a terminal, a pipe, a file.
#pragma once

#include <string>
#include <vector>

#include "engine/base/error.h"

namespace advise {

struct OutputOptions {
  std::string format = "text";
  std::string path;  // "" or "-": stdout
  bool no_color = false;

  // Columns to lay text out in: the terminal's, at most 120; 80 for pipes and files.
  int Width() const;
  // Colour on terminals only, and never when the user says no (--no-color, NO_COLOR).
  bool Color() const;
};

// Writes to the file or to stdout. Refuses to write over one of `inputs`.
Result<void> WriteOutput(const std::string& text, const OutputOptions& options,
                         const std::vector<std::string>& inputs);

// Stages of work on stderr: one line that is rewritten on a terminal, a line a stage otherwise.
class Progress {
 public:
  explicit Progress(const std::string& mode);  // auto | always | never
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Stage(const std::string& text);
  bool on() const { return on_; }
  // Takes the line off the terminal when one is there. May be called in a signal handler.
  static void Clear();

 private:
  bool on_ = false;
  bool terminal_ = false;
  bool shown_ = false;
};

}  // namespace advise
