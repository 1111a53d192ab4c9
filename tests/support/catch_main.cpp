// The test runner's main function, alone: it takes long to compile.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
