// What must not stay when the program is interrupted: unfinished files, folders for temporary
// files.
#pragma once

#include <string>

namespace advise {

// Names a file, or a folder that is empty but for other such files, as long as this object lives.
// It need not exist yet, and nothing is removed at the end of the object.
class Leftover {
 public:
  explicit Leftover(const std::string& path);
  ~Leftover();
  Leftover(const Leftover&) = delete;
  Leftover& operator=(const Leftover&) = delete;

 private:
  int place_ = -1;  // of the list; -1: it is full, or the path too long
};

// Removes all that is named now. May be called in a signal handler.
void RemoveLeftovers();

}  // namespace advise
