#pragma once
// Finding out what became of a transaction whose COMMIT was not answered.

#include "storage/postgres/connection.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace sqlstreams {

/// What a transaction is known by after its connection is gone.
struct transaction_mark {
  std::string xid;      ///< empty: none was taken, nothing can be asked
  std::string timeline; ///< on which the server was writing then
};

/// The columns `xid` and `timeline` of a statement inside the transaction, for
/// `read_mark`. NULL on a standby, where there is nothing to commit.
extern const std::string_view mark_columns;

/// @param row with those columns
transaction_mark read_mark(const pqxx::row& row);

/// What became of a transaction.
enum class transaction_end : std::uint8_t {
  committed,
  aborted,
  unknown, ///< cannot be found out, or not in time
};

/// Asks the server, by `link`, which connects anew where that is needed. While
/// the transaction is in progress or the server is away it is asked again, for
/// 15 s at most. Never throws for what the database says.
/// @pre the mark is not empty
transaction_end ask_outcome(connection& link, const transaction_mark& mark);

} // namespace sqlstreams
