#include "storage/registration.hpp"

namespace sqlstreams {

std::string_view to_string(registration_effect value) {
  switch (value) {
  case registration_effect::created: return "created";
  case registration_effect::updated: return "updated";
  case registration_effect::unchanged: return "unchanged";
  }
  return "unchanged";
}

std::string_view to_string(binding_effect value) {
  switch (value) {
  case binding_effect::none: return "none";
  case binding_effect::installed: return "installed";
  case binding_effect::joined: return "joined";
  case binding_effect::waiting: return "waiting";
  }
  return "none";
}

} // namespace sqlstreams
