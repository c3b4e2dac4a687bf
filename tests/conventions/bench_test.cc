// The floor of scripts/bench.sh is honest: it sums the columns that the reader takes from a table,
// no more (the program would look fast) and no fewer (it would look slow).
#include <catch2/catch.hpp>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "tests/conventions/source_tree.h"

namespace advise {
namespace {

using Columns = std::map<std::string, std::set<std::string>>;  // by table

std::string Joined(const SourceFile& file) {
  std::string text;
  for (const std::string& line : file.lines) text += line + "\n";
  return text;
}

// `Scan name(reader, "TABLE", {"a", "b"}`, with | between names of which one is taken.
Columns ReadByImport() {
  const std::regex scan(R"re(Scan\s+\w+\(\s*reader,\s*("(\w+)"|kKernelTable),\s*\{([^}]*)\})re");
  const std::regex name(R"re("([^"]+)")re");
  Columns columns;
  for (const SourceFile& file : SourceFiles({"engine/import"}, {".cc"})) {
    if (file.path.find("nsys_sqlite_") == std::string::npos) continue;
    const std::string text = Joined(file);
    for (std::sregex_iterator at(text.begin(), text.end(), scan), end; at != end; ++at) {
      const std::string table =
          (*at)[2].matched ? (*at)[2].str() : std::string("CUPTI_ACTIVITY_KIND_KERNEL");
      const std::string list = (*at)[3];
      for (std::sregex_iterator n(list.begin(), list.end(), name); n != end; ++n) {
        columns[table].insert((*n)[1]);
      }
    }
  }
  return columns;
}

// `add_sum TABLE "a b" "c"`.
Columns SummedByBench() {
  const std::regex sum(R"re(add_sum (\w+)\s*\\?\s*"([^"]*)"\s*\\?\s*"([^"]*)")re");
  const std::string text = Joined(SourceFiles({"scripts"}, {"/bench.sh"}).at(0));
  Columns columns;
  for (std::sregex_iterator at(text.begin(), text.end(), sum), end; at != end; ++at) {
    std::istringstream names((*at)[2].str() + " " + (*at)[3].str());
    for (std::string name; names >> name;) columns[(*at)[1]].insert(name);
  }
  return columns;
}

TEST_CASE("the benchmark's floor sums the columns that the reader takes from each table") {
  Columns read = ReadByImport();
  read["NVTX_EVENTS"].erase("binaryData");  // only where NCCL left payloads
  const Columns summed = SummedByBench();
  REQUIRE(summed.size() == 7);
  for (const auto& [table, columns] : summed) {
    INFO(table);
    CHECK(columns == read[table]);
  }
}

}  // namespace
}  // namespace advise
