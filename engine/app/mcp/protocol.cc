#include "engine/app/mcp/protocol.h"

#include <algorithm>
#include <array>
#include <exception>

#include "engine/base/is_in.h"
#include "engine/base/text.h"

namespace advise {
namespace {

// Revisions that begin with `initialize`, the newest first.
constexpr std::array<const char*, 4> kRevisions = {"2025-11-25", "2025-06-18", "2025-03-26",
                                                   "2024-11-05"};
constexpr const char* kBatches = "2025-03-26";  // the only one in which messages come in arrays
// The revision without a handshake: each request names it.
constexpr const char* kStateless = "2026-07-28";
constexpr const char* kRevisionKey = "io.modelcontextprotocol/protocolVersion";

enum Code : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kUnknownMethod = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kUnsupportedRevision = -32022,
};

struct Refusal {
  Code code;
  std::string message;
  McpJson data = nullptr;
};

McpJson ErrorMessage(const McpJson& id, const Refusal& refusal) {
  McpJson error = {{"code", static_cast<int>(refusal.code)}, {"message", refusal.message}};
  if (!refusal.data.is_null()) error["data"] = refusal.data;
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", error}};
}

const McpJson& Member(const McpJson& object, const char* name) {
  static const McpJson none;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() ? *found : none;
}

std::string Text(const McpJson& value) { return value.is_string() ? value.get<std::string>() : ""; }

// The revision that the request itself names; "" for those after `initialize`.
std::string NamedRevision(const McpJson& params) {
  return Text(Member(Member(params, "_meta"), kRevisionKey));
}

constexpr const char* kInstructions =
    "advise reads traces of GPU programs (Nsight Systems, PyTorch's profiler) and says what to "
    "fix. "
    "Call open first, with the files of one run; it answers with the verdict and the findings, the "
    "best first. Then ask diagnose for one finding in full, sources for its lines, whatif for the "
    "gain of several fixes together, why for a rule, facts for numbers. After a change, open the "
    "new trace and compare. Savings are estimates; risks and tentative findings say so.";

}  // namespace

McpServer::McpServer(std::string version, std::vector<McpTool> tools,
                     std::function<void(const std::string& line)> send)
    : version_(std::move(version)), tools_(std::move(tools)), send_(std::move(send)) {}

void McpServer::Send(const McpJson& message) const {
  send_(message.dump(-1, ' ', false, McpJson::error_handler_t::replace));
}

void McpServer::Take(const std::string& line) {
  if (line.find_first_not_of(" \t\r") == std::string::npos) return;
  const McpJson message = McpJson::parse(line, nullptr, /*allow_exceptions=*/false);
  if (message.is_discarded()) {
    Send(ErrorMessage(nullptr, {kParseError, "the line is not JSON"}));
    return;
  }
  if (!message.is_array()) {
    if (const auto answer = Answer(message)) Send(*answer);
    return;
  }
  if (revision_ != kBatches || message.empty()) {
    Send(ErrorMessage(nullptr, {kInvalidRequest, "a message is an object"}));
    return;
  }
  McpJson answers = McpJson::array();
  for (const McpJson& one : message) {
    if (const auto answer = Answer(one)) answers.push_back(*answer);
  }
  if (!answers.empty()) Send(answers);
}

std::optional<McpJson> McpServer::Answer(const McpJson& message) {
  const McpJson& id = Member(message, "id");
  const bool is_answer = message.is_object() && !message.contains("method") &&
                         (message.contains("result") || message.contains("error"));
  if (is_answer) return std::nullopt;  // to a question that was never asked
  const std::string method = Text(Member(message, "method"));
  const bool well_formed = Text(Member(message, "jsonrpc")) == "2.0" && !method.empty() &&
                           (id.is_null() || id.is_string() || id.is_number_integer());
  if (!well_formed) {
    const bool can_answer = id.is_string() || id.is_number_integer();
    return ErrorMessage(can_answer ? id : McpJson(nullptr),
                        {kInvalidRequest, "not a message of JSON-RPC 2.0"});
  }
  if (!message.contains("id")) return std::nullopt;  // a notification
  if (id.is_null()) return ErrorMessage(id, {kInvalidRequest, "a request has an id"});
  const McpJson& params = Member(message, "params");
  if (!params.is_null() && !params.is_object()) {
    return ErrorMessage(id, {kInvalidParams, "params is an object"});
  }
  try {
    return Result(id, method, params);
  } catch (const Refusal& refusal) {
    return ErrorMessage(id, refusal);
  } catch (const std::exception& problem) {
    return ErrorMessage(id, {kInternalError, SafeText(problem.what())});
  }
}

McpJson McpServer::Result(const McpJson& id, const std::string& method, const McpJson& params) {
  const std::string named = NamedRevision(params);
  const bool stateless = !named.empty() && method != "initialize";
  if (stateless && named != kStateless) {
    throw Refusal{kUnsupportedRevision, "this revision is not supported",
                  McpJson{{"supported", {kStateless}}, {"requested", named}}};
  }
  McpJson result;
  if (method == "initialize") {
    result = Initialize(params);
  } else if (method == "ping") {
    result = McpJson::object();
  } else if (method == "server/discover") {
    result = Discover();
  } else if (!stateless && revision_.empty()) {
    throw Refusal{kInvalidRequest, "the first request is initialize"};
  } else if (method == "tools/list") {
    result = ToolList();
  } else if (method == "tools/call") {
    result = CallTool(params);
  } else {
    throw Refusal{kUnknownMethod, "there is no method " + SafeText(method)};
  }
  if (stateless) {
    result["resultType"] = "complete";
    if (method != "tools/call") {  // neither changes while the server runs
      result["ttlMs"] = 3'600'000;
      result["cacheScope"] = "private";
    }
  }
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", result}};
}

McpJson McpServer::Initialize(const McpJson& params) {
  const std::string wanted = Text(Member(params, "protocolVersion"));
  if (wanted.empty()) throw Refusal{kInvalidParams, "protocolVersion is missing"};
  const bool known = IsIn(wanted, kRevisions);
  revision_ = known ? wanted : kRevisions.front();
  return {{"protocolVersion", revision_},
          {"capabilities", {{"tools", {{"listChanged", false}}}}},
          {"serverInfo", {{"name", "advise"}, {"version", version_}}},
          {"instructions", kInstructions}};
}

McpJson McpServer::Discover() const {
  return {{"supportedVersions", {kStateless}},
          {"capabilities", {{"tools", {{"listChanged", false}}}}},
          {"serverInfo", {{"name", "advise"}, {"version", version_}}},
          {"instructions", kInstructions}};
}

McpJson McpServer::ToolList() const {
  McpJson list = McpJson::array();
  for (const McpTool& tool : tools_) {
    McpJson item = {
        {"name", tool.name}, {"description", tool.description}, {"inputSchema", tool.input_schema}};
    item["annotations"] = {{"title", tool.title},
                           {"readOnlyHint", tool.read_only},
                           {"destructiveHint", false},
                           {"openWorldHint", false}};
    list.push_back(std::move(item));
  }
  return {{"tools", list}};
}

McpJson McpServer::CallTool(const McpJson& params) {
  const std::string name = Text(Member(params, "name"));
  const auto tool = std::find_if(tools_.begin(), tools_.end(),
                                 [&](const McpTool& one) { return one.name == name; });
  if (tool == tools_.end()) {
    std::vector<std::string> names;
    for (const McpTool& one : tools_) names.push_back(one.name);
    const std::string near = DidYouMean(name, names);
    throw Refusal{kInvalidParams, "there is no tool \"" + SafeText(name) + "\"" +
                                      (near.empty() ? "" : ", did you mean " + near + "?")};
  }
  const McpJson& given = Member(params, "arguments");
  if (!given.is_null() && !given.is_object()) {
    throw Refusal{kInvalidParams, "arguments is an object"};
  }
  const McpJson token = Member(Member(params, "_meta"), "progressToken");
  int stages = 0;
  const McpProgress progress = [&](const std::string& stage) {
    if (!token.is_string() && !token.is_number_integer()) return;
    Send({{"jsonrpc", "2.0"},
          {"method", "notifications/progress"},
          {"params",
           {{"progressToken", token}, {"progress", ++stages}, {"message", SafeText(stage)}}}});
  };
  const McpAnswer answer = tool->call(given.is_null() ? McpJson::object() : given, progress);
  return {{"content", {{{"type", "text"}, {"text", answer.text}}}}, {"isError", answer.failed}};
}

}  // namespace advise
