// Reads what `torch.cuda.memory_summary()` prints:
//
//   |                  PyTorch CUDA memory summary, device ID 0                 |
//   |            CUDA OOMs: 0            |        cudaMalloc retries: 2         |
//   |        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |
//   | Allocated memory      |   1024 MiB |   2048 MiB |   9000 MiB |   8000 MiB |
#include <algorithm>
#include <array>

#include "engine/import/formats.h"
#include "engine/import/text_input.h"

namespace advise {
namespace {

constexpr std::string_view kTitle = "CUDA memory summary, device ID ";

std::vector<std::string_view> BoxCells(std::string_view line) {
  std::vector<std::string_view> cells;
  line = Trimmed(line);
  if (line.size() < 2 || line.front() != '|') return cells;
  line.remove_prefix(1);
  while (!line.empty()) {
    const std::size_t end = std::min(line.find('|'), line.size());
    cells.push_back(Trimmed(line.substr(0, end)));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return cells;
}

// "2048 MiB", "1 KiB", "512 B"; before 2023 "2048 MB", "1 KB" for the same (PyTorch's pull
// request 91854).
std::optional<double> BytesPrinted(std::string_view cell) {
  const auto words = WordsOf(cell);
  if (words.size() != 2) return std::nullopt;
  static constexpr auto kUnits = std::to_array<std::array<std::string_view, 2>>(
      {{"B", "B"}, {"KiB", "KB"}, {"MiB", "MB"}, {"GiB", "GB"}, {"TiB", "TB"}});
  const auto number = NumberOf(words[0]);
  double scale = 1;
  for (const auto& [unit, before] : kUnits) {
    if (words[1] == unit || words[1] == before)
      return number ? std::optional(*number * scale) : std::nullopt;
    scale *= 1024;
  }
  return std::nullopt;
}

double CountBehind(std::string_view cell, std::string_view words) {
  const std::size_t at = cell.find(words);
  if (at == std::string_view::npos) return -1;
  return NumberOf(cell.substr(at + words.size())).value_or(-1);
}

void ReadBoxRow(const std::vector<std::string_view>& cells, AllocatorPage* page) {
  for (const std::string_view cell : cells) {
    if (const double count = CountBehind(cell, "CUDA OOMs:"); count >= 0) {
      page->out_of_memory = count;
    }
    if (const double count = CountBehind(cell, "cudaMalloc retries:"); count >= 0) {
      page->retries = count;
    }
  }
  if (cells.size() < 3) return;
  const auto now = BytesPrinted(cells[1]);
  const auto peak = BytesPrinted(cells[2]);
  if (!now || !peak) return;
  if (cells[0] == "Allocated memory") {
    page->allocated = *now;
    page->allocated_peak = *peak;
  } else if (cells[0] == "GPU reserved memory") {
    page->reserved = *now;
    page->reserved_peak = *peak;
  } else if (cells[0] == "Non-releasable memory") {
    page->unusable_peak = *peak;
  }
}

}  // namespace

bool SniffAllocatorPage(std::string_view head) {
  return head.find(kTitle) != std::string_view::npos;
}

std::optional<Error> ReadAllocatorPage(std::string_view text, const std::string& path,
                                       Trace* trace) {
  trace->producer = "PyTorch";
  std::vector<AllocatorPage>& pages = trace->profile.allocators;
  for (const std::string_view line : LinesOf(text)) {
    const std::size_t title = line.find(kTitle);
    if (title != std::string_view::npos) {
      AllocatorPage page;
      const auto words = WordsOf(line.substr(title + kTitle.size()));
      page.device = words.empty() ? 0 : WholeOf<int>(NumberOf(words[0]).value_or(0));
      pages.push_back(page);
    } else if (!pages.empty()) {
      ReadBoxRow(BoxCells(line), &pages.back());
    }
  }
  // A program may print the page more than once: the last of a device counts.
  std::vector<AllocatorPage> last;
  for (const AllocatorPage& page : pages) {
    if (page.reserved_peak < 0 || page.allocated_peak < 0) continue;
    std::erase_if(last, [&](const AllocatorPage& p) { return p.device == page.device; });
    last.push_back(page);
  }
  pages = std::move(last);
  if (pages.empty()) {
    return Error{"the memory summary of PyTorch is cut short: it holds no row of reserved memory",
                 path, "print all of torch.cuda.memory_summary()"};
  }
  trace->table_rows["allocators"] = static_cast<std::int64_t>(pages.size());
  return std::nullopt;
}

}  // namespace advise
