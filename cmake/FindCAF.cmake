# The C++ Actor Framework as distributions package it: without a CMake config
# file. Gives CAF_VERSION and the targets CAF::core, CAF::io, CAF::openssl.
#
#   find_package(CAF 0.17.6 REQUIRED COMPONENTS core io)
#
# CAF_ROOT names another installation than the system's.

find_path(CAF_INCLUDE_DIR caf/config.hpp)
mark_as_advanced(CAF_INCLUDE_DIR)

# The header packs the version into one number, two digits for each part:
# 1706 is 0.17.6.
if(CAF_INCLUDE_DIR)
  file(STRINGS "${CAF_INCLUDE_DIR}/caf/config.hpp" version_line
    REGEX "define +CAF_VERSION +[0-9]+")
  if(version_line MATCHES "CAF_VERSION +([0-9]+)")
    math(EXPR major "${CMAKE_MATCH_1} / 10000")
    math(EXPR minor "${CMAKE_MATCH_1} / 100 % 100")
    math(EXPR patch "${CMAKE_MATCH_1} % 100")
    set(CAF_VERSION "${major}.${minor}.${patch}")
  endif()
endif()

find_package(Threads QUIET)
set(needs_core Threads::Threads)
set(needs_io CAF::core)
set(needs_openssl CAF::io)

foreach(component IN ITEMS core io openssl)
  find_library(CAF_${component}_LIBRARY caf_${component})
  mark_as_advanced(CAF_${component}_LIBRARY)
  if(NOT CAF_INCLUDE_DIR OR NOT CAF_${component}_LIBRARY)
    continue()
  endif()
  set(CAF_${component}_FOUND TRUE)
  if(NOT TARGET CAF::${component})
    add_library(CAF::${component} UNKNOWN IMPORTED)
    set_target_properties(CAF::${component} PROPERTIES
      IMPORTED_LOCATION "${CAF_${component}_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${CAF_INCLUDE_DIR}"
      INTERFACE_LINK_LIBRARIES "${needs_${component}}")
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CAF
  REQUIRED_VARS CAF_INCLUDE_DIR CAF_core_LIBRARY
  VERSION_VAR CAF_VERSION
  HANDLE_COMPONENTS)
