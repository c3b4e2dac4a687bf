// Leaves the inline tests out of a rule's text. They are half of a rule's file, and a run needs
// none of them: compiling and building them took a seventh of the time that the program takes to
// start.
#pragma once

#include <string>
#include <string_view>

namespace advise {

// `text` with nil, and as many lines as before, in place of the table at the field `tests` of the
// table that the chunk returns. Unchanged where that is not exactly what stands there:
// `return { …, tests = { … }, … }` at the end of the chunk. Reads the text once.
std::string WithoutTests(std::string_view text);

}  // namespace advise
