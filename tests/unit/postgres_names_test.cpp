#include "storage/idempotency_uuid.hpp"
#include "storage/postgres/binding_regex.hpp"
#include "storage/postgres/connection_settings.hpp"
#include "storage/postgres/message_columns.hpp"
#include "storage/postgres/migrations.hpp"
#include "storage/postgres/table_names.hpp"

#include "config/error.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;

TEST_CASE("placeholders become identifiers, other braces stay",
          "[table_names]") {
  CHECK(named("{schema}.log_{stream} '{schema_text}' {x} '{}'", "select", 7)
        == "\"select\".log_7 'select' {x} '{}'");
  CHECK(named("{partition_size}", table_names{"s", 1, 500}) == "500");
  CHECK(lock_class("sqlstreams") >= 0);
  CHECK(lock_class("a") != lock_class("b"));
}

TEST_CASE("a key that is a uuid stands for itself, any other is hashed",
          "[idempotency]") {
  CHECK(idempotency_uuid("6C1E9F0A-6d5b-5c7e-9a0e-3f1f5a0e7b21")
        == "6c1e9f0a-6d5b-5c7e-9a0e-3f1f5a0e7b21");
  CHECK(idempotency_uuid("hello") == "7fbde91d-4cfe-5482-aa1a-a295a45c3fb5");
  // Longer than a block of the hash, and exactly one.
  CHECK(idempotency_uuid(std::string(200, 'x'))
        == "67652480-b0af-5939-b06a-733a7674b6e6");
  CHECK(idempotency_uuid(std::string(48, 'x'))
        == "f29be431-b08d-52a7-bb92-2d2868b8a472");
  CHECK_FALSE(is_uuid("6c1e9f0a6d5b5c7e9a0e3f1f5a0e7b21"));
}

TEST_CASE("a pattern's star is its only special character", "[bindings]") {
  CHECK(binding_regex("orders.*") == "^orders\\..*$");
  CHECK(binding_regex("a+b(c)\\d") == "^a\\+b\\(c\\)\\\\d$");
  CHECK(binding_regex("") == "^$");
}

TEST_CASE("array parameters keep every text", "[message_columns]") {
  array_text array;
  array.add("a\"b\\c,{}");
  array.add_or_null("");
  array.add("NULL");
  CHECK(std::move(array).finish() == R"({"a\"b\\c,{}",NULL,"NULL"})");
  CHECK(bytes_from_hex("\\x" + hex(std::string{"\0\xAb", 2}))
        == std::string{"\0\xAb", 2});
}

TEST_CASE("an address keeps what it says and gets what it lacks",
          "[connection_settings]") {
  const auto has = [](const std::string& url, const char* setting) {
    return connection_settings({.url = url}).find(setting) != std::string::npos;
  };
  CHECK(has("postgres://u@h/db", "connect_timeout='5'"));
  CHECK(has("postgres://u@h/db?connect_timeout=30", "connect_timeout='30'"));
  CHECK_FALSE(has("postgres://u@h/db?connect_timeout=30", "timeout='5'"));
  CHECK(has("postgres://u@h/db", "tcp_user_timeout='25000'"));
  CHECK(has("postgres://u@h/db", "fallback_application_name='sqlstreams'"));
  CHECK(has("host=h password='a\\'b'", "password='a\\'b'"));
  CHECK_FALSE(has("postgres://u@h/db", "options="));
  CHECK_FALSE(has("postgres://u@h/db", "target_session_attrs="));
}

TEST_CASE("an address that is none is refused without its secrets",
          "[connection_settings]") {
  try {
    connection_settings({.url = "postgres://u:secret@h/db?no_setting=1"});
    FAIL("accepted");
  } catch (const error& e) {
    CHECK(e.number() == code::invalid_database_url);
    CHECK(std::string{e.what()}.find("secret") == std::string::npos);
  }
}

TEST_CASE("tables older than needed or newer than understood are refused",
          "[migrations]") {
  CHECK_FALSE(check_schema_version(schema_version_of_build, 1, "schema s"));
  CHECK_FALSE(check_schema_version(schema_version_of_build + 1,
                                   schema_version_of_build, "schema s"));
  CHECK(check_schema_version(0, 0, "schema s")->number()
        == code::schema_older_than_build);
  CHECK(check_schema_version(schema_version_of_build + 1,
                             schema_version_of_build + 1, "schema s")
          ->number()
        == code::schema_newer_than_build);
}
