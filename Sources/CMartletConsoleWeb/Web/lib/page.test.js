/** A page for tests of screens, without a browser: elements with their children and listeners, and a server that notes
 * what it is asked. */

import { test } from "node:test";

class Nothing {
  /** @type {any[]} */
  children = [];
  /** @type {Record<string, ((event: any) => any)[]>} */
  listeners = {};
  /** @type {Record<string, string>} */
  attributes = {};
  isConnected = true;
  value = "";
  classList = { add: () => {} };

  constructor(name = "", text = "") {
    this.tagName = name.toUpperCase();
    this.text = text;
  }

  get all() {
    return [this, ...this.children.flatMap((one) => one.all)];
  }

  get textContent() {
    return this.text + this.children.map((one) => one.textContent).join("");
  }

  appendChild(child) {
    this.children.push(...(child.tagName === "FRAGMENT" ? child.children : [child]));
  }

  append(...children) {
    for (const child of children) this.appendChild(child);
  }

  prepend(...children) {
    this.children.unshift(...children);
  }

  replaceChildren(...children) {
    this.children = [];
    this.append(...children);
  }

  addEventListener(name, listener) {
    (this.listeners[name] ??= []).push(listener);
  }

  fire(name) {
    for (const listener of this.listeners[name] ?? []) listener({ target: this, preventDefault: () => {} });
  }

  setAttribute(name, value) {
    this.attributes[name] = value;
  }

  removeAttribute(name) {
    delete this.attributes[name];
  }

  querySelector() {
    return null;
  }

  showModal() {}

  close() {
    this.fire("close");
  }

  remove() {
    document.body.children = document.body.children.filter((one) => one !== this);
  }
}

/** Makes the page. `asked` has the addresses of all requests, and `headers` their header fields; `answers` has a document
 * or a response for each of the next ones. */
export function makePage() {
  const asked = [];
  const headers = [];
  const answers = [];
  globalThis.window = globalThis;
  globalThis.Node = Nothing;
  globalThis.document = {
    createElement: (name) => new Nothing(name), createElementNS: (_, name) => new Nothing(name),
    createTextNode: (text) => new Nothing("#text", text), createDocumentFragment: () => new Nothing("fragment"),
    body: new Nothing("body"),
  };
  globalThis.fetch = async (address, init) => {
    asked.push(address.replace("/console/api", ""));
    headers.push(init.headers);
    const answer = answers.shift();
    return answer instanceof Response ? answer : json(answer);
  };
  return { asked, headers, answers, body: document.body };
}

export const json = (document, status = 200) => new Response(JSON.stringify(document), { status, headers: { "content-type": "application/json" } });

const t = (key) => key;
t.has = () => true;

/** What a screen gets. */
export const view = { t, n: { whole: String }, time: { full: String }, hub: null, session: { isServerAdmin: true }, go: () => {} };

/** Waits until everything that was asked for has been answered. */
export const settled = () => new Promise((done) => { setTimeout(done, 20); });

/** Presses the last button with a text. */
export async function press(node, text) {
  node.all.findLast((one) => one.tagName === "BUTTON" && one.textContent === text).fire("click");
  await settled();
}

/** Sends the last form in a node. */
export async function submit(node) {
  node.all.findLast((one) => one.tagName === "FORM").fire("submit");
  await settled();
}

export const inputs = (node) => node.all.filter((one) => one.tagName === "INPUT");

test("a page shows what was put into it", () => {
  const one = new Nothing("p");
  one.append(new Nothing("#text", "a"), new Nothing("#text", "b"));
  if (one.textContent !== "ab") throw new Error(one.textContent);
});
