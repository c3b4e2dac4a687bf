// Templates of sentences and code, whose places {name:kind} are filled with evidence.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace advise {

// Fills "{name:kind}" places of a template. kind: pct (share), time (ns), bytes, rate (bytes/s),
// flops, count, num, text, kernel, function. `value_of` returns the text for (name, kind), or
// nothing when the name is unknown (the place is kept as it stands).
std::string FillTemplate(
    std::string_view text,
    const std::function<std::optional<std::string>(std::string_view name, std::string_view kind)>&
        value_of);

// Whether places of this kind take words, not numbers.
bool IsText(std::string_view kind);

// What a place of a kind of words shows of `words`: "kernel" as a sentence names it, "function" as
// profilers of kernels look for it, else all of it, safe to print.
std::string TextInPlace(std::string_view words, std::string_view kind);

// Code of a fix, in which places {name:function} stand for kernels, and {name:code} for other words
// of the evidence; other braces are code. `name_of` returns the kernel's name or the words; where
// it is empty or returns nothing, the code says NAME.
std::string FillCode(
    std::string_view code,
    const std::function<std::optional<std::string>(std::string_view name)>& name_of = {});

// The names of all "{name:kind}" places, as (name, kind), in order.
std::vector<std::pair<std::string, std::string>> TemplatePlaces(std::string_view text);

// The same of the places that FillCode fills.
std::vector<std::pair<std::string, std::string>> CodePlaces(std::string_view code);

}  // namespace advise
