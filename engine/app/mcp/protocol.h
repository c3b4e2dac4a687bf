// The Model Context Protocol as a server of tools speaks it: JSON-RPC 2.0, a message per line.
// Knows nothing of traces, pipes or files.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace advise {

using McpJson = nlohmann::ordered_json;

// What a tool answers. `failed`: `text` says what is wrong, and the client's model reads it.
struct McpAnswer {
  std::string text;
  bool failed = false;
};

// Called with words about a stage of work while a tool runs.
using McpProgress = std::function<void(const std::string& stage)>;

struct McpTool {
  std::string name;
  std::string title;
  std::string description;
  McpJson input_schema;  // of an object
  bool read_only = true;
  std::function<McpAnswer(const McpJson& arguments, const McpProgress& progress)> call;
};

class McpServer {
 public:
  // `send` gets each message as one line, without its end.
  McpServer(std::string version, std::vector<McpTool> tools,
            std::function<void(const std::string& line)> send);

  // One line that came in. Answers it, if it asks for an answer. Never throws.
  void Take(const std::string& line);

 private:
  // The answer to one message; nullopt for notifications and answers.
  std::optional<McpJson> Answer(const McpJson& message);
  McpJson Result(const McpJson& id, const std::string& method, const McpJson& params);
  McpJson Initialize(const McpJson& params);
  McpJson Discover() const;
  McpJson ToolList() const;
  McpJson CallTool(const McpJson& params);
  void Send(const McpJson& message) const;

  std::string version_;
  std::vector<McpTool> tools_;
  std::function<void(const std::string& line)> send_;
  std::string revision_;  // agreed on by `initialize`; "" before
};

}  // namespace advise
