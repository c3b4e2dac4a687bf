// Words for people: quantities with units, sentence templates, spelling suggestions, safe output.
#pragma once

#include <functional>
#include <optional>
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

// Fills "{name:kind}" places of a template. kind: pct (share), time (ns), bytes, rate (bytes/s),
// flops, count, num, text, kernel, function. `value_of` returns the text for (name, kind), or
// nothing when the name is unknown (the place is kept as it stands).
std::string FillTemplate(
    std::string_view text,
    const std::function<std::optional<std::string>(std::string_view name, std::string_view kind)>&
        value_of);

// A kernel's name as a sentence can bear it: without return type and parameters, and without
// template arguments where they are long.
std::string KernelInWords(std::string_view name);

// The name of a kernel's function: "void at::native::foo<4, float>(int)" is "foo". What tools that
// measure kernels match by default.
std::string KernelFunction(std::string_view demangled);

// A range's name as a sentence can bear it: XLA packs attributes into names, of which the first
// that names something stays.
std::string RangeInWords(std::string_view name);

// Whether places of this kind take words, not numbers.
bool IsText(std::string_view kind);

// What a place of a kind of words shows of `words`: "kernel" as a sentence names it, "function" as
// profilers of kernels look for it, else all of it, safe to print.
std::string TextInPlace(std::string_view words, std::string_view kind);

// Code of a fix, in which places {name:function} stand for kernels; other braces are code.
// `name_of` returns the kernel's name; where it is empty or returns nothing, the code says NAME.
std::string FillCode(
    std::string_view code,
    const std::function<std::optional<std::string>(std::string_view name)>& name_of = {});

// The names of all "{name:kind}" places, as (name, kind), in order.
std::vector<std::pair<std::string, std::string>> TemplatePlaces(std::string_view text);

// The same of the places that FillCode fills.
std::vector<std::pair<std::string, std::string>> CodePlaces(std::string_view code);

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
