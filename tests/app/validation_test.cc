// docs/validation.md quotes what the program says of real captures: it still says so. Captures that
// are not there are skipped (find_capture.h).
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/app/capture_runs.h"
#include "tests/app/find_capture.h"
#include "tests/app/json.h"
#include "tests/app/program.h"

namespace advise {
namespace {

// What the document says of one capture, in a section or in a row of a table.
struct Quoted {
  std::string place;  // "docs/validation.md:27"
  std::string kind;   // "nsys", "kineto"
  std::string file;
  std::string says;
};

// Without the marks of code and the blanks around it.
std::string Plain(const std::string& cell) {
  const std::size_t from = cell.find_first_not_of(" `");
  return from == std::string::npos ? "" : cell.substr(from, cell.find_last_not_of(" `") - from + 1);
}

std::vector<std::string> CellsOf(const std::string& row) {
  std::vector<std::string> cells;
  std::istringstream text(row.substr(1));
  for (std::string cell; std::getline(text, cell, '|');) cells.push_back(cell);
  return cells;
}

// The lines of the document, those of one item of a list joined; with the number of the first.
std::vector<std::pair<int, std::string>> ItemsOf(std::istream& document) {
  std::vector<std::pair<int, std::string>> items;
  int number = 0;
  for (std::string line; std::getline(document, line);) {
    ++number;
    const std::size_t text = line.find_first_not_of(' ');
    const bool goes_on = text != std::string::npos && text >= 2 && line[text] != '-';
    if (goes_on && !items.empty()) {
      items.back().second += line.substr(text - 1);
    } else {
      items.emplace_back(number, line);
    }
  }
  return items;
}

// Sections "### A1 folder/file" with a line "- Says: … Findings: `rule` severity 12 %, …."; and
// tables "| # | Capture | … | Findings above info, with saving | …" ("Trace" for PyTorch traces).
std::vector<Quoted> QuotedFindings() {
  const std::regex heading(R"(### \w+ (\S+/\S+))");
  std::ifstream in(ADVISE_SOURCE_DIR "/docs/validation.md");
  std::vector<Quoted> quoted;
  std::string file;
  std::string kind;
  std::size_t column = 0;
  for (const auto& [number, line] : ItemsOf(in)) {
    const std::string place = "docs/validation.md:" + std::to_string(number);
    std::smatch match;
    if (line.starts_with("##")) {
      file = std::regex_match(line, match, heading) ? match[1].str() : "";
    }
    const std::size_t at = line.find(" Findings: ");
    if (!file.empty() && at != std::string::npos) {
      quoted.push_back({place, "nsys", file, line.substr(at)});
    }
    if (!line.starts_with("| ")) column = line.starts_with("|-") ? column : 0;
    if (!line.starts_with("| ")) continue;
    const std::vector<std::string> cells = CellsOf(line);
    if (Plain(cells[0]) == "#") {
      kind = Plain(cells[1]) == "Trace" ? "kineto" : "nsys";
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (Plain(cells[i]).starts_with("Findings above info")) column = i;
      }
    } else if (column > 0 && cells.size() > column) {
      quoted.push_back({place, kind, Plain(cells[1]), cells[column]});
    }
  }
  return quoted;
}

// Sentences that the document quotes: of a section "- Says: "…"", and of the table of traces
// without a finding.
std::vector<Quoted> QuotedSentences() {
  const std::regex heading(R"(### \w+ (\S+/\S+))");
  const std::regex says(R"re(- Says: "([^"]*)".*)re");
  std::ifstream in(ADVISE_SOURCE_DIR "/docs/validation.md");
  std::vector<Quoted> quoted;
  std::string file;
  bool in_table = false;
  for (const auto& [number, line] : ItemsOf(in)) {
    const std::string place = "docs/validation.md:" + std::to_string(number);
    std::smatch match;
    if (line.starts_with("##")) file = std::regex_match(line, match, heading) ? match[1].str() : "";
    if (!file.empty() && std::regex_match(line, match, says))
      quoted.push_back({place, "nsys", file, match[1].str()});
    const std::vector<std::string> cells =
        line.starts_with("| ") ? CellsOf(line) : std::vector<std::string>();
    if (cells.empty() && !line.starts_with("|-")) in_table = false;
    if (in_table && cells.size() >= 2)
      quoted.push_back({place, "kineto", Plain(cells[0]), Plain(cells[1])});
    if (cells.size() >= 2 && Plain(cells[0]) == "Trace, no finding") in_table = true;
  }
  return quoted;
}

struct Findings {
  std::vector<std::string> names;  // "transfer/blocking-copy high"
  std::vector<double> percent;
};

Findings FindingsIn(const std::string& says) {
  const std::regex finding(R"(`([\w/-]+)` (low|medium|high|critical) ([0-9.]+) %)");
  Findings findings;
  for (std::sregex_iterator at(says.begin(), says.end(), finding), end; at != end; ++at) {
    findings.names.push_back((*at)[1].str() + " " + (*at)[2].str());
    findings.percent.push_back(std::atof((*at)[3].str().c_str()));
  }
  return findings;
}

Findings FindingsOf(const Json& report) {
  Findings findings;
  for (const Json& finding : report["findings"]) {
    if (finding["severity"] == "info") continue;
    findings.names.push_back(finding["rule"].get<std::string>() + " " +
                             finding["severity"].get<std::string>());
    findings.percent.push_back(100 * finding["saving"]["share"].get<double>());
  }
  return findings;
}

}  // namespace

TEST_CASE("real captures: the validation document quotes the findings of today") {
  const std::vector<Quoted> quoted = QuotedFindings();
  REQUIRE(quoted.size() > 50);
  for (const Quoted& one : quoted) {
    const std::string path = FindCapture(one.kind, one.file);
    if (path.empty()) continue;
    INFO(one.place << ": " << one.file << one.says);
    const Ran& ran = ReportOfCapture(path);
    if (one.says.find("refused, exit 3") != std::string::npos) {
      CHECK(ran.status == 3);
      continue;
    }
    REQUIRE(ran.status == 0);
    const Json report = ParseJson(ran.out);
    if (one.says.find("no GPU activity") != std::string::npos) CHECK(report["devices"].empty());
    const Findings quotes = FindingsIn(one.says);
    const Findings today = FindingsOf(report);
    CHECK(today.names == quotes.names);
    if (today.names.size() != quotes.names.size()) continue;
    for (std::size_t i = 0; i < today.percent.size(); ++i) {  // rounded to two digits
      const double unit = quotes.percent[i] < 10 ? 0.1 : 1;
      CHECK(std::abs(today.percent[i] - quotes.percent[i]) <= 0.51 * unit);
    }
  }
}

TEST_CASE("real captures: the validation document quotes the sentences of today") {
  const std::vector<Quoted> quoted = QuotedSentences();
  REQUIRE(quoted.size() > 40);
  for (const Quoted& one : quoted) {
    const std::string path = FindCapture(one.kind, one.file);
    if (path.empty()) continue;
    const Ran& ran = ReportOfCapture(path);
    if (ran.status == 3) continue;  // the reason of a refusal
    INFO(one.place << ": " << one.file);
    const Json report = ParseJson(ran.out);
    const std::string verdict = report["verdict"];
    const std::string why = report["run"].value("why_tentative", "");
    const bool whole = one.says == verdict + " Tentative: " + why + ".";
    CHECK((whole ? verdict : one.says) == verdict);
  }
}

}  // namespace advise
