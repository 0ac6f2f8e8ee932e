// The requests of one class: a frame encoded once, or drawn anew for every request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "live/protocol.hpp"
#include "load/settings.hpp"

namespace poolpilot::load {

class Program {
 public:
  // The n-th frame depends on the class, its number, the seed, the part and n alone.
  Program(const ClassSpec& spec, std::uint16_t class_id, std::uint64_t seed, Part part = {});

  // Frame of the next request, to be stamped; valid until the next call.
  std::span<std::byte> next();

 private:
  void draw();
  // Draws a duration and takes it off what the frame may still ask for.
  std::uint32_t duration_us(const StepSpec& spec, std::uint32_t& left_us);

  std::vector<StepSpec> specs_;
  std::mt19937_64 random_;
  Request request_;
  std::vector<std::byte> frame_;
  bool varies_;
};

// Class of every connection of a closed loop: as many as the shares say, at least one for every
// share above 0, in random order so that no class falls on the same thread groups by its position.
std::vector<std::uint16_t> deal_connections(const std::vector<ClassSpec>& classes,
                                            std::size_t connections, std::uint64_t seed);

}  // namespace poolpilot::load
