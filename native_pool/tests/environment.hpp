// Numbers by which a longer run of a test is asked for.
#pragma once

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>

namespace poolpilot {

inline int number_from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no test sets a variable
  if (text == nullptr) return otherwise;
  int number = 0;
  const char* end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, number);
  if (read.ec != std::errc() || read.ptr != end) {
    throw std::invalid_argument(std::string(name) + " is not a whole number: " + text);
  }
  return number;
}

}  // namespace poolpilot
