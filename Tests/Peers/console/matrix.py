"""Every screen in every state, theme, language and width: what axe, the layout and the browser say of it."""

import importlib.util
import itertools
import json
import os
import random
import time
import urllib.parse

from rig import HUB, NAME, WEB, longer

SCREENS = {
    "now": "", "sends": f"hubs/{HUB}/sends", "waiting": f"hubs/{HUB}/sends/waiting", "failed": f"hubs/{HUB}/sends/failed",
    "campaigns": f"hubs/{HUB}/sends/campaigns",
    "send": f"hubs/{HUB}/sends/{{send}}", "why": f"hubs/{HUB}/sends/{{send}}/devices/phone7", "compose": f"hubs/{HUB}/sends/new",
    "people": f"hubs/{HUB}/people", "device": f"hubs/{HUB}/people/laptop", "hub": f"hubs/{HUB}", "tags": f"hubs/{HUB}/tags",
    "keys": f"hubs/{HUB}/keys", "jobs": f"hubs/{HUB}/jobs", "limits": f"hubs/{HUB}/limits", "welcome": "welcome", "account": "account", "server": "server",
    "operators": "server/operators", "audit": "server/audit",
    "users": "server/users", "fetches": "server/fetches", "server-keys": "server/keys", "backup": "server/backup", "simulator": "server/simulator",
}
STATES = ["full", "empty", "error", "loading"]
# `long` is English with texts that are two fifths longer.
LANGUAGES = ["en", "de", "ko", "long"]
WIDTHS = [320, 768, 1280]
THEMES = ["light", "dark"]
# Screens that ask for nothing, or that have no empty state.
NO_DATA = {"people", "keys", "compose", "welcome"}
# What a screen asks for, where that is nothing of a hub.
ASKS = {"now": "events", "account": "sessions", "server": "server", "operators": "operators", "audit": "audit/",
        "users": "users", "fetches": "audit?", "server-keys": "server-key", "backup": "backups", "simulator": "simulator/"}
# Screens that show grey bars until the first answer comes.
SKELETONS = set(SCREENS) - {"now"} - NO_DATA
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# What axe says: each kind of finding with the rule and the elements.
RUN = (f"axe.run(document, {{runOnly: {{type: 'tag', values: {json.dumps(RULES)}}}}}).then(r => ({{"
       "violations: r.violations.map(v => [v.id, v.nodes.map(n => n.html.slice(0, 160)).slice(0, 3)]), "
       "incomplete: r.incomplete.map(v => [v.id, v.nodes.map(n => n.html.slice(0, 160)).slice(0, 3)])}))")


def axe():
    """The script of axe-core, which a package of PyPI carries; None where it is not installed."""
    found = importlib.util.find_spec("axe_playwright_python")
    if not found:
        return None
    with open(os.path.join(os.path.dirname(found.origin), "axe.min.js")) as file:
        return file.read()


def longer_file(url):
    """An English file of texts with longer texts."""
    path = urllib.parse.urlparse(url).path.removeprefix("/console/")
    with open(os.path.join(WEB, path)) as file:
        return longer(file.read())


def cells():
    for screen, state, theme, language, width in itertools.product(SCREENS, STATES, THEMES, LANGUAGES, WIDTHS):
        if state != "full" and screen in NO_DATA:
            continue
        # The texts that are longer come by the way that holds or fails requests in the other states.
        if language == "long" and state not in ("full", "empty"):
            continue
        if state == "empty" and screen not in ("now", "sends", "waiting", "failed", "campaigns", "tags"):
            continue
        yield screen, state, theme, language, width


def show(page, rig, screen, state, theme, language, width):
    page.look(width, 820 if width > 700 else 740, theme)
    page.js(f"localStorage.setItem('settings', JSON.stringify({{language: '{'en' if language == 'long' else language}'}}))")
    if language == "long":
        page.rewrite("*/text.en.js", longer_file)
    elif state == "error":
        page.fail(f"*/console/api/{ASKS.get(screen, 'hubs/')}*")
    elif state == "loading":
        page.hold(f"*/console/api/{ASKS.get(screen, 'hubs/')}*")
    page.goto(address(rig, screen, state))
    page.until("!!document.querySelector('main h1')")
    page.until("!document.querySelector('[aria-busy=true]')" if state not in ("loading",) else "true", 20)
    if state == "loading" and screen in SKELETONS:
        page.until("!!document.querySelector('.skeleton')", 10)
    page.js("new Promise(done => setTimeout(done, 60))")


def address(rig, screen, state):
    """Where a screen is. Its empty state is that of another hub."""
    hub = "empty" if state == "empty" else HUB
    return rig.console + SCREENS[screen].format(send=rig.sends[0]).replace(f"hubs/{HUB}", f"hubs/{hub}")


def choose(every, sample, seed, share="1/1"):
    """The cells to judge: all, or a share of them, or a sample, with each screen at least once, however the dice fall."""
    if sample is None or sample >= len(every):
        first, of = map(int, share.split("/"))
        return every[first - 1::of]
    chosen = random.Random(seed).sample(every, sample)
    return chosen + [next(cell for cell in every if cell[0] == screen) for screen in SCREENS if screen not in {cell[0] for cell in chosen}]


def look_at(page, checks, cell, name, script, found):
    """Judges what is shown, and counts what axe finds."""
    overflow = page.js("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    checks.that(f"{name} does not overflow", overflow <= 0, overflow)
    complaints = [one for one in page.complaints() if cell[1] not in ("error", "loading") or "Failed to load" not in one]
    checks.equal(f"{name} brings no complaint", complaints, [])
    checks.that(f"{name} keeps markup as text", page.js("document.querySelector('main img[onerror], main script')") is None)
    if script:
        page.js(script + ";1")
        result = page.js(RUN)
        for kind in found:
            found[kind] += len(result[kind])
            checks.equal(f"{name} has no {kind} in axe", result[kind], [])


def judge(page, rig, checks, sample, seed, share):
    """Judges every cell, or a sample of them."""
    script, every = axe(), list(cells())
    checks.that("axe is installed", script is not None)
    rig.call("PUT", "/hubs/empty", {})
    chosen = choose(every, sample, seed, share)
    found = {"violations": 0, "incomplete": 0}
    for cell in chosen:
        name = " ".join(map(str, cell))
        try:
            show(page, rig, *cell)
            look_at(page, checks, cell, name, script, found)
        except Exception as error:  # noqa: BLE001  one cell is not all
            checks.that(f"{name} is shown", False, str(error)[:400])
        page.release()
    print(f"console-pages: {len(chosen)} of {len(every)} cells, axe {'found ' + json.dumps(found) if script else 'is not installed'}", flush=True)


PICTURES = ["now", "sends", "send", "why", "compose", "people", "device", "hub", "welcome", "operators"]


def pictures(page, rig, folder):
    """Ten screens, light and dark, at 1280 and 360 pixels."""
    for screen, theme, width in itertools.product(PICTURES, THEMES, (1280, 360)):
        draft = {"title": "Half price until noon", "text": "Every bike in the shop, today only", "to": "news && !beta", "link": "https://shop.example/sale"}
        page.js(f"localStorage.setItem('draft:{NAME}:{HUB}:picture', JSON.stringify({json.dumps(draft)})); sessionStorage.setItem('draft:{NAME}:{HUB}:', 'picture')")
        show(page, rig, screen, "full", theme, "en", width)
        if screen == "people":
            page.type(".people-search input", "alice")
            page.click(".people-search button")
            page.until("!!document.querySelector('.devices')")
        if screen == "compose":
            page.until("!document.querySelector('.compose-end .primary').disabled")
        page.js("new Promise(done => setTimeout(done, 300))")
        page.picture(os.path.join(folder, f"{screen}-{theme}-{width}.webp"))


def measure(page, rig, checks):
    """The budgets of time and memory, with the processor four times slower."""
    page.look()
    page.goto(rig.console)
    page.until("!!document.querySelector('.now[class*=is-]')")
    page.call("Emulation.setCPUThrottlingRate", {"rate": 4})
    shown = []
    for _ in range(5):
        page.call("Network.setCacheDisabled", {"cacheDisabled": True})
        page.goto(rig.console)
        page.until("document.querySelector('.now[class*=is-]') && (window.shownAt ??= performance.now())")
        shown.append(page.js("window.shownAt"))
    files = [size or 0 for url, size in page.requests() if "/api/" not in url]
    # Processor time of the thread: other work on the machine does not count.
    page.call("Performance.enable", {"timeDomain": "threadTicks"})

    def metrics():
        return {one["name"]: one["value"] for one in page.call("Performance.getMetrics")["metrics"]}

    before, seconds = metrics(), 10
    page.js(f"new Promise(done => setTimeout(done, {seconds * 1000}))")
    after = metrics()
    page.call("Emulation.setCPUThrottlingRate", {"rate": 1})
    busy = (after["TaskDuration"] - before["TaskDuration"]) / seconds * 1000
    figures = {
        "shown ms": round(sorted(shown)[2]), "files": len(files), "bytes on the wire": sum(files),
        "main thread ms a live second": round(busy, 1), "heap MB": round(after["JSHeapUsedSize"] / 1e6, 1), "nodes": page.js("document.querySelectorAll('*').length"),
    }
    print("console-pages: Now, processor four times slower: " + json.dumps(figures), flush=True)
    checks.that("Now has at most 1,500 elements", figures["nodes"] <= 1500, figures)
    checks.that("Now comes with at most 14 files", figures["files"] <= 14, figures)


def heap(page, rig, checks, minutes):
    """What Now keeps in memory while something is sent every second, after a minute and at the end, each after a collection."""
    page.look()
    page.goto(rig.console)
    page.until("!!document.querySelector('.now[class*=is-]')")
    page.call("Performance.enable")
    found, began = [], time.monotonic()
    for minute in sorted({1, minutes}):
        while time.monotonic() - began < minute * 60:
            rig.send("news", {"title": "Every second"})
            page.js("new Promise(done => setTimeout(done, 1000))")
        page.call("HeapProfiler.collectGarbage")
        found.append({one["name"]: one["value"] for one in page.call("Performance.getMetrics")["metrics"]})
    heaps, nodes = ([one[name] for one in found] for name in ("JSHeapUsedSize", "Nodes"))
    elements = page.js("document.querySelectorAll('*').length")
    print(f"console-pages: Now after 1 and {minutes} minutes: heap {heaps[0] / 1e6:.2f} and {heaps[-1] / 1e6:.2f} MB, "
          f"{nodes[0]:.0f} and {nodes[-1]:.0f} nodes, {elements} elements", flush=True)
    checks.that("the heap of Now stays below 10 MB", heaps[-1] < 10e6, heaps)
    checks.that("and grows by less than 1 MB", heaps[-1] - heaps[0] < 1e6, heaps)
