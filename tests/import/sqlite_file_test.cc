// Files: how they are opened, what is never done to them, damage, and what is no report at all.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "engine/import/importer.h"
#include "tests/import/nsys_builder.h"

using namespace advise;
using namespace advise::testing;
using Schema = NsysBuilder::Schema;
namespace fs = std::filesystem;

namespace {

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void Write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

// A report of `kernels` kernels and as many calls, some tens of bytes a row.
void WriteReport(const std::string& path, std::int64_t kernels) {
  NsysBuilder builder(path, Schema::k3_25);
  builder.Sql("BEGIN");
  for (std::int64_t i = 0; i < kernels; ++i) {
    builder.Add(CallRow{.start = 10 * i, .end = 10 * i + 1, .correlation = i + 1})
        .Add(KernelRow{.start = 10 * i + 2, .end = 10 * i + 9, .correlation = i + 1});
  }
  builder.Sql("COMMIT");
}

Error ErrorOf(const std::string& path) {
  const Result<Trace> trace = ImportReport(path, {});
  REQUIRE_FALSE(trace);
  CHECK(trace.error().where == path);
  CHECK_FALSE(trace.error().hint.empty());
  return trace.error();
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("reading changes no byte of the file and leaves nothing beside it") {
  const TempDir dir;
  const std::string path = dir.File("strange name?#%20.sqlite");
  WriteReport(path, 50);
  const std::string before = Content(path);
  const auto trace = ImportReport(path, {});
  REQUIRE(trace);
  CHECK(trace->ops.size() == 50);
  CHECK(trace->diagnostics.list().empty());
  CHECK(Content(path) == before);
  CHECK(dir.Names() == std::vector<std::string>{"strange name?#%20.sqlite"});
}

TEST_CASE("a file in a read-only directory is read") {
  const TempDir dir;
  WriteReport(dir.File("r.sqlite"), 20);
  fs::permissions(dir.File("r.sqlite"), fs::perms::owner_read);
  fs::permissions(dir.path(), fs::perms::owner_read | fs::perms::owner_exec);
  const auto trace = ImportReport(dir.File("r.sqlite"), {});
  REQUIRE(trace);
  CHECK(trace->ops.size() == 20);
  CHECK(dir.Names() == std::vector<std::string>{"r.sqlite"});
}

TEST_CASE("a database in write-ahead mode is read without creating its companions") {
  const TempDir dir;
  const std::string path = dir.File("wal.sqlite");
  {
    NsysBuilder builder(path, Schema::k3_25);
    builder.Sql("PRAGMA journal_mode=wal").Add(KernelRow{.start = 1, .end = 2});
  }
  SECTION("closed cleanly") {
    const auto trace = ImportReport(path, {});
    REQUIRE(trace);
    CHECK(trace->ops.size() == 1);
    CHECK(trace->diagnostics.list().empty());
    CHECK(dir.Names() == std::vector<std::string>{"wal.sqlite"});
  }
  SECTION("with a log but no index: a warning, and the log stays unread") {
    NsysBuilder writer(path, Schema::kEmpty);
    writer.Sql("PRAGMA wal_autocheckpoint=0").Add(KernelRow{.start = 3, .end = 4});
    const TempDir copy;  // as a copy of a live database, without the index
    fs::copy_file(path, copy.File("c.sqlite"));
    fs::copy_file(path + "-wal", copy.File("c.sqlite-wal"));
    const auto trace = ImportReport(copy.File("c.sqlite"), {});
    REQUIRE(trace);
    CHECK(trace->ops.size() == 1);
    CHECK(CountOf(*trace, "write-ahead log that was not read") == 1);
    CHECK(copy.Names() == std::vector<std::string>{"c.sqlite", "c.sqlite-wal"});
  }
  SECTION("while a writer has it open, its last rows are seen") {
    NsysBuilder writer(path, Schema::kEmpty);
    writer.Sql("PRAGMA wal_autocheckpoint=0").Add(KernelRow{.start = 3, .end = 4});
    const auto trace = ImportReport(path, {});
    REQUIRE(trace);
    CHECK(trace->ops.size() == 2);
    CHECK(trace->diagnostics.list().empty());
  }
}

TEST_CASE("a hot journal is not rolled back: the file is read as it stands, with a warning") {
  const TempDir dir;
  WriteReport(dir.File("live.sqlite"), 2000);
  const TempDir copy;
  {
    NsysBuilder writer(dir.File("live.sqlite"), Schema::kEmpty);
    writer.Sql("PRAGMA cache_size=5")
        .Sql("BEGIN")
        .Sql("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET registersPerThread = 33");  // spills into the
                                                                                // file
    fs::copy_file(dir.File("live.sqlite"), copy.File("h.sqlite"));
    fs::copy_file(dir.File("live.sqlite-journal"), copy.File("h.sqlite-journal"));
  }
  REQUIRE(fs::file_size(copy.File("h.sqlite-journal")) > 0);
  const std::string before = Content(copy.File("h.sqlite"));
  const auto trace = ImportReport(copy.File("h.sqlite"), {});
  REQUIRE(trace);
  CHECK(trace->ops.size() == 2000);
  CHECK(CountOf(*trace, "read as it is") == 1);
  CHECK(Content(copy.File("h.sqlite")) == before);
  CHECK(copy.Names() == std::vector<std::string>{"h.sqlite", "h.sqlite-journal"});
}

TEST_CASE("a locked database is read as it stands, with a warning") {
  const TempDir dir;
  WriteReport(dir.File("l.sqlite"), 10);
  NsysBuilder writer(dir.File("l.sqlite"), Schema::kEmpty);
  writer.Sql("BEGIN EXCLUSIVE");
  const auto trace = ImportReport(dir.File("l.sqlite"), {});
  REQUIRE(trace);
  CHECK(trace->ops.size() == 10);
  CHECK(CountOf(*trace, "read as it is") == 1);
}

TEST_CASE("of a truncated database the rows before the damage are kept, and the loss is an error") {
  const TempDir dir;
  const std::string path = dir.File("cut.sqlite");
  WriteReport(path, 5000);
  const auto size = fs::file_size(path);
  fs::resize_file(path, size * 6 / 10);
  const auto trace = ImportReport(path, {});
  REQUIRE(trace);
  CHECK(trace->ops.size() > 0);
  CHECK(trace->ops.size() < 5000);
  CHECK(CountOf(*trace, "damaged", "CUPTI_ACTIVITY_KIND_KERNEL") == 1);
  const std::string kept =
      std::to_string(trace->table_rows.at("CUPTI_ACTIVITY_KIND_KERNEL")) + " rows";
  CHECK(CountOf(*trace, kept, "CUPTI_ACTIVITY_KIND_KERNEL") == 1);
}

TEST_CASE("any cut of a database gives rows or an error, never a crash") {
  const TempDir dir;
  WriteReport(dir.File("whole.sqlite"), 300);
  const std::string whole = Content(dir.File("whole.sqlite"));
  int readable = 0;
  for (std::size_t percent = 0; percent <= 100; percent += 4) {
    const std::string path = dir.File("cut.sqlite");
    Write(path, whole.substr(0, whole.size() * percent / 100));
    const auto trace = ImportReport(path, {});
    if (!trace) {
      CHECK(trace.error().where == path);
      continue;
    }
    ++readable;
    CHECK(trace->ops.size() <= 300);
    const bool is_whole = trace->ops.size() == 300 && trace->calls.size() == 300;
    CHECK((is_whole || CountOf(*trace, "damaged") + CountOf(*trace, "cannot be read") > 0));
  }
  CHECK(readable >= 2);
}

TEST_CASE("overwritten pages give rows or an error, never a crash") {
  const TempDir dir;
  WriteReport(dir.File("whole.sqlite"), 300);
  const std::string whole = Content(dir.File("whole.sqlite"));
  unsigned state = 1;
  const auto next = [&] { return state = state * 1664525u + 1013904223u; };
  for (int round = 0; round < 60; ++round) {
    std::string broken = whole;
    for (int i = 0; i < 40; ++i) {
      broken[100 + next() % (broken.size() - 100)] = static_cast<char>(next() >> 24);
    }
    Write(dir.File("broken.sqlite"), broken);
    const auto trace = ImportReport(dir.File("broken.sqlite"), {});
    if (!trace) continue;
    for (const std::uint32_t call : trace->ops.call) {
      REQUIRE((call == kNone || call < trace->calls.size()));
    }
    for (const std::uint16_t device : trace->ops.device) REQUIRE(device < trace->devices.size());
    for (std::size_t i = 1; i < trace->ops.size(); ++i) {
      REQUIRE(trace->ops.start[i - 1] <= trace->ops.start[i]);
    }
  }
}

TEST_CASE("databases of other programs are named") {
  const TempDir dir;
  const auto make = [&](const std::string& table) {
    const std::string path = dir.File(table + ".sqlite");
    NsysBuilder builder(path, Schema::kEmpty);
    builder.Sql("CREATE TABLE " + table + " (x INTEGER)");
    return path;
  };
  CHECK(Contains(ErrorOf(make("StringTable")).what,
                 "a database of another program (nvprof or the Visual Profiler)"));
  CHECK(
      Contains(ErrorOf(make("read_only_kernels")).what, "a database of another program (DLProf)"));
  CHECK(Contains(ErrorOf(make("bookmarks")).what,
                 "a database of another program (with the table bookmarks)"));
  {
    NsysBuilder builder(dir.File("none.sqlite"), Schema::kEmpty);
    builder.Sql("CREATE TABLE x (y)").Sql("DROP TABLE x");
  }
  CHECK(ErrorOf(dir.File("none.sqlite")).what == "the database has no tables");
}

TEST_CASE("what is no report gets an error that says what it is and what to do") {
  const TempDir dir;
  const auto file = [&](const std::string& name, const std::string& content) {
    Write(dir.File(name), content);
    return dir.File(name);
  };
  CHECK(ErrorOf(dir.File("missing.sqlite")).what == "no such file");
  CHECK(Contains(ErrorOf(dir.path()).what, "a directory"));
  CHECK(ErrorOf(file("empty.sqlite", "")).what == "the file is empty");
  CHECK(Contains(ErrorOf(file("stub.sqlite", "SQLite format 3" + std::string(1, '\0'))).what,
                 "cut off inside its header"));
  const Error pointer = ErrorOf(file(
      "lfs.sqlite", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345678\n"));
  CHECK(Contains(pointer.what, "Git LFS pointer"));
  CHECK(Contains(pointer.hint, "git lfs pull"));
  CHECK(Contains(ErrorOf(file("a.json.gz", "\x1f\x8b\x08")).what, "gzip"));
  CHECK(Contains(ErrorOf(file("a.json", " {\"events\": []}")).what, "JSON"));
  CHECK(Contains(ErrorOf(file("a.csv", "index, name\n0, x\n")).what, "unknown format"));
  CHECK(Contains(ErrorOf(file("a.txt", "some words\n")).what, "text file"));
  CHECK(ErrorOf(file("a.bin", std::string("\x01\x02\x00\x03", 4))).what ==
        "not an Nsight Systems SQLite export");
  const std::string report = file("my run.nsys-rep", std::string("\x00\x01", 2));
  CHECK(ErrorOf(report).hint ==
        "nsys export --type sqlite -o \"" + dir.File("my run.sqlite") + "\" \"" + report + "\"");
  const std::string plain = file("a.qdrep", "NVDQ");
  CHECK(ErrorOf(plain).hint ==
        "nsys export --type sqlite -o " + dir.File("a.sqlite") + " " + plain);
}

TEST_CASE("a file that may not be read says so") {
  if (geteuid() == 0) {
    WARN("skipped: root may read every file");
    return;
  }
  const TempDir dir;
  WriteReport(dir.File("secret.sqlite"), 1);
  fs::permissions(dir.File("secret.sqlite"), fs::perms::none);
  CHECK(Contains(ErrorOf(dir.File("secret.sqlite")).what, "cannot be opened"));
}
