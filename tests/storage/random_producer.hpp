#pragma once
// A producer that does at random whatever producers may do.

#include "tests/storage/postgres_installation.hpp"

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace sqlstreams::test {

/// Produces by every way there is, rolls back, leaves holes in the ids, and
/// holds one transaction open while it goes on with others. One thread's own.
class random_producer {
public:
  /// @param name unique in the installation, fit for an identifier
  random_producer(const postgres_installation& system, unsigned seed,
                  std::string name);
  ~random_producer();
  random_producer(const random_producer&) = delete;
  random_producer& operator=(const random_producer&) = delete;

  /// Does one thing.
  void step();

  /// Ends what is held open.
  void finish();

  /// Returns the ids of all that was committed.
  [[nodiscard]] const std::vector<message_id>& committed() const noexcept {
    return committed_;
  }

private:
  /// A transaction that stays open, or is prepared, for some steps.
  struct held {
    std::vector<message_id> ids{};
    unsigned steps = 0;
    std::string prepared{}; ///< its name; empty: open
  };

  unsigned pick(unsigned below) { return random_() % below; }
  void begin_held();
  void end_held();
  void produce_by_copy();
  void produce_at_once();
  void leave_hole();
  std::vector<message_id> write(hand& on);
  std::vector<message_id> write_parts(hand& on);
  std::vector<message_id> write_in_savepoint(hand& on);
  void keep(const std::vector<message_id>& ids);

  std::mt19937 random_;
  std::string name_;
  stream_id stream_;
  std::unique_ptr<store> session_;
  hand quick_;
  hand holder_;
  bool may_prepare_;
  unsigned prepared_ = 0;
  std::optional<held> held_;
  std::vector<message_id> committed_;
};

} // namespace sqlstreams::test
