#pragma once

#include "storage/message.hpp"

#include <string_view>
#include <vector>

namespace pqxx {
class transaction_base;
}

namespace sqlstreams {

/// Produces messages inside a transaction that the caller began and ends: they
/// become visible with its commit. The stream's producer lock is taken again by
/// each call, since `ROLLBACK TO` a savepoint gives it up, and is held until
/// the transaction's end; consumers wait for that at ids drawn here.
/// @pre the messages passed `check_message`
/// @returns one entry a message, in order
/// @throws error stream_not_found, or what the database said; the transaction
///   is of no further use then
std::vector<produced> produce_in_tx(pqxx::transaction_base& transaction,
                                    std::string_view schema, stream_id stream,
                                    const std::vector<new_message>& messages);

} // namespace sqlstreams
