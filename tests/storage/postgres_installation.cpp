#include "tests/storage/postgres_installation.hpp"

#include "storage/postgres/table_names.hpp"

namespace sqlstreams::test {

hand::hand(const std::string& url, std::string schema, stream_id stream)
  : connection_{url},
    transaction_{connection_}, schema_{std::move(schema)}, stream_{stream} {}

pqxx::result hand::operator()(const std::string& sql) {
  return transaction_.exec(named(sql, schema_, stream_));
}

std::string hand::ask(const std::string& sql) {
  return (*this)(sql)[0][0].as<std::string>("");
}

postgres_installation::postgres_installation(stream_config config,
                                             std::string url)
  : url_{std::move(url)}, factory_{make_postgres_factory(
                            {.url = url_, .schema = schema()})},
    session{factory_->open()} {
  session->register_system();
  stream =
    session->register_stream({.name = "orders", .config = config}).stream;
  group =
    session->register_group({.stream = stream.id, .name = "billing"}).group;
}

std::unique_ptr<store>
postgres_installation::open(const std::string& url) const {
  return make_postgres_factory({.url = url, .schema = schema()})->open();
}

hand postgres_installation::connect() const {
  return hand{url_, schema(), stream.id};
}

claim_result postgres_installation::claim(store& by, std::size_t limit) const {
  return by.claim({.stream = stream.id,
                   .group = group.id,
                   .limit = limit,
                   .lease = std::chrono::hours{1},
                   .holder = "test"});
}

std::vector<message_id> postgres_installation::claim_ids() const {
  std::vector<message_id> ids;
  for (bool more = true; more;) {
    const auto result = claim();
    more = result.more;
    if (result.claimed) {
      for (const auto& one : result.claimed->messages)
        ids.push_back(one.id);
    }
  }
  return ids;
}

std::vector<message_id> postgres_installation::produce(int count) const {
  return ids_of(session->produce(stream.id, numbered_messages(count)));
}

std::vector<new_message> numbered_messages(int count) {
  std::vector<new_message> all;
  for (int n = 1; n <= count; ++n)
    all.push_back({.payload = "{\"n\": " + std::to_string(n) + "}"});
  return all;
}

std::vector<message_id> ids_of(const std::vector<produced>& all) {
  std::vector<message_id> ids;
  for (const auto& one : all)
    ids.push_back(one.id);
  return ids;
}

} // namespace sqlstreams::test
