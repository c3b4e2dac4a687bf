// How facts of monitors name GPUs.
#pragma once

#include <string>
#include <vector>

namespace advise::facts {

// "GPU 5"; "" for "".
inline std::string NameOf(const std::string& label) {
  return label.empty() ? label : "GPU " + label;
}

// "GPU 5", "GPUs 2 and 5".
inline std::string NamesOf(const std::vector<std::string>& labels) {
  if (labels.size() < 2) return labels.empty() ? "" : NameOf(labels.front());
  std::string names = "GPUs " + labels.front();
  for (std::size_t i = 1; i < labels.size(); ++i)
    names += (i + 1 == labels.size() ? " and " : ", ") + labels[i];
  return names;
}

}  // namespace advise::facts
