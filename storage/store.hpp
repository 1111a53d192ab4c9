#pragma once
// The seam between what is durable and who acts on it. The comments here and
// the conformance suite (tests/storage) are the contract that both
// implementations keep: storage/postgres and storage/memory.

#include "storage/claim.hpp"
#include "storage/registration.hpp"
#include "storage/settlement.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sqlstreams {

/// One session with the place where streams live: plain blocking calls, values
/// in and out. Not thread-safe: one owner, one thread at a time; any number of
/// sessions, in any number of processes, share the same streams.
///
/// Every call throws `sqlstreams::error`. Its `recover()` says whether the call
/// may be repeated: after `transient` nothing was done; after `unknown` it may
/// have been. A lost lease or a duplicate is an answer, not an error.
class store {
public:
  store() = default;
  store(const store&) = delete;
  store& operator=(const store&) = delete;
  virtual ~store() = default;

  // -- declarations: each one transaction, whole or not at all ---------------

  /// Creates the installation's shared tables, or finds them.
  /// @throws error schema_older_than_build, schema_newer_than_build,
  ///   schema_creation_denied
  virtual system_registration register_system() = 0;

  /// Returns the installation, or empty if there is none. Also the gate at
  /// start: throws schema_older_than_build or schema_newer_than_build.
  virtual std::optional<system_info> find_system() = 0;

  /// Declares a stream. The whole document counts: unset means default.
  /// Concurrent first declarations make one stream.
  /// @throws error partition_size_differs (nothing is written), invalid_name
  virtual stream_registration
  register_stream(const stream_declaration_request& request) = 0;

  /// Returns a stream by name; empty if it is not registered.
  /// @throws error sequence_unsafe if its ids could skip messages (rule 1 of
  ///   design page 06)
  virtual std::optional<stream_info> find_stream(std::string_view name) = 0;

  /// Returns all streams, by name.
  virtual std::vector<stream_info> list_streams() = 0;

  /// Declares a consumer group. Its cursor is placed at `config.start` once,
  /// when the group is created, and never moved by a declaration.
  /// @throws error stream_not_found
  virtual group_registration
  register_group(const group_declaration_request& request) = 0;

  /// Returns a group by name; empty if it is not registered.
  virtual std::optional<group_info> find_group(stream_id stream,
                                               std::string_view name) = 0;

  /// Returns the groups of a stream, by name.
  virtual std::vector<group_info> list_groups(stream_id stream) = 0;

  // -- producing ------------------------------------------------------------

  /// Stores messages in one transaction, in the order given; ids ascend in that
  /// order. All or none. An outcome that a lost connection left open is asked
  /// for before this returns.
  /// @pre the messages passed `check_message`
  /// @returns one entry a message, in order
  /// @throws error stream_not_found, commit_confirmation_lost (unknown);
  ///   database_error naming the message if the server refuses one
  virtual std::vector<produced>
  produce(stream_id stream, const std::vector<new_message>& messages) = 0;

  // -- the main path ----------------------------------------------------------

  /// Claims the next range of a group. Never passes an id that may still
  /// commit. A call that finds nothing writes nothing, except that a proof it
  /// began or finished is kept.
  /// @throws error group_not_found
  virtual claim_result claim(const claim_request& request) = 0;

  /// Takes over ranges whose lease has expired or was surrendered, lowest
  /// first, each under a new token; those at `max_range_reclaims` become ready
  /// exceptions instead. None while the group is paused.
  /// @throws error group_not_found
  virtual reclaim_result reclaim(const reclaim_request& request) = 0;

  /// Writes outcomes of ranges and of exceptions in one transaction and moves
  /// the group's `committed`. Each part is guarded by its token: where that is
  /// no longer valid nothing is written and the answer says so. Repeating a
  /// settle that took effect reports its parts as lost and changes nothing.
  virtual settle_result settle(const settle_request& request) = 0;

  // -- exceptions -----------------------------------------------------------

  /// Claims due exceptions, oldest first, under one new token each: `ready` and
  /// `deferred` rows that may run now, and `inflight` ones whose lease expired
  /// and whose budget allows another attempt (that attempt is then over:
  /// attempts + 1, one `expired` line of history). None while the group is
  /// paused.
  /// @throws error group_not_found
  virtual exception_claim_result
  claim_exceptions(const exception_claim_request& request) = 0;

  /// Marks dead: expired `inflight` rows at their budget, and rows over a
  /// budget that was lowered, due or not.
  /// @throws error group_not_found
  virtual kill_result kill_exhausted(const kill_request& request) = 0;

  /// Returns exceptions by id.
  virtual std::vector<exception_row>
  list_exceptions(const exception_list_request& request) = 0;

  /// Returns the history of one message in a group, oldest first.
  virtual std::vector<history_row> history(stream_id stream, group_id group,
                                           message_id id) = 0;

  // -- reading ----------------------------------------------------------------

  /// Reads a stream without a group, with the same promise as `claim`: an id
  /// that may still commit is not passed.
  virtual read_result read(const read_request& request) = 0;

  /// Returns where a group stands.
  /// @throws error group_not_found
  virtual group_lag lag(stream_id stream, group_id group) = 0;
};

/// Opens sessions; the one door through which storage comes in. Thread-safe.
class store_factory {
public:
  virtual ~store_factory() = default;

  /// Opens a session. Connecting may happen now or at the first call.
  virtual std::unique_ptr<store> open() = 0;
};

} // namespace sqlstreams
