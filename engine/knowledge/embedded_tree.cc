#include <simdjson.h>

#include "engine/knowledge/embedded.h"

namespace advise {
namespace {

using Json = simdjson::dom::element;

TomlNode NodeOf(const simdjson::dom::array& json) {
  auto part = json.begin();
  TomlNode node;
  node.kind = static_cast<TomlNode::Kind>(std::int64_t(*part));
  node.line = static_cast<int>(std::int64_t(*++part));
  node.key = std::string_view(*++part);
  const Json value = *++part;
  switch (value.type()) {
    case simdjson::dom::element_type::ARRAY:
      node.items.reserve(simdjson::dom::array(value).size());
      for (const Json item : simdjson::dom::array(value)) node.items.push_back(NodeOf(item));
      break;
    case simdjson::dom::element_type::STRING:
      node.text = std::string_view(value);
      break;
    case simdjson::dom::element_type::BOOL:
      node.flag = value;
      break;
    default:
      node.number = value;
  }
  return node;
}

}  // namespace

TomlNode EmbeddedTree(std::string_view json) {
  simdjson::dom::parser parser;
  return NodeOf(parser.parse(json.data(), json.size()));
}

}  // namespace advise
