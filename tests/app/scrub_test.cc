// `advise scrub`: planted secrets are nowhere in the copy, and the diagnosis is the same.
#include <SQLiteCpp/Database.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "engine/scrub/scrub_text.h"
#include "tests/app/capture_runs.h"
#include "tests/app/find_capture.h"
#include "tests/app/json.h"
#include "tests/app/simulated.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

void Sql(const Folder& folder, const std::string& file, const std::string& sql) {
  const std::string script = folder.Write("plant.sql", sql);
  const Ran ran = RunAdvise(folder, file + " '.read " + script + "'", "sqlite3");
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  std::filesystem::remove(script);
}

const std::vector<std::string> kPlantedSecrets = {
    "gpu-node-42",          "erika",
    "mustermann-project",   "sk-proj-abcdefghijklmnop1234",
    "hunter2-is-not-it",    "ghp_abcdefghijklmnopqrstuvwxyz0123",
    "weights_of_erika.bin", "10.20.30.40",
    "secret-stdout",        "deleted-secret",
    "exporting-user",       "login01.hpc",
    "T00WEBHOOK",           "secret-bucket",
    "export-folder",        "recording-user",
    "unreferenced-secret",  "very-private-name.py"};

// A trace with everything that should not leave the house.
std::string Planted(const Folder& folder) {
  std::filesystem::copy(Simulated("scenarios/input/no-workers-cnn-a100"), folder / "run.sqlite");
  Sql(folder, folder / "run.sqlite", R"(PRAGMA secure_delete = 0;
UPDATE TARGET_INFO_SYSTEM_ENV SET value = 'gpu-node-42' WHERE name = 'Hostname';
INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', 'USER="erika"');
INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', 'OPENAI_API_KEY="sk-proj-abcdefghijklmnop1234"');
INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', 'DB_PASSWORD="hunter2-is-not-it"');
INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', 'NCCL_P2P_LEVEL="LOC"');
INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', 'NCCL_SOCKET_IFNAME="/home/erika/x/y"');
INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', 'MASTER_ADDR="10.20.30.40"');
INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:COMMAND_LINE', '/home/erika/mustermann-project/very-private-name.py --key hunter2-is-not-it');
INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:USER_NAME', 'recording-user');
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_USER', 'exporting-user');
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_HOST', 'login01.hpc.example.org');
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PARAM_INPUT_FILE', 'export-folder.nsys-rep');
INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, text) SELECT start + 50, start + 60, 59, globalTid, 'https://hooks.slack.com/services/T00WEBHOOK/B00/XX' FROM NVTX_EVENTS WHERE end IS NOT NULL LIMIT 1;
INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, text) SELECT start + 70, start + 80, 59, globalTid, 'recording-user: load s3://secret-bucket/data by exporting-user' FROM NVTX_EVENTS WHERE end IS NOT NULL LIMIT 1;
CREATE TABLE PROCESS_STREAMS (globalPid INTEGER, content TEXT);
INSERT INTO PROCESS_STREAMS VALUES (1, 'secret-stdout');
UPDATE PROCESSES SET name = '/home/erika/mustermann-project/very-private-name.py' WHERE rowid = 1;
INSERT INTO StringIds VALUES (900001, 'load /home/erika/mustermann-project/weights_of_erika.bin token=ghp_abcdefghijklmnopqrstuvwxyz0123');
INSERT INTO StringIds VALUES (900002, 'unreferenced-secret');
INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, textId) SELECT start + 10, start + 20, 59, globalTid, 900001 FROM NVTX_EVENTS WHERE end IS NOT NULL LIMIT 1;
INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, text) SELECT start + 30, start + 40, 59, globalTid, 'on gpu-node-42 as erika' FROM NVTX_EVENTS WHERE end IS NOT NULL LIMIT 1;
CREATE TABLE gone (text TEXT);
INSERT INTO gone SELECT 'deleted-secret' FROM NVTX_EVENTS;
DELETE FROM gone;
DROP TABLE gone;
)");
  return folder / "run.sqlite";
}

// What a diagnosis says, without the names of the file it read.
constexpr const char* kFindings = " --format json --facts";
Json FindingsIn(const Ran& ran) {
  Json json = ParseJson(ran.out);
  Json said;
  for (const Json& finding : json["findings"]) {
    // That the report holds secrets is no longer true of the copy.
    if (finding["rule"] == "capture/secrets") continue;
    said["findings"].push_back({finding["rule"], finding["severity"], finding["saving"],
                                finding["confidence"], finding["symptom"]});
  }
  said["devices"] = json["devices"];
  said["window"] = json["window"];
  said["not_checked"] = json["not_checked"];
  for (const auto& [name, fact] : json["facts"].items()) {
    // Nor does it hold an environment to say anything of.
    if (name.starts_with("capture.secret") || name.starts_with("launch.process") ||
        name.starts_with("launch.thread") || name == "environment.recorded") {
      continue;
    }
    said["facts"][name] = fact["value"];
  }
  return said;
}
Json FindingsOf(const Folder& folder, const std::string& report) {
  const Ran ran = RunAdvise(folder, report + kFindings);
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  return FindingsIn(ran);
}

TEST_CASE("a scrubbed report holds no planted secret and gives the same diagnosis") {
  const Folder folder;
  const std::string report = Planted(folder);
  const std::string before = ReadAll(report);
  for (const std::string& secret : kPlantedSecrets) {
    INFO(secret);
    REQUIRE(before.find(secret) != std::string::npos);
  }
  const Ran ran = RunAdvise(folder, "scrub run.sqlite -o clean.sqlite");
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  const std::string clean = ReadAll(folder / "clean.sqlite");
  for (const std::string& secret : kPlantedSecrets) {
    INFO(secret);
    CHECK(clean.find(secret) == std::string::npos);
  }
  CHECK(clean.find("/home/") == std::string::npos);
  CHECK(clean.find("NCCL_P2P_LEVEL=\"LOC\"") != std::string::npos);
  CHECK(ReadAll(report) == before);
  CHECK(FindingsOf(folder, "run.sqlite") == FindingsOf(folder, "clean.sqlite"));
  CHECK_FALSE(std::filesystem::exists(folder / "clean.sqlite.unfinished"));
}

TEST_CASE("a pipe or a device is not replaced by what is written") {
  const Folder folder;
  std::filesystem::copy_file(Simulated("scenarios/pairs/loading-over-pageable"),
                             folder / "run.sqlite");
  for (const char* job : {"scrub", "facts"}) {
    INFO(job);
    const std::string pipe = std::string(job) + ".facts";  // what `facts` stores as a whole
    REQUIRE(mkfifo((folder / pipe).c_str(), 0600) == 0);
    const Ran ran = RunAdvise(folder, std::string(job) + " run.sqlite -o " + pipe);
    CHECK(ran.status != 0);
    CHECK(ran.err.find(pipe) != std::string::npos);
    CHECK(std::filesystem::is_fifo(folder / pipe));
  }
}

TEST_CASE("other simulated reports keep their diagnosis") {
  const Folder folder;
  int i = 0;
  for (const char* scenario :
       {"scenarios/pairs/loading-over-pageable", "scenarios/comm/serial-sync-a100-x2",
        "scenarios/memory/leak-transformer", "scenarios/healthy/gpu-metrics-sampled",
        "exercises/four-gpus"}) {
    INFO(scenario);
    const std::string clean = "clean" + std::to_string(++i) + ".sqlite";
    const Ran ran = RunAdvise(folder, "scrub " + Simulated(scenario) + " -o " + clean);
    INFO(ran.err);
    REQUIRE(ran.status == 0);
    CHECK(FindingsOf(folder, Simulated(scenario)) == FindingsOf(folder, clean));
  }
}

// Captures of real programs are not ours to ship.
TEST_CASE("captures of real programs keep their diagnosis when they are scrubbed") {
  const std::vector<std::string> files = FindCaptures("nsys");
  const Folder folder;
  int scrubbed = 0;
  for (const std::string& file : files) {
    if (std::filesystem::file_size(file) > 30'000'000) continue;
    const std::string report = "'" + file + "'";
    const Ran& before = ReportOfCapture(file);
    if (before.status != 0) continue;
    INFO(report);
    const std::string clean = "clean" + std::to_string(++scrubbed) + ".sqlite";
    const Ran ran = RunAdvise(folder, "scrub " + report + " -o " + clean);
    INFO(ran.err);
    REQUIRE(ran.status == 0);
    CHECK(FindingsIn(before) == FindingsOf(folder, clean));
  }
  CHECK((files.empty() || scrubbed > 0));
}

TEST_CASE("scrub refuses to write over anything, and what it cannot read") {
  const Folder folder;
  std::filesystem::copy(Simulated("scenarios/healthy/cnn-a100"), folder / "run.sqlite");
  CHECK(RunAdvise(folder, "scrub run.sqlite -o run.sqlite").status == 3);
  folder.Write("notes.txt", "no trace at all, but long enough to look at");
  const Ran ran = RunAdvise(folder, "scrub notes.txt -o clean.json");
  CHECK(ran.status == 3);
  CHECK_THAT(ran.err, Contains("only SQLite exports"));
  // A database of another profiler, whose tables hold environments as well.
  SQLite::Database(folder / "run.db", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE rocpd_info_process_0000_7a (id INTEGER, environment TEXT)");
  const Ran rocpd = RunAdvise(folder, "scrub run.db -o clean.db");
  CHECK(rocpd.status == 3);
  CHECK_THAT(rocpd.err, Contains("only SQLite exports"));
  REQUIRE(RunAdvise(folder, "facts run.sqlite -o run.facts").status == 0);
  const Ran facts = RunAdvise(folder, "scrub run.facts -o clean.facts");
  CHECK(facts.status == 3);
  CHECK_THAT(facts.err, Contains("write the facts of the copy"));
  CHECK_FALSE(std::filesystem::exists(folder / "clean.facts"));
  CHECK_FALSE(std::filesystem::exists(folder / "clean.facts.unfinished"));
  folder.Write("broken.sqlite", std::string("SQLite format 3\0", 16) + std::string(200, 'x'));
  CHECK(RunAdvise(folder, "scrub broken.sqlite -o clean.sqlite").status == 3);
  CHECK_FALSE(std::filesystem::exists(folder / "clean.sqlite"));
}

TEST_CASE("what stands for a secret makes up no other one") {
  TextScrubber scrubber;
  scrubber.LearnSecret("y!!!!!");
  CHECK(scrubber.Clean("y!!!!!!!!!! y!!!!!") == "kekey key");  // "key!!!!!" holds it, too
}

TEST_CASE("what a text loses and what it keeps") {
  TextScrubber scrubber;
  scrubber.LearnHost("node17.cluster.example.org");
  scrubber.LearnUser("erika");
  scrubber.LearnSecret("a b/c!secret");
  CHECK(scrubber.Clean("forward") == "forward");
  CHECK(scrubber.Clean("aten::add, layer 3/12") == "aten::add, layer 3/12");
  CHECK(scrubber.Clean("void at::native::kernel<float, 4>(int*, at::Op<1>)") ==
        "void at::native::kernel<float, 4>(int*, at::Op<1>)");
  CHECK(scrubber.Clean("on node17 and node17.cluster.example.org") == "on host and host");
  CHECK(scrubber.Clean("on xnode17.cluster.example.org") == "on xhost");
  CHECK(scrubber.Clean("erika@x, derika") == "user@x, derika");
  CHECK(scrubber.Clean("run-erika.log") == "run-user.log");
  CHECK(scrubber.Clean("pass a b/c!secret on") == "pass key on");
  CHECK(scrubber.Clean("to 192.168.1.20:29500") == "to address:29500");
  CHECK(scrubber.Clean("nsys 2025.3.2.367") == "nsys 2025.3.2.367");
  CHECK(scrubber.Clean("API_TOKEN=abc rest") == "API_TOKEN=key rest");
  const std::string one = scrubber.Clean("open /data/set/a.bin");
  CHECK(one == scrubber.Clean("open /data/set/a.bin"));
  CHECK(one != scrubber.Clean("open /data/set/b.bin"));
  CHECK(one != scrubber.Clean("open /data/other/a.bin"));
  CHECK(one.ends_with(".bin"));
  CHECK_THAT(scrubber.Clean("/usr/lib/x86_64-linux-gnu/libcuda.so.1"), Contains("libcuda.so.1"));
  // An address may be a key by itself, and names buckets, machines and folders.
  const std::string hook = scrubber.Clean("post https://hooks.slack.com/services/T00/B00/XX now");
  CHECK(hook == "post https://u1 now");
  CHECK(scrubber.Clean("(s3://bucket/data?id=1)") == "(s3://u2)");
  CHECK(scrubber.Clean("file:///home/erika/x.bin") == "file://u3");
  CHECK(scrubber.Clean("post https://hooks.slack.com/services/T00/B00/XX now") == hook);
  // What only looks like a secret is kept.
  for (const char* kept :
       {"at 12:30:45:123", "c10::add::dead::beef", "prompt tokens: 128", "Basic block 12",
        "memcpy@@GLIBC_2.14", "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x64x64_stage3",
        "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEE", "key: value",
        "Memory::password::hash", "GPU 0000:3b:00.0"}) {
    CHECK(scrubber.Clean(kept) == kept);
  }
  CHECK(scrubber.IsSwitch("NCCL_IB_DISABLE", "1"));
  CHECK_FALSE(scrubber.IsSwitch("NCCL_AUTH_KEY", "1"));
  CHECK_FALSE(scrubber.IsSwitch("PATH", "1"));
  CHECK_FALSE(scrubber.IsSwitch("RANK", "erika"));
  CHECK(scrubber.IsSwitch("PMIX_RANK", "3"));
  CHECK(scrubber.IsSwitch("MPI_LOCALRANKID", "3"));
}

}  // namespace
}  // namespace advise
