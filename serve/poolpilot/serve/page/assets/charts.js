// Throughput, latency, configuration and state over one axis of time, as SVG.

import { drawn, element } from "./elements.js";
import { classOf, clock, isSimulated, latency, latencyName, rate, short, stateOf } from "./words.js";

const LEFT = 52;
const RIGHT = 12;
const CLASSES = 6;
const MARKED = { "roll back": "↩", "stand down": "✋︎", "open circuit": "⏻", "connection lost": "×" };

/** A scale from [low, high] to [from, to]; a span of nothing lands in the middle. */
const scale = (low, high, from, to) => (value) =>
  high > low ? from + ((value - low) / (high - low)) * (to - from) : (from + to) / 2;

/** Round numbers that divide a span from 0, at most six of them. */
export const ticks = (high) => {
  if (!(high > 0)) return [0];
  const power = 10 ** Math.floor(Math.log10(high / 3));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => high / each <= 5);
  return Array.from({ length: Math.floor(high / step) + 1 }, (_, index) => index * step);
};

/** Whether a row is of another clock than the one before it: a simulated server begins anew at nothing. */
const isOfAnotherClock = (before, row) => {
  const simulated = isSimulated(row.unix_s);
  return isSimulated(before.unix_s) !== simulated || (simulated && before.unix_s > row.unix_s);
};

/** The rows of the latest clock, each with its place in time: `at_s` never goes back where a wall clock does. */
export const oneClock = (rows) => {
  const timed = [];
  let wentBackS = 0;
  for (let index = rows.length - 1; index >= 0; index -= 1) {
    const [row, after] = [rows[index], rows[index + 1]];
    if (after !== undefined && isOfAnotherClock(row, after)) break;
    if (after !== undefined) wentBackS += Math.max(row.unix_s - after.unix_s, 0);
    timed.push({ ...row, at_s: row.unix_s - wentBackS });
  }
  return timed.reverse();
};

/** The rows of a span before the latest one. */
export const within = (rows, spanS) => {
  const timed = oneClock(rows);
  return timed.filter((row) => row.at_s >= timed.at(-1).at_s - spanS);
};

/** Whether older rows would add nothing to a span. */
export const covers = (rows, spanS) => within(rows, spanS).length < rows.length;

/** Points as a path; it breaks where a value is not known, and where another tuner began. */
const path = (rows, x, valueOf, y) => {
  let pen = "M";
  return rows
    .map((row) => {
      const value = valueOf(row);
      if (value === undefined) {
        pen = "M";
        return "";
      }
      const move = row.began ? "M" : pen;
      pen = "L";
      return `${move}${x(row.at_s).toFixed(1)},${y(value).toFixed(1)}`;
    })
    .join("");
};

/** Values that hold for the window before each row, as steps. */
const steps = (rows, x, valueOf, y) => {
  let before;
  return rows
    .map((row) => {
      const value = valueOf(row);
      if (value === undefined) {
        before = undefined;
        return "";
      }
      const at = `${x(row.at_s).toFixed(1)},${y(value).toFixed(1)}`;
      const made = before === undefined || row.began ? `M${at}` : `V${y(value).toFixed(1)}L${at}`;
      before = value;
      return made;
    })
    .join("");
};

const label = (x, y, text, attributes = {}) => drawn("text", { x, y, class: "tick", ...attributes }, text);

/** The axis of time under a chart, with as many times as there is room for; a date stands where it is another one. */
const timeAxis = (low, high, x, height, width) => {
  const wanted = Math.max(2, Math.min(6, Math.floor(width / 150)));
  let before = new Date();
  return Array.from({ length: wanted }, (_, index) => {
    const at = low + ((high - low) * index) / (wanted - 1);
    const text = clock(at, before);
    before = new Date(at * 1000);
    const anchor = index === 0 ? "start" : index === wanted - 1 ? "end" : "middle";
    return label(x(at), height - 2, text, { "text-anchor": anchor });
  });
};

const figure = (title, now, ...inside) =>
  element("figure", {}, element("figcaption", {}, element("span", {}, title), element("strong", {}, now)), ...inside);

const board = (width, height, ...inside) =>
  drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" }, ...inside);

/** Marks what a person should not miss: a line through the chart, with a sign above where there is room for it. */
const marks = (rows, x, top, bottom, signs) =>
  rows
    .filter((row) => row.entered && Object.hasOwn(MARKED, stateOf(row)))
    .map((row) =>
      drawn(
        "g",
        { class: `mark ${classOf(stateOf(row))}` },
        drawn("line", { x1: x(row.at_s), x2: x(row.at_s), y1: top, y2: bottom }),
        signs ? label(x(row.at_s), top - 3, MARKED[stateOf(row)], { "text-anchor": "middle" }) : null,
      ),
    );

/** Lines over one axis; each has a style and what tells the value of a row. */
const linesBoard = (frame, lines) => {
  const { rows, x, width } = frame;
  const [top, bottom] = [16, 112];
  const values = lines.flatMap(({ valueOf }) => rows.map(valueOf));
  const most = values.reduce((high, value) => Math.max(high, value ?? 0), 0);
  const y = scale(0, most || 1, bottom, top);
  const grid = ticks(most).flatMap((tick) => [
    drawn("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick) }),
    label(LEFT - 6, y(tick) + 4, short(tick), { "text-anchor": "end" }),
  ]);
  const paths = lines.map(({ kind, valueOf }) =>
    drawn("path", { class: `line ${kind}`, d: path(rows, x, valueOf, y) }),
  );
  return board(width, 120, ...grid, ...marks(rows, x, top, bottom, true), ...paths);
};

const throughputChart = (frame) => {
  const line = { kind: "throughput", valueOf: (row) => row.throughput_per_s };
  return figure("Throughput", rate(frame.rows.at(-1).throughput_per_s), linesBoard(frame, [line]));
};

/** The classes of requests that some rows tell the latency of, as many as there are styles of lines. */
const classesOf = (rows) => [...new Set(rows.flatMap((row) => Object.keys(row.tails_ms ?? {})))].sort().slice(0, CLASSES);

/** One line of latency for each class where clients report several, else one. */
const latencyChart = (frame) => {
  const latest = frame.rows.findLast((row) => row.latency_ms !== undefined) ?? frame.rows.at(-1);
  const classes = classesOf(frame.rows);
  const one = [{ kind: "latency", valueOf: (row) => row.latency_ms }];
  const ofClass = (name, index) => ({ kind: `class-${index}`, valueOf: (row) => row.tails_ms?.[name] });
  const lines = classes.length > 1 ? classes.map(ofClass) : one;
  const legend = classes.map((name, index) => {
    const key = element("span", { class: `key class-${index}`, "aria-hidden": "true" });
    return element("li", {}, key, `${name} ${latency(latest.tails_ms?.[name])}`);
  });
  const list = classes.length > 1 ? [element("ul", { class: "classes" }, ...legend)] : [];
  const now = classes.length > 1 ? "" : latency(frame.rows.at(-1).latency_ms);
  return figure(latencyName(latest), now, ...list, linesBoard(frame, lines));
};

const knobChart = (frame, title, index, unit) => {
  const { rows, x, width } = frame;
  const inForce = (row) => row.in_force?.[index];
  const incumbent = (row) => row.incumbent[index];
  const values = rows.flatMap((row) => [inForce(row), incumbent(row)]).filter((value) => value > 0);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const [top, bottom] = [8, low < high ? 56 : 20];
  const log = scale(Math.log(low), Math.log(high), bottom - 4, top + 4);
  const y = (value) => log(Math.log(Math.max(value, 1)));
  const named = low === high ? [low] : [low, high];
  const grid = named.map((value) => label(LEFT - 6, y(value) + 4, short(value), { "text-anchor": "end" }));
  const lines = [
    drawn("path", { class: "line incumbent", d: steps(rows, x, incumbent, y) }),
    drawn("path", { class: "line in-force", d: steps(rows, x, inForce, y) }),
  ];
  const now = inForce(rows.at(-1));
  const words = now === undefined ? "not reached" : `${now}${unit}`;
  return figure(title, words, board(width, bottom + 6, ...grid, ...marks(rows, x, top, bottom, false), ...lines));
};

const stateStrip = (frame) => {
  const { rows, x, width, low, high } = frame;
  const bands = [];
  for (let index = 1; index < rows.length; index += 1) {
    const [before, row] = [rows[index - 1], rows[index]];
    const last = bands.at(-1);
    const state = stateOf(before);
    if (last !== undefined && last.state === state && last.end === before.at_s) last.end = row.at_s;
    else bands.push({ state, begin: before.at_s, end: row.at_s });
  }
  const drawnBands = bands.map((band) =>
    drawn("rect", {
      class: `band ${classOf(band.state)}`,
      x: x(band.begin),
      y: 4,
      width: Math.max(x(band.end) - x(band.begin), 0.5),
      height: 16,
    }),
  );
  return figure("State", stateOf(rows.at(-1)), board(width, 40, ...drawnBands, ...timeAxis(low, high, x, 40, width)));
};

/** All charts of some rows; `at` finds the row below a pointer, `point` shows which row is pointed at. */
export const charts = (rows, width) => {
  const [low, high] = [rows[0].at_s, rows.at(-1).at_s];
  const x = scale(low, high, LEFT, width - RIGHT);
  const frame = { rows, x, width, low, high };
  const figures = [
    throughputChart(frame),
    latencyChart(frame),
    knobChart(frame, "Pool size (dashed: incumbent)", 0, ""),
    knobChart(frame, "Oversubscribe", 1, ""),
    knobChart(frame, "Stall limit", 2, " ms"),
    stateStrip(frame),
  ];
  const cursors = figures.map((each) => {
    const svg = each.querySelector("svg");
    const cursor = drawn("line", { class: "cursor", y1: 0, y2: svg.getAttribute("height"), visibility: "hidden" });
    svg.append(cursor);
    return cursor;
  });
  const point = (row, visible) => {
    for (const cursor of cursors) {
      cursor.setAttribute("x1", x(row.at_s));
      cursor.setAttribute("x2", x(row.at_s));
      cursor.setAttribute("visibility", visible ? "visible" : "hidden");
    }
  };
  const at = (pixels) => {
    let nearest = 0;
    rows.forEach((row, index) => {
      if (Math.abs(x(row.at_s) - pixels) < Math.abs(x(rows[nearest].at_s) - pixels)) nearest = index;
    });
    return nearest;
  };
  return { figures, point, at };
};
