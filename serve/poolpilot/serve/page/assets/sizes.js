// Simulated throughput and p99 over the pool size, with their error and what was measured.

import { drawn, element } from "./elements.js";
import { ticks } from "./charts.js";
import { short } from "./words.js";

const HEIGHT = 150;
const LEFT = 52;
const RIGHT = 12;
const TOP = 8;
const BOTTOM = 22;
const CROSS = 4;

const SHOWN = [
  { title: "Throughput", unit: "/s", value: "throughput_per_s", interval: "throughput_interval", line: "throughput" },
  { title: "p99", unit: "ms", value: "p99_ms", interval: "p99_interval", line: "latency" },
];

const highest = (rows, { value, interval }) =>
  Math.max(...rows.flatMap((row) => [row[value], row[interval]?.[1], row[`measured_${value}`]]).map((each) => each ?? 0));

/** Points as a path; a value that is not known is left out. */
const path = (points) => points.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");

const figure = (answer, width, shown) => {
  const rows = answer.by_size;
  const top = highest([...rows, answer.chosen], shown) || 1;
  const last = Math.log2(rows.at(-1).pool_tuple[0]);
  const x = (size) => LEFT + (Math.log2(size) / last) * (width - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM);
  const known = rows.filter((row) => row[shown.value] !== null);
  const at = (row) => x(row.pool_tuple[0]);
  const lows = known.map((row) => [at(row), y(row[shown.interval][0])]);
  const highs = known.map((row) => [at(row), y(row[shown.interval][1])]);
  const measured = rows.filter((row) => row[`measured_${shown.value}`] !== null);
  const cross = (row) => {
    const [left, up] = [at(row), y(row[`measured_${shown.value}`])];
    return `M${left - CROSS},${up - CROSS}l${2 * CROSS},${2 * CROSS}m0,${-2 * CROSS}l${-2 * CROSS},${2 * CROSS}`;
  };
  const chosen = x(answer.chosen.pool_tuple[0]);
  const svg = drawn(
    "svg",
    { width, height: HEIGHT, role: "img", "aria-label": inWords(rows, shown) },
    ...ticks(top).flatMap((value) => [
      drawn("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }),
      drawn("text", { class: "tick", x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, short(value)),
    ]),
    ...rows.map((row) =>
      drawn("text", { class: "tick", x: at(row), y: HEIGHT - 6, "text-anchor": "middle" }, String(row.pool_tuple[0])),
    ),
    known.length > 0 ? drawn("path", { class: `likely ${shown.line}`, d: `${path([...lows, ...highs.reverse()])}Z` }) : null,
    drawn("path", { class: `line ${shown.line}`, d: path(known.map((row) => [at(row), y(row[shown.value])])) }),
    drawn("path", { class: "measured", d: measured.map(cross).join("") }),
    drawn("line", { class: "cursor", x1: chosen, x2: chosen, y1: TOP, y2: HEIGHT - BOTTOM }),
  );
  return element("figure", {}, element("figcaption", {}, element("span", {}, `${shown.title} (${shown.unit})`)), svg);
};

/** The same for who does not see it. */
const inWords = (rows, { title, value }) =>
  `${title} by pool size: ${rows.map((row) => `${row.pool_tuple[0]}: ${row[value] === null ? "none" : short(row[value])}`).join(", ")}`;

/** A chart of each. */
export const bySize = (answer, width) => SHOWN.map((shown) => figure(answer, width, shown));
