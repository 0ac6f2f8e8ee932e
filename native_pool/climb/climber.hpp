// A controller of the pool size: told what a size gave, it says which size comes next.
#pragma once

#include "climb/sample.hpp"

namespace poolpilot {

struct SizeLimits {
  int min = 1;
  int max = 1;

  // Throws std::invalid_argument unless 1 <= min <= size <= max.
  void require(int size) const;
  int clamp(int size) const;
};

// The base holds what is true of every climber: a flawed sample changes nothing, and no size
// outside the limits is ever asked for. No clock, no threads, no randomness but a seeded one.
class Climber {
 public:
  virtual ~Climber() = default;

  // Size asked for at present; before the first update() the size to start with.
  int size() const { return size_; }

  // Takes the sample measured under the size in force and returns the size to set next.
  int update(const Sample& sample);

  const SizeLimits& limits() const { return limits_; }

  // Seconds the next sample should last; 0: as the caller likes.
  virtual double period_s() const { return 0.0; }

 protected:
  // Throws std::invalid_argument unless 1 <= limits.min <= initial_size <= limits.max.
  Climber(int initial_size, SizeLimits limits);
  Climber(const Climber&) = default;
  Climber& operator=(const Climber&) = default;

  // The size to set next, given a sample without flaws whose size is inside the limits. It differs
  // from size() where somebody else has set it.
  virtual int next(const Sample& sample) = 0;

  // The sample was of no use; the size stays as it is.
  virtual void dropped(const Sample& /*sample*/, Flaw /*flaw*/) {}

  // Longest duration of a sample that is believed, in seconds.
  virtual double longest_s() const { return 3600.0; }

  void ask_for(int size) { size_ = limits_.clamp(size); }

 private:
  SizeLimits limits_;
  int size_;
};

}  // namespace poolpilot
