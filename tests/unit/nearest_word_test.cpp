#include "config/nearest_word.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;

TEST_CASE("the distance of two words counts swaps as one", "[nearest_word]") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("retention", "retentoin") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("a near word is found, a far one is not", "[nearest_word]") {
  const std::vector<std::string> words{"retention", "partition_size", "url"};
  CHECK(nearest_word("retenton", words) == "retention");
  CHECK(nearest_word("Partition-Size", words) == "partition_size");
  CHECK(nearest_word("ulr", words) == "url");
  CHECK_FALSE(nearest_word("handler", words));
  CHECK_FALSE(nearest_word("", words));
  CHECK_FALSE(nearest_word(std::string(10'000, 'x'), words));
}
