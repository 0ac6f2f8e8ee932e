// The live page: asks for decisions every few seconds and draws them.

import { charts, covers, within } from "./charts.js";
import { FILTERS, decisionRow } from "./decisions.js";
import { byId, element, say } from "./elements.js";
import { Feed, overview } from "./feed.js";
import { addressOf, badge, drawLink, factsOf, isSilent, noteOf } from "./server.js";
import { STATES, clock, latencies, rate, stateOf, tuple } from "./words.js";

const EVERY_MS = 2000;
const SLOWEST_MS = 30000;
const AT_ONCE = 100;

// `pinned` is the number of the window that is pointed at; without one the latest is.
const page = {
  servers: [],
  leftOut: 0,
  feed: null,
  shown: AT_ONCE,
  charted: [],
  drawing: null,
  pinned: null,
  waitMs: EVERY_MS,
};

/** The server that the address names, else the one that is shown, else the one that decided last. */
const chosen = () =>
  page.servers.find((each) => location.hash === addressOf(each)) ??
  page.servers.find((each) => each.key === page.feed?.key) ??
  page.servers[0];

/** Draws the links anew in the elements that are there, so that none is lost under a finger or the focus. */
const drawServers = () => {
  const nav = byId("servers");
  nav.hidden = page.servers.length < 2;
  const sorted = [...page.servers].sort((one, other) => one.name.localeCompare(other.name));
  while (nav.children.length > sorted.length) nav.lastElementChild.remove();
  while (nav.children.length < sorted.length) nav.append(element("a"));
  const key = chosen()?.key;
  sorted.forEach((server, index) => drawLink(nav.children[index], server, server.key === key));
  byId("left-out").hidden = page.leftOut === 0;
  say(byId("left-out"), `${page.leftOut} servers that decided earlier are not shown.`);
};

const drawServer = (server) => {
  const row = server.latest;
  say(byId("server-name"), server.name);
  document.title = row ? `${server.name}: ${stateOf(row)} - PoolPilot` : `${server.name} - PoolPilot`;
  byId("mode").hidden = server.mode === "";
  say(byId("mode"), `mode ${server.mode}`);
  const note = noteOf(server);
  byId("note").hidden = note === "";
  say(byId("note"), note);
  if (!row) return;
  byId("latest").replaceChildren(badge(stateOf(row)), ` ${row.reason}`);
  byId("facts").replaceChildren(
    ...factsOf(server).map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))),
  );
};

const readout = (row) => {
  const words = [clock(row.unix_s), stateOf(row), `${tuple(row.in_force)} in force`, rate(row.throughput_per_s)];
  if (row.latency_ms !== undefined) words.push(latencies(row));
  return `${words.join(" · ")} · ${row.reason}`;
};

const point = (index) => {
  const row = page.charted[index];
  if (row === undefined || page.drawing === null) return;
  page.drawing.point(row, page.pinned !== null);
  byId("window").value = index;
  byId("window").setAttribute("aria-valuetext", readout(row));
  say(byId("readout"), readout(row));
};

const pointAt = (index) => {
  page.pinned = index === page.charted.length - 1 ? null : page.charted[index]?.number ?? null;
  point(index);
};

const chosenSpanS = () => Number(document.querySelector("input[name=span]:checked").value);

const drawCharts = () => {
  page.charted = within(page.feed.rows, chosenSpanS());
  const place = byId("charts");
  if (page.charted.length === 0 || place.clientWidth === 0) return;
  page.drawing = charts(page.charted, place.clientWidth);
  place.replaceChildren(...page.drawing.figures);
  byId("window").max = page.charted.length - 1;
  const pinned = page.charted.findIndex((row) => row.number === page.pinned);
  point(pinned < 0 ? page.charted.length - 1 : pinned);
};

const drawRows = () => {
  const wanted = page.feed.rows.filter(FILTERS[byId("filter").value]);
  const rows = wanted.slice(-page.shown).reverse();
  byId("rows").replaceChildren(...rows.map(decisionRow));
  byId("none").hidden = rows.length > 0;
  byId("older").hidden = wanted.length <= page.shown && !page.feed.hasOlder;
};

const drawDecisions = () => {
  drawCharts();
  drawRows();
};

/** Asks for older windows until the span that is chosen is covered; nobody waits for it, and what comes is drawn. */
const reachBack = () => {
  const { feed } = page;
  const isEnough = () => feed !== page.feed || covers(feed.rows, chosenSpanS());
  const onOlder = () => (feed === page.feed ? drawDecisions() : null);
  // A failure is told by the next question for what is new.
  feed.reachBack(isEnough, onOlder).catch(() => null);
};

const draw = () => {
  const server = chosen();
  byId("main").hidden = server === undefined || page.feed === null;
  drawServers();
  if (byId("main").hidden) return;
  drawServer(server);
  drawDecisions();
};

const update = async () => {
  const told = await overview();
  page.servers = told.servers;
  page.leftOut = told.left_out;
  byId("to-play").hidden = !told.plays;
  const server = chosen();
  if (server === undefined) {
    draw();
    say(byId("status"), "No tuner has written a log here yet.");
    return;
  }
  if (page.feed?.key !== server.key) {
    byId("main").hidden = true;
    for (const id of ["latest", "facts", "charts", "readout", "rows"]) byId(id).replaceChildren();
    page.drawing = null;
    page.feed = new Feed(server.key);
    page.shown = AT_ONCE;
    page.pinned = null;
  }
  drawServers();
  drawServer(server);
  if (server.problem) {
    byId("main").hidden = false;
    say(byId("status"), "The log of this server cannot be read.");
    return;
  }
  if (await page.feed.update()) draw();
  reachBack();
  say(byId("status"), isSilent(server) ? "No tuner is at work." : "Live.");
};

let turn = 0;

/** Asks now and again later; a turn that was overtaken by another ends. */
const run = async () => {
  turn += 1;
  const mine = turn;
  while (mine === turn) {
    try {
      if (!document.hidden) await update();
      page.waitMs = EVERY_MS;
    } catch (error) {
      page.waitMs = Math.min(2 * page.waitMs, SLOWEST_MS);
      say(byId("status"), `Not up to date: ${error.message}. It is asked again in ${page.waitMs / 1000} s.`);
    }
    await new Promise((resolve) => setTimeout(resolve, page.waitMs));
  }
};

const listen = () => {
  addEventListener("hashchange", run);
  document.addEventListener("visibilitychange", () => (document.hidden ? null : run()));
  new ResizeObserver(() => (page.feed?.rows.length ? drawCharts() : null)).observe(byId("charts"));
  byId("span").addEventListener("change", () => {
    drawCharts();
    reachBack();
  });
  byId("window").addEventListener("input", (event) => pointAt(Number(event.target.value)));
  byId("charts").addEventListener("pointermove", (event) => {
    if (page.drawing === null) return;
    const svg = byId("charts").querySelector("svg").getBoundingClientRect();
    pointAt(page.drawing.at(event.clientX - svg.left));
  });
  byId("filter").addEventListener("change", () => {
    page.shown = AT_ONCE;
    drawRows();
  });
  byId("older").addEventListener("click", async () => {
    page.shown += AT_ONCE;
    // A failure is told by the next question for what is new.
    await page.feed.older().catch(() => null);
    drawDecisions();
  });
  byId("legend").replaceChildren(
    ...Object.entries(STATES).map(([state, meaning]) => element("li", {}, badge(state), ` ${meaning}`)),
  );
};

listen();
run();
