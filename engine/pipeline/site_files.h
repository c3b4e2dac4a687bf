// What a site adds: rules and settings in files that are found where a site keeps them, or that
// options name.
#pragma once

#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/pipeline/diagnose.h"

namespace advise {

struct SiteFiles {
  std::vector<RuleFile> rules;  // of two with the same id, that of the later folder counts
  std::vector<Knowledge::File> settings;  // in the order they apply: later ones win
  std::vector<SiteSource> sources;        // where both come from, in the same order
};

// Folders of rules: /etc/advise/rules, $XDG_CONFIG_HOME/advise/rules, those that ADVISE_RULES names
// (separated by colons), those of `rule_dirs`. Settings: advise.toml in these folders, then GPUs in
// hardware/*.toml of /etc/advise and of $XDG_CONFIG_HOME/advise, then site.toml of both,
// ./advise.toml (unless `ignore_working_directory`), and `config`, which may be a GPU as well.
// `no_site` leaves out what no option names. `beside`: a folder whose advise.toml counts, too; ""
// none. Fails when a file or folder that was named cannot be read.
Result<SiteFiles> ReadSite(const DiagnoseOptions& options, const std::string& beside = "");

}  // namespace advise
