// The part of a cause that short reports print.
#pragma once

#include <string>

namespace advise {

// A sentence up to where it goes on with what follows from it, outside parentheses; whole where
// that says too little.
std::string FirstClause(const std::string& sentence);

}  // namespace advise
