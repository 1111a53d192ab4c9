#include "actors/keyed_policy.hpp"

#include "config/error.hpp"
#include "config/resolve.hpp"

namespace sqlstreams {

void refuse_keyed_policy(const consumer_config& config,
                         const std::string& subject) {
  const auto policy = resolve({}, config).policy;
  if (policy != concurrency::parallel)
    throw error{code::keyed_policy_unsupported,
                subject + " asks for " + std::string{to_string(policy)}};
}

} // namespace sqlstreams
