// A slow disk for a test server: loaded before a server with LD_PRELOAD, it delays reads, writes
// and flushes of files.
//
// The delays lie in a file that POOLPILOT_SLOW_DISK names, three int64 of microseconds: read,
// write, flush. The file is mapped, so a change holds from the next operation on. Operations that
// begin while others wait sleep beside them: the disk is one of many channels. Asynchronous I/O
// does not come by here; switch it off (innodb_use_native_aio=0).

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

enum Operation { kRead = 0, kWrite = 1, kFlush = 2, kOperations = 3 };

// Written by another process: relaxed loads of aligned words, since each delay stands alone.
using Delays = std::atomic<std::int64_t>;

const Delays* map_delays() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a server sets no variable after its start
  const char* path = std::getenv("POOLPILOT_SLOW_DISK");
  if (path == nullptr) return nullptr;
  const int descriptor = ::open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  const void* mapped =
      ::mmap(nullptr, kOperations * sizeof(Delays), PROT_READ, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  return mapped == MAP_FAILED ? nullptr : static_cast<const Delays*>(mapped);
}

void delay(Operation operation) {
  static const Delays* const delays = map_delays();
  if (delays == nullptr) return;
  const std::int64_t us = delays[operation].load(std::memory_order_relaxed);
  if (us <= 0) return;
  const int kept = errno;
  timespec left{us / 1'000'000, us % 1'000'000 * 1'000};
  while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
  errno = kept;
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ssize_t pread64(int descriptor, void* buffer, std::size_t bytes, off64_t offset) {
  static const auto real = next<ssize_t (*)(int, void*, std::size_t, off64_t)>("pread64");
  delay(kRead);
  return real(descriptor, buffer, bytes, offset);
}

ssize_t pwrite64(int descriptor, const void* buffer, std::size_t bytes, off64_t offset) {
  static const auto real = next<ssize_t (*)(int, const void*, std::size_t, off64_t)>("pwrite64");
  delay(kWrite);
  return real(descriptor, buffer, bytes, offset);
}

ssize_t pread(int descriptor, void* buffer, std::size_t bytes, off_t offset) {
  static const auto real = next<ssize_t (*)(int, void*, std::size_t, off_t)>("pread");
  delay(kRead);
  return real(descriptor, buffer, bytes, offset);
}

ssize_t pwrite(int descriptor, const void* buffer, std::size_t bytes, off_t offset) {
  static const auto real = next<ssize_t (*)(int, const void*, std::size_t, off_t)>("pwrite");
  delay(kWrite);
  return real(descriptor, buffer, bytes, offset);
}

int fsync(int descriptor) {
  static const auto real = next<int (*)(int)>("fsync");
  delay(kFlush);
  return real(descriptor);
}

int fdatasync(int descriptor) {
  static const auto real = next<int (*)(int)>("fdatasync");
  delay(kFlush);
  return real(descriptor);
}

}  // extern "C"
