// The knowledge base as bytes: embedded.h.
#include "engine/base/packed.h"

#include "engine/knowledge/embedded.h"

namespace advise {

static auto Fields(Threshold& of) {
  return std::tie(of.name, of.value, of.shipped, of.unit, of.lowest, of.highest, of.why, of.source,
                  of.set_by, of.like);
}
static auto Fields(Reference& of) { return std::tie(of.key, of.title, of.url, of.programs); }
static auto Fields(KnowledgeRow& of) { return std::tie(of.id, of.area, of.text, of.home); }
static auto Fields(HardwareFact& of) { return std::tie(of.value, of.unit, of.kind, of.source); }
static auto Fields(HardwareEntry& of) {
  return std::tie(of.id, of.match, of.compute_capability, of.architecture, of.facts, of.set_by);
}
static auto Fields(NameRule& of) {
  return std::tie(of.any, of.none, of.value, of.family, of.collective, of.classes, of.examples,
                  of.where);
}
static auto Fields(NameFamily& of) { return std::tie(of.name, of.things, of.set_by, of.rules); }
static auto Fields(EnvironmentSwitch& of) {
  return std::tie(of.name, of.variable, of.meaning, of.set_by);
}
static auto Fields(RunSign& of) {
  return std::tie(of.about, of.languages, of.any_kind, of.record, of.by_nsys, of.copies_arguments,
                  of.in, of.grid, of.rule);
}
static auto Fields(XidMeaning& of) { return std::tie(of.code, of.kind, of.says); }
static auto Fields(CounterQuantity& of) { return std::tie(of.metrics, of.sum); }
static auto Fields(StepSizePattern& of) {
  return std::tie(of.server, of.pattern, of.examples, of.where);
}
static auto Fields(SuppressedRule& of) {
  return std::tie(of.id, of.reason, of.set_by, of.where, of.until);
}
static auto Fields(CaptureHint& of) {
  return std::tie(of.tag, of.option, of.text, of.level, of.torch);
}
static auto Fields(ProductFormula& of) {
  return std::tie(of.form, of.first, of.result_type, of.bits);
}
static auto Fields(ConvolutionFormula& of) {
  return std::tie(of.form, of.stride, of.padding, of.dilation, of.transposed);
}
static auto Fields(AttentionFormula& of) {
  return std::tie(of.layout, of.query, of.causal, of.window, of.used, of.backward, of.of_mask);
}
static auto Fields(ExpertsFormula&) { return std::tie(); }
static auto Fields(MemoryFormula& of) {
  return std::tie(of.flow, of.at, of.dimension, of.rows, of.dimensions, of.positions);
}
static auto Fields(PartFormula&) { return std::tie(); }
static auto Fields(OperatorFormulas::Entry& of) {
  return std::tie(of.names, of.formula, of.set_by);
}

static_assert(kNamesAllFields<Threshold> && kNamesAllFields<Reference> &&
              kNamesAllFields<KnowledgeRow> && kNamesAllFields<HardwareFact> &&
              kNamesAllFields<HardwareEntry> && kNamesAllFields<NameRule> &&
              kNamesAllFields<NameFamily> && kNamesAllFields<EnvironmentSwitch> &&
              kNamesAllFields<RunSign> && kNamesAllFields<XidMeaning> &&
              kNamesAllFields<CounterQuantity> && kNamesAllFields<StepSizePattern> &&
              kNamesAllFields<SuppressedRule> && kNamesAllFields<CaptureHint> &&
              kNamesAllFields<ProductFormula> && kNamesAllFields<ConvolutionFormula> &&
              kNamesAllFields<AttentionFormula> && kNamesAllFields<ExpertsFormula> &&
              kNamesAllFields<MemoryFormula> && kNamesAllFields<PartFormula> &&
              kNamesAllFields<OperatorFormulas::Entry>);

std::string PackKnowledge(const Knowledge& knowledge) {
  Packer packer;
  packer.Add(knowledge);
  return packer.Take();
}

Knowledge UnpackKnowledge(std::string_view packed) {
  Knowledge knowledge;
  Unpacker<>(packed).Get(knowledge);
  return knowledge;
}

}  // namespace advise
