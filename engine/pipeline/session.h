// What LoadSession reads, and what other commands ask of a session.
#pragma once

#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/pipeline/diagnose.h"

namespace advise {

// Rules and knowledge as shipped, with the paths of the source tree ("rules/…", "kb/…"): from the
// directory that ADVISE_SHARE names, else from ../share/advise beside the program, else those built
// into the program.
Result<std::vector<Knowledge::File>> ShippedFiles();

// Those of a directory that holds rules/ and kb/.
bool HoldsShare(const std::string& directory);
Result<std::vector<Knowledge::File>> ReadShare(const std::string& directory);

bool IsFolder(const std::string& path);

// All files under `directory` whose name ends in `ending`, by path; paths are `prefix` + the path
// below the directory.
Result<std::vector<Knowledge::File>> ReadTree(const std::string& directory,
                                              const std::string& prefix, const std::string& ending);

// The knowledge among `files` with the site's settings on top.
tl::expected<std::unique_ptr<Knowledge>, std::vector<Error>> LoadKnowledge(
    const std::vector<Knowledge::File>& files, const std::vector<Knowledge::File>& site,
    const std::vector<std::string>& settings);

// The rules among `files`: not the template, not lib/.
std::vector<RuleFile> RuleFilesOf(std::vector<Knowledge::File> files, bool of_site);

Result<std::string> ReadTextFile(const std::string& path);

// Every rule that is in force, by id; those that the site left out, too.
std::vector<const RuleInfo*> RuleInfos(const Session& session);

// The rule of that id, or an error with the nearest one.
Result<const RuleInfo*> FindRule(const Session& session, const std::string& id);

}  // namespace advise
