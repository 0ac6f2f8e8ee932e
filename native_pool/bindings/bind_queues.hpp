// Queues of a pool as Python sees them: lists of specifications, rules and weights.
#pragma once

#include "bindings/bind_settings.hpp"
#include "pool/knobs.hpp"
#include "queues/queue_settings.hpp"

namespace poolpilot {

template <typename One>
void take_list(py::dict& values, const char* name, std::vector<One>& list) {
  if (!values.contains(name)) return;
  try {
    list = values[name].cast<std::vector<One>>();
  } catch (const py::cast_error&) {
    throw py::type_error(std::string(name) + " must be a list, of what the table of queues says");
  }
  values.attr("pop")(name);
}

// Takes the lists off the keywords; what is left are fields of the tables.
inline void take_queues(py::dict& values, QueueSettings& queues) {
  take_list(values, "queues", queues.queues);
  take_list(values, "rules", queues.rules);
}

inline void take_weights(py::dict& values, PoolKnobs& knobs) {
  take_list(values, "weights", knobs.weights);
}

// What a pool is made with.
template <typename Settings>
Settings pool_settings_with(const py::kwargs& keywords) {
  py::dict values(keywords);
  Settings settings;
  take_queues(values, settings.queues);
  take_weights(values, settings.knobs);
  return settings_with(settings, values);
}

py::dict to_dict(const PoolKnobs& knobs);

// Changes some knobs of a pool that serves and returns all. The interpreter is not let go between
// the look and the change, so that two threads do not undo one another's.
template <typename Pool>
py::dict set_knobs(Pool& pool, const py::kwargs& keywords) {
  py::dict values(keywords);
  PoolKnobs knobs = pool.knobs();
  take_weights(values, knobs);
  return to_dict(pool.set_knobs(settings_with(knobs, values)));
}

}  // namespace poolpilot
