// Messages of a client of `advise mcp`, and the JSON report that --baseline names.
#include "engine/app/baseline.h"
#include "engine/app/mcp/protocol.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace advise;
  static const fuzz::ScratchFile file;
  const std::string_view input = fuzz::TextOf(data, size);
  file.Write(input);
  const Result<Baseline> baseline = ReadBaseline(file.path());
  if (!baseline) fuzz::CheckError(baseline.error());

  McpTool echo;
  echo.name = "echo";
  echo.description = "Says what it was given";
  echo.input_schema = {{"type", "object"}};
  echo.call = [](const McpJson& arguments, const McpProgress& progress) {
    if (progress) progress("echoing");
    return McpAnswer{arguments.dump(-1, ' ', false, McpJson::error_handler_t::replace), false};
  };
  McpServer server("0", {echo}, [](const std::string& line) {
    if (line.find('\n') != std::string::npos) fuzz::Broken("a message is one line");
  });
  std::size_t at = 0;
  while (at < input.size()) {
    const std::size_t end = std::min(input.find('\n', at), input.size());
    server.Take(std::string(input.substr(at, end - at)));
    at = end + 1;
  }
  return 0;
}
