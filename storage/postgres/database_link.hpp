#pragma once

#include "storage/call_interrupt.hpp"

#include <pqxx/connection>
#include <pqxx/except>

#include <memory>
#include <string>
#include <utility>

namespace sqlstreams {

/// No connection was made.
class connection_refused : public pqxx::broken_connection {
public:
  connection_refused(std::string sqlstate, const std::string& why)
    : broken_connection{why}, sqlstate_{std::move(sqlstate)} {}

  /// Returns the server's reason; empty if it gave none.
  [[nodiscard]] const std::string& sqlstate() const noexcept {
    return sqlstate_;
  }

private:
  std::string sqlstate_;
};

/// A connection on which every wait, that for the connection itself included,
/// ends when its call is interrupted. Never connects again by itself: the
/// transaction would be gone by then. The destructor closes it.
class database_link : public pqxx::connection_base {
public:
  /// Connects.
  /// @param settings for libpq
  /// @throws connection_refused also if the call was interrupted
  database_link(const std::string& settings,
                std::shared_ptr<call_interrupt> interrupt);
  ~database_link();
  database_link(const database_link&) = delete;
  database_link& operator=(const database_link&) = delete;

private:
  class policy : public pqxx::connectionpolicy {
  public:
    policy(const std::string& settings, call_interrupt& interrupt);
    handle do_startconnect(handle orig) override;

  private:
    call_interrupt& interrupt_;
  };

  void end_waits_with_socket();

  std::shared_ptr<call_interrupt> interrupt_;
  policy policy_;
};

} // namespace sqlstreams
