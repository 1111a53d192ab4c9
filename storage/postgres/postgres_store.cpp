#include "storage/postgres/postgres_store.hpp"

#include "config/names.hpp"
#include "storage/interruptible_factory.hpp"
#include "storage/postgres/connection_settings.hpp"
#include "storage/postgres/postgres_session.hpp"
#include "storage/postgres/table_names.hpp"

#include <utility>

namespace sqlstreams {
namespace {

class postgres_factory : public interruptible_factory {
public:
  explicit postgres_factory(postgres_options options)
    : options_{std::move(options)} {
    validate_schema_name(options_.schema);
    connection_settings(options_); // throws for what cannot be an address
  }

  std::unique_ptr<store> open() override {
    return std::make_unique<postgres_session>(options_);
  }

  std::unique_ptr<store>
  open_interruptible(std::shared_ptr<call_interrupt> interrupt) override {
    return std::make_unique<postgres_session>(options_, std::move(interrupt));
  }

private:
  const postgres_options options_;
};

} // namespace

std::shared_ptr<store_factory> make_postgres_factory(postgres_options options) {
  return std::make_shared<postgres_factory>(std::move(options));
}

postgres_session::postgres_session(const postgres_options& options,
                                   std::shared_ptr<call_interrupt> interrupt)
  : connection_{options, std::move(interrupt)}, schema_{options.schema} {}

std::string postgres_session::sql(std::string_view text,
                                  stream_id stream) const {
  return named(text, schema_, stream);
}

} // namespace sqlstreams
