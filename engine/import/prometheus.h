// Lines of a page that Prometheus reads: `name{label="value",…} number [milliseconds]`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace advise {

struct PrometheusLine {
  std::string name;
  std::map<std::string, std::string> labels;
  std::string_view value;             // as it was printed
  std::optional<double> time_s = {};  // where the line has one

  std::string Label(const std::string& key) const {
    const auto found = labels.find(key);
    return found == labels.end() ? std::string() : found->second;
  }
};

// Nothing for comments, and for lines that were cut short.
std::optional<PrometheusLine> PrometheusLineOf(std::string_view line);

}  // namespace advise
