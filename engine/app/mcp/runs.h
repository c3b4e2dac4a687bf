// The runs that a client of `advise mcp` has opened, kept between its questions.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engine/app/options.h"

namespace advise {

struct OpenRun {
  std::string name;      // "r1"
  RunOptions options;    // as it was opened; `kept` is its trace while that is in memory
  std::string identity;  // of what was opened: files with size and time, window, GPU
  Report report;         // with the source lines of its findings
};

// Reports stay until the program ends, up to a number; traces, which are large, of the latest runs.
class OpenRuns {
 public:
  // `session` is what all runs are judged by, `base` the options that the server was started with.
  OpenRuns(Session session, RunOptions base);

  // Reads and judges the reports; what is open already and has not changed is not read again. The
  // run lives until others push it out.
  Result<const OpenRun*> Open(const std::vector<std::string>& paths, const std::string& window,
                              const std::string& gpu,
                              const std::function<void(const std::string& stage)>& progress);
  Result<const OpenRun*> Find(const std::string& name) const;
  const Session& session() const { return session_; }

 private:
  Session session_;
  RunOptions base_;
  int opened_ = 0;
  std::deque<OpenRun> runs_;  // the latest last
};

}  // namespace advise
