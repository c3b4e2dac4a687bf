// What a tool takes: the schema that clients see, and the check of what they send.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/app/mcp/protocol.h"
#include "engine/base/error.h"

namespace advise {

struct Parameter {
  enum class Kind { kText, kTexts, kNumber, kFlag };
  std::string name;
  Kind kind = Kind::kText;
  bool required = false;
  std::string text;  // what it means
};

// JSON Schema of an object with these.
McpJson SchemaOf(const std::vector<Parameter>& parameters);

class Arguments {
 public:
  // Fails on what is missing, unknown or of another type, and says what was probably meant. Numbers
  // and flags may be texts.
  static Result<Arguments> Read(const McpJson& given, const std::vector<Parameter>& parameters);

  std::string Text(const std::string& name) const;                // "" when it is not given
  std::vector<std::string> Texts(const std::string& name) const;  // empty when it is not given
  std::optional<std::size_t> Number(const std::string& name) const;
  bool Flag(const std::string& name) const;
  std::size_t Offset() const { return Number("offset").value_or(0); }

 private:
  McpJson given_;
};

}  // namespace advise
