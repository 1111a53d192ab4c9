#include "actors/raw_stream.hpp"

#include "actors/client_core.hpp"
#include "actors/messages.hpp"
#include "actors/producer.hpp"
#include "config/resolve.hpp"
#include "storage/message_checks.hpp"

#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

#include <fmt/format.h>

#include <utility>

namespace sqlstreams {

namespace {

/// Who declares things through this client, for the log of declarations.
std::string declarer(client_core& core) { return core.node().options().name; }

} // namespace

// -- raw_producer ------------------------------------------------------------

struct raw_producer::state {
  state(std::shared_ptr<client_core> given, stream_info info,
        const producer_config& config)
    : core{std::move(given)}, stream{std::move(info)}, defaults{config.message},
      limits{limits_of(stream.config)}, producer{core->node().start_producer(
                                          stream, config)} {}

  // Not in flight any more when the actor has ended: it finishes by itself.
  ~state() { caf::anon_send_exit(producer, caf::exit_reason::user_shutdown); }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  // On the caller's thread, where it costs nobody else anything: the producer
  // need not parse what was found to be JSON here.
  void check(std::vector<new_message>& messages) const {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      auto& message = messages[i];
      message.options = merge_producer_defaults(message.options, defaults);
      if (auto bad = check_message(message, limits)) {
        if (messages.size() == 1)
          throw *bad;
        throw error{bad->number(), bad->recover(),
                    fmt::format("message {} of {}: {}", i + 1, messages.size(),
                                bad->detail()),
                    bad->fix()};
      }
      message.origin = payload_origin::encoder;
    }
  }

  void refuse_if_closed() const {
    if (core->node().stopped())
      throw error{code::shutting_down};
  }

  std::shared_ptr<client_core> core;
  stream_info stream;
  message_options defaults;
  message_limits limits;
  caf::actor producer;
};

raw_producer::raw_producer(std::shared_ptr<client_core> core,
                           stream_info stream, const producer_config& config)
  : state_{
    std::make_shared<state>(std::move(core), std::move(stream), config)} {}

produced raw_producer::produce(new_message message) const {
  return produce_async(std::move(message)).get();
}

std::future<produced> raw_producer::produce_async(new_message message) const {
  auto promise = std::make_shared<std::promise<produced>>();
  auto future = promise->get_future();
  try {
    state_->refuse_if_closed();
    produce_messages request;
    request.messages.push_back(std::move(message));
    state_->check(request.messages);
    // No deadline here: the producer has one for each transaction and answers
    // everybody, even when it is killed. A timer a message would cost more than
    // the message.
    ask_then<produce_reply>(
      state_->core->node().system(), state_->producer, std::move(request),
      caf::infinite,
      [promise](produce_reply& reply) {
        promise->set_value(reply.messages.front());
      },
      [promise](const error& e) {
        promise->set_exception(std::make_exception_ptr(e));
      });
  } catch (...) {
    promise->set_exception(std::current_exception());
  }
  return future;
}

std::vector<produced>
raw_producer::produce_batch(std::vector<new_message> messages) const {
  state_->refuse_if_closed();
  state_->check(messages);
  return ask_async<produce_reply>(
           state_->core->node().system(), state_->producer,
           produce_messages{std::move(messages), true}, caf::infinite)
    .get()
    .messages;
}

std::vector<produced>
raw_producer::produce_with(std::vector<new_message> messages,
                           const transaction_work& work) const {
  state_->check(messages);
  auto& all = state_->core->application_transactions();
  std::vector<produced> results;
  all.run([&](pqxx::transaction_base& transaction) {
    // The work first: from the moment ids are drawn until the commit, the
    // stream's consumers wait.
    work(transaction);
    results = all.produce(transaction, state_->stream, messages);
  });
  return results;
}

std::vector<produced>
raw_producer::produce_in_tx(pqxx::transaction_base& transaction,
                            std::vector<new_message> messages) const {
  state_->check(messages);
  return state_->core->application_transactions().produce(
    transaction, state_->stream, messages);
}

const stream_info& raw_producer::stream() const noexcept {
  return state_->stream;
}

// -- raw_consumer ------------------------------------------------------------

raw_consumer::raw_consumer(std::shared_ptr<client_core> core,
                           stream_info stream, group_registration registration)
  : core_{std::move(core)}, stream_{std::move(stream)}, registration_{std::move(
                                                          registration)} {}

session_totals raw_consumer::consume(message_handler handler, consume_run run,
                                     std::stop_token stop) const {
  return start(std::move(handler), std::move(run)).wait(std::move(stop));
}

consumption raw_consumer::start(message_handler handler,
                                consume_run run) const {
  consume_spec spec;
  spec.stream = stream_;
  spec.group = registration_.group;
  spec.schema_version = run.schema_version;
  spec.options = std::move(run.options);
  spec.handler = std::move(handler);
  spec.instance = std::move(run.instance);
  spec.max_messages = run.max_messages;
  return core_->node().start_consuming(std::move(spec));
}

const group_registration& raw_consumer::registration() const noexcept {
  return registration_;
}

const stream_info& raw_consumer::stream() const noexcept { return stream_; }

// -- raw_group ---------------------------------------------------------------

raw_group::raw_group(std::shared_ptr<client_core> core, std::string stream,
                     std::string name)
  : core_{std::move(core)}, stream_{std::move(stream)}, name_{std::move(name)} {
}

std::optional<group_info> raw_group::get() const {
  const auto stream =
    core_->ask_storage<stream_reply>(find_stream_request{stream_}).stream;
  if (!stream)
    return std::nullopt;
  return core_->ask_storage<group_reply>(find_group_request{stream->id, name_})
    .group;
}

raw_consumer raw_group::register_group(const consumer_config& config) const {
  auto stream = core_->find_stream(stream_);
  auto done = core_->ask_registrar<group_registration>(
    group_declaration_request{stream.id, name_, config, declarer(*core_)});
  return {core_, std::move(stream), std::move(done)};
}

raw_consumer raw_group::open() const {
  auto stream = core_->find_stream(stream_);
  group_registration as_it_is;
  as_it_is.group = core_->find_group(stream, name_);
  return {core_, std::move(stream), std::move(as_it_is)};
}

group_lag raw_group::lag() const {
  const auto stream = core_->find_stream(stream_);
  const auto group = core_->find_group(stream, name_);
  return core_->ask_storage<group_lag>(lag_request{stream.id, group.id});
}

std::vector<exception_row>
raw_group::exceptions(std::optional<exception_status> status, message_id after,
                      std::size_t limit) const {
  const auto stream = core_->find_stream(stream_);
  const auto group = core_->find_group(stream, name_);
  return core_
    ->ask_storage<exceptions_reply>(
      exception_list_request{stream.id, group.id, status, after, limit})
    .rows;
}

std::vector<history_row> raw_group::history(message_id id) const {
  const auto stream = core_->find_stream(stream_);
  const auto group = core_->find_group(stream, name_);
  return core_
    ->ask_storage<history_reply>(history_request{stream.id, group.id, id})
    .rows;
}

// -- raw_stream --------------------------------------------------------------

raw_stream::raw_stream(std::shared_ptr<client_core> core, std::string name)
  : core_{std::move(core)}, name_{std::move(name)} {}

std::optional<stream_info> raw_stream::get() const {
  return core_->ask_storage<stream_reply>(find_stream_request{name_}).stream;
}

stream_registration
raw_stream::register_stream(const stream_config& config) const {
  return core_->ask_registrar<stream_registration>(
    stream_declaration_request{name_, config, declarer(*core_)});
}

raw_producer
raw_stream::register_producer(const producer_config& config) const {
  return {core_, core_->find_stream(name_), config};
}

raw_group raw_stream::consumer(std::string group) const {
  return {core_, name_, std::move(group)};
}

std::vector<group_info> raw_stream::groups() const {
  const auto stream = core_->find_stream(name_);
  return core_->ask_storage<groups_reply>(list_groups_request{stream.id})
    .groups;
}

read_result raw_stream::read(read_position from, std::size_t limit) const {
  const auto stream = core_->find_stream(name_);
  return core_->ask_storage<read_result>(
    read_request{stream.id, std::move(from), limit});
}

} // namespace sqlstreams
