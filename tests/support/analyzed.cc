#include "tests/support/analyzed.h"

namespace advise {

void (*each_story)(const TraceBuilder&, const AnalysisOptions&, const Analysis&) = nullptr;

Analyzed::Analyzed(const TraceBuilder& story, const WindowRequest& window)
    : trace_(std::make_unique<Trace>(story.Build())) {
  AnalysisOptions options;
  options.window = window;
  analysis_ = std::make_unique<Analysis>(*trace_, ShippedKnowledge(), options);
  if (each_story != nullptr) each_story(story, options, *analysis_);
}
Analyzed::Analyzed(Analyzed&&) noexcept = default;
Analyzed& Analyzed::operator=(Analyzed&&) noexcept = default;
Analyzed::~Analyzed() = default;

std::string Analyzed::Causes(std::uint32_t device) const {
  std::string text;
  for (std::size_t c = 0; c < kIdleCauseCount; ++c) {
    const Nanos time = analysis_->idle.by_device[device][c];
    if (time == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(WordsOf(static_cast<IdleCause>(c)).name) +
            " " + std::to_string(time);
  }
  return text;
}

std::vector<std::uint32_t> Analyzed::Calls(const std::string& name) const {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t c = 0; c < trace_->calls.size(); ++c) {
    if (trace_->strings[trace_->calls.name[c]] == name) rows.push_back(c);
  }
  return rows;
}

}  // namespace advise
