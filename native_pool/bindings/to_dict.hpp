// Snapshots and tuples of any pool as Python sees them.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "pool/snapshot.hpp"

namespace poolpilot {

pybind11::dict to_dict(const PoolTuple& tuple);
pybind11::dict to_dict(const PoolSnapshot& snapshot);

// Throws std::invalid_argument for a name that is none.
ThrottlePolicy throttle_named(const std::string& name);

}  // namespace poolpilot
