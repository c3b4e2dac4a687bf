// kb/kernels.toml and kb/names.toml: ordered lists of name patterns.
#include <fmt/format.h>

#include <algorithm>

#include "engine/base/text.h"
#include "engine/knowledge/loader.h"
#include "engine/knowledge/read_list.h"

namespace advise {
void KnowledgeLoader::ReadKernels(TomlReader& reader, const TomlNode& root) {
  reader.OnlyFields(root, {"class", "precision", "tensor_core", "trait"});
  ReadList(reader, root, "class", knowledge_.kernel_class_,
           [&](const TomlNode& entry, NameRule& rule) {
             reader.OnlyFields(entry, {"class", "family", "collective", "any", "none", "examples"});
             rule.value = reader.Text(entry, "class");
             rule.family = reader.Text(entry, "family", TomlReader::Need::kMay);
             rule.collective = reader.Text(entry, "collective", TomlReader::Need::kMay);
           });
  ReadList(reader, root, "precision", knowledge_.kernel_precision_,
           [&](const TomlNode& entry, NameRule& rule) {
             reader.OnlyFields(entry, {"classes", "value", "any", "none", "examples"});
             rule.classes = reader.Texts(entry, "classes", TomlReader::Need::kMay);
             rule.value = reader.Choice(
                 entry, "value", {"fp64", "tf32", "fp32", "fp16", "bf16", "fp8", "fp4", "int8"});
           });
  ReadList(reader, root, "tensor_core", knowledge_.kernel_tensor_,
           [&](const TomlNode& entry, NameRule& rule) {
             reader.OnlyFields(entry, {"classes", "value", "any", "none", "examples"});
             rule.classes = reader.Texts(entry, "classes", TomlReader::Need::kMay);
             rule.value = reader.Flag(entry, "value") ? "yes" : "no";
           });
  ReadList(reader, root, "trait", knowledge_.kernel_trait_,
           [&](const TomlNode& entry, NameRule& rule) {
             reader.OnlyFields(entry, {"id", "classes", "any", "none", "examples"});
             rule.classes = reader.Texts(entry, "classes", TomlReader::Need::kMay);
             rule.value = reader.Text(entry, "id");
           });
  // A class that no entry gives would make a list silently useless.
  std::vector<std::string> known = {"other"};
  for (const NameRule& rule : knowledge_.kernel_class_) known.push_back(rule.value);
  for (const auto* rules :
       {&knowledge_.kernel_precision_, &knowledge_.kernel_tensor_, &knowledge_.kernel_trait_}) {
    for (const NameRule& rule : *rules) {
      for (const std::string& name : rule.classes) {
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        errors_.push_back({fmt::format("field \"classes\": no [[class]] entry gives \"{}\"", name),
                           rule.where, Suggestion(name, known)});
      }
    }
  }
}

void KnowledgeLoader::ReadNames(TomlReader& reader, const TomlNode& root) {
  reader.OnlyFields(root, {"range_phase", "range_step", "range_layer", "os_call", "cuda_call",
                           "thread_role", "gpu_metric", "profiler_message", "python_library",
                           "secret_variable", "job_variable", "rank_switch", "amd_library"});
  const auto read = [&](std::string_view list, std::string_view field,
                        std::vector<NameRule>& rules) {
    ReadList(reader, root, list, rules, [&](const TomlNode& entry, NameRule& rule) {
      if (field.empty()) {
        reader.OnlyFields(entry, {"any", "none", "examples"});
        rule.value = "yes";
      } else {
        reader.OnlyFields(entry, {field, "any", "none", "examples"});
        rule.value = reader.Text(entry, field);
      }
    });
  };
  read("range_phase", "phase", knowledge_.range_phase_);
  read("range_step", "marked_by", knowledge_.range_step_);
  read("range_layer", "", knowledge_.range_layer_);
  read("os_call", "class", knowledge_.os_call_);
  read("cuda_call", "class", knowledge_.cuda_call_);
  read("thread_role", "role", knowledge_.thread_role_);
  const auto list = [&](NameList which) -> std::vector<NameRule>& {
    return knowledge_.name_lists_[static_cast<std::size_t>(which)];
  };
  read("gpu_metric", "quantity", list(NameList::kGpuMetric));
  read("profiler_message", "tells", list(NameList::kProfilerMessage));
  read("python_library", "", list(NameList::kPythonLibrary));
  read("secret_variable", "", list(NameList::kSecretVariable));
  read("job_variable", "", list(NameList::kJobVariable));
  read("rank_switch", "", list(NameList::kRankSwitch));
  read("amd_library", "", list(NameList::kAmdLibrary));
}

void KnowledgeLoader::ReadRuns(TomlReader& reader, const TomlNode& root) {
  reader.OnlyFields(root, {"kind", "framework", "language", "step_size"});
  static const std::vector<std::string> kPlaces = {
      "kernel", "range", "operator", "python", "process", "thread", "module", "setting", "table"};
  const auto read = [&](const char* list, const char* value, RunSign::About about) {
    std::vector<NameRule> rules;
    ReadList(reader, root, list, rules, [&](const TomlNode& entry, NameRule& rule) {
      reader.OnlyFields(
          entry, {value, "languages", "any_kind", "record", "in", "any", "none", "examples"});
      rule.value = reader.Text(entry, value);
      RunSign sign;
      sign.about = about;
      sign.in = reader.Texts(entry, "in");
      sign.languages = reader.Texts(entry, "languages", TomlReader::Need::kMay);
      sign.any_kind = reader.Flag(entry, "any_kind", TomlReader::Need::kMay);
      sign.record = reader.Text(entry, "record", TomlReader::Need::kMay);
      for (const std::string& place : sign.in) {
        if (std::find(kPlaces.begin(), kPlaces.end(), place) == kPlaces.end()) {
          reader.Problem(entry, fmt::format("field \"in\": no names stand in \"{}\"", place));
        }
      }
      sign.rule = rule;
      knowledge_.run_signs_.push_back(std::move(sign));
    });
  };
  read("kind", "says", RunSign::About::kKind);
  read("framework", "name", RunSign::About::kFramework);
  read("language", "says", RunSign::About::kLanguage);
  ForEachEntry(reader, root, "step_size", [&](const TomlNode& entry) {
    reader.OnlyFields(entry, {"server", "pattern", "examples"});
    StepSizePattern size{reader.Text(entry, "server"), reader.Text(entry, "pattern"),
                         reader.Texts(entry, "examples"), reader.Where(entry)};
    if (const std::string problem = ProblemOfStepSize(size.pattern); !problem.empty())
      reader.Problem(entry, "field \"pattern\": " + problem);
    knowledge_.step_sizes_.push_back(std::move(size));
  });
}

}  // namespace advise
