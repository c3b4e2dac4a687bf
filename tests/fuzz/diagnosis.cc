// The whole way from an odd report to every form of the answer: nothing stops the program, and what
// it prints is fit to be printed.
#include <numeric>

#include "engine/pipeline/diagnose.h"
#include "engine/report/html.h"
#include "engine/report/json.h"
#include "engine/report/markdown.h"
#include "engine/report/sarif.h"
#include "engine/report/text_report.h"
#include "tests/fuzz/nsys_variants.h"
#include "tests/fuzz/target.h"

namespace {

const advise::DiagnoseOptions& Options() {
  static const advise::DiagnoseOptions options = [] {
    advise::DiagnoseOptions plain;
    plain.no_site = true;
    plain.ignore_working_directory = true;
    plain.by_itself = true;
    plain.draw = true;
    plain.jobs = 1;
    return plain;
  }();
  return options;
}

// `form`: laying out all forms of the answer takes half of the time, so that it is one for each
// input beside the text.
void DiagnoseContent(std::string_view content, unsigned form) {
  using namespace advise;
  static const auto session = LoadSession(Options());
  if (!session) fuzz::Broken("the shipped rules load");
  static const fuzz::ScratchFile file;
  file.Write(content);
  DiagnoseOptions options = Options();
  options.reports = {file.path()};
  const Result<SavedReport> saved = Diagnose(*session, options);
  if (!saved) return fuzz::CheckError(saved.error());
  for (const Verdict& verdict : saved->report.verdicts) {
    if (verdict.outcome == Outcome::kBroken) fuzz::Broken("no shipped rule breaks");
  }
  const std::string text = RenderText(saved->report, {});
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') {
      fuzz::Broken("the report holds no control character");
    }
  }
  if (text.find("nan") == 0 || text.find(" nan ") != std::string::npos) {
    fuzz::Broken("the report holds no nan");
  }
  switch (form % 4) {
    case 0:
      (void)RenderJson(saved->report, {.facts = true});
      break;
    case 1:
      (void)RenderMarkdown(saved->report, {});
      break;
    case 2:
      (void)RenderHtml(saved->report, {});
      break;
    default:
      (void)RenderSarif(saved->report);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string content = advise::fuzz::NsysVariant(advise::fuzz::TextOf(data, size));
  if (!content.empty()) DiagnoseContent(content, std::accumulate(data, data + size, 0U));
  return 0;
}
