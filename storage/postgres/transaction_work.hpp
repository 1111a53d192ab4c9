#pragma once

#include <functional>

namespace pqxx {
class transaction_base;
}

namespace sqlstreams {

/// Work of an application inside one database transaction.
using transaction_work = std::function<void(pqxx::transaction_base&)>;

} // namespace sqlstreams
