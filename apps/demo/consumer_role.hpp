#pragma once

#include "config/consumer_config.hpp"

#include <filesystem>
#include <string>

#include <sys/types.h>

namespace sqlstreams::demo {

/// Names in the installation, the same for all processes of a run.
inline constexpr const char* stream_name = "demo.orders";
inline constexpr const char* group_name = "charge-cards";

/// Settings of the group: leases last about three seconds, so that work of a
/// consumer that was killed is taken over while one watches.
consumer_config group_settings();

/// What a consumer process is told.
struct consumer_role {
  int number = 0; ///< from 1
  std::filesystem::path folder;
  std::string url;
  std::string schema;
  pid_t parent = 0; ///< the consumer ends when this process does
};

/// Charges orders until SIGTERM, writing a ledger; leaves its totals as JSON.
/// @returns the exit status
/// @throws error what ended the session
int run_consumer(const consumer_role& role);

/// Files of consumer `number` in the run's folder.
std::filesystem::path ledger_path(const std::filesystem::path& folder,
                                  int number);
std::filesystem::path totals_path(const std::filesystem::path& folder,
                                  int number);
std::filesystem::path log_path(const std::filesystem::path& folder, int number);

} // namespace sqlstreams::demo
