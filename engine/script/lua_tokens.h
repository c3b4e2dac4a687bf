// The words of a Lua file, for checks of what stands in its code. Internal to script/.
#pragma once

#include <string_view>
#include <vector>

namespace advise {

struct LuaToken {
  enum class Kind { kName, kNumber, kText, kSign };
  Kind kind = Kind::kSign;
  std::string_view text;  // of a text, without its quotes
  int line = 0;
};

// Comments are left out (Lua 5.4 manual, 3.1). `text` must outlive the tokens.
std::vector<LuaToken> LuaTokens(std::string_view text);

}  // namespace advise
