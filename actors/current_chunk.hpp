#pragma once

#include "actors/outcome.hpp"
#include "actors/run_item.hpp"
#include "actors/run_watch.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace sqlstreams {

/// Why a running message is asked to end before its handler is through.
enum class stop_reason : std::uint8_t { over_time, shutdown };

/// The chunk that a runner works on. Pure.
struct current_chunk {
  std::uint64_t number = 0;
  std::shared_ptr<const std::vector<run_item>> items; ///< empty: none
  run_watch watch{};
  std::optional<monotonic_time> next_look{}; ///< a timer is set for it

  struct stop_request {
    std::size_t index = 0;
    stop_reason why = stop_reason::over_time;
  };
  /// The last one. The reason that a message was given first is the one that
  /// counts: one that is over time has failed, whatever comes then.
  std::optional<stop_request> asked{};

  void begin(std::uint64_t its_number,
             std::shared_ptr<const std::vector<run_item>> its_items);

  /// A message that runs is asked to end.
  void ask_to_end(std::size_t index, stop_reason why) noexcept;

  /// Returns the outcome of a message that did not end though it was asked to.
  /// @pre a chunk is under way
  [[nodiscard]] outcome given_up(std::size_t index) const;

  /// Ends the chunk.
  /// @returns the results as they count: see cut_short
  std::vector<run_result> finish(std::vector<run_result> results);

private:
  [[nodiscard]] bool ends_by_shutdown(std::size_t index) const noexcept;
};

} // namespace sqlstreams
