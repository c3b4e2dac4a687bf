// Statements of the evidence, run as a person runs them.
#pragma once

#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/app/json.h"
#include "tests/app/program.h"

namespace advise {

// A piece of evidence with a statement, and what the sqlite3 shell printed for it.
struct Answer {
  const Json* item;
  std::string where;  // the rule and the statement, for messages
  std::string out;
};

// All of a report; one start of the shell runs them on the export. Fails where one cannot run.
inline std::vector<Answer> RunEvidence(const Folder& folder, const Json& report,
                                       const std::string& path) {
  const std::string end = "-- end of an answer\n";
  std::vector<Answer> answers;
  std::string script;
  for (const Json& finding : report["findings"]) {
    for (const Json& item : finding["evidence"]) {
      const std::string sql = item["sql"];
      if (sql.empty()) continue;
      answers.push_back({&item, finding["rule"].get<std::string>() + ": " + sql, ""});
      script += sql + ";\n.print " + end;
    }
  }
  const std::string file = folder.Write("check.sql", script);
  const Ran ran =
      RunAdvise(folder, "-bail -readonly '" + path + "' '.read " + file + "'", "sqlite3");
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  std::size_t from = 0;
  for (Answer& answer : answers) {
    const std::size_t to = ran.out.find(end, from);
    INFO(answer.where);
    REQUIRE(to != std::string::npos);
    answer.out = ran.out.substr(from, to - from);
    from = to + end.size();
  }
  return answers;
}

}  // namespace advise
