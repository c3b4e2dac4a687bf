// Other processes of the same command, when it was started by mpirun or srun: reports are divided
// among them, and process 0 puts together and prints.
//
// MPI itself stands in a library beside the program (libadvise_mpi.so), which is loaded only under
// a launcher: the program runs where there is no MPI, and starts as fast.
#pragma once

#include <string>
#include <vector>

#include "engine/base/error.h"

namespace advise {

class Processes {
 public:
  // This process and its peers. Joins them when a launcher started several; alone otherwise.
  static Processes& All();

  int number() const { return number_; }
  int count() const { return count_; }
  bool many() const { return count_ > 1; }
  // Why peers that the launcher started could not be joined; empty otherwise.
  const std::string& problem() const { return problem_; }

  // What every process hands in, by process; empty but on process 0.
  std::vector<std::string> Gather(const std::string& own) const;

  // Before the program ends.
  void Leave();

 private:
  Processes();

  int number_ = 0;
  int count_ = 1;
  std::string problem_;
  void* library_ = nullptr;
};

// Thrown by a process other than 0 that has handed in its part: it ends without printing.
struct PartHandedIn {};

}  // namespace advise
