#include "engine/import/foreign.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "engine/base/shell_word.h"
#include "engine/import/text_input.h"

namespace advise {
namespace {

namespace fs = std::filesystem;

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

constexpr const char* kQuery =
    "log it with: nvidia-smi --query-gpu=timestamp,index,name,utilization.gpu,memory.used,"
    "power.draw --format=csv -l 1";

// Columns of words, with numbers below: a table of some script.
std::optional<std::string> TableOf(const std::vector<std::string_view>& lines) {
  if (lines.size() < 2) return std::nullopt;
  const auto names = CellsOf(lines[0]);
  const auto values = CellsOf(lines[1]);
  if (names.size() < 2 || names.size() != values.size()) return std::nullopt;
  const auto number = [](const std::string& cell) { return NumberOf(cell).has_value(); };
  if (std::any_of(names.begin(), names.end(), number) ||
      std::none_of(values.begin(), values.end(), number)) {
    return std::nullopt;
  }
  std::string shown;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 4); ++i) {
    std::string name = names[i].substr(0, 30);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 32; }, ' ');
    shown += (i == 0 ? "" : ", ") + name;
  }
  return shown + (names.size() > 4 ? ", …" : "");
}

std::optional<Error> ForeignText(std::string_view text, const std::string& path) {
  std::vector<std::string_view> lines;
  for (const std::string_view line : LinesOf(text)) {
    if (!Trimmed(line).empty()) lines.push_back(Trimmed(line));
  }
  if (lines.empty()) return Error{"the file holds no text", path, "was the copy cut off?"};
  const auto any = [&](std::string_view part) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](std::string_view line) { return Has(line, part); });
  };
  if (any(" NVPROF is profiling ")) {
    return Error{"a log of nvprof without a table", path,
                 "profile with: nsys profile --trace=cuda,nvtx,osrt -o run -- COMMAND"};
  }
  if (any("| NVIDIA-SMI ") || any("==============NVSMI LOG==============") ||
      lines[0].starts_with("<?xml")) {
    return Error{"a single output of nvidia-smi, not a log over time", path, kQuery};
  }
  if (const auto columns = TableOf(lines)) {
    return Error{fmt::format("a table in an unknown format (columns {})", *columns), path, kQuery};
  }
  return std::nullopt;
}

}  // namespace

std::string ExportCommand(const std::string& path) {
  const std::string target = fs::path(path).replace_extension(".sqlite").string();
  return fmt::format("nsys export --type sqlite -o {} {}", ShellQuote(target), ShellQuote(path));
}

Error ForeignFile(std::string_view head, const std::string& path) {
  if (head.starts_with("version https://git-lfs.github.com/spec/")) {
    return {"a Git LFS pointer, not the file itself", path, "fetch it with: git lfs pull"};
  }
  if (fs::path(path).extension() == ".qdstrm") {
    return {"a capture that nsys has not processed yet", path,
            "import it with QdstrmImporter, then: nsys export --type sqlite"};
  }
  if (path.ends_with(".xplane.pb")) {
    return {"a profile of JAX or TensorFlow as protobuf", path,
            "give the .trace.json.gz that the profiler writes beside it"};
  }
  if (head.starts_with("\x1f\x8b")) {
    return {"a gzip file that holds no PyTorch profiler trace", path,
            "unpack other reports with gunzip"};
  }
  // The first lines of its JSON reports, comparisons and plans.
  if (head.find("\"name\": \"advise\"") != std::string_view::npos) {
    return {"a report that advise wrote, not a profile", path,
            "give it the profile that the report was made of"};
  }
  const std::size_t start = head.find_first_not_of(" \t\r\n");
  if (start != std::string_view::npos && (head[start] == '{' || head[start] == '[')) {
    return {"a JSON file, but not a PyTorch profiler trace", path,
            "if it came with an .nsys-rep file, export that: nsys export --type sqlite "
            "REPORT.nsys-rep"};
  }
  const bool utf16 = head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF");
  if (utf16 || head.find('\0') == std::string_view::npos) {
    if (auto error = ForeignText(NormalText(head), path)) return *error;
    return {"a text file, but none of the reports and logs that advise reads", path,
            "if it came with an .nsys-rep file, export that: nsys export --type sqlite "
            "REPORT.nsys-rep"};
  }
  return {"not an Nsight Systems SQLite export", path,
          "make one with: nsys export --type sqlite REPORT.nsys-rep"};
}

}  // namespace advise
