#pragma once

#include "storage/memory/memory_state.hpp"

namespace sqlstreams {

/// A session of the in-memory installation; each protocol step has a file of
/// its own. Internal to storage/memory.
class memory_session : public store {
public:
  explicit memory_session(std::shared_ptr<memory_state> state)
    : state_{std::move(state)} {}

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
  std::shared_ptr<memory_state> state_;
};

} // namespace sqlstreams
