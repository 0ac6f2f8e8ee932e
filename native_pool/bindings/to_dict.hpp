// Snapshots and tuples of any pool as Python sees them.
#pragma once

#include <pybind11/pybind11.h>

#include "pool/snapshot.hpp"

namespace poolpilot {

pybind11::dict to_dict(const PoolTuple& tuple);
pybind11::dict to_dict(const PoolSnapshot& snapshot);

// Of keywords; the knobs that every server has must be among them.
PoolTuple tuple_of(const pybind11::kwargs& values);

}  // namespace poolpilot
