#include "actors/current_chunk.hpp"

#include "actors/session_outcome.hpp"
#include "config/duration.hpp"

#include <utility>

namespace sqlstreams {

void current_chunk::begin(
  std::uint64_t its_number,
  std::shared_ptr<const std::vector<run_item>> its_items) {
  number = its_number;
  items = std::move(its_items);
  watch = run_watch{*items};
  asked.reset();
}

void current_chunk::ask_to_end(std::size_t index, stop_reason why) noexcept {
  if (!asked || asked->index != index)
    asked = {index, why};
}

bool current_chunk::ends_by_shutdown(std::size_t index) const noexcept {
  return asked && asked->index == index && asked->why == stop_reason::shutdown;
}

outcome current_chunk::given_up(std::size_t index) const {
  if (ends_by_shutdown(index))
    return retry("still running when the time for shutting down was over");
  return retry("timed out after "
               + format_duration(items->at(index).options.timeout));
}

std::vector<run_result> current_chunk::finish(std::vector<run_result> results) {
  items.reset();
  // Only what runs last can be meant: after a shutdown's request no other
  // message of the chunk starts.
  if (asked && asked->index < results.size()
      && ends_by_shutdown(asked->index)) {
    auto& ended = results[asked->index].result;
    ended = cut_short(std::move(ended));
  }
  return results;
}

} // namespace sqlstreams
