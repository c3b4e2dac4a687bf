// `advise mcp` as a client on a pipe sees it: the protocol, and that tools answer what commands do.
#include <catch2/catch.hpp>
#include <set>

#include "tests/app/find_capture.h"
#include "tests/app/json.h"
#include "tests/app/simulated.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

Json Request(int id, const std::string& method, const Json& params = nullptr) {
  Json request = {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}};
  if (!params.is_null()) request["params"] = params;
  return request;
}

Json Hello(const std::string& revision = "2025-06-18") {
  return Request(0, "initialize",
                 {{"protocolVersion", revision},
                  {"capabilities", Json::object()},
                  {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
}

Json Call(int id, const std::string& tool, const Json& arguments) {
  return Request(id, "tools/call", {{"name", tool}, {"arguments", arguments}});
}

// What comes back for these lines, a message each.
std::vector<Json> TalkLines(const Folder& folder, const std::string& lines) {
  folder.Write("in.jsonl", lines);
  const Ran ran = RunAdvise(folder, "mcp <in.jsonl");
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  std::vector<Json> messages;
  for (std::size_t at = 0; at < ran.out.size();) {
    const std::size_t end = ran.out.find('\n', at);
    messages.push_back(ParseJson(ran.out.substr(at, end - at)));
    at = end + 1;
  }
  return messages;
}

std::vector<Json> Talk(const Folder& folder, const std::vector<Json>& requests) {
  std::string lines;
  for (const Json& request : requests) lines += request.dump() + "\n";
  return TalkLines(folder, lines);
}

std::string TextOf(const Json& message) {
  INFO(message.dump(1));
  REQUIRE(message.contains("result"));
  return message["result"]["content"][0]["text"];
}

Json JsonOf(const Json& message) {
  CHECK(message["result"]["isError"] == false);
  return ParseJson(TextOf(message));
}

Json Printed(const Folder& folder, const std::string& arguments) {
  const Ran ran = RunAdvise(folder, arguments);
  INFO(arguments << ": " << ran.err);
  REQUIRE(ran.status == 0);
  return ParseJson(ran.out);
}

TEST_CASE("a client of each revision is greeted in its own, of an unknown one in the newest") {
  const Folder folder;
  const auto [wanted, agreed] =
      GENERATE(table<const char*, const char*>({{"2024-11-05", "2024-11-05"},
                                                {"2025-03-26", "2025-03-26"},
                                                {"2025-06-18", "2025-06-18"},
                                                {"2025-11-25", "2025-11-25"},
                                                {"2031-01-01", "2025-11-25"}}));
  const auto answers = Talk(folder, {Hello(wanted),
                                     {{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}},
                                     Request(1, "ping"),
                                     Request(2, "tools/list")});
  REQUIRE(answers.size() == 3);  // a notification has no answer
  CHECK(answers[0]["result"]["protocolVersion"] == agreed);
  CHECK(answers[0]["result"]["capabilities"].contains("tools"));
  CHECK(answers[0]["result"]["serverInfo"]["name"] == "advise");
  CHECK(answers[1]["result"] == Json::object());
  std::set<std::string> names;
  for (const Json& tool : answers[2]["result"]["tools"]) {
    names.insert(tool["name"]);
    CHECK(tool["inputSchema"]["type"] == "object");
    CHECK_FALSE(tool["description"].get<std::string>().empty());
  }
  CHECK(names == std::set<std::string>{"open", "diagnose", "why", "facts", "whatif", "compare",
                                       "slice", "sources"});
}

TEST_CASE("messages that break the protocol are answered with its errors, and the next is served") {
  const Folder folder;
  const auto answers = TalkLines(
      folder,
      Request(7, "tools/list").dump() + "\nnot json\n" + Hello().dump() +
          "\n[]\n{\"id\": 1}\n{\"jsonrpc\": \"2.0\", \"id\": 2, \"method\": \"no/such\"}\n" +
          "{\"jsonrpc\": \"2.0\", \"id\": 3, \"result\": {}}\n\n" +
          Request(4, "tools/call", {{"name", "diagnos"}}).dump() + "\n" +
          Request(5, "ping", Json::array()).dump() + "\n" + Request(6, "ping").dump());
  REQUIRE(answers.size() == 9);
  CHECK(answers[0]["error"]["code"] == -32600);  // before initialize
  CHECK(answers[1]["error"]["code"] == -32700);
  CHECK(answers[1]["id"].is_null());
  CHECK(answers[2]["result"]["protocolVersion"] == "2025-06-18");
  CHECK(answers[3]["error"]["code"] == -32600);  // no batches in this revision
  CHECK(answers[4]["error"]["code"] == -32600);
  CHECK(answers[4]["id"] == 1);
  CHECK(answers[5]["error"]["code"] == -32601);
  CHECK(answers[6]["error"]["code"] == -32602);
  CHECK_THAT(answers[6]["error"]["message"].get<std::string>(), Contains("diagnose"));
  CHECK(answers[7]["id"] == 5);
  CHECK(answers[7]["error"]["code"] == -32602);
  CHECK(answers[8]["result"] == Json::object());
}

TEST_CASE("batches are served in the revision that has them") {
  const Folder folder;
  const auto answers =
      Talk(folder, {Hello("2025-03-26"), Json::array({Request(1, "ping"), Request(2, "ping")})});
  REQUIRE(answers.size() == 2);
  CHECK(answers[1].size() == 2);
}

TEST_CASE("the revision without a handshake is served request by request") {
  const Folder folder;
  const auto meta = [](const std::string& revision) {
    return Json{{"_meta",
                 {{"io.modelcontextprotocol/protocolVersion", revision},
                  {"io.modelcontextprotocol/clientCapabilities", Json::object()}}}};
  };
  const auto answers = Talk(folder, {Request(1, "server/discover", meta("2026-07-28")),
                                     Request(2, "tools/list", meta("2026-07-28")),
                                     Request(3, "tools/list", meta("2029-01-01"))});
  REQUIRE(answers.size() == 3);
  CHECK(answers[0]["result"]["supportedVersions"] == Json::array({"2026-07-28"}));
  CHECK(answers[1]["result"]["resultType"] == "complete");
  CHECK(answers[1]["result"]["tools"].size() == 8);
  CHECK(answers[2]["error"]["code"] == -32022);
  CHECK(answers[2]["error"]["data"]["supported"] == Json::array({"2026-07-28"}));
}

TEST_CASE("tools answer what commands print, in a few kilobytes") {
  const Folder folder;
  const std::string before = Simulated(kPair);
  const std::string after = Simulated(kPair, "--without all");
  const std::vector<std::string> fixes = {"input/no-workers", "transfer/pageable-copy"};
  const auto answers = Talk(
      folder,
      {Hello(), Call(1, "open", {{"paths", {before}}}), Call(2, "open", {{"paths", {after}}}),
       Call(3, "open", {{"paths", {before}}}), Call(4, "diagnose", {{"run", "r1"}}),
       Call(5, "diagnose", {{"run", "r1"}, {"finding", 1}}),
       Call(6, "why", {{"run", "r1"}, {"rule", "input/no-workers"}}),
       Call(7, "facts", {{"run", "r1"}, {"match", "budget.idle"}}),
       Call(8, "whatif", {{"run", "r1"}, {"fixes", fixes}}), Call(9, "whatif", {{"run", "r1"}}),
       Call(10, "compare", {{"before", "r1"}, {"after", "r2"}}),
       Call(11, "slice", {{"run", "r1"}, {"finding", 1}, {"path", "agent.json"}}),
       Call(12, "sources", {{"run", "r1"}})});
  REQUIRE(answers.size() == 13);
  for (const Json& answer : answers) CHECK(answer.dump().size() < 12'000);
  const Json full = Printed(folder, before + " --format json");

  const Json opened = JsonOf(answers[1]);
  CHECK(opened["run"] == "r1");
  CHECK(opened["verdict"] == full["verdict"]);
  CHECK(opened["budget"]["idle"].get<double>() > 0);
  CHECK(JsonOf(answers[2])["run"] == "r2");
  CHECK(JsonOf(answers[3])["run"] == "r1");  // it was open already
  CHECK(JsonOf(answers[4])["findings"][0]["rule"] == full["findings"][0]["rule"]);
  const Json finding = JsonOf(answers[5]);
  CHECK(finding["cause"] == full["findings"][0]["cause"]);
  CHECK(finding["fixes"] == full["findings"][0]["fixes"]);
  CHECK_THAT(TextOf(answers[6]), Contains("input/no-workers") && Contains("fired"));
  const Json facts = Printed(folder, "facts " + before + " --format json")["facts"];
  for (const Json& fact : facts) {
    if (fact["name"] != "budget.idle") continue;
    CHECK(JsonOf(answers[7])["facts"][0]["value"] == fact["value"]);
  }
  CHECK(JsonOf(answers[8]) ==
        Printed(folder, "whatif " + before + " --format json --fix " + fixes[0] + "," + fixes[1]));
  CHECK(JsonOf(answers[9]) == Printed(folder, "whatif " + before + " --format json"));
  CHECK_THAT(TextOf(answers[10]), Contains("input/no-workers"));
  REQUIRE(RunAdvise(folder, "slice " + before + " --finding 1 -o command.json").status == 0);
  CHECK(ReadAll(folder / "agent.json") == ReadAll(folder / "command.json"));
  CHECK(JsonOf(answers[11])["bytes"] == ReadAll(folder / "agent.json").size());
  const Json slice = ParseJson(ReadAll(folder / "agent.json"));
  std::size_t events = 0;
  for (const Json& event : slice["traceEvents"])
    events += event["ph"] == "X" && event["cat"] != "finding" ? 1 : 0;
  CHECK(JsonOf(answers[11])["events"] == events);
  CHECK(JsonOf(answers[12])["total"] == JsonOf(answers[12])["sources"].size());
}

TEST_CASE("pages of facts are all facts, each once") {
  const Folder folder;
  const std::string run = Simulated(kPair);
  std::vector<Json> requests = {Hello(), Call(1, "open", {{"paths", {run}}})};
  std::vector<std::string> names;
  for (std::size_t offset = 0;;) {
    requests.resize(2);
    requests.push_back(Call(2, "facts", {{"run", "r1"}, {"match", "idle*"}, {"offset", offset}}));
    const Json page = JsonOf(Talk(folder, requests)[2]);
    CHECK(page.dump().size() < 6000);
    for (const Json& fact : page["facts"]) names.push_back(fact["name"]);
    if (!page.contains("next_offset")) break;
    REQUIRE(page["next_offset"] > offset);
    offset = page["next_offset"];
  }
  std::vector<std::string> expected;
  const Json facts = Printed(folder, "facts " + run + " --format json")["facts"];
  for (const Json& fact : facts) {
    const std::string name = fact["name"];
    if (name.starts_with("idle")) expected.push_back(name);
  }
  CHECK(names == expected);
  CHECK(names.size() > 10);
}

TEST_CASE("pages of tables stay small, too: of a simulated run, and of a real capture") {
  const Folder folder;
  std::vector<std::string> runs = {Simulated(kPair)};
  const std::string capture = FindCapture("kineto", "AMD-AGI__TraceLens/train_resnet18.json.gz");
  if (!capture.empty()) runs.push_back(capture);
  for (const std::string& run : runs) {
    std::vector<Json> requests = {Hello(), Call(1, "open", {{"paths", {run}}})};
    for (std::size_t offset = 0;;) {
      requests.resize(2);
      requests.push_back(Call(2, "facts", {{"run", "r1"}, {"tables", true}, {"offset", offset}}));
      const Json page = JsonOf(Talk(folder, requests)[2]);
      CHECK(page.dump().size() < 6000);
      if (!page.contains("next_offset")) break;
      offset = page["next_offset"];
    }
  }
}

TEST_CASE("what a tool cannot do it says, as an answer that the model reads") {
  const Folder folder;
  folder.Write("notes.txt", "no trace\n");
  const std::string run = Simulated(kPair);
  const auto answers =
      Talk(folder, {Hello(), Call(1, "diagnose", {{"run", "r1"}}),
                    Call(2, "open", {{"paths", {"missing.sqlite"}}}),
                    Call(3, "open", {{"paths", {"notes.txt"}}}), Call(4, "open", Json::object()),
                    Call(5, "open", {{"path", "x"}, {"paths", {run}}}),
                    Call(6, "open", {{"paths", {run}}, {"gpu", "H10"}}),
                    Call(7, "open", {{"paths", {run}}}),
                    Call(8, "why", {{"run", "r1"}, {"rule", "input/no-worker"}}),
                    Call(9, "facts", {{"run", "r1"}, {"match", "budget.idel"}}),
                    Call(10, "whatif", {{"run", "r1"}, {"fixes", {"memory/leak"}}}),
                    Call(11, "diagnose", {{"run", "r1"}, {"finding", 900}}),
                    Call(12, "slice", {{"run", "r1"}, {"path", "notes.txt"}}),
                    Call(13, "diagnose", {{"run", "r1"}, {"finding", "one"}}),
                    Call(14, "diagnose", {{"run", "r1"}, {"finding", 1}}),
                    Call(15, "diagnose", {{"run", "r1"}, {"finding", "1"}}),
                    Call(16, "diagnose", {{"run", "r1"}, {"finding", "-1"}})});
  REQUIRE(answers.size() == 17);
  const std::vector<std::pair<std::size_t, std::string>> said = {
      {1, "call open first"},  {2, "no such file"},       {3, "notes.txt"},
      {4, "is missing"},       {5, "did you mean paths"}, {6, "h100-sxm"},
      {8, "input/no-workers"}, {9, "budget.idle"},        {10, "memory/leak found nothing"},
      {11, "no finding 900"},  {12, "exists already"},    {13, "whole number"},
      {16, "whole number"}};
  for (const auto& [number, words] : said) {
    INFO(number);
    CHECK(answers[number]["result"]["isError"] == true);
    CHECK_THAT(TextOf(answers[number]), Contains(words));
  }
  CHECK(answers[7]["result"]["isError"] == false);
  // A number in quotes is that number.
  CHECK(answers[15]["result"]["isError"] == false);
  CHECK(TextOf(answers[15]) == TextOf(answers[14]));
  CHECK(ReadAll(folder / "notes.txt") == "no trace\n");
}

TEST_CASE("a run stays in memory between questions, and a file that changed is read anew") {
  const Folder folder;
  std::filesystem::copy_file(Simulated(kPair), folder / "run.sqlite");
  std::filesystem::copy_file(Simulated(kPair, "--without all"), folder / "later.sqlite");
  // A pipe on which the test moves files between the questions.
  folder.Write("ask.sh",
               "{ sed -n 1,2p in.jsonl; until grep -q '\"id\":1' out.jsonl; do sleep 0.1; done\n"
               "rm run.sqlite; sed -n 3,4p in.jsonl\n"
               "until grep -q '\"id\":3' out.jsonl; do sleep 0.1; done\n"
               "mv later.sqlite run.sqlite; sed -n 5p in.jsonl; } | '" ADVISE_PROGRAM
               "' mcp >out.jsonl\n");
  std::string lines;
  for (const Json& request : {Hello(), Call(1, "open", {{"paths", {"run.sqlite"}}}),
                              Call(2, "whatif", {{"run", "r1"}, {"fixes", {"input/no-workers"}}}),
                              Call(3, "slice", {{"run", "r1"}, {"path", "slice.json"}}),
                              Call(4, "open", {{"paths", {"run.sqlite"}}})}) {
    lines += request.dump() + "\n";
  }
  folder.Write("in.jsonl", lines);
  folder.Write("out.jsonl", "");
  REQUIRE(RunAdvise(folder, "60 /bin/sh ask.sh", "/usr/bin/timeout").status == 0);
  const std::string out = ReadAll(folder / "out.jsonl");
  std::vector<Json> answers;
  for (std::size_t at = 0; at < out.size(); at = out.find('\n', at) + 1) {
    answers.push_back(ParseJson(out.substr(at, out.find('\n', at) - at)));
  }
  REQUIRE(answers.size() == 5);
  CHECK(JsonOf(answers[2])["saving"]["seconds"] > 0);
  CHECK(JsonOf(answers[3])["events"] > 0);
  CHECK(JsonOf(answers[4])["run"] == "r2");
}

TEST_CASE("the stages of opening are told to a client that asks for progress") {
  const Folder folder;
  Json open = Call(1, "open", {{"paths", {Simulated(kPair)}}});
  open["params"]["_meta"] = {{"progressToken", "abc"}};
  const auto messages = Talk(folder, {Hello(), open});
  REQUIRE(messages.size() > 2);
  for (std::size_t i = 1; i + 1 < messages.size(); ++i) {
    CHECK(messages[i]["method"] == "notifications/progress");
    CHECK(messages[i]["params"]["progressToken"] == "abc");
    CHECK(messages[i]["params"]["progress"] == i);
  }
  CHECK(messages.back()["id"] == 1);
}

// The folder with the official clients in its node_modules: ADVISE_MCP_CLIENTS, else where
// scripts/setup.sh --mcp puts them; "" when they are not there, whole.
std::string FolderOfClients() {
  if (const char* given = std::getenv("ADVISE_MCP_CLIENTS"); given != nullptr) return given;
  const std::string installed = ADVISE_SOURCE_DIR "/build/mcp-clients";
  return std::filesystem::exists(installed + "/versions") ? installed : "";
}

TEST_CASE("the official clients understand the server") {
  const std::string clients = FolderOfClients();
  if (clients.empty()) {
    WARN("skipped: the official clients are not installed (scripts/setup.sh --mcp)");
    return;
  }
  const Folder folder;
  std::filesystem::create_directory_symlink(clients + "/node_modules", folder / "node_modules");
  folder.Write("client.mjs", ReadAll(ADVISE_SOURCE_DIR "/tests/app/mcp_client.mjs"));
  const Ran ran =
      RunAdvise(folder, "node client.mjs '" ADVISE_PROGRAM "' " + Simulated(kPair), "/usr/bin/env");
  INFO(ran.out << ran.err);
  CHECK(ran.status == 0);
  CHECK_THAT(ran.out,
             Contains("sdk: 2025-11-25, 8 tools") && Contains("client: 2026-07-28, 8 tools"));
}

}  // namespace
}  // namespace advise
