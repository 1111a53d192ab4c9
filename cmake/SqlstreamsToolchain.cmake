# What every target shares: compiler cache, linker, warnings, sanitizers; and
# the functions that make a target from the sources of a folder.

# Compiler cache. Precompiled headers need both settings: without them ccache
# declines to cache whatever uses one.
find_program(CCACHE_PROGRAM ccache)
mark_as_advanced(CCACHE_PROGRAM)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  if(SQLSTREAMS_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  endif()
endif()

# A fast linker is used if it is there, never required.
foreach(linker IN ITEMS mold lld)
  if(linker STREQUAL "mold" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU"
      AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12.1)
    continue() # older g++ does not know the name
  endif()
  find_program(SQLSTREAMS_LINKER_${linker} ld.${linker})
  mark_as_advanced(SQLSTREAMS_LINKER_${linker})
  if(SQLSTREAMS_LINKER_${linker})
    add_link_options(-fuse-ld=${linker})
    break()
  endif()
endforeach()

add_compile_options(-Wall -Wextra -Wpedantic)
if(SQLSTREAMS_WERROR)
  add_compile_options(-Werror)
endif()

if(SQLSTREAMS_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
  # With sanitizers g++ reports uses of uninitialized values inside inlined
  # standard containers that do not exist.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()

# The .cpp files of folders, relative to the calling CMakeLists.txt.
function(sqlstreams_sources out)
  set(found)
  foreach(folder IN LISTS ARGN)
    file(GLOB files CONFIGURE_DEPENDS
      "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp")
    list(APPEND found ${files})
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# Links those of the libraries that exist: a folder may have no sources yet.
function(sqlstreams_link target scope)
  foreach(library IN LISTS ARGN)
    if(TARGET ${library})
      target_link_libraries(${target} ${scope} ${library})
    endif()
  endforeach()
endfunction()

# sqlstreams_library(NAME FOLDERS dir... [LINK lib...] [LINK_PRIVATE lib...]
#                    [PCH header...])
function(sqlstreams_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FOLDERS;LINK;LINK_PRIVATE;PCH")
  sqlstreams_sources(sources ${arg_FOLDERS})
  if(NOT sources)
    return()
  endif()
  add_library(sqlstreams_${name} STATIC ${sources})
  target_include_directories(sqlstreams_${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  # For projects that use the library: its headers are C++20.
  target_compile_features(sqlstreams_${name} PUBLIC cxx_std_20)
  sqlstreams_link(sqlstreams_${name} PUBLIC ${arg_LINK})
  sqlstreams_link(sqlstreams_${name} PRIVATE ${arg_LINK_PRIVATE})
  if(SQLSTREAMS_PCH AND arg_PCH)
    target_precompile_headers(sqlstreams_${name} PRIVATE ${arg_PCH})
  endif()
endfunction()

# sqlstreams_program(NAME FOLDER [LINK lib...])
function(sqlstreams_program name folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LINK")
  sqlstreams_sources(sources ${folder})
  if(sources)
    add_executable(${name} ${sources})
    target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
    sqlstreams_link(${name} PRIVATE ${arg_LINK})
  endif()
endfunction()

# sqlstreams_program_per_file(PREFIX FOLDER [LINK lib...]): each file a program.
function(sqlstreams_program_per_file prefix folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LINK")
  sqlstreams_sources(sources ${folder})
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM stem)
    add_executable(${prefix}${stem} ${source})
    target_include_directories(${prefix}${stem} PRIVATE "${PROJECT_SOURCE_DIR}")
    sqlstreams_link(${prefix}${stem} PRIVATE ${arg_LINK})
  endforeach()
endfunction()
