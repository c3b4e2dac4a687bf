// Reads what topology tools print: `nvidia-smi topo -m` and `-p2p`, `ibstat`; several of them may
// stand in one file.
#include <algorithm>
#include <array>

#include "engine/base/ascii.h"
#include "engine/base/is_in.h"
#include "engine/import/formats.h"
#include "engine/import/text_input.h"

namespace advise {
namespace {

// "GPU0", "NIC3", "mlx5_0", "mlx5_bond_0": what a matrix has rows and columns for.
bool IsDevice(std::string_view word) {
  for (const std::string_view kind : {"GPU", "NIC"}) {
    if (word.starts_with(kind)) return IsDigits(word.substr(kind.size()));
  }
  const std::size_t under = word.rfind('_');
  return under != std::string_view::npos && word.starts_with("mlx") &&
         IsDigits(word.substr(under + 1));
}

bool IsLink(std::string_view cell) {
  static constexpr auto kLinks =
      std::to_array<std::string_view>({"X", "SYS", "NODE", "SOC", "PHB", "PXB", "PIX", "PSB"});
  return IsIn(cell, kLinks) || (cell.starts_with("NV") && IsDigits(cell.substr(2)));
}
bool IsStatus(std::string_view cell) {
  static constexpr auto kStatus =
      std::to_array<std::string_view>({"OK", "CNS", "GNS", "TNS", "NS", "DR", "U", "X"});
  return IsIn(cell, kStatus);
}

// The devices of a header line, "GPU0 GPU1 NIC0 CPU Affinity …"; empty when it is none.
std::vector<std::string> HeaderOf(std::string_view line) {
  std::vector<std::string> columns;
  for (const std::string_view word : WordsOf(line)) {
    if (!IsDevice(word)) break;
    columns.emplace_back(word);
  }
  // A row begins with a device, too: its second word is a label of a link.
  const auto words = WordsOf(line);
  if (columns.size() == 1 && words.size() > 1 && words[1] != "CPU") columns.clear();
  return columns;
}

class TopologyReader {
 public:
  TopologyReader(Trace* trace, std::string path) : trace_(trace), path_(std::move(path)) {}

  bool Read(std::string_view text) {
    std::size_t number = 0;
    for (const std::string_view raw : LinesOf(text)) {
      ++number;
      const std::string_view line = Trimmed(raw);
      if (line.empty()) continue;
      if (ReadPort(line)) continue;
      if (const auto header = HeaderOf(line); !header.empty()) {
        Begin(header, number);
      } else if (IsDevice(WordsOf(line).front())) {
        ReadRow(line);
      } else {
        NoteCommand(line);
        ReadLegend(line);
      }
    }
    for (TopologyMatrix& matrix : trace_->topology.matrices) Finish(&matrix);
    std::erase_if(trace_->topology.matrices,
                  [](const auto& matrix) { return matrix.rows.empty(); });
    return !trace_->topology.empty();
  }

 private:
  // ---- nvidia-smi topo
  void Begin(const std::vector<std::string>& columns, std::size_t number) {
    TopologyMatrix matrix;
    matrix.columns = columns;
    matrix.kind = asked_;
    matrix.source = path_ + ":" + std::to_string(number);
    asked_.clear();
    trace_->topology.matrices.push_back(std::move(matrix));
  }

  void ReadRow(std::string_view line) {
    if (trace_->topology.matrices.empty()) return;
    TopologyMatrix& matrix = trace_->topology.matrices.back();
    const auto words = WordsOf(line);
    if (words.size() < matrix.columns.size() + 1) {
      trace_->diagnostics.Add(Level::kWarning, "rows that were cut short were skipped", "topology");
      return;
    }
    std::vector<std::string> cells;
    for (std::size_t c = 0; c < matrix.columns.size(); ++c) {
      const std::string_view cell = words[c + 1];
      if (!IsLink(cell) && !IsStatus(cell)) {
        trace_->diagnostics.Add(Level::kInfo, "unknown labels were kept as they are", "topology");
      }
      cells.emplace_back(cell);
    }
    matrix.rows.emplace_back(words[0]);
    matrix.cells.push_back(std::move(cells));
  }

  // A file that keeps the command beside its output says which matrix it is.
  void NoteCommand(std::string_view line) {
    const std::size_t at = line.find("-p2p ");
    if (line.find("topo") == std::string_view::npos || at == std::string_view::npos) return;
    const std::string_view which = Trimmed(line.substr(at + 5));
    const char letter = which.empty() ? ' ' : which.front();
    asked_ = letter == 'r'   ? "p2p_read"
             : letter == 'w' ? "p2p_write"
             : letter == 'n' ? "p2p_nvlink"
             : letter == 'a' ? "p2p_atomics"
                             : "p2p";
  }

  // "NIC0: mlx5_0"
  void ReadLegend(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || trace_->topology.matrices.empty()) return;
    const std::string_view name = Trimmed(line.substr(0, colon));
    if (!IsDevice(name)) return;
    trace_->topology.matrices.back().legend[std::string(name)] = Trimmed(line.substr(colon + 1));
  }

  static void Finish(TopologyMatrix* matrix) {
    if (!matrix->kind.empty()) return;
    for (const auto& row : matrix->cells) {
      for (const std::string& cell : row) {
        if (cell != "X" && IsLink(cell)) matrix->kind = "links";
      }
    }
    if (matrix->kind.empty()) {
      const bool status = std::any_of(
          matrix->cells.begin(), matrix->cells.end(), [](const std::vector<std::string>& row) {
            return std::any_of(row.begin(), row.end(), [](const std::string& cell) {
              return cell != "X" && IsStatus(cell);
            });
          });
      matrix->kind = status ? "p2p" : "links";
    }
  }

  // ---- ibstat
  bool ReadPort(std::string_view line) {
    if (line.starts_with("CA '") && line.ends_with('\'')) {
      adapter_ = line.substr(4, line.size() - 5);
      in_port_ = false;
      return true;
    }
    if (adapter_.empty()) return false;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return false;
    const std::string_view key = Trimmed(line.substr(0, colon));
    const std::string_view value = Trimmed(line.substr(colon + 1));
    if (key.starts_with("Port ") && IsDigits(key.substr(5)) && value.empty()) {
      NetworkPort port;
      port.adapter = adapter_;
      port.port = WholeOf<int>(NumberOf(key.substr(5)).value_or(0));
      trace_->topology.ports.push_back(port);
      in_port_ = true;
      return true;
    }
    if (!in_port_) return true;
    NetworkPort& port = trace_->topology.ports.back();
    if (key == "State") port.state = value;
    if (key == "Rate") port.rate_gbit = NumberOf(value.substr(0, value.find(' '))).value_or(0);
    if (key == "Link layer") port.link_layer = value;
    return true;
  }

  Trace* trace_;
  std::string path_;
  std::string asked_;    // kind of the matrix that comes next, "" unknown
  std::string adapter_;  // that the lines of ibstat are of
  bool in_port_ = false;
};

}  // namespace

bool SniffTopology(std::string_view head) {
  bool header = false;
  for (const std::string_view raw : LinesOf(head)) {
    const std::string_view line = Trimmed(raw);
    if (line.starts_with("CA '") && line.ends_with('\'')) return true;
    if (line.empty()) continue;
    if (!HeaderOf(line).empty()) {
      header = true;
    } else if (header && IsDevice(WordsOf(line).front())) {
      const auto words = WordsOf(line);
      return words.size() > 1 && (IsLink(words[1]) || IsStatus(words[1]));
    } else {
      header = false;
    }
  }
  return false;
}

std::optional<Error> ReadTopology(std::string_view text, const std::string& path, Trace* trace) {
  if (!TopologyReader(trace, path).Read(text)) {
    return Error{"no complete matrix and no port in the output of a topology tool", path,
                 "save it again: nvidia-smi topo -m > topo.txt; ibstat >> topo.txt"};
  }
  trace->producer = trace->topology.matrices.empty() ? "ibstat" : "nvidia-smi topo";
  return std::nullopt;
}

}  // namespace advise
