/** Makes elements from data. Nothing here parses HTML, so markup in a name, a tag or a body is shown as text. */

/** @typedef {Node | string | number | null | undefined | false} Child */

const NAMESPACE = "http://www.w3.org/2000/svg";

/** @typedef {{[name: string]: any, click?: (event: any) => any, on?: Record<string, (event: any) => any>}} Properties */

/**
 * Makes an element.
 *
 * @param {string} what The tag name, followed by classes: `p.quiet`.
 * @param {...(Child | true | readonly any[] | Properties)} rest Properties, if the first is a plain object, then children: nodes, texts or arrays of them.
 * @returns {any}
 */
export function h(what, ...rest) {
  const [tag = "div", ...classes] = what.split(".");
  const node = document.createElement(tag);
  if (classes.length > 0) node.className = classes.join(" ");
  fill(node, rest);
  return node;
}

/** Makes an SVG element.
 * @param {string} tag @param {...any} rest As for `h`. @returns {any} */
export function svg(tag, ...rest) {
  const node = document.createElementNS(NAMESPACE, tag);
  fill(node, rest);
  return node;
}

/** @param {Element} node @param {any[]} rest */
function fill(node, rest) {
  const [first, ...others] = rest;
  if (!isProperties(first)) return append(node, rest);
  const { value, ...properties } = first;
  for (const name of Object.keys(properties)) set(node, name, properties[name]);
  append(node, others);
  // The value is set after the children, because a select element has no options before.
  if (value !== undefined) /** @type {any} */ (node).value = value;
}

/** @param {any} value */
function isProperties(value) {
  return value !== null && typeof value === "object" && !(value instanceof Node) && !Array.isArray(value);
}

/**
 * Sets one property of an element. `on` has event listeners by name. `click` is the listener of a button that submits
 * no form. `class` adds classes. Any other name is an attribute.
 *
 * @param {Element} node
 * @param {string} name
 * @param {any} value
 */
export function set(node, name, value) {
  if (name === "on") {
    for (const event of Object.keys(value)) node.addEventListener(event, value[event]);
  } else if (name === "click") {
    node.addEventListener("click", value);
    if (node.tagName === "BUTTON") node.setAttribute("type", "button");
  } else if (name === "class") {
    if (value) node.classList.add(...String(value).split(" ").filter(Boolean));
  } else if (value === false || value === null || value === undefined) {
    node.removeAttribute(name);
  } else {
    node.setAttribute(name, value === true ? "" : String(value));
  }
}

/** @param {Node} node @param {any[]} children */
export function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Replaces everything in a node.
 * @param {Element} node @param {...any} children */
export function put(node, ...children) {
  const fragment = document.createDocumentFragment();
  append(fragment, children);
  node.replaceChildren(fragment);
  return node;
}

/** Shows a text in a node. If the text is the same as before, nothing changes, so that an update every second does not
 * clear the user's selection.
 * @param {Element} node @param {string} text */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

let ids = 0;

/** Returns an id that no other element of the page has. */
export function freshId() {
  ids += 1;
  return `x${ids}`;
}

/** The SVG paths of the icons, on a grid of 24 by 24, for a line width of 1.75. */
const OUTLINES = /** @type {Record<string, string>} */ ({
  now: "M3 12h4l3-8 4 16 3-8h4",
  sends: "M21 3 3 10l7 3 3 7 8-17ZM10 13l5-5",
  people: "M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7 9c.6-4 3-6 7-6s6.4 2 7 6M16 3.5a4 4 0 0 1 0 7M18.5 14.5c2 .9 3.1 2.7 3.5 5.5",
  hub: "M12 3 4 7.5v9L12 21l8-4.5v-9L12 3Zm0 9 8-4.5M12 12 4 7.5M12 12v9",
  server: "M4 4h16v6H4zM4 14h16v6H4zM8 7h.01M8 17h.01",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14Zm5-2 5 5",
  plus: "M12 5v14M5 12h14",
  check: "m5 12.5 4.5 4.5L19 7.5",
  cross: "M6 6l12 12M18 6 6 18",
  warn: "M12 4 2.5 20h19L12 4Zm0 6v4.5M12 17.3v.1",
  info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Zm0-10v5.5M12 7.7v.1",
  down: "m6 9 6 6 6-6",
  right: "m9 6 6 6-6 6",
  left: "m15 6-6 6 6 6",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Zm0-14v5l3 2",
  pause: "M8 5v14M16 5v14",
  play: "M7 4.5v15l12-7.5z",
  stop: "M6 6h12v12H6z",
  copy: "M9 9h11v11H9zM15 9V4H4v11h5",
  command: "m5 7 5 5-5 5M12 17h7",
  phone: "M7 2.5h10v19H7zM11 18.5h2",
  globe: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18",
  desktop: "M3 4h18v12H3zM9 20h6M12 16v4",
  user: "M12 12a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9Zm-8 9c.8-4.5 3.5-6.5 8-6.5s7.2 2 8 6.5",
  tag: "M3 3h8l10 10-8 8L3 11V3Zm4.5 4.5h.01",
  key: "M14 14a5.5 5.5 0 1 0-4-4l-7 7v4h4v-3h3v-3l4-1Zm2-6h.01",
  download: "M12 4v11m-5-4 5 5 5-5M4 20h16",
  refresh: "M20 11A8 8 0 0 0 5.5 7.5L4 9M4 4v5h5M4 13a8 8 0 0 0 14.5 3.5L20 15m0 5v-5h-5",
});

/**
 * Returns an icon. It is hidden from screen readers, because there is a text beside it, or a label on the element
 * around it.
 *
 * @param {string} name
 * @param {string} [kind] A class.
 * @returns {SVGElement}
 */
export function icon(name, kind) {
  return svg(
    "svg", { class: `icon ${kind ?? ""}`, viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" },
    svg("path", { d: OUTLINES[name] ?? "" }));
}
