#include <simdjson.h>

#include "engine/knowledge/embedded.h"

namespace advise {
namespace {

namespace dom = simdjson::dom;

// `json`: [line, value].
void Fill(const dom::array& json, TomlNode& node) {
  auto part = json.begin();
  node.line = static_cast<int>(std::int64_t(*part));
  const dom::element value = *++part;
  switch (value.type()) {
    case dom::element_type::OBJECT:
      node.items.reserve(dom::object(value).size());
      for (const auto& [name, item] : dom::object(value)) {
        TomlNode& entry = node.items.emplace_back();
        entry.key = name;
        Fill(item, entry);
      }
      break;
    case dom::element_type::ARRAY:
      node.kind = TomlNode::Kind::kArray;
      node.items.reserve(dom::array(value).size());
      for (const dom::element item : dom::array(value)) Fill(item, node.items.emplace_back());
      break;
    case dom::element_type::STRING:
      node.kind = TomlNode::Kind::kText;
      node.text = std::string_view(value);
      break;
    case dom::element_type::BOOL:
      node.kind = TomlNode::Kind::kFlag;
      node.flag = value;
      break;
    default:
      node.kind = TomlNode::Kind::kNumber;
      node.number = value;
  }
}

}  // namespace

TomlNode EmbeddedTree(std::string_view json) {
  dom::parser parser;
  TomlNode root;
  Fill(parser.parse(json.data(), json.size()), root);
  return root;
}

}  // namespace advise
