// Names that a trace holds, on their way into a report: safe for a terminal, a page and a table.
#include "engine/base/template.h"
#include "engine/base/text.h"
#include "engine/knowledge/embedded.h"
#include "engine/report/html_text.h"
#include "engine/report/markdown.h"
#include "tests/fuzz/target.h"

namespace {

bool HasControl(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) return true;
  }
  // C1 controls, as UTF-8 has them: some terminals take them for escape sequences.
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '\xC2' && static_cast<unsigned char>(text[i + 1]) < 0xA0) return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace advise;
  static const Knowledge knowledge = std::move(*Knowledge::Load(EmbeddedKnowledge()));
  const std::string_view raw = fuzz::TextOf(data, size);
  const std::string safe = SafeText(raw);
  if (HasControl(safe)) fuzz::Broken("safe text has no control characters");
  if (SafeText(safe) != safe) fuzz::Broken("safe text stays as it is");
  (void)KernelInWords(safe);
  (void)FillTemplate(safe, [&](std::string_view name, std::string_view) {
    return std::optional<std::string>(name);
  });
  (void)TemplatePlaces(raw);
  (void)knowledge.ClassifyKernel(raw);
  (void)knowledge.RangePhase(raw);
  (void)knowledge.FindHardware(raw);
  const std::string words = MarkdownText(raw);
  if (words.find('\n') != std::string::npos) fuzz::Broken("Markdown text makes no line");
  for (std::size_t at = words.find('<'); at < words.size(); at = words.find('<', at + 1)) {
    // Empty comments keep apart what would be a mention.
    if (words.compare(at, 8, "<!-- -->") != 0) fuzz::Broken("Markdown text makes no tag");
  }
  (void)MarkdownFence(raw, "c++");
  (void)MarkdownCode(raw);
  return 0;
}
