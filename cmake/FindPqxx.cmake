# libpqxx and the libpq below it. Gives Pqxx_VERSION and the targets Pqxx::pqxx
# and Pqxx::pq.
#
# Only the folder above pqxx/ is ever an include directory: pqxx/array in the
# search path would hide the standard library's <array>.

find_path(Pqxx_INCLUDE_DIR pqxx/pqxx)
find_library(Pqxx_LIBRARY pqxx)
find_path(Pqxx_pq_INCLUDE_DIR libpq-fe.h PATH_SUFFIXES postgresql)
find_library(Pqxx_pq_LIBRARY pq)
mark_as_advanced(Pqxx_INCLUDE_DIR Pqxx_LIBRARY Pqxx_pq_INCLUDE_DIR
  Pqxx_pq_LIBRARY)

if(Pqxx_INCLUDE_DIR)
  file(STRINGS "${Pqxx_INCLUDE_DIR}/pqxx/version.hxx" version_line
    REGEX "define +PQXX_VERSION +\"")
  if(version_line MATCHES "\"([0-9.]+)\"")
    set(Pqxx_VERSION "${CMAKE_MATCH_1}")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Pqxx
  REQUIRED_VARS Pqxx_LIBRARY Pqxx_INCLUDE_DIR Pqxx_pq_LIBRARY
    Pqxx_pq_INCLUDE_DIR
  VERSION_VAR Pqxx_VERSION)

if(Pqxx_FOUND AND NOT TARGET Pqxx::pqxx)
  add_library(Pqxx::pq UNKNOWN IMPORTED)
  set_target_properties(Pqxx::pq PROPERTIES
    IMPORTED_LOCATION "${Pqxx_pq_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Pqxx_pq_INCLUDE_DIR}")
  add_library(Pqxx::pqxx UNKNOWN IMPORTED)
  set_target_properties(Pqxx::pqxx PROPERTIES
    IMPORTED_LOCATION "${Pqxx_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Pqxx_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES Pqxx::pq)
endif()
