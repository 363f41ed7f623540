/** Sign-in by the identity provider: the button that begins it, and the page that handles the provider's answer. */

import { call, Refusal } from "../../lib/api.js";
import { h, icon, put } from "../../lib/dom.js";
import { skeleton } from "../../lib/screen.js";
import { begin, channel, purpose } from "../../parts/provider/provider.js";

/** Returns an element with a button that begins a sign-in at the provider; hidden if there is no provider.
 * @param {View} view */
export function providerButton(view) {
  const { t } = view;
  const node = h("div.stack.tight", { hidden: true });
  call("signInWays").then(({ provider }) => {
    if (!provider) return;
    const problem = h("p.problem", { role: "alert" });
    const button = h("button.big", { click: async () => {
      button.disabled = true;
      try {
        location.assign(await begin(false));
      } catch (error) {
        put(problem, icon("warn"), sentence(view, error));
        button.disabled = false;
      }
    } }, t("provider", { name: provider.name }));
    put(node, button, problem);
    node.hidden = false;
  }, () => {});
  return node;
}

/** Returns the provider's answer from the query of the address, and removes the query from the address and the
 * history; null if there is no answer. */
export function takeAnswer() {
  const query = new URLSearchParams(location.search);
  const state = query.get("state");
  if (state === null || location.pathname !== "/console/enter") return null;
  history.replaceState(null, "", location.pathname);
  return { state, code: query.get("code"), iss: query.get("iss") };
}

/** @param {View} view @param {Element} card @param {{state: string, code: string | null, iss: string | null}} answer */
export async function finish(view, card, answer) {
  const { t } = view;
  put(card, skeleton(t, 3));
  let session;
  try {
    session = await call("finishProvider", { body: answer });
  } catch (error) {
    return put(card, h("div.stack", h("h1", t("provider.failed")), h("p", sentence(view, error)), providerButton(view),
      h("a.button", { href: "/console/", target: "_self" }, t("link.toSignIn"))));
  }
  const { fresh, to } = purpose();
  if (!fresh) {
    history.replaceState(null, "", to);
    return view.refreshSession();
  }
  const others = channel();
  others.postMessage({ operator: session.operator, isFresh: session.isFresh });
  others.close();
  put(card, h("div.stack", h("h1", t(session.isFresh ? "provider.confirmed" : "provider.notAsked")), h("p.quiet", t("provider.close")),
    h("a.button", { href: "/console/", target: "_self" }, t("provider.toConsole"))));
  window.close();
}

/** @param {View} view @param {unknown} error */
function sentence({ t }, error) {
  const refusal = error instanceof Refusal ? error : null;
  if (refusal?.code === "bad-sign-in") return t("provider.invalid");
  if (refusal?.code === "provider-refused") return t("provider.refused");
  if (refusal?.code === "no-role") return t("provider.noRole");
  if (refusal?.code === "disabled") return t("provider.disabled");
  if (refusal?.code === "provider-unavailable") return t("provider.unavailable");
  if (refusal?.status === 429) return t("failed.tooMany.text", { n: refusal.retryAfter || 60 });
  if (refusal?.status === 0) return refusal.message || t("failed.unreachable");
  if (refusal?.code === "clear-text") return t("clearText");
  return refusal?.message || t("failed.refused");
}
