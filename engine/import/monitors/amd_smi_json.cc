// Reads what AMD's monitors write as JSON, one text behind the other when they are asked again and
// again: `amd-smi monitor` and `amd-smi metric`, lists of GPUs, and rocm-smi, an object of cards.
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "engine/base/ascii.h"
#include "engine/base/is_in.h"
#include "engine/import/formats.h"
#include "engine/import/json_fields.h"
#include "engine/import/json_pieces.h"
#include "engine/import/monitors/amd_cells.h"
#include "engine/import/text_input.h"

namespace advise {
namespace {

namespace dom = simdjson::dom;

// A number or a text as it stands there; with its unit where it is an object of both. Nothing for
// lists and other objects.
std::optional<std::string> CellOf(const dom::element& value) {
  if (value.is_string()) return std::string(std::string_view(value));
  if (value.is_number()) return simdjson::to_string(value);
  dom::element inner;
  if (!value.is_object() || value["value"].get(inner) != simdjson::SUCCESS) return std::nullopt;
  const auto number = CellOf(inner);
  return number ? std::optional(*number + " " + json::TextAt(value, "unit")) : std::nullopt;
}

class AmdJsonReader {
 public:
  explicit AmdJsonReader(Trace* trace) : trace_(trace), log_(trace) {}

  std::int64_t Read(const std::string& text) {
    std::size_t at = StartOfValue(text, 0);
    while (at < text.size()) {
      const auto value = JsonPieces(std::string_view(text).substr(at)).NextValue();
      dom::element root;
      if (value && parser_.parse(value->data(), value->size()).get(root) == simdjson::SUCCESS) {
        ReadValue(root);
      } else {
        trace_->diagnostics.Add(Level::kWarning, "a part that is cut off or no JSON was left out");
      }
      at = value ? StartOfValue(text, at + value->size()) : text.size();
    }
    return log_.Finish();
  }

 private:
  // Where a line starts with an object or a list: what else the tools print stands before or
  // between them.
  static std::size_t StartOfValue(std::string_view text, std::size_t from) {
    while (from < text.size()) {
      const bool starts =
          from == 0 || text[from - 1] == '\n' || text[from - 1] == ']' || text[from - 1] == '}';
      if (starts && (text[from] == '{' || text[from] == '[')) return from;
      ++from;
    }
    return text.size();
  }

  void ReadValue(const dom::element& root) {
    dom::array gpus;
    dom::object object;
    if (root.get_array().get(gpus) == simdjson::SUCCESS) {
      for (const dom::element gpu : gpus) ReadGpu(gpu);
    } else if (root["gpu_data"].get_array().get(gpus) == simdjson::SUCCESS) {
      for (const dom::element gpu : gpus) ReadGpu(gpu);
    } else if (root["gpu"].error() == simdjson::SUCCESS) {
      ReadGpu(root);
    } else if (root.get_object().get(object) == simdjson::SUCCESS) {
      for (const auto field : object) {
        const auto card = AmdGpuOf(field.key);
        if (card && field.value.is_object()) ReadSample(*card, std::nullopt, field.value);
      }
    }
  }

  void ReadGpu(const dom::element& gpu) {
    dom::element id;
    if (!gpu.is_object() || gpu["gpu"].get(id) != simdjson::SUCCESS) return;
    const auto number = AmdGpuOf(CellOf(id).value_or(""));
    if (!number) return;
    dom::element clock;
    const bool has_clock = gpu["timestamp"].get(clock) == simdjson::SUCCESS;
    ReadSample(*number, has_clock ? TimestampOf(CellOf(clock).value_or("")) : std::nullopt, gpu);
  }

  void ReadSample(const std::string& gpu, std::optional<double> clock, const dom::element& values) {
    std::optional<double> when;
    ForEachCell(values, "", [&](const std::string& name, const std::string& cell) {
      if (IsAmdProduct(name)) log_.Name(gpu, cell, "");
      if (AmdQuantityOf(name) == nullptr) return;
      if (!when) when = log_.Moment(gpu, clock);
      AddAmdCell(gpu, name, *when, cell, &log_);
    });
    if (!when) return;  // processes, firmware
    log_.Name(gpu, "", "");
    log_.AddRow();
  }

  // Calls `each` with every value under its name: the keys on the way to it, with dots between.
  template <typename Each>
  static void ForEachCell(const dom::element& values, const std::string& before, const Each& each) {
    dom::object object;
    if (values.get_object().get(object) != simdjson::SUCCESS) return;
    for (const auto field : object) {
      const std::string name = before + Lower(field.key);
      if (const auto cell = CellOf(field.value)) {
        each(name, *cell);
      } else {
        ForEachCell(field.value, name + ".", each);
      }
    }
  }

  dom::parser parser_;
  Trace* trace_;
  MonitorLog log_;
};

// Words that no other tool has as keys.
bool NamesQuantity(std::string_view key) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"gfx_activity", "socket_power", "gfx_clk", "power_usage", "hotspot_temperature"});
  const bool of_rocm = key.find(" (") != std::string_view::npos;
  return IsIn(key, kWords) || (of_rocm && AmdQuantityOf(key) != nullptr);
}

}  // namespace

bool SniffAmdSmiJson(std::string_view head) {
  const std::size_t gpu = std::min(head.find("\"gpu\":"), head.find("\"card"));
  if (gpu == std::string_view::npos) return false;
  for (std::size_t at = head.find('"', gpu); at != std::string_view::npos;) {
    const std::size_t end = head.find('"', at + 1);
    if (end == std::string_view::npos) return false;
    if (NamesQuantity(head.substr(at + 1, end - at - 1))) return true;
    at = head.find('"', end + 1);
  }
  return false;
}

std::optional<Error> ReadAmdSmiJson(std::string_view text, const std::string& path, Trace* trace) {
  trace->producer = text.find("\"card") != std::string_view::npos ? "rocm-smi" : "amd-smi";
  // A text ends behind a value.
  if (AmdJsonReader(trace).Read(std::string(text) + "\n") == 0) {
    return Error{"the JSON of amd-smi or rocm-smi holds no samples", path,
                 "was it stopped before the first one?"};
  }
  return std::nullopt;
}

}  // namespace advise
