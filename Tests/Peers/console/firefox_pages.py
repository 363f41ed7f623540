"""The console's screens in a real Firefox: what axe says of them, and that its stream is alive."""

import json
import os
import time

import firefox
from matrix import RULES, SCREENS, axe
from rig import HUB, NAME, PASSWORD


def judge(rig, checks, directory):
    browser = firefox.Firefox(os.path.join(directory, "firefox"), {}, os.path.join(directory, "firefox.log"))
    try:
        browser.goto(rig.console)

        def until(expression, seconds=30):
            deadline = time.monotonic() + seconds
            while not (found := browser.run(f"return {expression}")):
                if time.monotonic() > deadline:
                    raise firefox.Refused(f"waited for {expression}: " + browser.run("return document.body.innerText.slice(0, 800)"))
                time.sleep(0.05)
            return found

        until("!!document.querySelector('input[name=username]')")
        browser.run("""
            document.querySelector('input[name=username]').value = arguments[0];
            document.querySelector('input[name=password]').value = arguments[1];
            document.querySelector('form').requestSubmit();""".replace("arguments[0]", json.dumps(NAME)).replace("arguments[1]", json.dumps(PASSWORD)))
        until("!!document.querySelector('.now[class*=is-]')")
        script, began = axe(), time.monotonic()
        for screen, path in SCREENS.items():
            browser.goto(rig.console + path.format(send=rig.sends[0]))
            until("!!document.querySelector('main h1:not(.unseen)') && !document.querySelector('[aria-busy=true]')")
            if screen == "now":
                until("document.querySelector('.now .quiet.number')?.textContent.includes('live')")
            browser.run(script + ";window.axe = axe")
            found = browser.run(
                f"const r = await window.axe.run(document, {{runOnly: {{type: 'tag', values: {json.dumps(RULES)}}}}});"
                "return [...r.violations, ...r.incomplete].map(v => [v.id, v.nodes.map(n => n.html.slice(0, 160)).slice(0, 3)])")
            checks.equal(f"{screen} satisfies axe in Firefox", found, [])
            overflow = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
            checks.that(f"{screen} does not overflow in Firefox", overflow <= 0, overflow)
        print(f"console-pages: {len(SCREENS)} screens in Firefox {browser.version}, {time.monotonic() - began:.0f} s", flush=True)
    finally:
        browser.close()


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
