#include "apps/sqlstreams/declared_handler.hpp"

#include "actors/exec_handler.hpp"
#include "actors/log_handler.hpp"
#include "config/error.hpp"

namespace sqlstreams {

namespace {

message_handler make(const exec_handler& declared,
                     const std::filesystem::path& folder) {
  auto command = declared.command;
  if (command.at(0).find('/') != std::string::npos)
    command[0] = std::filesystem::absolute(folder / command[0]).string();
  return make_exec_handler(std::move(command));
}

message_handler make(const log_handler&, const std::filesystem::path&) {
  return make_log_handler();
}

[[noreturn]] void refuse(std::string_view kind) {
  throw error(code::invalid_configuration,
              "this version does not run handlers of kind " + std::string(kind),
              "use handler = { exec = [\"command\"] } or { log = true }");
}

message_handler make(const http_handler&, const std::filesystem::path&) {
  refuse("http");
}

message_handler make(const actor_handler&, const std::filesystem::path&) {
  refuse("actor");
}

} // namespace

message_handler make_declared_handler(const handler_declaration& declared,
                                      const std::filesystem::path& folder) {
  return std::visit([&](const auto& kind) { return make(kind, folder); },
                    declared);
}

} // namespace sqlstreams
