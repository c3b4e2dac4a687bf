#include "engine/pipeline/site_files.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "engine/base/environment.h"
#include "engine/pipeline/session.h"

namespace advise {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSettingsBeside = "advise.toml";

// The folder `name` below what /etc is for a machine and the configuration folder for a person.
std::vector<SiteSource> Places(const std::string& name) {
  std::vector<SiteSource> places = {{"/etc/advise" + name, "the machine"}};
  std::string home = EnvironmentVariable("XDG_CONFIG_HOME");
  if (home.empty() && !EnvironmentVariable("HOME").empty())
    home = EnvironmentVariable("HOME") + "/.config";
  if (!home.empty()) places.push_back({home + "/advise" + name, "the user"});
  return places;
}

std::vector<SiteSource> RuleFolders(const DiagnoseOptions& options) {
  std::vector<SiteSource> folders;
  if (!options.no_site) {
    folders = Places("/rules");
    std::erase_if(folders, [](const SiteSource& place) { return !IsFolder(place.path); });
    const std::string named = EnvironmentVariable("ADVISE_RULES");
    for (std::size_t start = 0; start < named.size();) {
      const std::size_t end = std::min(named.find(':', start), named.size());
      if (end > start) folders.push_back({named.substr(start, end - start), "ADVISE_RULES"});
      start = end + 1;
    }
  }
  for (const std::string& directory : options.rule_dirs) folders.push_back({directory, "--rules"});
  return folders;
}

class Reader {
 public:
  explicit Reader(SiteFiles* site) : site_(site) {}

  Result<void> Rules(SiteSource folder) {
    auto files = ReadTree(folder.path, folder.path + "/", ".lua");
    if (!files) {
      Error error = files.error();
      error.hint = folder.named_by + " names this folder of rules";
      return tl::unexpected(std::move(error));
    }
    ++folders_;
    for (RuleFile& rule : RuleFilesOf(std::move(*files), true)) {
      rule.folder = folders_;
      site_->rules.push_back(std::move(rule));
      ++folder.rules;
    }
    site_->sources.push_back(folder);
    return SettingsIfThere(folder.path + "/" + kSettingsBeside, folder.named_by);
  }

  Result<void> Hardware(const SiteSource& folder) {
    if (!IsFolder(folder.path)) return {};
    auto files = ReadTree(folder.path, folder.path + "/", ".toml");
    if (!files) return tl::unexpected(files.error());
    for (Knowledge::File& file : *files) Add(std::move(file), folder.named_by);
    return {};
  }

  Result<void> SettingsIfThere(const std::string& path, const std::string& named_by) {
    std::error_code failed;
    if (!fs::exists(path, failed) || failed) return {};
    return Settings(path, named_by);
  }

  Result<void> Settings(const std::string& path, const std::string& named_by) {
    auto text = ReadTextFile(path);
    if (!text) return tl::unexpected(text.error());
    Add({path, *text}, named_by);
    return {};
  }

 private:
  // A file that is met again, as with `--rules site --config site/advise.toml`, counts where it
  // comes last.
  void Add(Knowledge::File file, const std::string& named_by) {
    const auto same = [&](const auto& known) {
      std::error_code failed;
      return fs::equivalent(known.path, file.path, failed) && !failed;
    };
    std::erase_if(site_->settings, same);
    std::erase_if(site_->sources, same);
    site_->sources.push_back({file.path, named_by, SiteSource::kSettings});
    site_->settings.push_back(std::move(file));
  }

  SiteFiles* site_;
  int folders_ = 0;
};

}  // namespace

Result<SiteFiles> ReadSite(const DiagnoseOptions& options, const std::string& beside) {
  SiteFiles site;
  Reader reader(&site);
  for (const SiteSource& folder : RuleFolders(options)) {
    if (auto read = reader.Rules(folder); !read) return tl::unexpected(read.error());
  }
  if (!beside.empty()) {
    auto read = reader.SettingsIfThere(beside + "/" + kSettingsBeside, "beside the rule");
    if (!read) return tl::unexpected(read.error());
  }
  if (!options.no_site) {
    for (const SiteSource& folder : Places("/hardware")) {
      if (auto read = reader.Hardware(folder); !read) return tl::unexpected(read.error());
    }
    std::vector<SiteSource> files = Places("/site.toml");
    if (!options.ignore_working_directory) files.push_back({"advise.toml", "the current folder"});
    for (const SiteSource& file : files) {
      auto read = reader.SettingsIfThere(file.path, file.named_by);
      if (!read) return tl::unexpected(read.error());
    }
  }
  if (!options.config.empty()) {
    const auto read = reader.Settings(options.config, "--config");
    if (!read) return Fail(read.error().what, options.config, "given with --config");
  }
  return site;
}

}  // namespace advise
