// Facts files: as a file, and as the plain text of their sections, which a checksum and a
// compression would else keep from being reached.
#include "engine/store/facts_file.h"

#include "engine/facts/catalog.h"
#include "engine/knowledge/embedded.h"
#include "engine/store/compress.h"
#include "tests/fuzz/target.h"

namespace advise {
namespace {

Vocabulary KnownNames() {
  static const Knowledge knowledge = std::move(*Knowledge::Load(EmbeddedKnowledge()));
  static const std::vector<FactInfo> facts = FactList(knowledge);
  static const RuleInfo any;
  return {[](const std::string&) { return &any; }, facts};
}

// As a frame of Zstandard that holds it as it is: packing would take most of the time.
std::string Stored(std::string_view plain) {
  constexpr std::size_t kBlock = 1U << 17U;
  const auto number = [](std::size_t value, int bytes) {
    std::string little;
    for (int i = 0; i < bytes; ++i) little += static_cast<char>(value >> (8U * i) & 0xFFU);
    return little;
  };
  std::string frame = "\x28\xB5\x2F\xFD\xA0" + number(plain.size(), 4);
  do {
    const std::string_view block = plain.substr(0, kBlock);
    plain.remove_prefix(block.size());
    frame += number(block.size() << 3U | (plain.empty() ? 1U : 0U), 3);
    frame += block;
  } while (!plain.empty());
  return frame;
}

}  // namespace
}  // namespace advise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace advise;
  static const Vocabulary known = KnownNames();
  std::string_view input = fuzz::TextOf(data, size);
  if (IsFactsFile(input)) {
    static const fuzz::ScratchFile file;
    file.Write(input);
    const Result<SavedReport> saved = ReadFactsFile(file.path(), known);
    if (!saved) fuzz::CheckError(saved.error());
    return 0;
  }
  if (fuzz::TakeByte(&input) == 'P') {
    const Result<Sections> sections = Unpack(std::string(input));
    if (sections) (void)Decode(*sections, known, "input");
    return 0;
  }
  // The summary up to a zero byte, then the columns of collectives.
  const std::size_t end = std::min(input.find('\0'), input.size());
  Sections sections = {{"summary", Stored(input.substr(0, end))}};
  if (end < input.size()) sections.emplace_back("collectives", Stored(input.substr(end + 1)));
  const Result<SavedReport> saved = Decode(sections, known, "input");
  if (!saved) fuzz::CheckError(saved.error());
  return 0;
}
