// Reads lists of the processes that use GPUs:
//
//   nvidia-smi --query-compute-apps=gpu_uuid,pid,process_name,used_gpu_memory --format=csv
//   nvidia-smi pmon                   # gpu  pid  type  sm  mem  …  command
//
// Of each GPU, those of the moment with most of them are kept: processes one after another do not
// share it.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/ascii.h"
#include "engine/base/file_name.h"
#include "engine/import/formats.h"
#include "engine/import/text_input.h"

namespace advise {
namespace {

constexpr double kMebibyte = 1048576;

// Fields of nvidia-smi, without their units: "used_gpu_memory [MiB]". Empty unless they are those
// of a list of processes.
std::vector<std::string> AppFieldsOf(std::string_view line) {
  std::vector<std::string> fields;
  bool pid = false, process = false;
  for (const std::string& cell : CellsOf(line)) {
    fields.push_back(Lower(Trimmed(std::string_view(cell).substr(0, cell.find(" [")))));
    const std::string& field = fields.back();
    // Prose that speaks of such lists has blanks between its words.
    if (field.empty() || field.find(' ') != std::string::npos) return {};
    pid = pid || field == "pid";
    process = process || field == "process_name" || field == "name" || field == "used_gpu_memory" ||
              field == "used_memory";
  }
  return pid && process ? fields : std::vector<std::string>();
}

bool IsPmonHeader(std::string_view line) {
  return line.starts_with("# gpu") && line.find(" pid ") != std::string_view::npos;
}

class ProcessLists {
 public:
  // `moment`: what the list gives for its time; "" where it gives none.
  void Add(const std::string& moment, GpuProcess process) {
    auto& now = now_[process.gpu];
    const bool again = std::any_of(now.begin(), now.end(),
                                   [&](const GpuProcess& one) { return one.pid == process.pid; });
    if (again || moment != moment_[process.gpu]) now.clear();
    moment_[process.gpu] = moment;
    now.push_back(process);
    auto& most = most_[process.gpu];
    if (now.size() > most.size()) most = now;
    ++rows_;
  }

  std::int64_t Finish(Monitor* monitor) const {
    for (const auto& [gpu, processes] : most_)
      monitor->processes.insert(monitor->processes.end(), processes.begin(), processes.end());
    return rows_;
  }

 private:
  std::map<std::string, std::vector<GpuProcess>> now_, most_;
  std::map<std::string, std::string> moment_;
  std::int64_t rows_ = 0;
};

// A row of --query-compute-apps; nothing where its cells do not fit the header.
std::optional<std::pair<std::string, GpuProcess>> AppOf(const std::vector<std::string>& fields,
                                                        std::string_view line) {
  const std::vector<std::string> cells = CellsOf(line);
  if (cells.size() != fields.size()) return std::nullopt;
  GpuProcess process;
  std::string moment;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string& field = fields[i];
    const std::string& cell = cells[i];
    if (field == "timestamp") moment = cell;
    if (field == "pid") process.pid = cell;
    if (field == "process_name" || field == "name") process.name = FileName(cell);
    if (field == "gpu_uuid" || field == "gpu_bus_id" || field == "gpu_serial") process.gpu = cell;
    if (field == "used_gpu_memory" || field == "used_memory") {
      const auto number = NumberOf(std::string_view(cell).substr(0, cell.find(' ')));
      if (number) process.bytes = *number * kMebibyte;
    }
  }
  if (!IsDigits(process.pid)) return std::nullopt;
  return std::pair(moment, process);
}

// "    0       4242     C     55     20   …    python": graphics alone computes nothing, nor does
// what only holds a context.
std::optional<GpuProcess> PmonProcessOf(std::string_view line) {
  const auto words = WordsOf(line);
  if (words.size() < 5 || !IsDigits(words[0]) || !IsDigits(words[1])) return std::nullopt;
  if (words[2].find('C') == std::string_view::npos || words[3] == "0") return std::nullopt;
  return GpuProcess{std::string(words[0]), std::string(words[1]), FileName(words.back()), -1};
}

}  // namespace

bool SniffProcessList(std::string_view head) {
  for (const std::string_view line : LinesOf(head)) {
    if (Trimmed(line).empty()) continue;
    if (IsPmonHeader(line)) return true;
    const auto fields = AppFieldsOf(line);
    return std::any_of(fields.begin(), fields.end(), [](const std::string& field) {
      return field.starts_with("used_") || field.starts_with("gpu_");
    });
  }
  return false;
}

std::optional<Error> ReadProcessList(std::string_view text, const std::string& path, Trace* trace) {
  trace->producer = "nvidia-smi";
  std::vector<std::string> fields;
  ProcessLists lists;
  for (const std::string_view line : LinesOf(text)) {
    if (Trimmed(line).empty() || line.starts_with("#")) continue;
    if (auto header = AppFieldsOf(line); !header.empty()) {
      fields = std::move(header);
    } else if (fields.empty()) {
      if (auto process = PmonProcessOf(line)) lists.Add("", std::move(*process));
    } else if (auto app = AppOf(fields, line)) {
      lists.Add(app->first, std::move(app->second));
    }
  }
  const std::int64_t rows = lists.Finish(&trace->monitor);
  trace->table_rows["rows"] = rows;
  if (rows == 0)
    return Error{"the list of nvidia-smi names no process that computes", path, "did a job run?"};
  return std::nullopt;
}

}  // namespace advise
