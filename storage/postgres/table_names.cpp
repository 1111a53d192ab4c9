#include "storage/postgres/table_names.hpp"

#include <array>
#include <utility>

namespace sqlstreams {

std::int32_t lock_class(std::string_view schema) noexcept {
  // FNV-1a, 32 bits; the sign is dropped because pg_locks shows an unsigned
  // number.
  std::uint32_t hash = 2166136261u;
  for (unsigned char byte : schema)
    hash = (hash ^ byte) * 16777619u;
  return static_cast<std::int32_t>(hash & 0x7fffffffu);
}

std::string named(std::string_view sql, const table_names& names) {
  // A checked schema name holds no quote, so quoting is putting quotes around.
  const std::array<std::pair<std::string_view, std::string>, 5> values{{
    {"{schema}", '"' + names.schema + '"'},
    {"{schema_text}", names.schema},
    {"{lock_class}", std::to_string(lock_class(names.schema))},
    {"{stream}", std::to_string(names.stream)},
    {"{partition_size}", std::to_string(names.partition_size)},
  }};
  std::string out;
  out.reserve(sql.size() + sql.size() / 8);
  while (!sql.empty()) {
    const auto brace = sql.find('{');
    out += sql.substr(0, brace);
    if (brace == std::string_view::npos)
      break;
    sql.remove_prefix(brace);
    std::string_view replaced = sql.substr(0, 1);
    std::string_view with = replaced;
    for (const auto& [placeholder, value] : values) {
      if (sql.starts_with(placeholder)) {
        replaced = placeholder;
        with = value;
      }
    }
    out += with;
    sql.remove_prefix(replaced.size());
  }
  return out;
}

std::string named(std::string_view sql, const std::string& schema,
                  stream_id stream) {
  return named(sql, table_names{schema, stream, 0});
}

} // namespace sqlstreams
