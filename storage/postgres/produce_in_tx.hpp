#pragma once

#include "config/error.hpp"
#include "storage/message.hpp"

#include <string_view>
#include <utility>
#include <vector>

namespace pqxx {
class transaction_base;
}

namespace sqlstreams {

/// The database refused or lost a statement of `produce_in_tx`, so that the
/// whole transaction has failed. What applications throw is never of this type:
/// by that the two are told apart.
class transaction_failed : public error {
public:
  transaction_failed(const pqxx::transaction_base& transaction, error why)
    : error{std::move(why)}, transaction_{&transaction} {}

  /// Returns whether it is this transaction that failed.
  [[nodiscard]] bool
  concerns(const pqxx::transaction_base& transaction) const noexcept {
    return transaction_ == &transaction;
  }

private:
  const pqxx::transaction_base* transaction_; ///< compared, never followed
};

/// Produces messages inside a transaction that the caller began and ends: they
/// become visible with its commit. The stream's producer lock is taken again by
/// each call, since `ROLLBACK TO` a savepoint gives it up, and is held until
/// the transaction's end; consumers wait for that at ids drawn here.
/// @pre the messages passed `check_message`
/// @returns one entry a message, in order
/// @throws transaction_failed stream_not_found, or what the database said; the
///   transaction is of no further use then
std::vector<produced> produce_in_tx(pqxx::transaction_base& transaction,
                                    std::string_view schema, stream_id stream,
                                    const std::vector<new_message>& messages);

} // namespace sqlstreams
