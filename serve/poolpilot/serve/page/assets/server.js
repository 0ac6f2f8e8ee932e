// One server: its link, what to know of it, and its state in figures.

import { element } from "./elements.js";
import { ago, classOf, cost, latency, latencyName, promised, rate, stateOf, tuple } from "./words.js";

/** A state as a mark in its colour. */
export const badge = (state) => element("span", { class: `state ${classOf(state)}` }, state);

/** Whether nothing was decided for so long that the tuner must have ended, or is stuck. */
export const isSilent = (server) => server.silent_s > server.silent_after_s;

/** What the address ends with where a server is chosen. */
export const addressOf = (server) => `#server=${encodeURIComponent(server.key)}`;

/** Makes a link choose a server and say how it is. */
export const drawLink = (link, server, isChosen) => {
  link.setAttribute("href", addressOf(server));
  if (isChosen) link.setAttribute("aria-current", "true");
  else link.removeAttribute("aria-current");
  link.replaceChildren(
    element("span", { class: "name" }, server.name),
    ...(server.latest ? [badge(stateOf(server.latest))] : []),
    element("span", { class: "rate" }, server.latest ? rate(server.latest.throughput_per_s) : "no decision yet"),
  );
};

/** What to know of a server besides its decisions. */
export const noteOf = (server) => {
  const notes = [];
  if (isSilent(server)) notes.push(`The last decision was ${ago(server.silent_s)}: the tuner has ended, or is stuck.`);
  if (server.problem) notes.push(`Its log: ${server.problem}.`);
  if (server.lost_lines > 0) notes.push(`${server.lost_lines} decisions are missing: the disk was full.`);
  if (server.unreadable > 0) notes.push(`${server.unreadable} lines of the log cannot be read by this version.`);
  return notes.join(" ");
};

/** Names and values of what is known of a server now. */
export const factsOf = (server) => {
  const row = server.latest;
  const facts = [
    ["In force", tuple(row.in_force)],
    ["Incumbent", tuple(row.incumbent)],
    ["Throughput", rate(row.throughput_per_s)],
    [latencyName(row), latency(row.latency_ms)],
    ["Trials", `${server.trials}, rolled back ${server.roll_backs}`],
  ];
  if (server.trials > 0) facts.push(["Requests by trials", cost(server.lost_requests)]);
  if (server.expected_gain !== null) {
    const words = promised(server.expected_gain, server.expected_low, server.expected_high);
    facts.splice(2, 0, ["Expected gain", words]);
  }
  if (row.would) facts.splice(2, 0, ["Would try", tuple(row.would)]);
  return facts;
};
