# Puts SQL files into a library, so that a program carries its migrations.
#
#   embed_sql(TARGET FOLDER)
#
# makes embedded_sql.cpp in the build tree, which defines what
# FOLDER/embedded_sql.hpp declares. Run as a script it writes that file.

if(CMAKE_SCRIPT_MODE_FILE)
  # ROOT, OUTPUT and the list FILES come from the command line.
  set(entries)
  string(REPLACE "|" ";" FILES "${FILES}")
  foreach(file IN LISTS FILES)
    # Read as hexadecimal: CMake lists would eat semicolons and brackets.
    file(READ "${ROOT}/${file}" bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(MAKE_C_IDENTIFIER "${file}" symbol)
    string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)"
      "\\1\n" bytes "${bytes}")
    string(APPEND arrays
      "constexpr unsigned char sql_${symbol}[] = {\n${bytes}0};\n")
    string(APPEND entries "    {\"${file}\", as_text(sql_${symbol})},\n")
  endforeach()
  set(text "// Made by cmake/EmbedSql.cmake from the files of ${FOLDER}.
#include \"${FOLDER}/embedded_sql.hpp\"

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>

namespace sqlstreams {
namespace {

${arrays}
// The array ends in a zero that is not part of the file.
template <std::size_t Size>
std::string_view as_text(const unsigned char (&bytes)[Size]) {
  return {reinterpret_cast<const char*>(bytes), Size - 1};
}

const std::map<std::string_view, std::string_view>& files() {
  static const std::map<std::string_view, std::string_view> all{
${entries}  };
  return all;
}

} // namespace

std::string_view embedded_sql(std::string_view name) {
  const auto found = files().find(name);
  if (found == files().end())
    throw std::out_of_range{\"no embedded SQL file \" + std::string{name}};
  return found->second;
}

std::vector<std::string_view> embedded_sql_names() {
  std::vector<std::string_view> names;
  for (const auto& file : files())
    names.push_back(file.first);
  return names;
}

} // namespace sqlstreams
")
  file(WRITE "${OUTPUT}" "${text}")
  return()
endif()

set(EMBED_SQL_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

function(embed_sql target folder)
  if(NOT TARGET ${target})
    return()
  endif()
  set(root "${CMAKE_CURRENT_SOURCE_DIR}/${folder}")
  file(GLOB_RECURSE paths CONFIGURE_DEPENDS "${root}/*.sql")
  file(GLOB_RECURSE names RELATIVE "${root}" "${root}/*.sql")
  string(REPLACE ";" "|" names "${names}")
  set(output "${CMAKE_BINARY_DIR}/generated/embedded_sql.cpp")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND ${CMAKE_COMMAND} "-DROOT=${root}" "-DFOLDER=${folder}"
      "-DFILES=${names}" "-DOUTPUT=${output}" -P "${EMBED_SQL_SCRIPT}"
    DEPENDS ${paths} "${EMBED_SQL_SCRIPT}"
    COMMENT "Embedding the SQL files of ${folder}"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()
