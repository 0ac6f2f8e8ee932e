// Decisions as rows of a table.

import { element } from "./elements.js";
import { badge } from "./server.js";
import { clock, promised, stateOf, tuple } from "./words.js";

/** Which decisions are shown. */
export const FILTERS = {
  new: (row) => row.says_new,
  changes: (row) => row.entered,
  "roll-backs": (row) => row.entered && stateOf(row) === "roll back",
  all: () => true,
};

const why = (row) => {
  const cell = element("td", { role: "cell" }, element("span", {}, row.reason));
  if (row.began) cell.prepend(element("span", { class: "chip" }, "the tuner was started"), " ");
  const extras = [];
  if (row.would) extras.push(`would try ${tuple(row.would)}`);
  if (row.expected_gain !== undefined) {
    extras.push(`expected gain ${promised(row.expected_gain, row.expected_low, row.expected_high)}`);
  }
  if (row.most_lost > 0) extras.push(`costs at most ${Math.round(row.most_lost)} requests`);
  if (extras.length > 0) cell.append(element("span", { class: "extra" }, extras.join(" · ")));
  return cell;
};

/** One decision. */
export const decisionRow = (row) =>
  element(
    "tr",
    { role: "row", class: FILTERS["roll-backs"](row) ? "rolled-back" : null },
    element("td", { role: "cell" }, clock(row.unix_s)),
    element("td", { role: "cell" }, badge(stateOf(row))),
    element("td", { role: "cell" }, tuple(row.in_force)),
    why(row),
  );
