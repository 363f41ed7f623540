"""The console's screens in a real Firefox, in states, themes, languages and widths: what axe says of them, and that its stream is
alive."""

import json
import os
import time

import firefox
from matrix import ASKS, RUN, SKELETONS, address, axe, cells, choose
from rig import HUB, NAME, PASSWORD


class Page:
    """A signed-in Firefox that shows screens as `matrix.show` does."""

    # Requests are refused or kept waiting where the browser makes them. A rule is a piece of an address in a preference.
    FAULTS = """
        const rule = (name) => Services.prefs.getStringPref(name, "");
        Services.obs.addObserver({observe(subject) {
          const channel = subject.QueryInterface(Ci.nsIHttpChannel), address = channel.URI.spec;
          if (rule("martlet.error") && address.includes(rule("martlet.error"))) channel.cancel(Cr.NS_ERROR_CONNECTION_REFUSED);
          else if (rule("martlet.loading") && address.includes(rule("martlet.loading"))) channel.suspend();
        }}, "http-on-modify-request");"""
    SIZE = """
        const style = gBrowser.selectedBrowser.style;
        for (const [name, value] of [["width", arguments[0]], ["height", arguments[1]]]) {
          for (const limit of [name, `min-${name}`, `max-${name}`]) style.setProperty(limit, `${value}px`);
        }"""

    def __init__(self, rig, directory):
        self.rig, self.script, self.set = rig, axe(), {}
        self.browser = firefox.Firefox(os.path.join(directory, "firefox"), {}, os.path.join(directory, "firefox.log"))
        self.browser.run_inside(self.FAULTS)
        self.browser.goto(rig.console)
        self.until("!!document.querySelector('input[name=username]')")
        self.browser.run("""
            document.querySelector('input[name=username]').value = NAME;
            document.querySelector('input[name=password]').value = PASSWORD;
            document.querySelector('form').requestSubmit();""".replace("NAME", json.dumps(NAME)).replace("PASSWORD", json.dumps(PASSWORD)))
        self.until("!!document.querySelector('.now[class*=is-]')")

    def until(self, expression, seconds=30):
        deadline = time.monotonic() + seconds
        while not (found := self.browser.run(f"return {expression}")):
            if time.monotonic() > deadline:
                raise firefox.Refused(f"waited for {expression}: " + self.browser.run("return document.body.innerText.slice(0, 800)"))
            time.sleep(0.03)
        return found

    def _change(self, name, value, change):
        if self.set.get(name) != value:
            change()
            self.set[name] = value

    def show(self, screen, state, theme, language, width):
        browser, height = self.browser, 820 if width > 700 else 740
        self._change("size", width, lambda: browser.run_inside(self.SIZE, width, height))
        self._change("theme", theme, lambda: browser.set("layout.css.prefers-color-scheme.content-override", 0 if theme == "dark" else 1))
        self._change("long", language == "long", lambda: self.rig.lengthen(language == "long"))
        for fault in ("error", "loading"):
            piece = f"/console/api/{ASKS.get(screen, 'hubs/')}" if state == fault else None
            self._change(fault, piece, lambda: browser.set(f"martlet.{fault}", piece))
        browser.run("localStorage.setItem('settings', JSON.stringify({language: arguments[0]}))".replace("arguments[0]", json.dumps("en" if language == "long" else language)))
        browser.goto(address(self.rig, screen, state))
        self.until("!!document.querySelector('main h1')")
        if state != "loading":
            self.until("!document.querySelector('[aria-busy=true]')")
        elif screen in SKELETONS:
            self.until("!!document.querySelector('.skeleton')")
        if (screen, state) == ("now", "full"):
            self.until("document.querySelector('.now .quiet.number')?.textContent !== ''")
        checked = browser.run("return [innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]")
        if checked != [width, theme == "dark"]:
            raise firefox.Refused(f"the page is shown as {checked}")

    def axe(self):
        self.browser.run(self.script + ";window.axe = axe")
        return self.browser.run(f"return await window.{RUN}")


def judge(rig, checks, directory, sample, seed, share):
    """Judges every cell, or every screen with a sample of the cells."""
    every, began, found = list(cells()), time.monotonic(), {"violations": 0, "incomplete": 0}
    chosen = choose(every, sample, seed, share)
    # Pages with longer texts are others of the server.
    chosen.sort(key=lambda cell: cell[3] == "long")
    rig.call("PUT", "/hubs/empty", {})
    page = Page(rig, directory)
    try:
        for cell in chosen:
            name = " ".join(map(str, cell)) + " in Firefox"
            try:
                page.show(*cell)
                overflow = page.browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
                checks.that(f"{name} does not overflow", overflow <= 0, overflow)
                checks.that(f"{name} keeps markup as text", page.browser.run("return document.querySelector('main img[onerror], main script')") is None)
                result = page.axe()
            except firefox.Refused as error:
                # One cell is not all.
                checks.that(f"{name} is shown", False, str(error)[:400])
                continue
            for kind in found:
                found[kind] += len(result[kind])
                checks.equal(f"{name} has no {kind} in axe", result[kind], [])
        page.show("now", "full", "light", "en", 1280)
        page.until("document.querySelector('.now .quiet.number')?.textContent.includes('live')")
        print(f"console-pages: {len(chosen)} of {len(every)} cells in Firefox {page.browser.version}, axe found {json.dumps(found)}, {time.monotonic() - began:.0f} s", flush=True)
    finally:
        rig.lengthen(False)
        page.browser.close()


def notified(rig, checks, directory):
    """A browser whose push service is the simulator gets the first notification, and the hub stays as it is."""
    sockets = rig.call("GET", "/simulator/services")["browser"]["sockets"]
    preferences = {"dom.push.serverURL": sockets, "dom.push.testing.allowInsecureServerURL": True, "dom.push.connection.enabled": True,
                   "permissions.default.desktop-notification": 1, "alerts.useSystemBackend": False}
    browser = firefox.Firefox(os.path.join(directory, "notified"), preferences, os.path.join(directory, "notified.log"))

    def until(expression, seconds=30):
        deadline = time.monotonic() + seconds
        while not (found := browser.run(f"return {expression}")) and time.monotonic() < deadline:
            time.sleep(0.1)
        return found

    try:
        browser.goto(rig.sign_in_link())
        until("!!document.querySelector('.places')")
        browser.goto(rig.console + "welcome")
        until("document.querySelectorAll('.step.is-here button').length >= 2")
        browser.run("[...document.querySelectorAll('.step.is-here button')].find(one => one.textContent.includes('Notify this browser')).click()")
        checks.that("a Firefox on the simulator is a device", until("document.querySelectorAll('.step.is-done').length >= 2"), browser.run("return document.querySelector('main').innerText"))
        browser.run("document.querySelector('.step.is-here form button.primary').click()")
        shown = until("document.querySelector('.phone .look-card')?.innerText")
        checks.that("and shows the first notification", shown and "Hello from Martlet" in shown, browser.run("return document.querySelector('main').innerText"))
        web_push = next(one for one in rig.call("GET", f"/hubs/{HUB}/services")["platforms"] if one["platform"] == "browser")
        checks.equal("without a key of the hub's own", (web_push["isSimulated"], web_push["fingerprint"]), (True, None))
    finally:
        browser.close()
