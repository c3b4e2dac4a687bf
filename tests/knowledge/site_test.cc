#include "tests/knowledge/kb_text.h"

using namespace advise;
using Catch::Contains;

namespace {

Knowledge Sample() {
  const std::string number =
      "value = 0.02\nunit = \"share\"\nrange = [0.0, 1.0]\nwhy = \"w\"\nsource = \"s\"\n";
  return LoadKb({{"kb/thresholds/transfer.toml", "[pageable-copy.min_share]\n" + number},
                 {"kb/ranking.toml", "[high_share]\n" + number}});
}

double Value(const Knowledge& knowledge) {
  return knowledge.FindThreshold("transfer/pageable-copy", "min_share")->value;
}

// The problems of one site file.
std::vector<std::string> Problems(const std::string& text) {
  Knowledge knowledge = Sample();
  return Lines(knowledge.ApplySite({"advise.toml", text}));
}

}  // namespace

TEST_CASE("a site sets thresholds, in any of the TOML spellings") {
  for (const char* text : {"[thresholds.\"transfer/pageable-copy\"]\nmin_share = 0.05\n",
                           "[thresholds.transfer.pageable-copy]\nmin_share = 0.05\n",
                           "[thresholds.transfer]\npageable-copy.min_share = 0.05\n",
                           "[thresholds]\n\"transfer/pageable-copy.min_share\" = 0.05\n"}) {
    INFO(text);
    Knowledge knowledge = Sample();
    CHECK(Lines(knowledge.ApplySite({"advise.toml", text})).empty());
    CHECK(Value(knowledge) == 0.05);
    CHECK(knowledge.SiteChanges() ==
          std::vector<std::string>{
              "transfer/pageable-copy.min_share = 0.05 instead of 0.02 (advise.toml)"});
  }
}

TEST_CASE("a site adds a GPU by a file of its own, and puts one in the place of a shipped one") {
  const auto gpu = [](const std::string& path, const std::string& match, const std::string& fact) {
    const std::string id = path.substr(path.rfind('/') + 1, path.size() - path.rfind('/') - 6);
    return Knowledge::File{path, "id = \"" + id + "\"\nmatch = [\"" + match +
                                     "\"]\ncompute_capability = \"9.0\"\narchitecture = \"x\"\n" +
                                     "[facts." + fact + "]\nvalue = 2e9\nunit = \"hz\"\n" +
                                     "kind = \"measured\"\nsource = \"our own clocks\"\n"};
  };
  Knowledge knowledge = LoadKb({gpu("kb/hardware/h100.toml", "*H100*", "boost_clock_hz")});
  const std::string ours = "/etc/advise/hardware/";
  CHECK(Lines(knowledge.ApplySite(gpu(ours + "x1.toml", "Our X1*", "boost_clock_hz"))).empty());
  REQUIRE(knowledge.FindHardware("Our X1 80GB") != nullptr);
  CHECK(knowledge.FindHardware("Our X1 80GB")->facts.at("boost_clock_hz").value == 2e9);
  CHECK(knowledge.SiteChanges() ==
        std::vector<std::string>{"GPU x1 (/etc/advise/hardware/x1.toml)"});

  CHECK(Lines(knowledge.ApplySite(gpu(ours + "h100.toml", "*H100*", "boost_clock_hz"))).empty());
  CHECK(knowledge.hardware().size() == 2);
  CHECK(knowledge.FindHardware("NVIDIA H100")->set_by == ours + "h100.toml");

  const auto wrong = Lines(knowledge.ApplySite(gpu(ours + "x2.toml", "X2", "boost_clock")));
  REQUIRE(wrong.size() == 1);
  CHECK_THAT(wrong[0], Contains("no GPU has such a fact") && Contains("boost_clock_hz"));
}

TEST_CASE("a site sets a number that thresholds follow, but for those that it sets by themselves") {
  const std::string number =
      "value = 0.02\nunit = \"share\"\nrange = [0.0, 1.0]\nwhy = \"w\"\nsource = \"s\"\n";
  const std::string like = "like = \"ranking.small\"\n";
  for (const char* text : {"[numbers.ranking]\nsmall = 0.1\n[thresholds.x.b]\nmin_share = 0.3\n",
                           "[thresholds.x.b]\nmin_share = 0.3\n[numbers.ranking]\nsmall = 0.1\n"}) {
    INFO(text);
    Knowledge knowledge =
        LoadKb({{"kb/thresholds/x.toml", "[a.min_share]\n" + like + "[b.min_share]\n" + like},
                {"kb/ranking.toml", "[small]\n" + number}});
    CHECK(Lines(knowledge.ApplySite({"advise.toml", text})).empty());
    CHECK(knowledge.FindThreshold("x/a", "min_share")->value == 0.1);
    CHECK(knowledge.FindThreshold("x/a", "min_share")->set_by == "advise.toml");
    CHECK(knowledge.FindThreshold("x/b", "min_share")->value == 0.3);
    CHECK(knowledge.SiteChanges() ==
          std::vector<std::string>{"x/b.min_share = 0.3 instead of 0.02 (advise.toml)",
                                   "ranking.small = 0.1 instead of 0.02 (advise.toml)"});
    CHECK(knowledge.ApplySetting("ranking.small=0.2").empty());
    CHECK(knowledge.FindThreshold("x/a", "min_share")->value == 0.2);
    CHECK(knowledge.FindThreshold("x/b", "min_share")->value == 0.3);
  }
}

TEST_CASE("later settings win") {
  Knowledge knowledge = Sample();
  const auto site = [](const std::string& path, const std::string& value) {
    return Knowledge::File{path,
                           "[thresholds.\"transfer/pageable-copy\"]\nmin_share = " + value + "\n"};
  };
  CHECK(knowledge.ApplySite(site("/etc/advise/site.toml", "0.1")).empty());
  CHECK(knowledge.ApplySite(site("advise.toml", "0.2")).empty());
  CHECK(Value(knowledge) == 0.2);
  CHECK(knowledge.ApplySetting("transfer/pageable-copy.min_share=0.3").empty());
  CHECK(Value(knowledge) == 0.3);
  CHECK(knowledge.FindThreshold("transfer/pageable-copy", "min_share")->set_by == "--set");
  CHECK(knowledge.ApplySetting("transfer.pageable-copy.min_share=0.4").empty());
  CHECK(knowledge.ApplySetting("thresholds.transfer.pageable-copy.min_share=0.5").empty());
  CHECK(Value(knowledge) == 0.5);
  CHECK(knowledge.ApplySetting("ranking.high_share=0.6").empty());
  CHECK(knowledge.Number("ranking.high_share") == 0.6);
}

TEST_CASE("wrong settings are refused with place and suggestion, and change nothing") {
  Knowledge knowledge = Sample();
  CHECK(knowledge.ApplySetting("transfer/pageable-copy.min_shre=0.3")[0].Line() ==
        "--set transfer/pageable-copy.min_shre=0.3: there is no threshold "
        "\"transfer/pageable-copy.min_shre\" (did you mean \"transfer/pageable-copy.min_share\"?)");
  CHECK_THAT(knowledge.ApplySetting("transfer/pageable-copy.min_share=2")[0].Line(),
             Contains("2 is outside its range 0 to 1 (share)"));
  for (const char* wrong :
       {"transfer/pageable-copy.min_share=x",
        "transfer/pageable-copy.min_share=", "transfer/pageable-copy.min_share=0.3x", "=1", "x",
        "transfer/pageable-copy.min_share=nan"}) {
    INFO(wrong);
    CHECK(knowledge.ApplySetting(wrong).size() == 1);
  }
  CHECK(Value(knowledge) == 0.02);
  CHECK(knowledge.SiteChanges().empty());

  CHECK_THAT(
      Problems("[thresholds.\"transfer/pageable-copy\"]\n\nmin_share = \"0.05\"\n")[0],
      Contains("advise.toml:3: transfer/pageable-copy.min_share: wanted a number, got the text"));
  CHECK_THAT(Problems("[thresholds.\"transfer/pageable-cpy\"]\nmin_share = 0.05\n")[0],
             Contains("did you mean \"transfer/pageable-copy.min_share\"?"));
  CHECK_THAT(Problems("[threshold]\n")[0], Contains("did you mean \"thresholds\"?"));
  CHECK_THAT(Problems("[thresholds\n")[0], Contains("advise.toml:1: "));
  CHECK(Problems("[thresholds.\"a/b\"]\nx = 1\ny = 2\n").size() == 2);
}

TEST_CASE("numbers of metrics and ranking can be set") {
  Knowledge knowledge = Sample();
  CHECK(knowledge.ApplySite({"a.toml", "[numbers]\n\"ranking.high_share\" = 0.15\n"}).empty());
  CHECK(knowledge.Number("ranking.high_share") == 0.15);
  CHECK(knowledge.ApplySite({"a.toml", "[numbers.ranking]\nhigh_share = 0.16\n"}).empty());
  CHECK(knowledge.Number("ranking.high_share") == 0.16);
}

TEST_CASE("turning a rule off needs a reason") {
  Knowledge knowledge = Sample();
  CHECK(knowledge
            .ApplySite({"advise.toml",
                        "[rules.\"comm/strategy\"]\nenabled = false\nreason = \"fixed layout\"\n"})
            .empty());
  REQUIRE(knowledge.suppressed().size() == 1);
  CHECK(knowledge.suppressed()[0].id == "comm/strategy");
  CHECK(knowledge.suppressed()[0].reason == "fixed layout");
  CHECK(knowledge.SiteChanges() ==
        std::vector<std::string>{"comm/strategy is off: fixed layout (advise.toml)"});
  CHECK(knowledge.CheckSuppressed({"comm/strategy"}).empty());
  CHECK(knowledge.CheckSuppressed({"comm/strateg"})[0].Line() ==
        "advise.toml:1: there is no rule \"comm/strategy\" (did you mean \"comm/strateg\"?)");

  // A later file may turn it on again.
  CHECK(knowledge.ApplySite({"b.toml", "[rules.comm.strategy]\nenabled = true\n"}).empty());
  CHECK(knowledge.suppressed().empty());

  CHECK_THAT(Problems("[rules.\"comm/strategy\"]\nenabled = false\n")[0],
             Contains("missing field \"reason\""));
  CHECK_THAT(Problems("[rules.\"comm/strategy\"]\nreason = \"x\"\n")[0],
             Contains("missing field \"enabled\""));
}

TEST_CASE("a rule is off until its last day") {
  Knowledge knowledge = Sample();
  const auto off = [](const std::string& until) {
    return Knowledge::File{
        "a.toml", "[rules.\"x/y\"]\nenabled = false\nreason = \"r\"\nuntil = " + until + "\n"};
  };
  CHECK(knowledge.ApplySite(off("2999-01-31")).empty());
  CHECK(knowledge.suppressed().size() == 1);
  CHECK(knowledge.suppressed()[0].until == "2999-01-31");
  CHECK(knowledge.ApplySite(off("2001-01-31")).empty());
  CHECK(knowledge.suppressed().empty());
  CHECK_THAT(knowledge.SiteChanges()[0], Contains("x/y is on again"));
  CHECK_THAT(Problems(off("\"soon\"").text)[0], Contains("wanted a date"));
}

TEST_CASE("a site defines thresholds of its own rules only") {
  const std::string number =
      "value = 0.1\nunit = \"share\"\nrange = [0, 1]\nwhy = \"w\"\nsource = \"s\"\n";
  Knowledge knowledge = Sample();
  CHECK(knowledge.ApplySite({"a.toml", "[thresholds.\"site/mine\".min_share]\n" + number}).empty());
  CHECK(knowledge.FindThreshold("site/mine", "min_share")->value == 0.1);
  CHECK_THAT(Problems("[thresholds.\"transfer/pageable-copy\".min_share]\n" + number)[0],
             Contains("only rules of the site"));
}

namespace {

const char* const kShippedFamilies =
    "[[kernel]]\nfamily = \"sort\"\nthings = \"sorts\"\nany = [\"*sort*\"]\n"
    "[[variable]]\nname = \"omp_threads\"\nvariable = \"OMP_NUM_THREADS\"\nmeaning = \"threads\"\n";

std::vector<std::string> FamilyProblems(const std::string& text) {
  Knowledge knowledge = LoadKb({{"kb/families.toml", kShippedFamilies}});
  return Lines(knowledge.ApplySite({"advise.toml", text}));
}

}  // namespace

TEST_CASE("a site adds families of names, and names to families that are there") {
  Knowledge knowledge = LoadKb({{"kb/families.toml", kShippedFamilies}});
  const std::string text =
      "[[families.kernel]]\nfamily = \"site_fft\"\nthings = \"FFTs\"\nany = [\"fft_*\"]\n"
      "[[families.kernel]]\nfamily = \"sort\"\nany = [\"our_order*\"]\n"
      "[[families.operator]]\nfamily = \"site_op\"\nthings = \"ops\"\nany = [\"ours::*\"]\n"
      "[[families.call]]\nfamily = \"site_call\"\nthings = \"calls\"\nany = [\"cudaOurs\"]\n"
      "[[families.variable]]\nname = \"site_x\"\nvariable = \"OUR_X\"\nmeaning = \"x\"\n";
  REQUIRE(Lines(knowledge.ApplySite({"advise.toml", text})).empty());
  const std::vector<NameFamily>& kernels = knowledge.families(FamilyKind::kKernel);
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].name == "site_fft");  // by name
  CHECK(knowledge.FamiliesOf(FamilyKind::kKernel, "fft_radix4") == std::vector<std::size_t>{0});
  CHECK(knowledge.IsOfFamily(FamilyKind::kKernel, "sort", "our_order_2"));
  CHECK(knowledge.IsOfFamily(FamilyKind::kKernel, "sort", "radixsort"));
  CHECK(knowledge.IsOfFamily(FamilyKind::kCall, "site_call", "cudaOurs_v12000"));
  CHECK_FALSE(knowledge.IsOfFamily(FamilyKind::kKernel, "site_fft", "radixsort"));
  REQUIRE(knowledge.environment_switches().size() == 2);
  CHECK(knowledge.SiteChanges() ==
        std::vector<std::string>{"family.site_fft has names of the site (advise.toml)",
                                 "family.sort has names of the site (advise.toml)",
                                 "calls.site_call has names of the site (advise.toml)",
                                 "op.site_op has names of the site (advise.toml)",
                                 "environment.site_x is OUR_X (advise.toml)"});
}

TEST_CASE("a family of a site that could be mistaken for another is refused") {
  const std::string rest = "things = \"x\"\nany = [\"x*\"]\n";
  CHECK_THAT(FamilyProblems("[[families.kernel]]\nfamily = \"sorts\"\n" + rest).at(0),
             Contains("advise.toml:1: ") && Contains("did you mean \"sort\"?"));
  CHECK_THAT(FamilyProblems("[[families.kernel]]\nfamily = \"fft\"\n" + rest).at(0),
             Contains("a site's own is called site_fft"));
  CHECK_THAT(FamilyProblems("[[families.kernel]]\nfamily = \"site_F\"\n" + rest).at(0),
             Contains("lower case"));
  CHECK_THAT(FamilyProblems("[[families.kernel]]\nfamily = \"site_f\"\nany = [\"x\"]\n").at(0),
             Contains("missing field \"things\""));
  CHECK_THAT(FamilyProblems("[[families.kernel]]\nfamily = \"sort\"\n" + rest).at(0),
             Contains("has \"things\" already"));
  CHECK_THAT(FamilyProblems("[[families.variable]]\nname = \"omp_threads\"\nvariable = \"A\"\n"
                            "meaning = \"x\"\n")
                 .at(0),
             Contains("defined twice"));
  CHECK_THAT(FamilyProblems("[[families.thread]]\nfamily = \"site_t\"\n").at(0),
             Contains("unknown field"));
}

TEST_CASE("a site adds names to lists that are there, and its own come first") {
  const std::vector<Knowledge::File> shipped = {
      {"kb/names.toml",
       "[[range_phase]]\nphase = \"forward\"\nany = [\"*forward*\"]\n"
       "[[range_phase]]\nphase = \"data_loading\"\nany = [\"load\"]\n"},
      {"kb/kernels.toml",
       "[[class]]\nclass = \"matrix\"\nany = [\"*gemm*\"]\n"
       "[[class]]\nclass = \"attention\"\nany = [\"*fmha*\"]\n"},
      {"kb/counters.toml", "[[quantity]]\nname = \"time\"\nany = [\"time.sum\"]\n"}};
  Knowledge knowledge = LoadKb(shipped);
  const std::string text =
      "[[names.range_phase]]\nphase = \"data_loading\"\nany = [\"forward_feed\"]\n"
      "[[kernels.class]]\nclass = \"attention\"\nany = [\"our_gemm_attn\"]\n"
      "[[counters.quantity]]\nname = \"time\"\nany = [\"time.next\"]\n";
  REQUIRE(Lines(knowledge.ApplySite({"advise.toml", text})).empty());
  CHECK(knowledge.RangePhase("forward_feed") == "data_loading");
  CHECK(knowledge.RangePhase("my forward") == "forward");
  CHECK(knowledge.ClassifyKernel("our_gemm_attn").name == "attention");
  CHECK(knowledge.ClassifyKernel("our_gemm").name == "matrix");
  CHECK(knowledge.Counter("time").metrics == std::vector<std::string>{"time.next", "time.sum"});
  CHECK(knowledge.SiteChanges() ==
        std::vector<std::string>{"kernels.class has names of the site (advise.toml)",
                                 "names.range_phase has names of the site (advise.toml)",
                                 "counters.time has metrics of the site (advise.toml)"});

  const auto problem = [&](const std::string& wrong) {
    Knowledge fresh = LoadKb(shipped);
    return Lines(fresh.ApplySite({"advise.toml", wrong})).at(0);
  };
  CHECK_THAT(problem("[[names.range_phase]]\nphase = \"loading\"\nany = [\"x\"]\n"),
             Contains("advise.toml:2: ") && Contains("did you mean \"data_loading\"?"));
  CHECK_THAT(problem("[[names.range]]\nphase = \"forward\"\nany = [\"x\"]\n"),
             Contains("unknown field \"range\""));
  CHECK_THAT(problem("[[kernels.class]]\nclass = \"magic\"\nany = [\"x\"]\n"), Contains("matrix"));
  CHECK_THAT(problem("[[counters.quantity]]\nname = \"tim\"\nany = [\"x\"]\n"),
             Contains("there is no quantity \"tim\"") && Contains("did you mean \"time\"?"));
}

TEST_CASE("a site says how much work its operators are") {
  const char* const shipped = "[[product]]\nany = [\"aten::mm\", \"*::gemm*\"]\n";
  Knowledge knowledge = LoadKb({{"kb/operators.toml", shipped}});
  const std::string text =
      "[[operators.product]]\nany = [\"ours::gemm_nt\"]\nform = \"linear\"\nfirst = 1\n"
      "[[operators.memory]]\nany = [\"ours::sort_*\"]\nflow = \"sort\"\n";
  REQUIRE(Lines(knowledge.ApplySite({"advise.toml", text})).empty());
  const OperatorFormulas& operators = knowledge.operators();
  const auto* linear = operators.FindAs<ProductFormula>("Ours::GEMM_nt");  // in full, before *
  REQUIRE(linear != nullptr);
  CHECK(linear->form == ProductFormula::Form::kLinear);
  CHECK(linear->first == 1);
  CHECK(operators.FindAs<ProductFormula>("ours::gemm_nn")->first == 0);
  CHECK(operators.FindAs<MemoryFormula>("ours::sort_rows")->flow == MemoryFormula::Flow::kSort);
  CHECK(operators.Find("ours::other") == nullptr);
  CHECK(knowledge.SiteChanges() ==
        std::vector<std::string>{
            "the work of ours::gemm_nt is counted by a formula of the site (advise.toml)",
            "the work of ours::sort_* is counted by a formula of the site (advise.toml)"});
}

TEST_CASE("a formula of a site that says nothing, or something else than another, is refused") {
  const auto problem = [](const std::string& text) {
    Knowledge knowledge = LoadKb({{"kb/operators.toml", "[[product]]\nany = [\"aten::mm\"]\n"}});
    return Lines(knowledge.ApplySite({"advise.toml", text})).at(0);
  };
  CHECK_THAT(problem("[[operators.product]]\nany = [\"aten::mm\"]\nfirst = 1\n"),
             Contains("advise.toml:1: ") && Contains("\"aten::mm\" has a formula already"));
  CHECK_THAT(problem("[[operators.product]]\nany = [\"x\"]\nform = \"matrix\"\n"),
             Contains("form"));
  CHECK_THAT(problem("[[operators.product]]\nany = [\"x\"]\nfirst = -1\n"),
             Contains("place of an argument"));
  CHECK_THAT(problem("[[operators.memory]]\nany = [\"x\"]\n"), Contains("flow"));
  CHECK_THAT(problem("[[operators.other]]\nany = [\"x\"]\n"), Contains("unknown field"));
}
