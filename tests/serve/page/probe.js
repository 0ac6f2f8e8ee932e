// Looks at the page as a browser has laid it out, and leaves what it found as JSON in the document.

const found = { violations: [], errors: [] };
addEventListener("securitypolicyviolation", (event) => found.violations.push(event.violatedDirective));
addEventListener("error", (event) => found.errors.push(event.message));
addEventListener("unhandledrejection", (event) => found.errors.push(String(event.reason)));

const all = (selector) => [...document.querySelectorAll(selector)];
const until = async (done) => {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, 20));
};

const channels = (color) => {
  const painter = document.createElement("canvas").getContext("2d");
  painter.fillStyle = color;
  painter.fillRect(0, 0, 1, 1);
  return [...painter.getImageData(0, 0, 1, 1).data].slice(0, 3);
};
const luminance = (color) => {
  const [red, green, blue] = channels(color).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const contrast = (one, other) => {
  const [low, high] = [luminance(one), luminance(other)].sort((left, right) => left - right);
  return (high + 0.05) / (low + 0.05);
};

const asked = new URLSearchParams(location.search);
if (asked.has("span")) document.querySelector(`input[name=span][value="${asked.get("span")}"]`).checked = true;
const windows = () => Number(document.getElementById("window").max) + 1;
const askedOlder = () => performance.getEntriesByType("resource").filter((each) => each.name.includes("before=")).length;

/** What a span shows once it is covered, and once everything is asked for; and how many questions that took. */
const useSpans = async () => {
  await until(() => windows() === Number(asked.get("within")));
  await new Promise((resolve) => setTimeout(resolve, 2500));
  found.spans = [[windows(), askedOlder()]];
  document.querySelector("input[name=span][value=Infinity]").click();
  await until(() => windows() === Number(asked.get("all")));
  await new Promise((resolve) => setTimeout(resolve, 2500));
  found.spans.push([windows(), askedOlder()]);
};

const choose = (id, value) => {
  const select = document.getElementById(id);
  select.value = value;
  select.dispatchEvent(new Event("change", { bubbles: true }));
};

const laidOut = () => {
  const width = document.documentElement.clientWidth;
  found.width = width;
  found.scrolls = document.documentElement.scrollWidth > width;
  found.outside = all("body *")
    .filter((each) => each.getBoundingClientRect().right > width + 1 && getComputedStyle(each).display !== "none")
    .map((each) => `${each.tagName} ${each.className.baseVal ?? each.className}`);
  const card = getComputedStyle(document.querySelector("section")).backgroundColor;
  const faint = [".state", ".note", "#status", "td", "dt", "dd", ".extra", "figcaption span", "#legend li", "th", ".chip"];
  found.dark = luminance(card) < 0.2;
  found.faint = faint.flatMap((selector) =>
    all(selector)
      .filter((each) => each.offsetParent !== null && contrast(getComputedStyle(each).color, card) < 4.5)
      .map(() => selector),
  );
  found.figures = all("figcaption span").map((each) => each.textContent);
};

const useDecisions = async () => {
  if (asked.has("span")) await useSpans();
  found.windows = windows();
  found.marks = all("#charts .mark").length;
  const before = document.getElementById("readout").textContent;
  const slider = document.getElementById("window");
  slider.stepDown();
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  const after = document.getElementById("readout").textContent;
  found.readouts = [before, after, slider.getAttribute("aria-valuetext")];
  choose("filter", "roll-backs");
  found.rollBacks = all("#rows tr").map((each) => each.textContent);
  choose("filter", "new");
  if (asked.has("grows")) {
    const [counted, told] = [all("#rows tr").length, document.getElementById("latest").textContent];
    await fetch("turn");
    await until(() => document.getElementById("latest").textContent !== told && all("#rows tr").length > counted);
    found.grown = [counted, all("#rows tr").length, document.getElementById("latest").textContent];
  }
  if (asked.has("stays")) {
    const [links, shown] = [all("#servers a"), () => document.getElementById("server-name").textContent];
    const [first, told] = [shown(), all("#servers a").map((each) => each.textContent).join()];
    await fetch("turn");
    await until(() => all("#servers a").map((each) => each.textContent).join() !== told);
    found.stayed = [first, shown(), all("#servers a").every((each, index) => each === links[index])];
    links.find((each) => each.getAttribute("aria-current") === null).click();
    await until(() => shown() !== first);
    found.stayed.push(shown(), links.map((each) => each.getAttribute("aria-current")));
  }
};

const played = () => ({
  knobs: all(".knob output").map((each) => each.textContent),
  results: document.getElementById("results").textContent,
  spoken: document.getElementById("pool-size").getAttribute("aria-valuetext"),
});

const useSliders = async () => {
  const before = played();
  const slider = document.getElementById("pool-size");
  slider.value = 6;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  await until(() => played().results !== before.results);
  const after = played();
  found.played = [before, after];
  choose("profile", "latch_beside_cpu");
  await until(() => played().results !== after.results);
  found.changed = played().results;
};

const look = async () => {
  const plays = document.getElementById("by-size") !== null;
  await until(() => (plays ? all("#by-size svg").length === 2 : all("#rows tr").length > 0 && all("#charts svg").length > 0));
  laidOut();
  await (plays ? useSliders() : useDecisions());
  found.unreachable = all("a, button, select, input, summary").filter((each) => each.tabIndex < 0).length;
  found.unnamed = all("button, select, input").filter((each) => !each.textContent && !each.labels?.length).length;
  Object.assign(found, { title: document.title, text: document.body.innerText, page: document.body.outerHTML });
  const told = top.document.createElement("script");
  told.type = "application/json";
  told.id = "found";
  told.textContent = JSON.stringify(found).replaceAll("<", "\\u003c");
  top.document.body.append(told);
};

look().catch((error) => found.errors.push(String(error)));
