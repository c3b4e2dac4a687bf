#include "engine/pipeline/inputs.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "engine/base/natural_order.h"
#include "engine/import/importer.h"
#include "engine/store/facts_file.h"

namespace advise {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeadBytes = 65536;

bool IsReport(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(kHeadBytes, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  if (IsFactsFile(head)) return true;
  if (head.find("\"made_by\": \"advise slice\"") != std::string::npos) return false;  // our own
  return !ImporterNameOf(path).empty();
}

Result<std::vector<std::string>> ReportsIn(const std::string& directory) {
  std::vector<std::string> found;
  std::error_code failed;
  for (fs::directory_iterator it(directory, failed), end; !failed && it != end;
       it.increment(failed)) {
    const std::string path = it->path().string();
    std::error_code unreadable;
    const bool plain = it->is_regular_file(unreadable);
    if (plain && !it->path().filename().string().starts_with('.') && IsReport(path)) {
      found.push_back(path);
    }
  }
  if (failed) return Fail(failed.message(), directory);
  if (found.empty()) {
    return Fail("the directory holds no report", directory,
                "name a file, for example the output of: nsys export --type=sqlite run.nsys-rep");
  }
  std::sort(found.begin(), found.end(), NaturalLess);
  return found;
}

}  // namespace

Result<std::vector<std::string>> ExpandReports(const std::vector<std::string>& paths) {
  std::vector<std::string> reports;
  std::set<std::string> known;
  for (const std::string& path : paths) {
    std::error_code failed;
    const fs::file_status status = fs::status(path, failed);
    if (!fs::exists(status)) return Fail("no such file", path);
    std::vector<std::string> found = {path};
    if (fs::is_directory(status)) {
      auto inside = ReportsIn(path);
      if (!inside) return tl::make_unexpected(inside.error());
      found = *inside;
    }
    for (const std::string& report : found) {
      if (known.insert(report).second) reports.push_back(report);
    }
  }
  return reports;
}

}  // namespace advise
