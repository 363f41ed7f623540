/** Draws what a device shows for a payload, from the appearance that the server has read from the payload's bytes. */

import { h, icon } from "../../lib/dom.js";

const KINDS = /** @type {Record<string, string>} */ ({
  "phone-a": "phone", "phone-b": "phone", "phone-c": "phone", tablet: "phone", browser: "globe", desktop: "desktop",
});

/**
 * Returns a picture of a device with the notification that it shows.
 *
 * @param {View} view
 * @param {any} appearance The appearance from the server; null if it cannot be read from the payload.
 * @param {object} options
 * @param {string} options.app The name of the app on the notification.
 * @param {string} options.name The frame's caption.
 * @param {string} [options.size] The size of the payload and its maximum, as a text.
 * @param {string} [options.picture] The address of a local picture to try.
 */
export function look(view, appearance, { app, name, size, picture }) {
  const texts = /** @type {Record<string, string>} */ (look.texts ?? {});
  const t = (/** @type {string} */ key) => texts[key] ?? key;
  const kind = appearance?.look ?? "browser";
  const isSilent = appearance?.isSilent === true;
  return h("figure.look", { class: `look-${kind}` },
    h("div.look-frame", appearance === null || appearance === undefined ? h("p.look-note", t("look.unknown")) : isSilent ? h("p.look-note", icon("lock"), t("look.silent"))
      : h("div.look-card",
        h("div.look-top", h("span.look-app", { "aria-hidden": "true" }), h("span.clip", app), h("span.look-now", t("look.now"))),
        h("div.look-main", h("div.grow",
          appearance.title && h("p.look-title", appearance.title),
          appearance.subtitle && h("p.look-subtitle", appearance.subtitle),
          appearance.text && h("p.look-text", { class: `lines${Math.min(appearance.lines?.text ?? 4, 6)}` }, appearance.text),
          !appearance.title && !appearance.text && h("p.look-text.quiet", t("look.nothing"))),
        picture ? h("img.look-picture", { src: picture, alt: "" }) : appearance.picture && h("span.look-picture", icon("download"))),
        appearance.actions?.length > 0 && h("div.look-actions", appearance.actions.map((/** @type {any} */ one) => h("span", one))))),
    h("figcaption", h("div.row.between", h("span.strong", icon(KINDS[kind] ?? "phone"), " ", name), size && h("span.quiet.number.small", size)),
      notes(appearance, t)));
}

/** @type {Record<string, string> | null} */
look.texts = null;

/** @param {string} language */
export async function loadLook(language) {
  look.texts = (await import(`./text.${language}.js`)).default;
}

/** @param {(key: string) => string} t @param {any} appearance */
function notes(appearance, t) {
  if (!appearance) return null;
  const list = [
    ...(appearance.cautions ?? []).map((/** @type {any} */ one) => spoken(t(`caution.${one}`))),
    appearance.shownBy === "app" && !appearance.isSilent ? t("look.byApp") : null,
    appearance.badge !== undefined ? `${t("look.badge")} ${appearance.badge}` : null,
    appearance.picture ? `${t("look.picture")} ${appearance.picture}` : null,
    appearance.link ? `${t("look.link")} ${appearance.link}` : null,
  ].filter(Boolean);
  return list.length > 0 && h("ul.look-notes", list.map((one) => h("li", one)));
}

/** Returns the text of a caution. If the pages have no text for a newer server's caution, turns its key into words.
 * @param {string} text The text of the caution, or its key if there is no text. */
function spoken(text) {
  if (!text.startsWith("caution.")) return text;
  const words = text.slice(8).replace(/([A-Z])/g, " $1").toLowerCase();
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
