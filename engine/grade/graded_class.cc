#include "engine/grade/graded_class.h"

namespace advise {

QuestionStatistics StatisticsOf(const GradedClass& graded, std::size_t criterion) {
  QuestionStatistics s;
  double sum = 0;
  std::size_t judged = 0;
  for (const GradedSubmission& one : graded.submissions) {
    if (criterion >= one.grade.marks.size()) continue;
    const Mark& mark = one.grade.marks[criterion];
    switch (mark.state) {
      case MarkState::kFull:
        ++s.full;
        break;
      case MarkState::kPartial:
        ++s.partial;
        break;
      case MarkState::kZero:
        ++s.none;
        break;
      case MarkState::kMissing:
        ++s.missing;
        break;
      case MarkState::kPerson:
        ++s.person;
        continue;
    }
    sum += mark.possible > 0 ? mark.points / mark.possible : 0;
    ++judged;
  }
  s.mean_share = judged > 0 ? sum / static_cast<double>(judged) : 0;
  return s;
}

}  // namespace advise
