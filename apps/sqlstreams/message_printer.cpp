#include "apps/sqlstreams/message_printer.hpp"

#include "actors/message_json.hpp"
#include "apps/sqlstreams/standard_output.hpp"
#include "apps/sqlstreams/text_table.hpp"

namespace sqlstreams {

namespace {

std::string as_text(const message& what, const delivery* run) {
  std::string line = std::to_string(what.id);
  if (run && run->attempt > 0)
    line += " attempt=" + std::to_string(run->attempt);
  if (!what.message_key.empty())
    line += " key=" + printable(what.message_key);
  if (!what.routing_key.empty())
    line += " routing-key=" + printable(what.routing_key);
  for (const auto& [name, value] : what.headers)
    line += ' ' + printable(name) + '=' + printable(value);
  line += ' ';
  line += what.content_type.empty()
            ? printable(what.payload)
            : std::to_string(what.payload.size()) + " bytes of "
                + printable(what.content_type);
  return line + '\n';
}

} // namespace

std::string message_text(const message& what, const std::string& stream,
                         const delivery* run, output_format format) {
  return format == output_format::json ? message_json(what, stream, run) + '\n'
                                       : as_text(what, run);
}

message_printer::message_printer(output_format format,
                                 std::function<void()> on_closed)
  : format_{format}, on_closed_{std::move(on_closed)} {}

outcome message_printer::operator()(const delivery& run) {
  const auto text = message_text(run.message, run.stream, &run, format_);
  std::unique_lock lock{mutex_};
  if (!closed_ && write_out(text))
    return done();
  const bool first = !closed_;
  closed_ = true;
  lock.unlock();
  if (first)
    on_closed_();
  return retry("standard output of the consumer was closed");
}

bool message_printer::closed() const {
  const std::lock_guard lock{mutex_};
  return closed_;
}

} // namespace sqlstreams
