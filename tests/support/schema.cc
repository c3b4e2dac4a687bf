#include "tests/support/schema.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

namespace advise {

std::vector<std::string> SchemaProblems(const nlohmann::json& report, const std::string& name) {
  std::ifstream file(ADVISE_SOURCE_DIR "/docs/" + name + ".schema.json");
  const nlohmann::json schema_text = nlohmann::json::parse(file);
  valijson::Schema schema;
  valijson::SchemaParser(valijson::SchemaParser::kDraft7)
      .populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_text), schema);
  valijson::ValidationResults results;
  valijson::Validator().validate(schema, valijson::adapters::NlohmannJsonAdapter(report), &results);
  std::vector<std::string> problems;
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    std::string place;
    for (const std::string& part : error.context) place += part;
    problems.push_back(place + ": " + error.description);
  }
  return problems;
}

}  // namespace advise
