// The calls that can be refused stand here under their own names: the program's definitions come
// before those of the libraries, a sanitizer's among them, and pass on what they do not refuse.
#include "tests/refusals.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <system_error>
#include <thread>

#include "system/descriptor.hpp"

namespace poolpilot {
namespace {

constexpr int kNone = -1;

// Relaxed: an order that the tests brought in would hide a race from ThreadSanitizer.
constinit std::atomic<int> chosen{kNone};
constinit std::atomic<int> calls{0};
constinit std::atomic<int> first{0};
constinit std::atomic<int> last{0};
constinit std::atomic<int> told{0};  // the error asked for

thread_local bool spared = false;

bool refuse(Refusable call) {
  if (spared || chosen.load(std::memory_order_relaxed) != static_cast<int>(call)) return false;
  const int number = calls.fetch_add(1, std::memory_order_relaxed) + 1;
  return number >= first.load(std::memory_order_relaxed) &&
         number <= last.load(std::memory_order_relaxed);
}

int error_or(int usual) {
  const int asked = told.load(std::memory_order_relaxed);
  return asked != 0 ? asked : usual;
}

int fail(int usual) {
  errno = error_or(usual);
  return -1;
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

void spare_this_thread(bool spare) { spared = spare; }

Refusal::Refusal(Refusable call, int nth, int times, int error) : nth_(nth), times_(times) {
  calls.store(0, std::memory_order_relaxed);
  first.store(nth, std::memory_order_relaxed);
  last.store(times > INT_MAX - nth ? INT_MAX : nth + times - 1, std::memory_order_relaxed);
  told.store(error, std::memory_order_relaxed);
  chosen.store(static_cast<int>(call), std::memory_order_relaxed);
}

Refusal::~Refusal() { chosen.store(kNone, std::memory_order_relaxed); }

int Refusal::refused() const {
  return std::clamp(calls.load(std::memory_order_relaxed) - nth_ + 1, 0, times_);
}

}  // namespace poolpilot

using poolpilot::error_or;
using poolpilot::fail;
using poolpilot::Refusable;
using poolpilot::refuse;

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) noexcept {
  static const auto real = poolpilot::next<decltype(pthread_create)>("pthread_create");
  return refuse(Refusable::kThread) ? error_or(EAGAIN) : real(thread, attributes, body, argument);
}

int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  static const auto real = poolpilot::next<decltype(epoll_ctl)>("epoll_ctl");
  return refuse(Refusable::kEpollCtl) ? fail(ENOSPC) : real(epoll, operation, fd, event);
}

int epoll_create1(int flags) noexcept {
  static const auto real = poolpilot::next<decltype(epoll_create1)>("epoll_create1");
  return refuse(Refusable::kEpollCreate) ? fail(EMFILE) : real(flags);
}

int eventfd(unsigned int count, int flags) noexcept {
  static const auto real = poolpilot::next<decltype(eventfd)>("eventfd");
  return refuse(Refusable::kEventfd) ? fail(EMFILE) : real(count, flags);
}

int listen(int socket, int backlog) noexcept {
  static const auto real = poolpilot::next<decltype(listen)>("listen");
  return refuse(Refusable::kListen) ? fail(EADDRINUSE) : real(socket, backlog);
}

int accept4(int socket, sockaddr* name, socklen_t* length, int flags) {
  static const auto real = poolpilot::next<decltype(accept4)>("accept4");
  return refuse(Refusable::kAccept) ? fail(EMFILE) : real(socket, name, length, flags);
}

}  // extern "C"

namespace poolpilot {
namespace {

TEST(Refusals, RefuseTheNthCallAndNoOther) {
  const Refusal refusal(Refusable::kThread, 2);
  std::thread([] {}).join();
  EXPECT_EQ(refusal.refused(), 0);
  EXPECT_THROW(std::thread([] {}), std::system_error);
  std::thread([] {}).join();
  EXPECT_EQ(refusal.refused(), 1);
}

TEST(Refusals, PassOverASparedThread) {
  const Refusal refusal(Refusable::kEventfd, 1, INT_MAX);
  std::thread([] {
    spare_this_thread();
    EXPECT_TRUE(Descriptor(eventfd(0, EFD_CLOEXEC)).valid());
  }).join();
  EXPECT_EQ(refusal.refused(), 0);
  EXPECT_FALSE(Descriptor(eventfd(0, EFD_CLOEXEC)).valid());
}

TEST(Refusals, RefuseSeveralCallsUntilTheirEnd) {
  {
    const Refusal refusal(Refusable::kEventfd, 1, 2);
    EXPECT_FALSE(Descriptor(eventfd(0, EFD_CLOEXEC)).valid());
    EXPECT_FALSE(Descriptor(eventfd(0, EFD_CLOEXEC)).valid());
    EXPECT_TRUE(Descriptor(eventfd(0, EFD_CLOEXEC)).valid());
    EXPECT_EQ(refusal.refused(), 2);
  }
  {
    const Refusal refusal(Refusable::kEventfd, 1, 1, ENOMEM);
    EXPECT_EQ(eventfd(0, EFD_CLOEXEC), -1);
    EXPECT_EQ(errno, ENOMEM);
  }
  const Refusal endless(Refusable::kEpollCreate, 1, INT_MAX);
  EXPECT_FALSE(Descriptor(epoll_create1(0)).valid());
  EXPECT_TRUE(Descriptor(eventfd(0, EFD_CLOEXEC)).valid());  // another call passes
}

}  // namespace
}  // namespace poolpilot
