#pragma once

#include <cstdlib>
#include <string>

/// Returns the value of an environment variable, or `otherwise`.
inline std::string from_environment(const char* name,
                                    const char* otherwise = "") {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}
