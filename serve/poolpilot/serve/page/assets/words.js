// Numbers, times and states in words.

/** The states that are shown of a tuner, in the order of the legend, and what each means. */
export const STATES = {
  watch: "it measures what is in force",
  trial: "it compares a step with what is in force",
  verify: "a step has done well and must hold on",
  hold: "the incumbent stays",
  "roll back": "a step was worse and is rolled back",
  "cool down": "nothing is tried for a while after a roll-back",
  "stand down": "a person has set the pool or thrown the switch",
  "open circuit": "several roll-backs: nothing is tried for long",
  "connection lost": "nothing was reached in mid-trial, and the incumbent comes back",
};

/** The state that is shown: once a lost connection has ended a trial the tuner says roll-back, though nobody found it worse. */
export const stateOf = (row) => (row.lost_trial ? "connection lost" : row.state);

/** The class of a state in the style sheet; an unknown one has a colour too. */
export const classOf = (state) => (Object.hasOwn(STATES, state) ? `state-${state.replace(" ", "-")}` : "state-watch");

export const tuple = (core) => (core ? `(${core.join(", ")})` : "not reached");

const SIMULATED_BEFORE_S = 1e8;
const two = (number) => String(number).padStart(2, "0");

/** Whether a time is that of a simulated server, which begins at nothing. */
export const isSimulated = (unixS) => unixS < SIMULATED_BEFORE_S;

/** A time of day, with the date where it is not that of `now`; time since the beginning for a simulated server. */
export const clock = (unixS, now = new Date()) => {
  if (isSimulated(unixS)) {
    const whole = Math.floor(unixS);
    return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
  }
  const at = new Date(unixS * 1000);
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  if (at.toDateString() === now.toDateString()) return time;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
};

/** A number with three or four digits that tell something. */
export const short = (value) => {
  const size = Math.abs(value);
  if (size >= 1e6) return `${(value / 1e6).toFixed(size >= 1e7 ? 0 : 1)} M`;
  if (size >= 1e4) return `${(value / 1e3).toFixed(size >= 1e5 ? 0 : 1)} k`;
  if (size >= 100 || Number.isInteger(value)) return value.toFixed(0);
  return value.toFixed(size >= 10 ? 1 : 2);
};

export const rate = (perS) => (perS === undefined ? "no window" : `${short(perS)} /s`);
export const latency = (ms) => (ms === undefined ? "not known" : `${short(ms)} ms`);
export const share = (value) => `${value < 0 ? "−" : "+"}${Math.abs(100 * value).toFixed(Math.abs(value) < 0.1 ? 1 : 0)} %`;

/** What is promised, with the interval where one is told. */
export const promised = (gain, low, high) =>
  low == null || high == null || low === high ? share(gain) : `${share(gain)} (${share(low)} to ${share(high)})`;

/** What the latency of a window is: logs of before tell neither. */
export const latencyName = (row) => {
  if (row.tails_ms) return "Latency (95th percentile)";
  return row.by_time ? "Latency (mean time in the system)" : "Latency";
};

/** The latency of a window, and those of its classes where there are several. */
export const latencies = (row) => {
  const classes = Object.entries(row.tails_ms ?? {});
  if (classes.length < 2) return latency(row.latency_ms);
  return `${latency(row.latency_ms)} (${classes.map(([name, ms]) => `${name} ${latency(ms)}`).join(", ")})`;
};

/** What trials have cost, or gained. */
export const cost = (requests) =>
  Math.round(requests) > 0 ? `${short(Math.round(requests))} lost` : `${short(Math.round(-requests))} gained`;

/** How long ago, roughly. */
export const ago = (seconds) => {
  if (seconds < 90) return `${Math.round(Math.max(seconds, 0))} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86400)} days ago`;
};
