#include "apps/sqlstreams/produce_commands.hpp"

#include "actors/json_line.hpp"
#include "apps/sqlstreams/failure_output.hpp"
#include "apps/sqlstreams/installation.hpp"
#include "apps/sqlstreams/line_producer.hpp"
#include "apps/sqlstreams/option_types.hpp"
#include "apps/sqlstreams/standard_output.hpp"
#include "config/error.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <iostream>
#include <memory>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sqlstreams {

namespace {

struct produce_arguments {
  std::string stream;
  std::string payload;
  std::string file;
  bool from_stdin = false;
  line_options lines;
};

/// A file that is open for reading.
class input_file {
public:
  explicit input_file(const std::string& path)
    : fd_{::open(path.c_str(), O_RDONLY | O_CLOEXEC)} {
    struct stat about {};
    if (fd_ >= 0 && ::fstat(fd_, &about) == 0 && S_ISDIR(about.st_mode))
      fail(path, EISDIR);
    if (fd_ < 0)
      fail(path, errno);
  }
  ~input_file() { close(); }
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_; }

private:
  void close() {
    if (fd_ >= 0)
      ::close(fd_);
    fd_ = -1;
  }
  [[noreturn]] void fail(const std::string& path, int why) {
    close();
    throw error(code::file_unreadable,
                "'" + path + "' cannot be read: " + std::strerror(why));
  }

  int fd_;
};

std::string as_json(const std::vector<produced>& results) {
  std::string lines;
  for (const auto& result : results)
    lines +=
      json_line{}.add("id", result.id).add("duplicate", result.duplicate).str()
      + '\n';
  return lines;
}

std::string as_text(const line_counts& counts) {
  std::string text = "produced " + std::to_string(counts.produced)
                     + (counts.produced == 1 ? " message" : " messages");
  if (counts.duplicates > 0)
    text += " (" + std::to_string(counts.duplicates) + " of them before)";
  if (counts.first > 0)
    text += counts.first == counts.last
              ? ", id " + std::to_string(counts.first)
              : ", ids " + std::to_string(counts.first) + " to "
                  + std::to_string(counts.last);
  return text + '\n';
}

/// A line on a terminal that shows how far it is; nothing in a pipe.
class progress {
public:
  ~progress() {
    if (shown_)
      std::cerr << "\r\x1b[K" << std::flush;
  }
  void show(std::uint64_t produced) {
    using namespace std::chrono_literals;
    const auto now = std::chrono::steady_clock::now();
    if (!on_terminal_ || now - last_ < 200ms)
      return;
    last_ = now;
    shown_ = true;
    std::cerr << "\rproduced " << produced << "\x1b[K" << std::flush;
  }

private:
  bool on_terminal_ = shows_progress();
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_{};
};

int produce_lines(const produce_arguments& what, const raw_producer& producer,
                  int fd, const context& ctx) {
  progress shown;
  line_counts so_far;
  line_producer lines{what.lines,
                      [&](std::vector<new_message> batch) {
                        return producer.produce_batch(std::move(batch));
                      },
                      [&](const std::vector<produced>& results) {
                        so_far.produced += results.size();
                        shown.show(so_far.produced);
                        return !ctx.json() || write_out(as_json(results));
                      },
                      [&](const error& refused) {
                        print_failure(refused, ctx.output);
                      }};
  line_source source{fd, what.lines.limits.max_payload_bytes + 1};
  const bool told = lines.run(source);
  const auto& counts = lines.counts();
  if (!told || (!ctx.json() && !write_out(as_text(counts))))
    return 1;
  if (counts.refused > 0 && !ctx.json())
    std::cerr << counts.refused
              << (counts.refused == 1 ? " line was" : " lines were")
              << " refused\n";
  return counts.refused > 0 ? 1 : 0;
}

int produce_one(const produce_arguments& what, const raw_producer& producer,
                const context& ctx) {
  auto message = what.lines.model;
  message.payload = what.payload;
  const auto result = producer.produce(std::move(message));
  line_counts counts;
  counts.produced = 1;
  counts.duplicates = result.duplicate ? 1 : 0;
  counts.first = counts.last = result.id;
  return write_out(ctx.json() ? as_json({result}) : as_text(counts)) ? 0 : 1;
}

int produce(produce_arguments what, const context& ctx) {
  // Whatever is wrong with the file is said before anything is opened.
  std::unique_ptr<input_file> file;
  if (!what.file.empty())
    file = std::make_unique<input_file>(what.file);
  const auto db = connect(ctx, missing_tables::leave);
  const auto config = require_stream(db, what.stream).config.with_defaults();
  what.lines.limits.max_payload_bytes =
    static_cast<std::size_t>(config.max_payload_bytes);
  what.lines.limits.compacted = config.compaction.enabled;
  const auto producer = db.stream(what.stream).register_producer();
  if (!file && !what.from_stdin)
    return produce_one(what, producer, ctx);
  return produce_lines(what, producer, file ? file->fd() : STDIN_FILENO, ctx);
}

} // namespace

void add_produce_commands(CLI::App& app, context& ctx) {
  auto what = std::make_shared<produce_arguments>();
  auto* command = app.add_subcommand("produce", "Append messages to a stream");
  command->add_option("STREAM", what->stream, "name of the stream")->required();
  auto* source =
    command->add_option_group("source", "Where messages come from");
  source->add_option("PAYLOAD", what->payload, "one message: JSON text");
  source->add_option("--file", what->file, "a message a line of this file")
    ->type_name("FILE");
  source->add_flag("--stdin", what->from_stdin,
                   "a message a line of standard input");
  source->require_option(1);
  auto& model = what->lines.model;
  auto* key = command->add_option("--key", model.message_key, "message key");
  auto* routing_key = command->add_option("--routing-key", model.routing_key,
                                          "matched by groups' bindings");
  command
    ->add_option("--key-field", what->lines.key_field,
                 "take each message's key from this field of it")
    ->excludes(key);
  command
    ->add_option("--routing-key-field", what->lines.routing_key_field,
                 "take each routing key from this field")
    ->excludes(routing_key);
  command->add_option("--idempotency-key", model.idempotency_key,
                      "stores the message once; one message only");
  add_pairs(*command, "--header", model.headers, "goes with the message");
  command
    ->add_option("--schema-version", model.schema_version, "of the payload")
    ->capture_default_str();
  command->add_option("--batch", what->lines.batch, "lines a transaction")
    ->capture_default_str()
    ->check(CLI::Range(1, 10'000).description(""));
  command->add_flag("--skip-invalid", what->lines.skip_invalid,
                    "report lines that cannot be produced and go on");
  command->callback([&ctx, what] {
    const bool many = what->from_stdin || !what->file.empty();
    if (many && !what->lines.model.idempotency_key.empty())
      throw CLI::ValidationError(
        "--idempotency-key",
        "would make all lines one message; give it with one PAYLOAD");
    ctx.action = [&ctx, what] {
      return produce(*what, ctx);
    };
  });
}

} // namespace sqlstreams
