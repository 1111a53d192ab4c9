#pragma once
// An application's own work in a transaction, and what became of it.

#include "config/error.hpp"
#include "storage/postgres/connection.hpp"
#include "storage/postgres/transaction_work.hpp"

#include <optional>

namespace sqlstreams {

/// Begins a transaction, runs `work` in it and commits, once. Where the reply
/// to the COMMIT is lost, the server is asked what became of it; afterwards
/// the connection is closed if anything failed.
/// @returns empty if it was committed; else what the database said, transient
///   if the transaction was rolled back and may be run again
/// @throws whatever `work` throws on its own account
std::optional<error> attempt_work(connection& link,
                                  const transaction_work& work);

} // namespace sqlstreams
