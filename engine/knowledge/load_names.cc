// kb/kernels.toml and kb/names.toml, and what a site adds to them: ordered lists of name patterns.
#include <fmt/format.h>

#include <algorithm>

#include "engine/base/is_in.h"
#include "engine/base/text.h"
#include "engine/knowledge/loader.h"
#include "engine/knowledge/read_list.h"

namespace advise {
namespace {

std::vector<std::string> ValuesOf(const std::vector<NameRule>& rules) {
  std::vector<std::string> values;
  for (const NameRule& rule : rules) {
    if (!IsIn(rule.value, values)) values.push_back(rule.value);
  }
  return values;
}

}  // namespace

template <typename More>
void KnowledgeLoader::ReadRules(TomlReader& reader, const TomlNode& root, const RuleList& list,
                                const std::string& site, const More& more) {
  std::vector<NameRule> made;
  ReadList(reader, root, list.name, made, more);
  if (made.empty()) return;
  if (!site.empty()) {
    knowledge_.site_additions_.push_back(
        fmt::format("{}.{} has names of the site ({})", list.file, list.name, site));
  }
  list.rules->insert(list.rules->begin(), std::make_move_iterator(made.begin()),
                     std::make_move_iterator(made.end()));
}

void KnowledgeLoader::ReadKernels(TomlReader& reader, const TomlNode& root,
                                  const std::string& site) {
  reader.OnlyFields(root, {"class", "precision", "tensor_core", "trait"});
  const std::vector<std::string> classes = ValuesOf(knowledge_.kernel_class_);
  const std::vector<std::string> traits = ValuesOf(knowledge_.kernel_trait_);
  // What a site says of its names is one of what is known: nothing would ask for another.
  const auto word = [&](const TomlNode& entry, const char* field,
                        const std::vector<std::string>& known) {
    return site.empty() ? reader.Text(entry, field) : reader.Choice(entry, field, known);
  };
  ReadRules(
      reader, root, {"kernels", "class", &knowledge_.kernel_class_}, site,
      [&](const TomlNode& entry, NameRule& rule) {
        reader.OnlyFields(entry, {"class", "family", "collective", "any", "none", "examples"});
        rule.value = word(entry, "class", classes);
        rule.family = reader.Text(entry, "family", TomlReader::Need::kMay);
        rule.collective = reader.Text(entry, "collective", TomlReader::Need::kMay);
      });
  ReadRules(reader, root, {"kernels", "precision", &knowledge_.kernel_precision_}, site,
            [&](const TomlNode& entry, NameRule& rule) {
              reader.OnlyFields(entry, {"classes", "value", "any", "none", "examples"});
              rule.classes = reader.Texts(entry, "classes", TomlReader::Need::kMay);
              rule.value = reader.Choice(
                  entry, "value", {"fp64", "tf32", "fp32", "fp16", "bf16", "fp8", "fp4", "int8"});
            });
  ReadRules(reader, root, {"kernels", "tensor_core", &knowledge_.kernel_tensor_}, site,
            [&](const TomlNode& entry, NameRule& rule) {
              reader.OnlyFields(entry, {"classes", "value", "any", "none", "examples"});
              rule.classes = reader.Texts(entry, "classes", TomlReader::Need::kMay);
              rule.value = reader.Flag(entry, "value") ? "yes" : "no";
            });
  ReadRules(reader, root, {"kernels", "trait", &knowledge_.kernel_trait_}, site,
            [&](const TomlNode& entry, NameRule& rule) {
              reader.OnlyFields(entry, {"id", "classes", "any", "none", "examples"});
              rule.classes = reader.Texts(entry, "classes", TomlReader::Need::kMay);
              rule.value = word(entry, "id", traits);
            });
  // A class that no entry gives would make a list silently useless.
  std::vector<std::string> known = {"other"};
  for (const NameRule& rule : knowledge_.kernel_class_) known.push_back(rule.value);
  for (const auto* rules :
       {&knowledge_.kernel_precision_, &knowledge_.kernel_tensor_, &knowledge_.kernel_trait_}) {
    for (const NameRule& rule : *rules) {
      for (const std::string& name : rule.classes) {
        if (IsIn(name, known)) continue;
        errors_.push_back({fmt::format("field \"classes\": no [[class]] entry gives \"{}\"", name),
                           rule.where, Suggestion(name, known)});
      }
    }
  }
}

void KnowledgeLoader::ReadNames(TomlReader& reader, const TomlNode& root, const std::string& site) {
  const auto list = [&](NameList which) {
    return &knowledge_.name_lists_[static_cast<std::size_t>(which)];
  };
  struct List {
    std::string_view name;
    std::string_view field;  // what an entry says of its names; "": that they are of the list
    std::vector<NameRule>* rules;
  };
  const std::vector<List> lists = {
      {"range_phase", "phase", &knowledge_.range_phase_},
      {"range_step", "marked_by", &knowledge_.range_step_},
      {"range_layer", "", &knowledge_.range_layer_},
      {"os_call", "class", &knowledge_.os_call_},
      {"cuda_call", "class", &knowledge_.cuda_call_},
      {"thread_role", "role", &knowledge_.thread_role_},
      {"gpu_metric", "quantity", list(NameList::kGpuMetric)},
      {"profiler_message", "tells", list(NameList::kProfilerMessage)},
      {"python_library", "", list(NameList::kPythonLibrary)},
      {"secret_variable", "", list(NameList::kSecretVariable)},
      {"job_variable", "", list(NameList::kJobVariable)},
      {"rank_switch", "", list(NameList::kRankSwitch)},
      {"closed_path", "path", list(NameList::kClosedPath)},
      {"amd_library", "", list(NameList::kAmdLibrary)},
      {"generic_kernel", "", list(NameList::kGenericKernel)},
      {"silent_word", "", list(NameList::kSilentWord)},
  };
  std::vector<std::string> names;
  for (const List& one : lists) names.emplace_back(one.name);
  reader.OnlyFields(root, names);
  for (const List& one : lists) {
    std::vector<std::string> fields = {"any", "none", "examples"};
    if (!one.field.empty()) fields.emplace_back(one.field);
    const std::vector<std::string> known = ValuesOf(*one.rules);
    ReadRules(reader, root, {"names", one.name, one.rules}, site,
              [&](const TomlNode& entry, NameRule& rule) {
                reader.OnlyFields(entry, fields);
                rule.value = one.field.empty() ? "yes"
                             : site.empty()    ? reader.Text(entry, one.field)
                                               : reader.Choice(entry, one.field, known);
              });
  }
}

void KnowledgeLoader::ReadRuns(TomlReader& reader, const TomlNode& root) {
  reader.OnlyFields(root, {"kind", "framework", "language", "step_size"});
  static const std::vector<std::string> kPlaces = {
      "kernel", "range", "operator", "python", "process", "thread", "module", "setting", "table"};
  const auto read = [&](const char* list, const char* value, RunSign::About about) {
    std::vector<NameRule> rules;
    ReadList(reader, root, list, rules, [&](const TomlNode& entry, NameRule& rule) {
      reader.OnlyFields(entry, {value, "languages", "any_kind", "record", "by_nsys",
                                "copies_arguments", "in", "grid", "any", "none", "examples"});
      rule.value = reader.Text(entry, value);
      RunSign sign;
      sign.about = about;
      sign.in = reader.Texts(entry, "in");
      sign.languages = reader.Texts(entry, "languages", TomlReader::Need::kMay);
      sign.any_kind = reader.Flag(entry, "any_kind", TomlReader::Need::kMay);
      sign.record = reader.Text(entry, "record", TomlReader::Need::kMay);
      sign.by_nsys = reader.Flag(entry, "by_nsys", TomlReader::Need::kMay);
      sign.copies_arguments = reader.Flag(entry, "copies_arguments", TomlReader::Need::kMay);
      const std::string grid = reader.Text(entry, "grid", TomlReader::Need::kMay);
      if (grid == "one-wide") sign.grid = RunSign::Grid::kOneWide;
      if (grid == "wider") sign.grid = RunSign::Grid::kWider;
      if (!grid.empty() && sign.grid == RunSign::Grid::kAny)
        reader.Problem(entry, "field \"grid\": must be \"one-wide\" or \"wider\"");
      for (const std::string& place : sign.in) {
        if (!IsIn(place, kPlaces)) {
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
