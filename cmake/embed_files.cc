// Writes a C++ source that holds the rules and the knowledge base, for engine/knowledge/embedded.h:
//   embed_files ROOT LIST OUTPUT
// LIST has one path a line, under ROOT. What the program would read each time it starts is read
// here: the TOML files of the knowledge base become trees in JSON, rules become Lua's bytecode with
// the numbers of their lines. Other files stay texts.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <lua.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "engine/knowledge/embedded.h"
#include "engine/knowledge/toml_tree.h"

namespace advise {
namespace {

using Json = nlohmann::ordered_json;

std::string TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw std::runtime_error(path + ": cannot be read");
  return text.str();
}

// [line, value]; see EmbeddedTree.
Json JsonOf(const TomlNode& node) {
  Json value;
  switch (node.kind) {
    case TomlNode::Kind::kTable:
      value = Json::object();
      for (const TomlNode& item : node.items) value[item.key] = JsonOf(item);
      break;
    case TomlNode::Kind::kArray:
      value = Json::array();
      for (const TomlNode& item : node.items) value.push_back(JsonOf(item));
      break;
    case TomlNode::Kind::kText:
      value = node.text;
      break;
    case TomlNode::Kind::kNumber:
      value = node.number;
      break;
    case TomlNode::Kind::kFlag:
      value = node.flag;
      break;
    default:
      throw std::runtime_error("the knowledge base holds no dates and times");
  }
  return Json::array({node.line, std::move(value)});
}

std::string TreeAsJson(const std::string& path, const std::string& text) {
  const Result<TomlNode> tree = ParseToml(path, text);
  if (!tree) throw std::runtime_error(tree.error().Line());
  return JsonOf(*tree).dump();
}

// The tests of a rule, half of its text, stand last in its file; nobody runs them from the program.
std::string WithoutTests(const std::string& path, const std::string& text) {
  const std::size_t tests = text.rfind("\n  tests = {\n");
  const std::size_t last = text.find_last_not_of('\n');
  if (tests == std::string::npos || !text.substr(0, last + 1).ends_with("\n  },\n}")) {
    throw std::runtime_error(
        path + ": wanted \"  tests = {\", on a line of its own, as the last field of the rule");
  }
  return text.substr(0, tests) + "\n}\n";
}

std::string Bytecode(const std::string& path, const std::string& text) {
  const std::unique_ptr<lua_State, decltype(&lua_close)> state(luaL_newstate(), lua_close);
  const std::string name = "@" + path;
  if (luaL_loadbufferx(state.get(), text.data(), text.size(), name.c_str(), "t") != LUA_OK) {
    throw std::runtime_error(lua_tostring(state.get(), -1));
  }
  const auto append = [](lua_State*, const void* piece, std::size_t size, void* code) {
    static_cast<std::string*>(code)->append(static_cast<const char*>(piece), size);
    return 0;
  };
  std::string code;
  lua_dump(state.get(), append, &code, /*strip=*/0);
  return code;
}

// As literals; compilers may limit one to 64 KiB and join them again.
void WriteBytes(std::ostream& out, std::string_view bytes) {
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

void WriteSource(const std::string& root, const std::string& list, const std::string& output) {
  std::ostringstream out;
  out << "// Made by cmake/embed_files.cc from rules/ and kb/.\n"
         "#include \"engine/knowledge/embedded.h\"\n\n"
         "namespace advise {\n\n"
         "std::vector<Knowledge::File> EmbeddedFiles() {\n"
         "  using namespace std::literals;\n"
         "  static constexpr struct {\n"
         "    std::string_view path, text, prepared;\n"
         "  } kFiles[] = {\n";
  std::istringstream paths(TextOf(list));
  for (std::string path; std::getline(paths, path);) {
    const std::string text = TextOf(root + "/" + path);
    out << "      {\"" << path << "\",\n";
    std::string prepared;
    if (IsKnowledge(path)) prepared = TreeAsJson(path, text);
    if (IsRule(path)) prepared = Bytecode(path, WithoutTests(path, text));
    WriteBytes(out, prepared.empty() ? text : "");
    out << ",\n";
    WriteBytes(out, prepared);
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

}  // namespace
}  // namespace advise

int main(int argc, char** argv) try {
  if (argc != 4) throw std::runtime_error("embed_files ROOT LIST OUTPUT");
  advise::WriteSource(argv[1], argv[2], argv[3]);
} catch (const std::exception& problem) {
  std::cerr << problem.what() << "\n";
  return 1;
}
