// Takes out of a text what names a person, a machine, a place or a key, and leaves what a diagnosis
// needs: the same text always becomes the same text, and different paths stay different.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace advise {

class TextScrubber {
 public:
  // Learns names from what a report says of its machine and its environment. Call before Clean.
  void LearnHost(std::string_view host);
  void LearnUser(std::string_view user);
  void LearnSecret(std::string_view value);
  // NAME=value of an environment: hosts, users, home directories, and values of names that look
  // like keys.
  void LearnVariable(std::string_view name, std::string_view value);
  // User names in paths of home directories.
  void LearnPaths(std::string_view text);

  // Paths become "/p1/f2.so", web addresses "https://u1", user names "user", host names "host",
  // keys "key".
  std::string Clean(std::string_view text);

  // A file's name with or without folders: "train.py" becomes "f1.py".
  std::string CleanFile(std::string_view path);

  // Hosts and keys that must not be in the output; short ones are left out.
  std::set<std::string> MustBeGone() const;
  std::size_t paths() const { return directories_.size() + addresses_.size(); }
  std::size_t hosts() const { return hosts_.size(); }
  std::size_t users() const { return users_.size(); }
  std::size_t secrets() const { return secrets_.size() + keys_; }

  // Names of variables that look like keys or passwords.
  static bool IsSecretName(std::string_view name);
  // A variable that a diagnosis reads (NCCL_…, ranks), with a value that names nothing.
  bool IsSwitch(std::string_view name, std::string_view value);

 private:
  std::string CleanPath(std::string_view path);
  std::string FileAlias(std::string_view file);
  std::string CleanAddress(std::string_view rest);
  std::string CleanWord(std::string_view word);

  std::set<std::string, std::less<>> hosts_, users_, secrets_;
  std::map<std::string, std::size_t, std::less<>> directories_, files_, addresses_;
  std::size_t keys_ = 0;
};

}  // namespace advise
