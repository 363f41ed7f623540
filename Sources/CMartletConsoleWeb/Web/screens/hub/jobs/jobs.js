/** The list of a hub's import and export jobs, with their progress. Jobs are created through the hub's API. */

import { address, call } from "../../../lib/api.js";
import { h, icon } from "../../../lib/dom.js";
import { badge } from "../../../lib/screen.js";
import { empty, pane } from "../../../parts/pane/pane.js";

/** The milliseconds between two requests for the list while a job is running. */
const INTERVAL = 2000;
const STATES = /** @type {Record<string, string>} */ ({ Started: "waiting", Running: "running", Completed: "done", Failed: "failed" });

/** @param {View} view */
export function jobs(view) {
  const { t, hub } = view;
  const content = pane({
    t, bars: 4, load: (signal) => call("jobs", { path: { hub }, signal }),
    render: (page) => {
      if (page.jobs.length === 0) return empty("download", t("jobs.none"), t("jobs.none.text"));
      const isGoing = page.jobs.some((/** @type {any} */ job) => job.status === "Started" || job.status === "Running");
      // If the operator has left the screen, the list is no longer in the document, and is not loaded again.
      if (isGoing) window.setTimeout(() => content.isConnected && content.reload(), INTERVAL);
      return h("div.stack", h("p.quiet", t("jobs.text")), h("ul.list.jobs", page.jobs.map((/** @type {any} */ job) => row(view, job))),
        page.jobs.length >= page.limit && h("p.quiet.small", t("jobs.most", { n: page.limit })));
    },
  });
  return content;
}

/** @param {View} view @param {any} job */
function row(view, job) {
  const { t, n, time, hub } = view;
  const state = STATES[job.status] ?? "waiting";
  const isOver = state === "done" || state === "failed";
  const file = job.output.split("/").slice(0, -1).join("/");
  return h("li", h("div.item.job",
    h("div.whose", h("span.strong", t(`job.${job.kind}`)), h("span.quiet.small", h("time.number", { datetime: job.createdAt }, time.full(job.createdAt)), isOver && ` · ${t("job.took", { time: time.duration((Date.parse(job.updatedAt) - Date.parse(job.createdAt)) / 1000) })}`)),
    badge(state, t(`job.state.${job.status}`)),
    h("div.stack.tight.grow", !isOver && h("div.row", h("progress", { max: 100, value: job.progress, "aria-label": t("job.progress") }), h("span.number.small", n.share(job.progress / 100))),
      job.failure && h("p.quote", { lang: "en" }, job.failure),
      h("span.quiet.small.break", t("job.files", { container: job.container, folder: file })),
      isOver && job.failedBytes === 0 && h("span.quiet.small", t("job.allDone")),
      job.failedBytes > 0 && (view.role(hub) === "admin" ? h("a", { href: address("failedLines", { path: { hub, job: job.id } }), download: "Failed.txt" }, icon("download"), " ", t("job.failedLines", { size: n.bytes(job.failedBytes) }))
        : h("span.warn", t("job.someFailed"))))));
}
