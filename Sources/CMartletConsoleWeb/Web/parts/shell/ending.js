/** The notice that the session is about to end. */

import { call } from "../../lib/api.js";
import { h, put } from "../../lib/dom.js";

/** @param {View} view @param {HTMLElement} band @param {number} end @param {(session: any) => void} renewed */
export function tellEnd({ t, time }, band, end, renewed) {
  band.className = "band";
  put(band, h("div.row.center", t("sessionEnds", { time: time.minute(end) }), h("button", { click: async () => renewed(await call("touch")) }, t("staySignedIn"))));
}
