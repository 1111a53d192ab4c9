#pragma once

#include "config/retry_policy.hpp"
#include "storage/message.hpp"
#include "storage/postgres/postgres_store.hpp"
#include "storage/postgres/transaction_work.hpp"
#include "storage/registration.hpp"

#include <memory>
#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

namespace sqlstreams {

/// Runs application transactions on the caller's thread, on connections of its
/// own: as many as were ever used at once, idle ones are used again.
/// Thread-safe.
class transactions {
public:
  /// @param retry of database calls; unset fields take the defaults
  transactions(postgres_options options, const retry_policy& retry);
  ~transactions();
  transactions(const transactions&) = delete;
  transactions& operator=(const transactions&) = delete;

  /// Begins a transaction, runs `work` in it and commits. After a transient
  /// failure of the connection all is run again, so `work` must be repeatable:
  /// keep side effects outside of the database out of it. Failures are what
  /// libpqxx and `produce` throw; whatever else `work` throws, a transient
  /// `error` included, rolls back and is passed on. Where the reply to the
  /// commit is lost, the server is asked, for 15 s at most: a transaction that
  /// was committed is a success, one that was rolled back is run again.
  /// @throws error commit_confirmation_lost (unknown) if that cannot be found
  ///   out, or what the database said; anything that `work` throws
  void run(const transaction_work& work);

  /// Produces checked messages inside of a transaction, whoever began it.
  /// @throws error what the database said
  std::vector<produced> produce(pqxx::transaction_base& transaction,
                                const stream_info& stream,
                                const std::vector<new_message>& messages) const;

private:
  struct connections;
  std::unique_ptr<connections> connections_;
};

} // namespace sqlstreams
