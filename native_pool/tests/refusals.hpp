// Makes the system refuse calls of this test program, as it does when a limit is reached.
#pragma once

namespace poolpilot {

enum class Refusable { kThread, kEpollCtl, kEpollCreate, kEventfd, kListen, kAccept };

// From now on nothing is refused to this thread, one that a test serves its own ends with; or,
// where it is not to be spared, what is refused to all.
void spare_this_thread(bool spare = true);

// While it lives, the `nth` call of its kind is refused (1 is the next), and `times` in all, with
// `error` or, where that is 0, with the one that is usual for the call. One lives at a time.
class Refusal {
 public:
  Refusal(Refusable call, int nth, int times = 1, int error = 0);
  ~Refusal();
  Refusal(const Refusal&) = delete;
  Refusal& operator=(const Refusal&) = delete;

  // How many calls have been refused so far.
  int refused() const;

 private:
  int nth_;
  int times_;
};

}  // namespace poolpilot
