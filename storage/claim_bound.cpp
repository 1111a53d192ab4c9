#include "storage/claim_bound.hpp"

#include <algorithm>

namespace sqlstreams {

claim_proof settle_pending(claim_proof before,
                           const std::set<std::string>& producers) {
  if (before.pending_holders.empty())
    return before;
  const auto& holders = before.pending_holders;
  const bool held =
    std::any_of(holders.begin(), holders.end(), [&](const std::string& one) {
      return producers.contains(one);
    });
  if (held)
    return before;
  return {std::max(before.settled_head, before.pending_head), 0, {}};
}

claim_bound find_bound(const claim_proof& before, const visible_ids& seen) {
  claim_bound bound{before, std::max(seen.run_end, before.settled_head), false};
  if (seen.enough)
    return bound;
  if (seen.top <= bound.cap) {
    bound.proof.pending_head = 0;
    bound.proof.pending_holders.clear();
    return bound;
  }
  // A proof that is under way goes on only while it is about ids above.
  if (!before.pending_holders.empty() && before.pending_head > bound.cap) {
    bound.gap = true;
    return bound;
  }
  if (seen.producers.empty()) {
    bound.proof = {seen.top, 0, {}};
    bound.cap = seen.top;
  } else {
    bound.proof.pending_head = seen.top;
    bound.proof.pending_holders.assign(seen.producers.begin(),
                                       seen.producers.end());
    bound.gap = true;
  }
  return bound;
}

} // namespace sqlstreams
