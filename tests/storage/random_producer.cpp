#include "tests/storage/random_producer.hpp"

#include <pqxx/except>

namespace sqlstreams::test {

namespace {

std::vector<message_id> ids_in(const pqxx::result& rows) {
  std::vector<message_id> ids;
  for (const auto& row : rows)
    ids.push_back(row[0].as<message_id>());
  return ids;
}

/// Runs `work`; a partition that came too late for an INSERT of one's own is a
/// rollback like any.
/// @returns whether it ran
template <class Work>
bool unless_refused(hand& on, Work&& work) {
  try {
    work();
    return true;
  } catch (const pqxx::check_violation&) {
    on("ROLLBACK");
    return false;
  }
}

} // namespace

random_producer::random_producer(const postgres_installation& system,
                                 unsigned seed, std::string name)
  : random_{seed}, name_{std::move(name)}, stream_{system.stream.id},
    session_{system.open()}, quick_{system.connect()},
    holder_{system.connect()}, may_prepare_{
                                 quick_.ask("SHOW max_prepared_transactions")
                                 != "0"} {
  // A rollback without a transaction is fine here, and no warning.
  quick_("SET client_min_messages = error");
  holder_("SET client_min_messages = error");
}

random_producer::~random_producer() {
  // A prepared transaction outlives its connection, with its locks.
  if (held_ && !held_->prepared.empty()) {
    try {
      holder_("ROLLBACK PREPARED '" + held_->prepared + "'");
    } catch (const std::exception&) {
      // The test fails by what came before.
    }
  }
}

void random_producer::step() {
  if (held_ && --held_->steps == 0)
    return end_held();
  if (!held_ && pick(4) == 0)
    return begin_held();
  switch (pick(8)) {
  case 0:
  case 1:
  case 2: return produce_by_copy();
  case 3: return leave_hole();
  default: return produce_at_once();
  }
}

void random_producer::finish() {
  if (held_)
    end_held();
}

void random_producer::begin_held() {
  held opened;
  opened.steps = 1 + pick(12);
  const bool ran = unless_refused(holder_, [&] {
    holder_("BEGIN");
    opened.ids = write_parts(holder_);
  });
  if (!ran)
    return;
  if (may_prepare_ && pick(4) == 0) {
    opened.prepared = name_ + "_" + std::to_string(++prepared_);
    holder_("PREPARE TRANSACTION '" + opened.prepared + "'");
  }
  held_ = std::move(opened);
}

void random_producer::end_held() {
  const bool commits = pick(5) != 0;
  const std::string verb = commits ? "COMMIT" : "ROLLBACK";
  holder_(held_->prepared.empty()
            ? verb
            : verb + " PREPARED '" + held_->prepared + "'");
  if (commits)
    keep(held_->ids);
  held_.reset();
}

void random_producer::produce_by_copy() {
  const auto count = 1 + static_cast<int>(pick(40));
  keep(ids_of(session_->produce(stream_, numbered_messages(count))));
}

void random_producer::produce_at_once() {
  std::vector<message_id> ids;
  if (pick(3) == 0) { // one statement that is a transaction by itself
    if (unless_refused(quick_, [&] { ids = write(quick_); }))
      keep(ids);
    return;
  }
  const bool ran = unless_refused(quick_, [&] {
    quick_("BEGIN");
    ids = write_parts(quick_);
  });
  if (!ran)
    return;
  if (pick(5) == 0) {
    quick_("ROLLBACK");
  } else {
    quick_("COMMIT");
    keep(ids);
  }
}

void random_producer::leave_hole() {
  quick_("SELECT nextval('{schema}.message_log_{stream}_id_seq')"
         " FROM generate_series(1, "
         + std::to_string(1 + pick(pick(10) == 0 ? 300 : 10)) + ")");
}

std::vector<message_id> random_producer::write(hand& on) {
  if (pick(2) == 0)
    return ids_in(on("SELECT {schema}.produce('orders', '{\"n\": 1}')"));
  return ids_in(on("INSERT INTO {schema}.message_log_{stream} (payload)"
                   " SELECT to_jsonb(n) FROM generate_series(1, "
                   + std::to_string(1 + pick(6)) + ") AS n RETURNING id"));
}

std::vector<message_id> random_producer::write_parts(hand& on) {
  std::vector<message_id> all;
  for (auto parts = 1 + pick(3); parts > 0; --parts) {
    const auto part = pick(3) == 0 ? write_in_savepoint(on) : write(on);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

std::vector<message_id> random_producer::write_in_savepoint(hand& on) {
  on("SAVEPOINT part");
  auto ids = write(on);
  if (pick(2) == 0) {
    on("RELEASE SAVEPOINT part");
    return ids;
  }
  on("ROLLBACK TO SAVEPOINT part");
  return {};
}

void random_producer::keep(const std::vector<message_id>& ids) {
  committed_.insert(committed_.end(), ids.begin(), ids.end());
}

} // namespace sqlstreams::test
