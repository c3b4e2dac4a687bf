// docs/validation.md quotes what the program says of real captures: it still says so. Captures that
// are not there are skipped (find_capture.h).
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "tests/app/find_capture.h"
#include "tests/app/program.h"

namespace advise {
namespace {

using Json = nlohmann::json;

struct Quoted {
  std::string file;
  std::vector<std::string> findings;  // "transfer/blocking-copy high"
  std::vector<double> percent;
};

// Sections "### A1 folder/file" with a line "- Says: … Findings: `rule` severity 12 %, ….".
std::vector<Quoted> QuotedFindings() {
  const std::regex heading(R"(### \w+ (\S+/\S+))");
  const std::regex finding(R"(`([\w/-]+)` (low|medium|high|critical) ([0-9.]+) %)");
  std::ifstream in(ADVISE_SOURCE_DIR "/docs/validation.md");
  std::vector<Quoted> quoted;
  std::string file;
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (line.starts_with("##")) {
      file = std::regex_match(line, match, heading) ? match[1].str() : "";
    }
    const std::size_t at = line.find(" Findings: ");
    if (file.empty() || at == std::string::npos) continue;
    Quoted one{file, {}, {}};
    const std::string list = line.substr(at);
    for (std::sregex_iterator f(list.begin(), list.end(), finding), end; f != end; ++f) {
      one.findings.push_back((*f)[1].str() + " " + (*f)[2].str());
      one.percent.push_back(std::atof((*f)[3].str().c_str()));
    }
    quoted.push_back(std::move(one));
  }
  return quoted;
}

}  // namespace

TEST_CASE("real captures: the validation document quotes the findings of today") {
  const Folder folder;
  const std::vector<Quoted> quoted = QuotedFindings();
  REQUIRE(quoted.size() > 15);
  for (const Quoted& one : quoted) {
    const std::string path = FindCapture("nsys", one.file);
    if (path.empty()) continue;
    INFO(one.file);
    const Ran ran = RunAdvise(folder, "'" + path + "' --format json");
    REQUIRE(ran.status == 0);
    std::vector<std::string> findings;
    std::vector<double> percent;
    const Json report = Json::parse(ran.out);
    for (const Json& finding : report["findings"]) {
      if (finding["severity"] == "info") continue;
      findings.push_back(finding["rule"].get<std::string>() + " " +
                         finding["severity"].get<std::string>());
      percent.push_back(100 * finding["saving"]["share"].get<double>());
    }
    CHECK(findings == one.findings);
    if (findings.size() != one.findings.size()) continue;
    for (std::size_t i = 0; i < percent.size(); ++i) {  // rounded to two digits
      const double unit = one.percent[i] < 10 ? 0.1 : 1;
      CHECK(std::abs(percent[i] - one.percent[i]) <= 0.51 * unit);
    }
  }
}

}  // namespace advise
