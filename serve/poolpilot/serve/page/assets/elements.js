// Elements made of data: text goes in as text and is never read as markup.

const SVG = "http://www.w3.org/2000/svg";

const fill = (made, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(name, String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
};

/** An element of HTML with attributes and children; a string becomes text. */
export const element = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

/** An element of SVG with attributes and children. */
export const drawn = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

/** The element of an id. */
export const byId = (id) => document.getElementById(id);

/** Sets a text where it differs, so that screen readers hear only what is new. */
export const say = (target, text) => {
  if (target.textContent !== text) target.textContent = text;
};
