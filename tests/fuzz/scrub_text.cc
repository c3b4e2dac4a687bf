// Texts of a trace that is to be passed on: what the scrubber learned is not in what it lets out.
#include "engine/scrub/scrub_text.h"

#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace advise;
  std::string_view input = fuzz::TextOf(data, size);
  const std::size_t secret_size = fuzz::TakeByte(&input) % 32;
  TextScrubber scrubber;
  scrubber.LearnHost("gpu17.cluster.example.org");
  scrubber.LearnUser("erika");
  scrubber.LearnSecret(input.substr(0, std::min(secret_size, input.size())));
  const std::string text(input);
  scrubber.LearnPaths(text);
  const std::string clean = scrubber.Clean(text);
  if (scrubber.Clean(text) != clean) fuzz::Broken("the same text becomes the same text");
  for (const std::string& gone : scrubber.MustBeGone()) {
    // The words that stand for secrets may make up a secret by chance.
    const bool by_chance = gone.find("key") != std::string::npos;
    if (!by_chance && clean.find(gone) != std::string::npos) {
      fuzz::Broken("a known secret is not in the output");
    }
  }
  (void)scrubber.CleanFile(text);
  return 0;
}
