// `advise mcp`: the questions of the other commands as tools of the Model Context Protocol, on
// standard input and output.
#include <cerrno>
#include <cstdio>
#include <iostream>

#include "engine/app/command.h"
#include "engine/app/mcp/protocol.h"
#include "engine/app/mcp/runs.h"
#include "engine/app/mcp/tools.h"
#include "engine/app/options.h"

namespace advise {
namespace {

class McpCommand : public Command {
 public:
  std::string Name() const override { return "mcp"; }
  std::string Summary() const override {
    return "Serves diagnoses to coding agents (Model Context Protocol on stdio).";
  }
  std::string Examples() const override {
    return "advise mcp\n"
           "claude mcp add advise -- advise mcp";
  }

  void AddOptions(CLI::App& app) override {
    AddJobsOption(app, run_.diagnose);
    AddSiteOptions(app, run_.diagnose);
  }

  int Run() override {
    auto session = OpenSession(run_.diagnose);
    if (!session) return session.error();
    run_.progress = "never";
    run_.diagnose.by_itself = true;
    OpenRuns runs(std::move(*session), run_);
    bool heard = true;
    McpServer server(ADVISE_VERSION, McpTools(&runs), [&](const std::string& line) {
      heard = heard && std::fprintf(stdout, "%s\n", line.c_str()) >= 0 && std::fflush(stdout) == 0;
    });
    std::string line;
    while (heard && std::getline(std::cin, line)) server.Take(line);
    return kAnalyzed;
  }

 private:
  RunOptions run_;
};

}  // namespace

std::unique_ptr<Command> MakeMcpCommand() { return std::make_unique<McpCommand>(); }

}  // namespace advise
