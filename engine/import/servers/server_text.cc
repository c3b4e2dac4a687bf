#include "engine/import/servers/server_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "engine/import/text_input.h"

namespace advise {

std::string_view Behind(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view rest = line.substr(at + key.size());
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  return rest;
}

std::optional<double> LeadingNumber(std::string_view text) {
  std::string digits;
  for (std::size_t i = 0; i < text.size() && digits.size() < 32; ++i) {
    const bool grouped = text[i] == ',' && i > 0 && i + 3 < text.size() && IsDigit(text[i + 1]) &&
                         IsDigit(text[i + 2]) && IsDigit(text[i + 3]);
    if (grouped) continue;
    if (!IsDigit(text[i]) && text[i] != '.' && !(text[i] == '-' && i == 0)) break;
    digits += text[i];
  }
  while (digits.ends_with('.')) digits.pop_back();
  return NumberOf(digits);
}

bool MayBeLog(std::string_view head, std::string_view not_with) {
  const std::size_t first = head.find_first_not_of(" \t\n");
  return first != std::string_view::npos && not_with.find(head[first]) == std::string_view::npos;
}

void CountTimesFromFirst(ServerLog* log) {
  if (!log->has_clock) return;
  std::vector<ServerSample>& samples = log->samples;
  std::erase_if(samples, [](const ServerSample& s) { return s.time_s < 0; });
  if (samples.empty()) return;
  const double first =
      std::min_element(samples.begin(), samples.end(), [](const auto& a, const auto& b) {
        return a.time_s < b.time_s;
      })->time_s;
  for (ServerSample& s : samples) s.time_s -= first;
}

}  // namespace advise
