// The part of a load that one of several generators sends. Together the parts are the whole, and
// the only part of one is the whole itself.
#pragma once

#include <cstddef>
#include <cstdint>

namespace poolpilot::load {

struct Part {
  std::size_t number = 0;
  std::size_t of = 1;

  // How many of `whole` things fall to this part.
  std::size_t share_of(std::size_t whole) const {
    return whole / of + (number < whole % of ? 1 : 0);
  }

  // Number in the whole of the part's own `index`-th thing: they are dealt in turn.
  std::size_t in_whole(std::size_t index) const { return index * of + number; }

  // Stream of random numbers that no other part draws from.
  std::uint32_t stream(std::uint32_t stream_of_first) const {
    constexpr std::uint32_t kStreamsOfAPart = 1024;
    return stream_of_first + static_cast<std::uint32_t>(number) * kStreamsOfAPart;
  }
};

}  // namespace poolpilot::load
