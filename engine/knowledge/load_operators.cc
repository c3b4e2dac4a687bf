// kb/operators.toml, and the operators of a site: how much work their calls are.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/knowledge/loader.h"
#include "engine/knowledge/read_list.h"

namespace advise {
namespace {

constexpr double kMostArguments = 64;  // of one operator

template <typename T>
using Words = std::vector<std::pair<std::string_view, T>>;

// The value of a word; the first of `words` where the field is left out.
template <typename T>
T Choice(TomlReader& reader, const TomlNode& entry, std::string_view field, const Words<T>& words) {
  if (entry.Find(field) == nullptr) return words.front().second;
  std::vector<std::string> allowed;
  for (const auto& [word, value] : words) allowed.emplace_back(word);
  const std::string said = reader.Choice(entry, field, allowed);
  for (const auto& [word, value] : words) {
    if (word == said) return value;
  }
  return words.front().second;
}

int Argument(TomlReader& reader, const TomlNode& entry, std::string_view field,
             int otherwise = kNoArgument) {
  if (entry.Find(field) == nullptr) return otherwise;
  const double at = reader.Number(entry, field);
  if (at >= 0 && at < kMostArguments && at == std::floor(at)) return static_cast<int>(at);
  reader.Problem(
      entry, fmt::format("field \"{}\": wanted the place of an argument, counted from 0", field));
  return otherwise;
}

bool Flag(TomlReader& reader, const TomlNode& entry, std::string_view field) {
  return reader.Flag(entry, field, TomlReader::Need::kMay);
}

OperatorFormula ReadProduct(TomlReader& reader, const TomlNode& entry) {
  using Form = ProductFormula::Form;
  static const Words<Form> kForms = {{"matrices", Form::kMatrices}, {"summed", Form::kSummed},
                                     {"vector", Form::kVector},     {"any", Form::kAny},
                                     {"linear", Form::kLinear},     {"grouped", Form::kGrouped},
                                     {"packed", Form::kPacked}};
  reader.OnlyFields(entry, {"any", "none", "examples", "form", "first", "result_type", "bits"});
  return ProductFormula{Choice(reader, entry, "form", kForms), Argument(reader, entry, "first", 0),
                        Argument(reader, entry, "result_type"), Argument(reader, entry, "bits", 0)};
}

OperatorFormula ReadConvolution(TomlReader& reader, const TomlNode& entry) {
  using Form = ConvolutionFormula::Form;
  static const Words<Form> kForms = {{"forward", Form::kForward},
                                     {"backward", Form::kBackward},
                                     {"transposed", Form::kTransposed},
                                     {"old_backward", Form::kOldBackward}};
  reader.OnlyFields(
      entry, {"any", "none", "examples", "form", "stride", "padding", "dilation", "transposed"});
  return ConvolutionFormula{Choice(reader, entry, "form", kForms),
                            Argument(reader, entry, "stride"), Argument(reader, entry, "padding"),
                            Argument(reader, entry, "dilation"),
                            Argument(reader, entry, "transposed")};
}

OperatorFormula ReadAttention(TomlReader& reader, const TomlNode& entry) {
  using Layout = AttentionFormula::Layout;
  static const Words<Layout> kLayouts = {{"sequence_first", Layout::kSequenceFirst},
                                         {"heads_first", Layout::kHeadsFirst},
                                         {"packed", Layout::kPacked}};
  reader.OnlyFields(entry, {"any", "none", "examples", "layout", "query", "causal", "window",
                            "used", "backward", "of_mask"});
  return AttentionFormula{Choice(reader, entry, "layout", kLayouts),
                          Argument(reader, entry, "query", 0),
                          Argument(reader, entry, "causal"),
                          Argument(reader, entry, "window"),
                          Argument(reader, entry, "used"),
                          Flag(reader, entry, "backward"),
                          Flag(reader, entry, "of_mask")};
}

OperatorFormula ReadExperts(TomlReader& reader, const TomlNode& entry) {
  reader.OnlyFields(entry, {"any", "none", "examples"});
  return ExpertsFormula{};
}

OperatorFormula ReadMemory(TomlReader& reader, const TomlNode& entry) {
  using Flow = MemoryFormula::Flow;
  using Rows = MemoryFormula::Rows;
  static const Words<Flow> kFlows = {{"write", Flow::kWrite},
                                     {"copy", Flow::kCopy},
                                     {"norm", Flow::kNorm},
                                     {"norm_grad", Flow::kNormGrad},
                                     {"batch_norm", Flow::kBatchNorm},
                                     {"softmax", Flow::kSoftmax},
                                     {"softmax_grad", Flow::kSoftmaxGrad},
                                     {"reduce", Flow::kReduce},
                                     {"pool_all", Flow::kPoolAll},
                                     {"scan", Flow::kScan},
                                     {"sort", Flow::kSort},
                                     {"join", Flow::kJoin},
                                     {"lookup", Flow::kLookup},
                                     {"gather", Flow::kGather},
                                     {"scatter", Flow::kScatter},
                                     {"put", Flow::kPut},
                                     {"bag", Flow::kBag},
                                     {"table_grad", Flow::kTableGrad},
                                     {"pool", Flow::kPool},
                                     {"pool_grad", Flow::kPoolGrad},
                                     {"resize", Flow::kResize},
                                     {"lists", Flow::kLists},
                                     {"fused", Flow::kFused},
                                     {"one_way", Flow::kOneWay}};
  static const Words<Rows> kRows = {
      {"weight", Rows::kOfWeight}, {"channel", Rows::kOfChannel}, {"group", Rows::kOfGroup}};
  reader.OnlyFields(entry, {"any", "none", "examples", "flow", "at", "dimension", "rows",
                            "dimensions", "positions"});
  MemoryFormula made;
  reader.Text(entry, "flow");  // must be there
  made.flow = Choice(reader, entry, "flow", kFlows);
  made.at = Argument(reader, entry, "at");
  made.dimension = Argument(reader, entry, "dimension");
  made.rows = Choice(reader, entry, "rows", kRows);
  made.dimensions = static_cast<std::size_t>(Argument(reader, entry, "dimensions", 2));
  made.positions = Flag(reader, entry, "positions");
  return made;
}

OperatorFormula ReadPart(TomlReader& reader, const TomlNode& entry) {
  reader.OnlyFields(entry, {"any", "none", "examples"});
  return PartFormula{};
}

}  // namespace

void KnowledgeLoader::ReadOperators(TomlReader& reader, const TomlNode& root,
                                    const std::string& site) {
  using ReadEntry = OperatorFormula (*)(TomlReader&, const TomlNode&);
  static constexpr auto kLists = std::to_array<std::pair<const char*, ReadEntry>>({
      {"product", ReadProduct},
      {"convolution", ReadConvolution},
      {"attention", ReadAttention},
      {"experts", ReadExperts},
      {"memory", ReadMemory},
      {"part", ReadPart},
  });
  reader.OnlyFields(root, {"product", "convolution", "attention", "experts", "memory", "part"});
  for (const auto& [list, read] : kLists) {
    ForEachEntry(reader, root, list, [&, read = read](const TomlNode& entry) {
      OperatorFormulas::Entry made{ReadNameRule(reader, entry), read(reader, entry), site};
      const std::string again = knowledge_.operators_.Add(std::move(made));
      if (!again.empty()) {
        reader.Problem(entry, fmt::format("\"{}\" has a formula already", again));
      }
    });
  }
}

}  // namespace advise
