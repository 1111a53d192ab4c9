#include "apps/sqlstreams/explain_commands.hpp"

#include "actors/json_line.hpp"
#include "apps/sqlstreams/standard_output.hpp"
#include "apps/sqlstreams/text_table.hpp"
#include "config/error.hpp"

#include <memory>

namespace sqlstreams {

namespace {

/// The query with what the command line knows; the rest is for the reader to
/// fill in.
std::string diagnose_query(const diagnostic& row, const context& ctx) {
  static constexpr std::string_view placeholder = "{schema}";
  std::string query{row.diagnose};
  for (auto at = query.find(placeholder); at != std::string::npos;
       at = query.find(placeholder, at + ctx.schema.size()))
    query.replace(at, placeholder.size(), ctx.schema);
  return query;
}

std::string as_json(const diagnostic& row, const context& ctx) {
  const bool fails = row.kind == diagnostic_kind::error;
  return json_line{}
           .add("code", to_string(row.number))
           .add("name", row.name)
           .add("kind", to_string(row.kind))
           .add_optional("recovery", fails ? to_string(row.recover) : "")
           .add("problem", row.problem)
           .add("fix", row.fix)
           .add_optional("diagnose", diagnose_query(row, ctx))
           .str()
         + '\n';
}

std::string as_text(const diagnostic& row, const context& ctx) {
  std::string text = to_string(row.number) + ' ' + std::string(row.name) + " ("
                     + std::string(to_string(row.kind));
  if (row.kind == diagnostic_kind::error)
    text.append(", ").append(to_string(row.recover));
  text.append(")\n\n").append(row.problem);
  text.append("\nFix: ").append(row.fix).append("\n");
  if (!row.diagnose.empty())
    text += "Query: " + diagnose_query(row, ctx) + "\n";
  return text;
}

std::string list(const context& ctx) {
  if (ctx.json()) {
    std::string lines;
    for (const auto& row : all_diagnostics())
      lines += as_json(row, ctx);
    return lines;
  }
  text_table table{{{"CODE"}, {"NAME"}, {"KIND"}, {"PROBLEM"}}};
  for (const auto& row : all_diagnostics())
    table.add_row({to_string(row.number), std::string(row.name),
                   std::string(to_string(row.kind)), std::string(row.problem)});
  return table.render(output_width());
}

int explain(const std::string& wanted, const context& ctx) {
  if (wanted.empty())
    return write_out(list(ctx)) ? 0 : 1;
  const auto row = find_diagnostic(std::string_view(wanted));
  if (!row)
    throw error(code::unknown_code,
                "there is no code '" + printable(wanted) + "'",
                "`sqlstreams explain` without a code lists all of them");
  return write_out(ctx.json() ? as_json(*row, ctx) : as_text(*row, ctx)) ? 0
                                                                         : 1;
}

} // namespace

void add_explain_commands(CLI::App& app, context& ctx) {
  auto* command =
    app.add_subcommand("explain", "What a code means and what to do");
  auto wanted = std::make_shared<std::string>();
  command->add_option("CODE", *wanted,
                      "As SQL0005, as 5 or by its name; none: list all");
  command->callback([&ctx, wanted] {
    ctx.action = [&ctx, wanted] {
      return explain(*wanted, ctx);
    };
  });
}

} // namespace sqlstreams
