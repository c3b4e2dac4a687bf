// Command lines of checks: they run as they stand, and print little.
#include "engine/report/shell.h"

#include <catch2/catch.hpp>

namespace advise {
namespace {

TEST_CASE("an event of a trace on a single line is printed without the rest of it") {
  CHECK(GrepCommand("a.json", "\"ts\": *12") ==
        "tr '\\n}' ' \\n' < a.json | grep '\"ts\": *12' | head -n 4");
  CHECK(GrepCommand("a.json.gz", "\"ts\": *12") ==
        "zcat a.json.gz | tr '\\n}' ' \\n' | grep '\"ts\": *12' | head -n 4");
  CHECK(GrepCommand("-a.json", "\"ts\": *12").find("< ./-a.json |") != std::string::npos);
}

TEST_CASE("a name that holds the end of an event is searched for up to there") {
  CHECK(GrepCommand("a.json", "\"name\": *\"f::{lambda(int)#1}::g\"") ==
        "tr '\\n}' ' \\n' < a.json | grep '\"name\": *\"f::{lambda(int)#1' | head -n 4");
}

TEST_CASE("what to type into a shell and what to write into a program stand apart") {
  const auto pieces = PiecesOf("nsys profile\nadvise run\nprofile(schedule=s)\nncu");
  REQUIRE(pieces.size() == 3);
  CHECK((pieces[0].language == "shell" && pieces[0].code == "nsys profile\nadvise run"));
  CHECK((pieces[1].language == "python" && pieces[1].code == "profile(schedule=s)"));
  CHECK((pieces[2].language == "shell" && pieces[2].code == "ncu"));
  CHECK(PiecesOf("").empty());
}

TEST_CASE("a table is searched line by line") {
  CHECK(GrepCommand("a.csv", "^2404524376,") == "grep -n \"^2404524376,\" a.csv | head -n 4");
  CHECK(GrepCommand("a.csv.gz", "^24,") == "zgrep -n \"^24,\" a.csv.gz | head -n 4");
}

}  // namespace
}  // namespace advise
