// Words for people: quantities with units, names, spelling suggestions, safe output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace advise {

// A quantity as people read it: "428 ms", "25.5 GB", "93 %", "12,345". `unit` is one of ns, s,
// share, bytes, bytes_per_s, flop_per_s, count, hz, flop_per_byte, name; an unknown unit is printed
// after the number.
std::string FormatQuantity(double value, std::string_view unit);

// The same of a share.
std::string Percent(double share);

// A kernel's name as a sentence can bear it: without return type and parameters, and without
// template arguments where they are long.
std::string KernelInWords(std::string_view name);

// What a kernel is called that its report gives no name: by its grid, so that different kernels
// stay different. It has no function.
std::string UnnamedKernel(std::uint64_t blocks, std::uint64_t threads_per_block);
bool IsUnnamedKernel(std::string_view name);

// The name of a kernel's function: "void at::native::foo<4, float>(int)" is "foo". What tools that
// measure kernels match by default.
std::string KernelFunction(std::string_view demangled);

// A range's name as a sentence can bear it: XLA packs attributes into names, of which the first
// that names something stays.
std::string RangeInWords(std::string_view name);

// The candidate nearest to `word` by edit distance; when more than a third of the word differs from
// each, the shortest one that holds it; or "".
std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates);

// `did you mean "x"?`, or "" when nothing is near.
std::string Suggestion(std::string_view word, const std::vector<std::string>& candidates);

// The name with one "#" in place of each of its numbers: "step 12" and "step 13" are one family.
std::string WithoutNumbers(std::string_view name);

// A text in sentences.
std::vector<std::string> Sentences(const std::string& text);

// Valid UTF-8 without control characters: what a trace calls a name may be anything.
std::string SafeText(std::string_view raw);

}  // namespace advise
