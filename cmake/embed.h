// Files as a C++ source, for the tools of the build that make ready what the program holds
// (EmbedFiles.cmake).
#pragma once

#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/knowledge/knowledge.h"

namespace advise {

// A file to embed; its `prepared` bytes are of a text of their own.
struct MadeReady {
  std::string path;
  std::string text;
  std::string prepared;
};

inline std::string TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw std::runtime_error(path + ": cannot be read");
  return text.str();
}

// `list`: a file with one path a line, under `root`.
inline std::vector<Knowledge::File> FilesOf(const std::string& root, const std::string& list) {
  std::vector<Knowledge::File> files;
  std::istringstream paths(TextOf(list));
  for (std::string path; std::getline(paths, path);)
    files.push_back({path, TextOf(root + "/" + path)});
  return files;
}

[[noreturn]] inline void FailWith(const std::vector<Error>& errors) {
  std::string lines;
  for (const Error& error : errors) lines += error.Line() + "\n";
  throw std::runtime_error(lines);
}

// As literals; compilers may limit one to 64 KiB and join them again.
inline void WriteBytes(std::ostream& out, std::string_view bytes) {
  constexpr std::size_t kLongest = 16'000;
  for (std::size_t at = 0; at == 0 || at < bytes.size(); at += kLongest) {
    out << "       \"";
    for (const char c : bytes.substr(at, kLongest)) {
      if (c == '"' || c == '\\' || c == '?') {  // ??) would be a trigraph
        out << '\\' << c;
      } else if (c >= ' ' && c <= '~') {
        out << c;
      } else {
        out << fmt::format("\\{:03o}", static_cast<unsigned char>(c));
      }
    }
    out << "\"\n";
  }
  out << "       \"\"sv";
}

// Defines `function` of `header`, which gives back the files.
inline void WriteSource(const std::vector<MadeReady>& files, const std::string& header,
                        const std::string& function, const std::string& output) {
  std::ostringstream out;
  out << fmt::format(
      "// Made by cmake/embed.h from rules/ or kb/.\n"
      "#include \"{}\"\n\n"
      "namespace advise {{\n\n"
      "std::vector<Knowledge::File> {}() {{\n"
      "  using namespace std::literals;\n"
      "  static constexpr struct {{\n"
      "    std::string_view path, text, prepared;\n"
      "  }} kFiles[] = {{\n",
      header, function);
  for (const MadeReady& file : files) {
    out << "      {\"" << file.path << "\",\n";
    WriteBytes(out, file.text);
    out << ",\n";
    WriteBytes(out, file.prepared);
    out << "},\n";
  }
  out << "  };\n"
         "  std::vector<Knowledge::File> files;\n"
         "  for (const auto& [path, text, prepared] : kFiles)\n"
         "    files.push_back({std::string(path), std::string(text), prepared});\n"
         "  return files;\n"
         "}\n\n"
         "}  // namespace advise\n";
  std::ofstream file(output, std::ios::binary);
  file << out.str();
  file.close();
  if (!file) throw std::runtime_error(output + ": cannot be written");
}

}  // namespace advise
