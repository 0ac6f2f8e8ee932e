// A recorded profile under whatever configuration the sliders say, as the page's server simulates it.

import { byId, element, say } from "./elements.js";
import { bySize } from "./sizes.js";
import { latency, rate, short } from "./words.js";

const AFTER_MS = 120;
const AGAIN_MS = 1000;

const KNOBS = [
  { id: "pool-size", name: "pool_size", values: "pool_sizes", unit: "" },
  { id: "oversubscribe", name: "oversubscribe", values: "oversubscribes", unit: "" },
  { id: "stall-limit", name: "stall_limit_ms", values: "stall_limits_ms", unit: " ms" },
];

const play = { choices: null, turn: 0, answer: null };

const ask = async (path) => {
  const answer = await fetch(path, { headers: { accept: "application/json" }, signal: AbortSignal.timeout(20000) });
  const told = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(told.detail), { again: answer.status === 429 });
  return told;
};

const valueOf = (knob) => play.choices[knob.values][Number(byId(knob.id).value)];

/** Puts the sliders on the values next to a configuration. */
const set = (core) => {
  KNOBS.forEach((knob, place) => {
    const offs = play.choices[knob.values].map((value) => Math.abs(Math.log(value / core[place])));
    byId(knob.id).value = offs.indexOf(Math.min(...offs));
  });
};

const sayKnobs = () => {
  for (const knob of KNOBS) {
    const words = `${valueOf(knob)}${knob.unit}`;
    say(byId(`${knob.id}-value`), words);
    byId(knob.id).setAttribute("aria-valuetext", words);
  }
};

const between = (interval, words) => (interval ? `${words(interval[0])} to ${words(interval[1])}` : "not known");
const times = (interval) => `${interval[0].toFixed(2)} to ${interval[1].toFixed(2)} times`;
const known = (value, words) => (value === null ? "none ended" : words(value));

const results = (chosen) => [
  ["Throughput, simulated", known(chosen.throughput_per_s, rate)],
  ["Likely", between(chosen.throughput_interval, rate)],
  ["p99, simulated", known(chosen.p99_ms, latency)],
  ["Likely", between(chosen.p99_interval, latency)],
  ...(chosen.measured_throughput_per_s === null
    ? []
    : [
        ["Throughput, measured", rate(chosen.measured_throughput_per_s)],
        ["p99, measured", known(chosen.measured_p99_ms, latency)],
      ]),
];

const draw = () => {
  const { answer } = play;
  const width = byId("by-size").clientWidth;
  if (answer === null || width === 0) return;
  say(
    byId("about"),
    `${answer.connections} connections on ${short(answer.processors)} processors, recorded under ` +
      `(${answer.recorded_under.join(", ")}) (size, oversubscribe, stall limit in ms).`,
  );
  byId("results").replaceChildren(
    ...results(answer.chosen).map(([name, value]) =>
      element("div", {}, element("dt", {}, name), element("dd", {}, value)),
    ),
  );
  const { configurations, throughput, p99 } = answer.errors;
  say(
    byId("error-words"),
    `How far this can be trusted: of ${configurations} configurations that were recorded of this workload and not used ` +
      `to rebuild it, nine of ten had ${times(throughput)} the throughput and ${times(p99)} the p99 that are simulated.`,
  );
  byId("by-size").replaceChildren(...bySize(answer, width));
};

/** Asks once the sliders have rested; an answer that was overtaken is dropped. */
const update = async (wait = AFTER_MS, fresh = false) => {
  play.turn += 1;
  const mine = play.turn;
  sayKnobs();
  await new Promise((resolve) => setTimeout(resolve, wait));
  if (mine !== play.turn) return;
  const asked = new URLSearchParams({ profile: byId("profile").value });
  for (const knob of KNOBS) asked.set(knob.name, valueOf(knob));
  try {
    const answer = await ask(`v1/play?${asked}`);
    if (mine !== play.turn) return;
    play.answer = answer;
    say(byId("status"), "Simulated.");
    draw();
    if (fresh) {
      set(answer.recorded_under);
      update(0);
    }
  } catch (error) {
    if (mine !== play.turn) return;
    say(byId("status"), error.again ? "The simulator is busy; it is asked again." : `Not simulated: ${error.message}.`);
    if (error.again) update(AGAIN_MS, fresh);
  }
};

const begin = async () => {
  play.choices = await ask("v1/profiles");
  byId("profile").replaceChildren(
    ...play.choices.profiles.map((name) => element("option", { value: name }, name.replaceAll("_", " "))),
  );
  for (const knob of KNOBS) {
    byId(knob.id).max = play.choices[knob.values].length - 1;
    byId(knob.id).addEventListener("input", () => update());
  }
  byId("profile").addEventListener("change", () => update(0, true));
  byId("main").hidden = false;
  new ResizeObserver(draw).observe(byId("by-size"));
  await update(0, true);
};

begin().catch((error) => say(byId("status"), `There is nothing to play with here: ${error.message}.`));
