#include "tests/app/json.h"

namespace advise {

Json ParseJson(const std::string& text) { return Json::parse(text); }

}  // namespace advise
