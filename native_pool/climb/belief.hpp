// Where the optimum of a curve with one optimum can be: a probability for every size.
#pragma once

#include <cstddef>
#include <vector>

#include "climb/climber.hpp"

namespace poolpilot {

// Probabilistic bisection: every wave says, with a probability of its own, on which side of it the
// optimum lies, and no wave is final. M. Horstein, "Sequential transmission using noiseless
// feedback" (1963); R. Waeber, P. Frazier, S. Henderson, "Bisection search with noisy responses"
// (SIAM J. Control Optim. 51, 2013).
class Belief {
 public:
  // Nothing is known: every factor on the size is as likely as any other. It tells `points` sizes
  // apart: every size up to where so many no longer suffice, then sizes at equal factors.
  Belief(SizeLimits limits, int points);

  void forget();

  // The optimum is likelier within a factor `ratio` of `size` than anywhere else.
  void expect(int size, double ratio);

  // The optimum is not below `low` with probability `rising`, and not above `high` otherwise.
  void tell(int low, int high, double rising);

  // What was learnt counts less, by e^-distance, since what it was learnt under has moved so far.
  void fade(double distance);

  // The optimum is not above `size`, whatever waves say.
  void exclude_above(int size);

  // The sizes that are not excluded.
  SizeLimits limits() const { return {.min = sizes_[0], .max = sizes_[possible_ - 1]}; }

  // Smallest size that holds `share` of the belief at or below it.
  int quantile(double share) const;
  int median() const { return quantile(0.5); }

 private:
  double prior(std::size_t point) const;
  void normalise();

  std::vector<int> sizes_;
  std::vector<double> logs_;
  std::vector<double> weights_;
  std::size_t points_ = 0;
  std::size_t possible_ = 0;  // points that are not excluded; the weights of others are 0
};

}  // namespace poolpilot
