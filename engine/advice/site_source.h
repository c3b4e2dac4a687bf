// Where rules and settings come from that a site adds to what is shipped.
#pragma once

#include <string>

namespace advise {

struct SiteSource {
  enum Kind { kRules, kSettings };
  std::string path;      // a folder of rules, or a file of settings
  std::string named_by;  // "the machine", "the user", "ADVISE_RULES", "--rules" …
  Kind kind = kRules;
  int rules = 0;  // of a folder: files of rules
};

}  // namespace advise
