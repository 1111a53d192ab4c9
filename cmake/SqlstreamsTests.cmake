# One executable per folder. Each Catch2 test case is a test of CTest, so that
# `ctest -R` names single cases.
find_package(Catch2 2.13 REQUIRED)
include("${Catch2_DIR}/Catch.cmake")

# The server that the tests share is theirs alone: what it holds may be lost in
# a crash. Two-phase commits and many connections are for tests of locks.
set(test_server "${CMAKE_BINARY_DIR}/test-pg")
set(test_server_settings fsync=off synchronous_commit=off full_page_writes=off
  max_prepared_transactions=20 max_connections=200)

# The test library knows storage, but no actors: the storage tests build
# without CAF.
sqlstreams_sources(support_sources tests/support)
if(NOT support_sources)
  return()
endif()
add_library(test_support STATIC ${support_sources})
target_include_directories(test_support PUBLIC "${PROJECT_SOURCE_DIR}")
# For this file alone: the precompiled header below must not depend on it.
set(settings "$<JOIN:${test_server_settings}, >")
set_source_files_properties(tests/support/test_database.cpp PROPERTIES
  COMPILE_DEFINITIONS "SQLSTREAMS_TEST_SERVER=\"${test_server}\";SQLSTREAMS_TEST_SERVER_SETTINGS=\"${settings}\"")
sqlstreams_link(test_support PUBLIC Catch2::Catch2 sqlstreams_storage
  sqlstreams_dev_server Pqxx::pqxx Pqxx::pq)

# Tests are built to be compiled soon, not to run fast. (It also spares them
# g++ 12's false alarms about concatenated strings, GCC bug 105651.)
target_compile_options(test_support PUBLIC $<$<CONFIG:Release>:-O0>)

# One precompiled header for all tests. The file with the main function cannot
# use it: it must say so before the header comes.
if(SQLSTREAMS_PCH)
  target_precompile_headers(test_support PRIVATE <catch2/catch.hpp>)
  set_source_files_properties(tests/support/catch_main.cpp
    PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endif()

# sqlstreams_test(FOLDER [DATABASE] [LINK lib...])
function(sqlstreams_test folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "DATABASE" "" "LINK")
  sqlstreams_sources(sources tests/${folder})
  if(NOT sources)
    return()
  endif()
  set(target test_${folder})
  add_executable(${target} ${sources})
  sqlstreams_link(${target} PRIVATE test_support ${arg_LINK})
  if(SQLSTREAMS_PCH)
    target_precompile_headers(${target} REUSE_FROM test_support)
  endif()
  set(properties)
  if(arg_DATABASE)
    set(properties PROPERTIES FIXTURES_REQUIRED database)
  endif()
  # A name that Catch2's patterns cannot express (one with a semicolon, or with
  # brackets) would find no test and pass: NoTests makes it fail.
  catch_discover_tests(${target} TEST_PREFIX "${folder}/"
    EXTRA_ARGS --warn NoTests ${properties})
endfunction()

sqlstreams_test(unit LINK sqlstreams_actors)
sqlstreams_test(storage DATABASE)
sqlstreams_test(actors DATABASE LINK sqlstreams_actors)
sqlstreams_test(simulation LINK sqlstreams_actors)
sqlstreams_test(apps DATABASE
  LINK sqlstreams_bench sqlstreams_actors CLI11::CLI11)

# The pure cores of the command line, which is no library.
if(TARGET test_apps)
  foreach(core IN ITEMS key_field line_producer line_source session_restarts
      text_table unknown_command)
    target_sources(test_apps PRIVATE
      "${PROJECT_SOURCE_DIR}/apps/sqlstreams/${core}.cpp")
  endforeach()
endif()

# Likewise those of the demo.
if(TARGET test_apps)
  foreach(core IN ITEMS account ledger order_file progress)
    target_sources(test_apps PRIVATE
      "${PROJECT_SOURCE_DIR}/apps/demo/${core}.cpp")
  endforeach()
endif()

# Programs the tests run as a user would.
if(TARGET test_apps AND TARGET sqlstreams)
  target_compile_definitions(test_apps
    PRIVATE SQLSTREAMS_BIN="$<TARGET_FILE:sqlstreams>"
            SQLSTREAMS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_dependencies(test_apps sqlstreams)
endif()
if(TARGET test_apps AND TARGET sqlstreams-demo)
  target_compile_definitions(test_apps
    PRIVATE SQLSTREAMS_DEMO="$<TARGET_FILE:sqlstreams-demo>"
            SQLSTREAMS_PROGRAMS="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  add_dependencies(test_apps sqlstreams-demo bench_first example_actors
    example_quickstart example_transactional)
endif()

# CTest starts that server before the first test that needs it and stops it
# after the last.
if(TARGET sqlstreams)
  list(TRANSFORM test_server_settings PREPEND "--set=" OUTPUT_VARIABLE settings)
  add_test(NAME database_start
    COMMAND sqlstreams dev start --data "${test_server}" ${settings})
  add_test(NAME database_stop
    COMMAND sqlstreams dev stop --data "${test_server}")
  set_tests_properties(database_start PROPERTIES FIXTURES_SETUP database)
  set_tests_properties(database_stop PROPERTIES FIXTURES_CLEANUP database)
endif()
