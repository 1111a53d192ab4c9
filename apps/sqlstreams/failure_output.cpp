#include "apps/sqlstreams/failure_output.hpp"

#include "actors/json_line.hpp"
#include "config/toml_reader.hpp"

#include <iostream>

namespace sqlstreams {

namespace {

std::string findings_json(const std::vector<finding>& findings) {
  std::string text = "[";
  for (const auto& one : findings) {
    text += text.size() > 1 ? "," : "";
    text += json_line{}
              .add("file", one.file)
              .add("line", one.line)
              .add("column", one.column)
              .add_optional("key", one.key_path)
              .add("problem", one.problem)
              .add_optional("accepted", one.accepted)
              .add_optional("suggestion", one.suggestion)
              .str();
  }
  return text + "]";
}

std::string as_json(const error& failure) {
  const auto& row = find_diagnostic(failure.number());
  json_line line;
  line.add("code", to_string(failure.number()))
    .add("name", row.name)
    .add("problem", row.problem)
    .add("detail", failure.detail())
    .add("recovery", to_string(failure.recover()))
    .add("fix", failure.fix());
  if (const auto* file = dynamic_cast<const configuration_error*>(&failure))
    line.add_json("findings", findings_json(file->findings()));
  return json_line{}.add_json("error", line.str()).str() + '\n';
}

} // namespace

std::string failure_text(const error& failure, output_format format) {
  return format == output_format::json
           ? as_json(failure)
           : "sqlstreams: " + std::string(failure.what()) + '\n';
}

void print_failure(const std::exception& failure, output_format format) {
  if (const auto* coded = dynamic_cast<const error*>(&failure))
    std::cerr << failure_text(*coded, format);
  else if (format == output_format::json)
    std::cerr << json_line{}
                   .add_json("error",
                             json_line{}.add("detail", failure.what()).str())
                   .str()
              << '\n';
  else
    std::cerr << "sqlstreams: " << failure.what() << '\n';
}

} // namespace sqlstreams
