#pragma once

#include "storage/postgres/connection.hpp"
#include "storage/postgres/transaction_outcome.hpp"
#include "storage/store.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sqlstreams {

/// A session of a PostgreSQL installation; each protocol step has a file of its
/// own. Internal to storage/postgres.
class postgres_session : public store {
public:
  /// @param interrupt of its calls
  explicit postgres_session(const postgres_options& options,
                            std::shared_ptr<call_interrupt> interrupt =
                              std::make_shared<call_interrupt>());

  system_registration register_system() override;
  std::optional<system_info> find_system() override;
  stream_registration
  register_stream(const stream_declaration_request& request) override;
  std::optional<stream_info> find_stream(std::string_view name) override;
  std::vector<stream_info> list_streams() override;
  group_registration
  register_group(const group_declaration_request& request) override;
  std::optional<group_info> find_group(stream_id stream,
                                       std::string_view name) override;
  std::vector<group_info> list_groups(stream_id stream) override;

  std::vector<produced>
  produce(stream_id stream, const std::vector<new_message>& messages) override;

  claim_result claim(const claim_request& request) override;
  reclaim_result reclaim(const reclaim_request& request) override;
  read_result read(const read_request& request) override;

  settle_result settle(const settle_request& request) override;

  exception_claim_result
  claim_exceptions(const exception_claim_request& request) override;
  kill_result kill_exhausted(const kill_request& request) override;
  std::vector<exception_row>
  list_exceptions(const exception_list_request& request) override;
  std::vector<history_row> history(stream_id stream, group_id group,
                                   message_id id) override;

  group_lag lag(stream_id stream, group_id group) override;

private:
  /// A transaction of `produce`.
  struct produce_attempt {
    transaction_mark mark;
    std::vector<produced> results;
  };

  /// A stream's partitions as far as this session knows them.
  struct partition_state {
    std::int64_t size = 0;
    std::int64_t prepared = -1; ///< number of the newest known to exist
  };

  /// Fills in the placeholders of an SQL text.
  [[nodiscard]] std::string sql(std::string_view text,
                                stream_id stream = 0) const;

  void produce_plain(statements& on, stream_id stream,
                     const std::vector<new_message>& messages,
                     produce_attempt& attempt);
  void produce_keyed(statements& on, stream_id stream,
                     const std::vector<new_message>& messages,
                     produce_attempt& attempt);
  void heal_partitions(stream_id stream, const produce_attempt& attempt);
  void prepare_partitions(stream_id stream, message_id highest);
  [[noreturn]] void throw_refusal(const std::vector<new_message>& messages,
                                  const error& why);
  bool is_refused(const new_message* first, const new_message* last);

  connection connection_;
  std::string schema_;
  std::map<stream_id, partition_state> partitions_;
};

} // namespace sqlstreams
