// The entry point that every room's tests share.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
