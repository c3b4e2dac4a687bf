#include "engine/grade/answer_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/base/ascii.h"
#include "engine/base/trim.h"
#include "engine/knowledge/toml_tree.h"

namespace advise {
namespace {

constexpr std::size_t kLongestAnswer = 500;
constexpr std::size_t kMostAnswers = 300;

// One line of CSV: quotes around a cell, two for one inside; separated by commas, or by semicolons
// where the line has no comma outside quotes.
std::vector<std::string> Cells(std::string_view line) {
  std::vector<std::string> best;
  for (const char separator : {',', ';', '\t'}) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (c == '"') {
        if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
          cells.back() += '"';
          ++i;
        } else {
          quoted = !quoted;
        }
      } else if (c == separator && !quoted) {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    for (std::string& cell : cells) cell = Trimmed(cell);
    if (cells.size() > 1) return cells;
    best = cells;
  }
  return best;
}

Result<Answers> ReadCsv(const std::string& path, std::string_view text) {
  Answers answers;
  std::size_t at = 0;
  if (text.starts_with("\xEF\xBB\xBF")) at = 3;
  int number = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (Trimmed(line).empty() || line.front() == '#') continue;
    const std::vector<std::string> cells = Cells(line);
    if (cells.size() < 2) {
      return Fail("wanted question,value or question,value,unit",
                  path + ":" + std::to_string(number));
    }
    const std::string first = Lower(cells[0]);
    if (number == 1 && (first == "question" || first == "id" || first == "question_id")) continue;
    std::string value = cells[1];
    if (cells.size() > 2 && !cells[2].empty() && !value.empty()) value += " " + cells[2];
    answers[cells[0]] = value;
  }
  return answers;
}

Result<Answers> ReadToml(const std::string& path, std::string_view text) {
  const Result<TomlNode> root = ParseToml(path, text);
  if (!root) return tl::unexpected(root.error());
  Answers answers;
  const TomlNode* table = root->Find("answers");
  for (const TomlNode& node : (table != nullptr && table->IsTable() ? *table : *root).items) {
    switch (node.kind) {
      case TomlNode::Kind::kText:
        answers[node.key] = Trimmed(node.text);
        break;
      case TomlNode::Kind::kNumber:
        answers[node.key] = fmt::format("{:.15g}", node.number);
        break;
      case TomlNode::Kind::kFlag:
        answers[node.key] = node.flag ? "yes" : "no";
        break;
      case TomlNode::Kind::kTable: {
        // { value = 12.5, unit = "ms" }
        const TomlNode* value = node.Find("value");
        const TomlNode* unit = node.Find("unit");
        if (value == nullptr) break;
        std::string written = value->kind == TomlNode::Kind::kNumber
                                  ? fmt::format("{:.15g}", value->number)
                                  : std::string(Trimmed(value->text));
        if (unit != nullptr && !unit->text.empty()) written += " " + unit->text;
        answers[node.key] = written;
        break;
      }
      default:
        break;
    }
  }
  return answers;
}

}  // namespace

bool IsAnswerSheet(std::string_view file_name) {
  const std::string lower = Lower(file_name);
  return lower.ends_with("answers.toml") || lower.ends_with("answers.csv");
}

Result<Answers> ReadAnswers(const std::string& path, std::string_view text) {
  if (text.size() > kLargestSheet) {
    return Fail(fmt::format("an answer sheet of {} bytes", text.size()), path, "at most 64 KiB");
  }
  if (text.find('\0') != std::string_view::npos) return Fail("is not a text", path);
  Result<Answers> answers =
      Lower(path).ends_with(".csv") ? ReadCsv(path, text) : ReadToml(path, text);
  if (!answers) return answers;
  if (answers->size() > kMostAnswers) return Fail("more than 300 answers", path);
  for (auto& [id, value] : *answers) {
    if (value.size() > kLongestAnswer) value.resize(kLongestAnswer);
  }
  return answers;
}

}  // namespace advise
