#include "load/poller.hpp"

#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace poolpilot::load {
namespace {

constexpr std::uint64_t kTimerToken = UINT64_MAX;
constexpr std::uint64_t kWakeToken = UINT64_MAX - 1;

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

Descriptor opened(int descriptor, const char* what) {
  if (descriptor < 0) throw_errno(what);
  return Descriptor(descriptor);
}

}  // namespace

// A timer descriptor and not epoll_wait's time-out: that one counts in milliseconds.
Poller::Poller()
    : epoll_(opened(epoll_create1(EPOLL_CLOEXEC), "cannot create an epoll")),
      timer_(opened(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC),
                    "cannot create a timer")),
      wake_(opened(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "cannot create an eventfd")) {
  add(timer_.get(), kTimerToken);
  add(wake_.get(), kWakeToken);
}

void Poller::watch(int descriptor, std::size_t token) { add(descriptor, token); }

// Edge-triggered: the socket stays writable.
void Poller::watch_connecting(int descriptor, std::size_t token) {
  add(descriptor, token, EPOLLIN | EPOLLOUT | EPOLLET);
}

void Poller::add(int descriptor, std::uint64_t token, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = token;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) {
    throw_errno("cannot watch a descriptor");
  }
}

std::span<const std::size_t> Poller::wait(std::int64_t deadline_ns) {
  arm(deadline_ns);
  const int ready = epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), -1);
  if (ready < 0 && errno != EINTR) throw_errno("cannot wait for sockets");
  std::size_t readable = 0;
  for (int i = 0; i < ready; ++i) {
    const std::uint64_t token = events_[static_cast<std::size_t>(i)].data.u64;
    if (token == kTimerToken) {
      armed_ns_ = 0;  // setting the timer anew, as the next wait must, also clears its readiness
    } else if (token == kWakeToken) {
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t ignored = read(wake_.get(), &count, sizeof(count));
    } else {
      tokens_[readable++] = static_cast<std::size_t>(token);
    }
  }
  return std::span(tokens_).first(readable);
}

void Poller::arm(std::int64_t deadline_ns) {
  if (deadline_ns == armed_ns_) return;
  armed_ns_ = deadline_ns;
  itimerspec spec{};  // all zero disarms
  if (deadline_ns != kNever) {
    spec.it_value.tv_sec = static_cast<time_t>(deadline_ns / 1'000'000'000);
    spec.it_value.tv_nsec = static_cast<long>(deadline_ns % 1'000'000'000);
  }
  timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
}

void Poller::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = write(wake_.get(), &one, sizeof(one));
}

}  // namespace poolpilot::load
