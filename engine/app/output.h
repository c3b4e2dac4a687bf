// Where output goes and how it looks there: a terminal, a pipe, a file.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/how_far.h"

namespace advise {

struct OutputOptions {
  std::string format;  // "" until it is chosen, by --format or FormatOfFile
  std::string path;    // "" or "-": stdout
  bool no_color = false;

  // Columns to lay text out in: the terminal's, at most 120; 80 for pipes and files.
  int Width() const;
  // Rows of a screen: the terminal's, less one for the prompt; at least 23 and at most 30, which
  // pipes and files have.
  int Rows() const;
  // Color on terminals only, and never when the user says no (--no-color, NO_COLOR).
  bool Color() const;
};

// The format that the ending of a file's name stands for ("run.html", "run.sarif.json"), if it is
// one of `formats`; "text" otherwise.
std::string FormatOfFile(const std::string& path, const std::vector<std::string>& formats);

// Writes to the file or to stdout. Refuses to write over one of `inputs`.
Result<void> WriteOutput(const std::string& text, const OutputOptions& options,
                         const std::vector<std::string>& inputs);

// Stages of work on stderr: one line that is rewritten on a terminal, a line a stage otherwise. On
// a terminal the line also says how far a stage is and how long it may still take, four times a
// second from the first half second on.
class Progress {
 public:
  explicit Progress(const std::string& mode);  // auto | always | never
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Stage(const std::string& text);
  bool on() const { return on_; }
  // Whoever works writes it; null where nobody reads it.
  HowFar* how_far() { return terminal_ && on_ ? &how_far_ : nullptr; }
  // Before the program ends in the middle of its work: takes the line off the terminal when one is
  // there, and no thread writes it again. May be called in a signal handler; to the thread that
  // calls no further signal comes, unless it is a handler's, which gives back the mask.
  static void End();

 private:
  void Watch(const std::stop_token& stop);
  void Show(const std::string& how_far);  // behind the stage

  bool on_ = false;
  bool terminal_ = false;
  HowFar how_far_;
  std::mutex mutex_;  // of what follows, and of the line
  std::condition_variable_any woken_;
  std::string stage_;  // "": none yet
  std::chrono::steady_clock::time_point since_;
  std::jthread watch_;  // the last member: it stops before the others go
};

// "38 % of 14 million rows, 4 s left" after `seconds` of work; "6 s so far" where it is not known
// how far that is.
std::string ShownHowFar(const HowFar& how_far, double seconds);

}  // namespace advise
