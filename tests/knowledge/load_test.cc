#include "tests/knowledge/kb_text.h"

using namespace advise;
using Catch::Contains;

namespace {

const std::string kNumber =
    "value = 0.02\nunit = \"share\"\nrange = [0.0, 1.0]\nwhy = \"w\"\nsource = \"s\"\n";

// A threshold file with one entry in which `from` is replaced by `to`; the entry is on line 2.
std::string Problem(const std::string& from, const std::string& to) {
  std::string text = "# comment\n[pageable-copy.min_share]\n" + kNumber;
  text.replace(text.find(from), from.size(), to);
  return KbProblem("kb/thresholds/transfer.toml", text);
}

}  // namespace

TEST_CASE("a threshold is named by area, rule and name") {
  const Knowledge knowledge =
      LoadKb({{"kb/thresholds/transfer.toml", "[pageable-copy.min_share]\n" + kNumber}});
  const Threshold* threshold = knowledge.FindThreshold("transfer/pageable-copy", "min_share");
  REQUIRE(threshold != nullptr);
  CHECK(threshold->name == "transfer/pageable-copy.min_share");
  CHECK(threshold->value == 0.02);
  CHECK(threshold->shipped == 0.02);
  CHECK(threshold->unit == "share");
  CHECK(threshold->highest == 1.0);
  CHECK(knowledge.FindThreshold("transfer/pageable-copy", "max_share") == nullptr);
}

TEST_CASE(
    "a threshold follows a number that many share, with a reason of its own or that number's") {
  const Knowledge knowledge = LoadKb(
      {{"kb/thresholds/transfer.toml",
        "[a.min_share]\nlike = \"ranking.small\"\n[b.min_share]\nlike = \"ranking.small\"\nwhy = "
        "\"more\"\n"},
       {"kb/ranking.toml", "[small]\n" + kNumber}});
  const Threshold* first = knowledge.FindThreshold("transfer/a", "min_share");
  const Threshold* second = knowledge.FindThreshold("transfer/b", "min_share");
  REQUIRE(first != nullptr);
  REQUIRE(second != nullptr);
  CHECK(first->name == "transfer/a.min_share");
  CHECK(first->value == 0.02);
  CHECK(first->shipped == 0.02);
  CHECK(first->unit == "share");
  CHECK(first->highest == 1.0);
  CHECK(first->why == "w");
  CHECK(first->source == "s");
  CHECK(second->why == "more");

  CHECK_THAT(
      KbProblem("kb/thresholds/transfer.toml", "[a.min_share]\nlike = \"ranking.smal\"\n"),
      Contains("transfer.toml:1: transfer/a.min_share: there is no number \"ranking.smal\""));
  const auto both =
      KbProblems("kb/thresholds/transfer.toml", "[a.min_share]\nlike = \"x\"\nvalue = 1\n");
  REQUIRE(!both.empty());
  CHECK_THAT(both[0], Contains("transfer.toml:3: unknown field \"value\""));
}

TEST_CASE("problems name file and line, and suggest") {
  CHECK(Problem("\"share\"", "\"shares\"") ==
        "kb/thresholds/transfer.toml:4: field \"unit\": wanted one of share, count, ns, s, bytes, "
        "bytes_per_s, flop_per_s, hz, flop_per_byte, w, celsius, got \"shares\" (did you mean "
        "\"share\"?)");
  CHECK(Problem("value = 0.02", "value = 2") ==
        "kb/thresholds/transfer.toml:3: transfer/pageable-copy.min_share: 2 is outside its range 0 "
        "to 1");
  CHECK(Problem("value = 0.02", "value = \"0.02\"") ==
        "kb/thresholds/transfer.toml:3: field \"value\": wanted a number, got the text \"0.02\"");
  CHECK(Problem("why = \"w\"", "why = \" \"") ==
        "kb/thresholds/transfer.toml:6: field \"why\" is empty");
  CHECK(Problem("source = \"s\"\n", "") ==
        "kb/thresholds/transfer.toml:2: missing field \"source\" of \"min_share\"");
  CHECK_THAT(Problem("[0.0, 1.0]", "[1.0, 0.0]"), Contains("wanted two numbers [lowest, highest]"));
  CHECK_THAT(Problem("why =", "whyy = \"x\"\nwhy ="),
             Contains("transfer.toml:6: unknown field \"whyy\" (did you mean \"why\"?)"));
  CHECK_THAT(Problem("value = 0.02", "value = nan"), Contains("finite"));
  CHECK_THAT(Problem("pageable-copy", "PageableCopy"), Contains("lower case"));
}

TEST_CASE("syntax errors and double keys name the line") {
  CHECK_THAT(KbProblem("kb/metrics.toml", "[a.b]\nvalue = = 1\n"), Contains("kb/metrics.toml:2: "));
  CHECK_THAT(KbProblem("kb/metrics.toml", "[a.b]\n" + kNumber + "[a.b]\n" + kNumber),
             Contains("kb/metrics.toml:7: "));
  // Texts that fuzzing found: they failed an assertion of the parser, and overflowed the stack.
  for (const char* letter : {"\u00e4", "\u03b1", "\u2014", "\u3001", "\ufefe", "\U0001f600"}) {
    INFO(letter);
    const std::string text = std::string("\nx = [1") + letter + "]\n";
    CHECK_THAT(KbProblem("kb/metrics.toml", text), Contains("kb/metrics.toml:2: "));
  }
  CHECK_THAT(KbProblem("kb/metrics.toml", "\n[>]\n"), Contains("kb/metrics.toml:2: "));
  std::string deep = "\"a..b\" = '...' # ...\n";
  for (int part = 0; part < 200'000; ++part) deep += "a.";
  CHECK_THAT(KbProblem("kb/metrics.toml", deep + "b = 1\n"), Contains("kb/metrics.toml:2: "));
}

TEST_CASE("all problems are collected") {
  const auto knowledge = Knowledge::Load({{"kb/thresholds/a.toml", "[x.y]\nvalue = 1\n"},
                                          {"kb/thresholds/b.toml", "oops"},
                                          {"kb/unknown.toml", ""}});
  REQUIRE_FALSE(knowledge);
  CHECK(knowledge.error().size() >= 6);
  CHECK(knowledge.error().back().Line() ==
        "kb/unknown.toml: nothing reads this file (see docs/architecture.md for what kb/ holds)");
}

TEST_CASE("a source that looks like a knowledge row must be one") {
  std::string text = "[rule.min_share]\n" + kNumber;
  text.replace(text.find("\"s\""), 3, "\"K-A2\"");
  const auto knowledge =
      Knowledge::Load({{"kb/knowledge.toml", "[K-A1]\narea = \"a\"\ntext = \"t\"\n"},
                       {"kb/thresholds/x.toml", text}});
  REQUIRE_FALSE(knowledge);
  CHECK(knowledge.error()[0].Line() ==
        "kb/thresholds/x.toml:1: field \"source\": kb/knowledge.toml has no row \"K-A2\" (did you "
        "mean \"K-A1\"?)");
}

TEST_CASE("numbers of metrics and ranking are read by name, nested or quoted") {
  const Knowledge knowledge = LoadKb({{"kb/metrics.toml", "[idle.launch_latency]\n" + kNumber +
                                                              "[\"copy.small.limit\"]\n" + kNumber},
                                      {"kb/ranking.toml", "[high_share]\n" + kNumber}});
  CHECK(knowledge.Number("idle.launch_latency") == 0.02);
  CHECK(knowledge.Number("copy.small.limit") == 0.02);
  CHECK(knowledge.Number("ranking.high_share") == 0.02);
  CHECK_THAT(KbProblems("kb/metrics.toml", "[idle]\n")[0], Contains("missing field \"value\""));
}

TEST_CASE("hardware, references, rows and capture hints are checked") {
  const std::string fact =
      "[facts.sm_count]\nvalue = 1\nunit = \"count\"\nkind = \"spec\"\nsource = \"s\"\n";
  const std::string head =
      "id = \"h1\"\nmatch = [\"H1\"]\ncompute_capability = \"9.0\"\narchitecture = \"x\"\n";
  CHECK(KbProblems("kb/hardware/h1.toml", head + fact).empty());
  CHECK_THAT(KbProblem("kb/hardware/h2.toml", head + fact),
             Contains("field \"id\": wanted \"h2\" (the file's name), got \"h1\""));
  CHECK_THAT(KbProblem("kb/hardware/h1.toml", head), Contains("missing table [facts]"));
  std::string guessed = head + fact;
  guessed.replace(guessed.find("\"spec\""), 6, "\"guess\"");
  CHECK_THAT(KbProblem("kb/hardware/h1.toml", guessed),
             Contains("spec, listed, measured, assumed"));
  std::string nothing = head + fact;
  nothing.replace(nothing.find("[\"H1\"]"), 6, "[]");
  CHECK_THAT(KbProblem("kb/hardware/h1.toml", nothing), Contains("\"match\" is empty"));

  CHECK_THAT(KbProblem("kb/references.toml", "[\"a/b\"]\ntitle = \"t\"\nurl = \"ftp://x\"\n"),
             Contains("wanted a web address"));
  CHECK_THAT(KbProblem("kb/knowledge.toml", "[A1]\narea = \"a\"\ntext = \"t\"\n"),
             Contains("wanted an id such as K-A1"));
  CHECK_THAT(KbProblem("kb/capture.toml", "[cuda]\noption = \"--trace=cuda\"\n"),
             Contains("missing field \"text\" of \"cuda\""));
  const Knowledge knowledge =
      LoadKb({{"kb/capture.toml", "[z]\ntext = \"t\"\n[a]\ntext = \"u\"\n"}});
  CHECK(knowledge.capture_hints()[0].tag == "z");  // in the order of the file
  CHECK(knowledge.FindCaptureHint("a")->text == "u");
  CHECK(knowledge.FindCaptureHint("b") == nullptr);
}

TEST_CASE("a sign of a run names the grid and the place in words that are known") {
  const std::string sign =
      "[[kind]]\nsays = \"decode\"\nany = [\"*splitkv*\"]\nexamples = [\"splitkv\"]\n";
  CHECK(KbProblems("kb/runs.toml", sign + "in = [\"kernel\"]\ngrid = \"wider\"\n").empty());
  CHECK_THAT(KbProblem("kb/runs.toml", sign + "in = [\"kernel\"]\ngrid = \"wide\"\n"),
             Contains("must be \"one-wide\" or \"wider\""));
  CHECK_THAT(KbProblem("kb/runs.toml", sign + "in = [\"kernels\"]\n"),
             Contains("no names stand in \"kernels\""));
}

TEST_CASE("pattern lists are checked") {
  CHECK_THAT(KbProblem("kb/kernels.toml", "[[class]]\nclass = \"matrix\"\n"),
             Contains("kb/kernels.toml:1: missing field \"any\""));
  CHECK_THAT(KbProblem("kb/kernels.toml", "[[class]]\nclass = \"matrix\"\nany = []\n"),
             Contains("field \"any\" is empty"));
  CHECK_THAT(KbProblem("kb/kernels.toml", "[[clas]]\n"), Contains("did you mean \"class\"?"));
  CHECK_THAT(KbProblem("kb/kernels.toml", "[class]\n"), Contains("wanted [[class]] entries"));
  CHECK_THAT(
      KbProblem("kb/kernels.toml",
                "[[class]]\nclass = \"matrix\"\nany = [\"*gemm*\"]\n[[precision]]\nclasses = "
                "[\"matrx\"]\nvalue = \"fp16\"\nany = [\"*h*\"]\n"),
      Contains("no [[class]] entry gives \"matrx\" (did you mean \"matrix\"?)"));
  CHECK_THAT(KbProblem("kb/names.toml", "[[range_phase]]\nany = [\"a\"]\n"),
             Contains("missing field \"phase\""));
}
