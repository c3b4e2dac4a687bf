// Stories with framework operators and python frames.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/analyzed.h"

namespace advise {

// A story with operators and python frames beside it, all on its first thread.
class OperatorStory {
 public:
  struct Span {
    std::string name;
    Interval when;
    std::int64_t sequence = -1;
    std::uint32_t thread = 0;
    OperatorInputs inputs = {};
  };

  TraceBuilder story;
  std::vector<Span> operators;  // in the order of (thread, start, outer first)
  std::vector<Span> frames;

  bool with_inputs = false;  // sizes of operators are recorded

  // Asked about every such story that is analyzed, where a test program says so.
  inline static void (*each)(const OperatorStory&, const Analysis&) = nullptr;

  // The same by other processes on as many devices more, at the same time.
  OperatorStory Twice() const {
    OperatorStory twice;
    const auto threads = static_cast<std::uint32_t>(story.Build().threads.size());
    twice.story = story;
    twice.story.Twice();
    twice.with_inputs = with_inputs;
    const auto copy = [&](const std::vector<Span>& spans, std::vector<Span>* both) {
      *both = spans;
      for (Span span : spans) {
        span.thread += threads;
        both->push_back(std::move(span));
      }
    };
    copy(operators, &twice.operators);
    copy(frames, &twice.frames);
    return twice;
  }

  // Analyzes the whole trace.
  Analysis& Analyze() {
    trace_ = std::make_unique<Trace>(story.Build());
    const auto fill = [&](const std::vector<Span>& spans, bool sized, RangeTable* table) {
      for (const Span& span : spans) {
        table->start.push_back(span.when.start);
        table->end.push_back(span.when.end);
        table->thread.push_back(span.thread);
        table->name.push_back(trace_->strings.Intern(span.name));
        table->domain.push_back(0);
        table->payload.push_back(span.sequence);
        if (!sized) continue;
        table->inputs.push_back(static_cast<std::uint32_t>(trace_->operator_inputs.size()));
        trace_->operator_inputs.push_back(span.inputs);
      }
    };
    fill(operators, with_inputs, &trace_->operators);
    fill(frames, false, &trace_->python_frames);
    AnalysisOptions options;
    options.window.mode = WindowRequest::Mode::kAll;
    analysis_ = std::make_unique<Analysis>(*trace_, ShippedKnowledge(), options);
    if (each != nullptr) each(*this, *analysis_);
    return *analysis_;
  }
  const Trace& trace() const { return *trace_; }

 private:
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<Analysis> analysis_;
};

}  // namespace advise
