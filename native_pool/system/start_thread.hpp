// Threads whose refusal is an error, unlike that of a worker.
#pragma once

#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace poolpilot {

// Throws std::system_error that says what the thread was for.
inline std::thread start_thread(const std::string& purpose, std::function<void()> body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& error) {
    throw std::system_error(error.code(), "cannot start the thread of " + purpose);
  }
}

}  // namespace poolpilot
