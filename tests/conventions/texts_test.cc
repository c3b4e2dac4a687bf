// What docs/style.md asks of every text that a person reads, as far as a program can tell.
#include <fmt/format.h>

#include <regex>

#include "tests/conventions/rule_tree.h"

namespace advise {
namespace {

constexpr std::size_t kMostWords = 40;
constexpr std::size_t kLongestTitle = 90;

struct Text {
  std::string where;
  std::string text;
};

// ---- the texts

// Without code: fences, `spans`, addresses and ids of rules, which stay as they are.
std::string WithoutCode(const std::string& text) {
  static const std::regex code(R"(`[^`]*`|\]\([^)]*\)|https?://\S+|[a-z]+/[a-z-]+)");
  return std::regex_replace(text, code, "CODE");
}

// "{name:kind}" as a word, so that a sentence reads as it will be filled.
std::string WithoutPlaces(const std::string& text) {
  static const std::regex attached(R"(([^\s(])\{[a-z0-9_]+:text\})");
  static const std::regex place(R"(\{[a-z0-9_]+:[a-z]+\})");
  return std::regex_replace(std::regex_replace(text, attached, "$1"), place, "12");
}

// The comments of a snippet, without the code that stands in them.
std::vector<std::string> Comments(const std::string& snippet) {
  static const std::regex comment(R"((^|\s)(#|//) +([^\n]*))");
  static const std::regex code(R"(\S*[\[\](){}<>=_*]\S* *)");
  std::vector<std::string> all;
  for (std::sregex_iterator it(snippet.begin(), snippet.end(), comment), end; it != end; ++it) {
    all.push_back(std::regex_replace((*it)[3].str(), code, "CODE "));
  }
  return all;
}

std::vector<Text> RuleTexts() {
  std::vector<Text> texts;
  for (const RuleInfo& rule : SourceTree().rules->rules()) {
    const auto add = [&](const char* field, const std::string& text) {
      texts.push_back({fmt::format("{}: {}", rule.path, field), WithoutPlaces(text)});
    };
    add("title", rule.title);
    add("symptom", rule.symptom);
    add("cause", rule.cause);
    add("false_positives", rule.false_positives);
    for (const Fix& fix : rule.fixes) {
      add("action", fix.action);
      for (const std::string& comment : Comments(fix.snippet)) add("comment", comment);
    }
  }
  // What functions say stands in string literals; of those, sentences are of interest.
  static const std::regex literal(R"re("((?:[^"\\]|\\.)*)")re");
  for (const SourceFile& file : SourceFiles({"rules"}, {".lua"})) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      if (line.find("tests = {") != std::string::npos) break;
      if (line.find("snippet") != std::string::npos || line.find("--") != std::string::npos)
        continue;
      for (std::sregex_iterator it(line.begin(), line.end(), literal), end; it != end; ++it) {
        const std::string text = (*it)[1];
        if (text.find(' ') == std::string::npos || text.find("\\n") != std::string::npos) continue;
        texts.push_back({fmt::format("{}:{}", file.path, i + 1), WithoutPlaces(text)});
      }
    }
  }
  return texts;
}

// Of rows without the list of their columns.
std::vector<Text> FactTexts() {
  std::vector<Text> texts;
  for (const FactInfo& fact : FactList(*SourceTree().knowledge)) {
    const std::size_t columns =
        fact.unit == "rows" ? fact.definition.rfind(": ") : std::string::npos;
    texts.push_back({"fact " + fact.name, fact.definition.substr(0, columns)});
  }
  return texts;
}

// Values of the fields that people read.
std::vector<Text> KnowledgeTexts() {
  static const std::regex field(
      R"re(^\s*(?:\{ *)?(?:why|text|title|question|hint|name|story|task|intro|says|good|bad|answer|points_for) *= *"((?:[^"\\]|\\.)*)")re");
  std::vector<Text> texts;
  for (const SourceFile& file : SourceFiles({"kb"}, {".toml"})) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      std::smatch match;
      if (std::regex_search(file.lines[i], match, field)) {
        texts.push_back({fmt::format("{}:{}", file.path, i + 1), match[1]});
      }
    }
  }
  return texts;
}

// What stands between quotes in code, adjacent literals as one. Comments, raw literals (code of
// other languages) and names are left out; `{}` is a word.
class Literals {
 public:
  Literals(std::string path, const std::string& code) : path_(std::move(path)), code_(code) {}

  std::vector<Text> Read() {
    while (at_ < code_.size()) {
      if (Is("//")) {
        SkipTo("\n");
      } else if (Is("#include")) {
        SkipTo("\n");
      } else if (Is("R\"")) {
        Flush();
        at_ += 2;
        const std::string end = ")" + code_.substr(at_, code_.find('(', at_) - at_) + "\"";
        SkipTo(end);
      } else if (Is("'")) {
        Flush();
        at_ += code_[at_ + 1] == '\\' ? 2 : 1;
        SkipTo("'");
      } else if (Is("\"")) {
        AddLiteral();
      } else {
        if (code_[at_] == '\n') ++line_;
        if (std::isspace(static_cast<unsigned char>(code_[at_])) == 0) Flush();
        ++at_;
      }
    }
    return std::move(texts_);
  }

 private:
  bool Is(std::string_view start) const { return code_.compare(at_, start.size(), start) == 0; }

  void SkipTo(const std::string& end) {
    const std::size_t found = std::min(code_.find(end, at_), code_.size());
    line_ += static_cast<std::size_t>(std::count(code_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                 code_.begin() + static_cast<std::ptrdiff_t>(found),
                                                 '\n'));
    at_ = end == "\n" ? found : found + end.size();
  }

  void AddLiteral() {
    if (text_.empty()) first_ = line_;
    for (++at_; at_ < code_.size() && code_[at_] != '"'; ++at_) {
      if (code_[at_] != '\\') {
        text_ += code_[at_];
        continue;
      }
      ++at_;
      text_ += code_[at_] == 'n' ? " | " : std::string(1, code_[at_]);
    }
    ++at_;
  }

  // Of interest are sentences and parts of them: several words.
  void Flush() {
    static const std::regex words(R"([a-z]{2,}[, ]+([a-z]+[, ]+)*[a-z]{2,})");
    static const std::regex place(R"(\{[^}]*\})");
    static const std::regex query(R"(\b(select|insert|create|pragma) )");
    if (std::regex_search(text_, words) && !std::regex_search(text_, query)) {
      texts_.push_back(
          {fmt::format("{}:{}", path_, first_), std::regex_replace(text_, place, "12")});
    }
    text_.clear();
  }

  std::string path_;
  const std::string& code_;
  std::size_t at_ = 0, line_ = 1, first_ = 1;
  std::string text_;
  std::vector<Text> texts_;
};

// What the program itself says. Definitions of facts are read from the program (FactTexts).
std::vector<Text> EngineTexts() {
  std::vector<Text> texts;
  for (const SourceFile& file : SourceFiles({"engine"}, {".cc"})) {
    std::string code;
    for (const std::string& line : file.lines) code += line + "\n";
    for (Text& text : Literals(file.path, code).Read()) texts.push_back(std::move(text));
  }
  return texts;
}

// Paragraphs of the documents, list items and table cells, without what is fenced.
std::vector<Text> DocumentTexts() {
  std::vector<SourceFile> files = SourceFiles({"docs"}, {".md"});
  for (const SourceFile& file : SourceFiles({"fixtures"}, {".md"})) files.push_back(file);
  for (const char* path : {"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}) {
    SourceFile file{path, {}};
    std::ifstream in(std::string(ADVISE_SOURCE_DIR "/") + path);
    for (std::string line; std::getline(in, line);) file.lines.push_back(line);
    files.push_back(std::move(file));
  }
  std::vector<Text> texts;
  for (const SourceFile& file : files) {
    if (file.path == "docs/style.md") continue;  // it shows what not to write
    bool fenced = false;
    Text text;
    const auto flush = [&] {
      if (!text.text.empty()) texts.push_back({text.where, WithoutCode(text.text)});
      text.text.clear();
    };
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      std::string line = file.lines[i];
      if (line.starts_with("```")) {
        flush();
        fenced = !fenced;
        continue;
      }
      if (fenced) continue;
      const std::size_t at = line.find_first_not_of(" \t");
      line = at == std::string::npos ? "" : line.substr(at);
      const bool starts = line.starts_with("- ") || line.starts_with("#") ||
                          line.starts_with("|") || line.starts_with("<!--") ||
                          (!line.empty() && std::isdigit(static_cast<unsigned char>(line[0])) != 0);
      if (line.empty() || starts) flush();
      if (line.empty() || line.starts_with("<!--")) continue;
      if (line.starts_with("|")) {
        std::size_t from = 1;
        for (std::size_t bar = line.find('|', from); bar != std::string::npos;
             from = bar + 1, bar = line.find('|', from)) {
          texts.push_back(
              {fmt::format("{}:{}", file.path, i + 1), WithoutCode(line.substr(from, bar - from))});
        }
        continue;
      }
      if (text.text.empty()) text.where = fmt::format("{}:{}", file.path, i + 1);
      text.text += (text.text.empty() ? "" : " ") + line;
    }
    flush();
  }
  return texts;
}

std::vector<Text> AllTexts() {
  std::vector<Text> all;
  for (auto list : {RuleTexts(), FactTexts(), KnowledgeTexts(), DocumentTexts()}) {
    std::move(list.begin(), list.end(), std::back_inserter(all));
  }
  return all;
}

// ---- the checks

struct Pattern {
  const char* expression;
  const char* advice;
};

void CheckPatterns(const std::vector<Pattern>& patterns,
                   const std::vector<Text>& texts = AllTexts()) {
  REQUIRE(texts.size() > 2000);
  for (const Pattern& pattern : patterns) {
    const std::regex expression(pattern.expression, std::regex::icase | std::regex::optimize);
    for (const Text& text : texts) {
      std::smatch match;
      if (std::regex_search(text.text, match, expression)) {
        FAIL_CHECK(text.where << ": \"" << match.str() << "\": " << pattern.advice << "\n  "
                              << text.text);
      }
    }
  }
}

const std::vector<Pattern> kTerms = {
    {R"(\b(times?|kernels?|calls?|copies|collectives?|bytes|casts?|launch(es)?|process(es)?|file|rank|page|report|library|tensor|cell|test|ctest|events?|ns|GB|MB|copies|waits|updates?|samples?|threads?|blocks?|allocations?|operators?|micro-batches|passes|tokens?|gathers?|one|\d+) an? (step|second|GPU|kernel|node|rank|process|thread|block|row|layer|token|cycle|event|table|file|room|finding|run|report|day|minute|month|week)\b)",
     "say \"per\""},
    {R"(\bside by side\b)", "say \"overlap\", \"concurrently\" or \"in parallel\""},
    {R"(\b(switch|switches|switched) (it |them )?(on|off)\b)", "say \"turn on\" or \"turn off\""},
    {R"(\b(a|an|one) \w+ of (its|their|our|your) own\b)", "say \"its own …\" or \"a separate …\""},
    {R"(\bin trains\b)", "say \"back to back\" or \"in a series\""},
    {R"(\bhold(s|ing)? (the host|the loop|the GPU|the thread|it|them) up\b)", "say \"blocks\""},
    {R"(\bbeside no\b|\bleft dark\b|\bthere is none of it\b|\bwhat can still be won\b)",
     "say it plainly"},
    {R"(\blaunch calls?\b)", "say \"kernel launch\" or \"launching call\""},
    {R"(\bno terminal\b)", "say \"not a terminal\""},
    {R"(\btold (from|by)\b)", "say \"inferred from\" or \"recognized by\""},
    {R"(\b(memory rate|memory's rate)\b)", "say \"memory bandwidth\""},
    {R"(\bchange of design\b)", "say \"design change\""},
    {R"(\b(gain|saving) (that is )?stated here\b)", "say \"which the saving assumes\""},
    {R"(\bmeanwhile for\b)", "say \"Meanwhile, …\" or \"That leaves the GPU idle for …\""},
    {R"(\b(run|runs) slower\b)", "say \"more slowly\""},
    {R"(\bGPU idles\b|\bdoes the GPU idle\b)", "say \"the GPU is idle\""},
    {R"(\buses? (it|them) up\b)", "say \"consumes\""},
    {R"(\bwork from the host\b)", "say \"host keeping up\""},
    {R"(\b(runs|has|takes) such (code|work|time)\b)", "name it: each sentence stands alone"},
    {R"(\bcome from the repeating\b)", "say \"were inferred from\""},
    {R"(\brepeats? in \d+ of the (steps|tokens)\b)", "say who does what for each step"},
    {R"(\bof a (Python|C\+\+|Fortran) program, add\b)", "say \"for a … program\""},
};

const std::vector<Pattern> kSpelling = {
    {R"(\b\w*(synchron|normal|initial|optim|util|serial|quant|parallel|organ|recogn|token|summar|minim|maxim|general|special|vector|regular|visual|categor|memo|local|final|real|standard|author|prior|emphas|character|material)is(e|es|ed|ing|er|ation)\b)",
     "-ize, -ization"},
    {R"(\banaly(se|sed|ses(?= (the|a|it|one|only|all)\b)|sing)\b)", "analyze"},
    {R"(\b(behaviour|colour|neighbour|favour|honour|labour|flavour|rumour)\w*)", "-or"},
    {R"(\b(centre|metre|licence|defence|offence|programme|catalogue|grey|whilst|amongst|towards|learnt|(mis)?spelt|judgement)\b)",
     "American spelling"},
    {R"(\b(cancelled|cancelling|modelled|modelling|labelled|labelling|travell\w+|signalled|fuell\w+)\b)",
     "one l"},
};

TEST_CASE("texts use the terms of docs/style.md") { CheckPatterns(kTerms); }

TEST_CASE("texts have American spelling") { CheckPatterns(kSpelling); }

TEST_CASE("what the program itself says is read as a person would") {
  const std::string code =
      "// \"not this\"\nf(\"one thing {} \"\n  \"and another\"); g('\"', \"a name\");\n"
      "q(\"select the row\"); r(R\"x(not this one)x\");";
  const std::vector<Text> texts = Literals("a.cc", code).Read();
  REQUIRE(texts.size() == 1);
  CHECK(texts[0].text == "one thing 12 and another");
  CHECK(texts[0].where == "a.cc:2");
}

TEST_CASE("what the program itself says has the same terms and spelling") {
  const std::vector<Text> texts = EngineTexts();
  CheckPatterns(kTerms, texts);
  CheckPatterns(kSpelling, texts);
  CheckPatterns(
      {{R"(\b(the the|a a|is is|of of|to to|and and|in in|that that is)\b)", "a word twice"},
       {R"((^|[^\d.,])1 (GPUs|times|steps|ranks|kernels|nodes|processes|threads|copies)\b)",
        "singular"},
       {R"(\bthe (latter|former)\b)", "name it"}},
      texts);
}

TEST_CASE("texts have no slips of the pen") {
  CheckPatterns({
      {R"(\w  +\w)", "one space"},
      {R"(\bor +Or\b)", "the report puts \"or\" before an action"},
      {R"((^|[^\d.,])1 (GPUs|times|steps|ranks|kernels|nodes|processes|threads|copies|findings|rules)\b)",
       "singular"},
      {R"(\b(the the|a a|is is|of of|to to|and and|in in|that that is)\b)", "a word twice"},
      {R"(\s[,.;:](\s|$))", "no space before punctuation"},
  });
}

// "1 call per step build graphs": counts may be one, and templates make only nouns singular.
TEST_CASE("no count that may be one is the subject of a verb") {
  static const std::regex place(R"(\{[a-z0-9_]+:(count|num)\})");
  static const std::regex other(R"(\{per:text\})");
  static const std::regex subject(
      R"((^|[.:;] )1( of 1)?( [a-z/-]+){1,4}?( per step)? (block|build|check|create|delay|differ|go|have|load|look|make|move|open|pin|query|repeat|run|send|share|take|use|wait)\b)");
  REQUIRE(std::regex_search(std::string("1 calls per step build or change graphs"), subject));
  REQUIRE_FALSE(std::regex_search(std::string("Graphs are built in the loop (1 calls)"), subject));
  for (const RuleInfo& rule : SourceTree().rules->rules()) {
    const std::string one =
        std::regex_replace(std::regex_replace(rule.symptom, place, "1"), other, "per step");
    std::smatch match;
    if (std::regex_search(one, match, subject)) FAIL_CHECK(rule.path << ": " << match.str());
  }
}

TEST_CASE("a cause says the reason and not that it is one") {
  for (const RuleInfo& rule : SourceTree().rules->rules()) {
    INFO(rule.path << ": " << rule.cause);  // printed behind "Why"
    CHECK_FALSE(rule.cause.starts_with("Why "));
  }
}

TEST_CASE("texts stand alone") {
  CheckPatterns({
      {R"(\b(that|those) of the (other|demo|same|former|latter|one before|first)\b)", "name it"},
      {R"(\b(the same as|as|see) (above|below|before)\b)", "name it"},
      {R"(^(Their|Its|Theirs|Ditto)\b)", "name it"},
      {R"(\bthe (latter|former)\b)", "name it"},
  });
}

TEST_CASE("sentences have at most 40 words") {
  static const std::regex end(R"([.!?:;]["')]*(\s|$)|\s\|\s)");
  static const std::regex word(R"(\S*\w\S*)");
  for (const Text& text : AllTexts()) {
    std::sregex_token_iterator sentence(text.text.begin(), text.text.end(), end, -1);
    for (; sentence != std::sregex_token_iterator(); ++sentence) {
      const std::string one = *sentence;
      const auto words =
          std::distance(std::sregex_iterator(one.begin(), one.end(), word), std::sregex_iterator());
      if (static_cast<std::size_t>(words) > kMostWords) {
        FAIL_CHECK(text.where << ": a sentence of " << words << " words\n  " << one);
      }
    }
  }
}

TEST_CASE("a title is an imperative that says the fix") {
  static const std::vector<std::string> verbs = {
      "Add",        "Allocate", "Allow",    "Analyze", "Avoid",       "Batch",   "Bind",
      "Build",      "Capture",  "Check",    "Choose",  "Clear",       "Clip",    "Collect",
      "Compile",    "Compute",  "Consider", "Convert", "Copy",        "Create",  "Decode",
      "Detokenize", "Do",       "Find",     "Fix",     "Free",        "Fuse",    "Generate",
      "Give",       "Have",     "Improve",  "Keep",    "Launch",      "Leave",   "Let",
      "Load",       "Log",      "Look",     "Lower",   "Make",        "Measure", "Merge",
      "Move",       "Name",     "Overlap",  "Pack",    "Pad",         "Pair",    "Pass",
      "Pin",        "Prefetch", "Prefill",  "Prepare", "Put",         "Query",   "Read",
      "Record",     "Reduce",   "Remove",   "Reorder", "Replace",     "Reuse",   "Route",
      "Run",        "Sample",   "Save",     "Send",    "Share",       "Shard",   "Shorten",
      "Speed",      "Split",    "Start",    "Stop",    "Synchronize", "Train",   "Turn",
      "Unset",      "Update",   "Upload",   "Use",     "Wait",        "Write",
  };
  // Nobody can do what is done already: such a fix says what may have turned it off.
  static const std::regex nothing(
      R"(\b([Ll]eave|^Keep) [^,.]*(\bon( and|[,.]|$)|\bdefault\b)|^Do not turn)");
  REQUIRE(std::regex_search("Leave the scheduler on, which is the default", nothing));
  REQUIRE(std::regex_search("In PyTorch, leave the allocator on and do that", nothing));
  REQUIRE_FALSE(std::regex_search("Keep the tables on the GPU", nothing));
  for (const RuleInfo& rule : SourceTree().rules->rules()) {
    INFO(rule.path << ": " << rule.title);
    const std::string first = rule.title.substr(0, rule.title.find(' '));
    CHECK(std::find(verbs.begin(), verbs.end(), first) != verbs.end());
    CHECK(rule.title.size() <= kLongestTitle);
    CHECK_FALSE(rule.title.ends_with('.'));
    for (const Fix& fix : rule.fixes) {
      INFO(fix.action);
      CHECK_FALSE(fix.action.starts_with("Or "));
      CHECK_FALSE(fix.action.ends_with('.'));
      CHECK_FALSE(std::regex_search(fix.action, nothing));
    }
  }
}

}  // namespace
}  // namespace advise
