#pragma once

#include "storage/call_interrupt.hpp"
#include "storage/store.hpp"

#include <memory>

namespace sqlstreams {

/// A factory of sessions whose calls wait for a server, and can be interrupted.
class interruptible_factory : public store_factory {
public:
  /// Opens a session like `open`.
  /// @param interrupt of its calls
  virtual std::unique_ptr<store>
  open_interruptible(std::shared_ptr<call_interrupt> interrupt) = 0;
};

/// Opens a session whose calls can be interrupted, if they ever wait.
inline std::unique_ptr<store>
open_session(store_factory& factory,
             const std::shared_ptr<call_interrupt>& interrupt) {
  auto* waits = dynamic_cast<interruptible_factory*>(&factory);
  return waits ? waits->open_interruptible(interrupt) : factory.open();
}

} // namespace sqlstreams
