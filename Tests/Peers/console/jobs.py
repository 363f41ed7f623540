"""What people come to the console for, from the first link to a stopped send, with the mouse and with the keyboard alone; a
film of pictures where a folder is given."""

import base64
import json
import os
import re
import time
import urllib.parse

import pixels
import processes
import zxingcpp
from one_time import one_time_password
from rig import API, HUB, NAME, PASSWORD, enter

# Keys with Ctrl have the modifier 2.
CTRL = 2


class Film:
    """Pictures of a job, its clicks and its seconds."""

    def __init__(self, page, folder):
        self.page, self.folder, self.number = page, folder, 0

    def begin(self, job):
        self.job, self.number, self.clicks, self.began = job, 0, 0, time.monotonic()
        self.shoot()

    def click(self, css, text=None):
        self.page.click(css, text)
        self.clicks += 1

    def shoot(self):
        self.number += 1
        if self.folder:
            self.page.picture(os.path.join(self.folder, f"{self.job}-{self.number}.webp"))

    def end(self):
        self.shoot()
        print(f"console-pages: {self.job}: {time.monotonic() - self.began:.1f} s, {self.clicks} clicks", flush=True)


def codes_in(page):
    """What a reader of QR codes reads in the picture on the page, as it is shown."""
    place = page.js("(r => ({x: r.x + scrollX, y: r.y + scrollY, width: r.width, height: r.height, scale: 1}))(document.querySelector('svg.qr').getBoundingClientRect())")
    picture = page.call("Page.captureScreenshot", {"format": "png", "clip": place, "captureBeyondViewport": True})["data"]
    size, rows = pixels.grey(base64.b64decode(picture))
    return [one.text for one in zxingcpp.read_barcodes(memoryview(rows).cast("B", shape=size))]


def text(page):
    return page.js("document.querySelector('main').innerText")


def services(page):
    """The push services of the hub, as the page's session is told."""
    return page.js(f"fetch('/console/api/hubs/{HUB}/services').then(answer => answer.json())")["platforms"]


def first_hour(page, rig, film, checks):
    """From a link to a notification on a screen."""
    page.goto(rig.invite())
    page.until("!!document.querySelector('input[type=password]')")
    # The token has left the address, and the page is loaded again without it.
    page.goto(f"{rig.console}enter")
    page.until("!!document.querySelector('input[type=password]')")
    film.begin("first-hour")
    page.type("input[type=password]", PASSWORD)
    film.click("button.primary")
    page.until("!!document.querySelector('.steps')")
    checks.that("the token has left the address", "#" not in page.js("location.href"))
    film.shoot()
    found = page.js("['shop', '1.a-b_c', '-a', 'a b'].map(name => new RegExp(`^(?:${document.querySelector('.step.is-here input').pattern})$`, 'v').test(name))")
    checks.equal("the field knows what a hub may be called", found, [True, True, False, False])
    checks.equal("without a hub, only places that there are can be opened", page.js("[...document.querySelectorAll('.places a')].map(a => a.pathname)"), ["/console/", "/console/server"])
    page.type(".step.is-here input", HUB)
    film.click(".step.is-here button.primary")
    page.until("document.querySelectorAll('.step.is-done').length === 1")
    film.shoot()
    page.click(".step.is-here button", "Notify this browser")
    page.until("!!document.querySelector('.warn-notice')")
    checks.that("a browser that cannot be notified says so in words", "blocks notifications" in text(page), text(page)[-600:])
    checks.equal("and nothing is changed", [one["fingerprint"] for one in services(page) if one["platform"] == "browser"], [None])
    film.click(".step.is-here button.primary")
    page.until("document.querySelectorAll('.step.is-done').length === 2")
    film.shoot()
    page.type(".step.is-here input", "It's here")
    page.click(".step.is-here button", "Show as command")
    page.until("!!document.querySelector('dialog .code')")
    command = page.js("document.querySelector('dialog .code').innerText")
    checks.that("the command sends what is written", command.endswith("--title Martlet --text 'It'\\''s here'"), command)
    page.key("Escape")
    page.until("!document.querySelector('dialog')")
    film.click(".step.is-here button.primary")
    page.until("!!document.querySelector('.phone .look-card')")
    shown = page.js("document.querySelector('.phone .look-card').innerText")
    checks.that("the phone shows the title once, and the text", shown.count("Martlet") == 1 and "It's here" in shown, shown)
    page.until("!!document.querySelector('.step.is-done a[href*=devices]')")
    film.end()
    film.click(".step.is-done a[href*=devices]")
    page.until("!!document.querySelector('.verdict')")
    checks.that("Why says that it was taken", "Taken" in text(page), text(page)[:200])


def is_it_working(page, rig, film, checks):
    """Now says that all is well, and what is not, within seconds."""
    page.goto(rig.console)
    page.until("!!document.querySelector('.now[class*=is-]')")
    film.begin("now")
    checks.that("the headline is a sentence", text(page).startswith(("All notifications are going out.", "Notifications are going out.")), text(page)[:80])
    rig.call("POST", "/simulator/faults", {"fault": "credentialRefused", "service": "apns"})
    sends = [rig.send("city:berlin", {"title": "During the fault"}) for _ in range(2)]
    attention = "(document.querySelector('[aria-label=\"Needs attention\"]')?.innerText ?? '')"
    page.until(f"/APNs refuses the credential/.test({attention})", 20)
    checks.that("it says that nobody gets anything", "Nobody on this platform gets anything until it is replaced" in page.js(attention), page.js(attention))
    film.end()
    film.click('[aria-label="Needs attention"] a', "APNs")
    page.until("/Nobody on this platform gets anything/.test(document.querySelector('section[aria-label=APNs]')?.innerText ?? '')")
    checks.equal("and leads to the hub's push services", page.js("location.pathname"), f"/console/hubs/{HUB}")
    for identifier in sends:
        page.goto(f"{rig.console}hubs/{HUB}/sends/{identifier}/devices/phone1")
        page.until("!!document.querySelector('.verdict')")
        said = page.js("document.querySelector('.verdict').innerText")
        checks.that("Why says the same of a device", "Nobody on this platform gets anything" in said and "No action" not in said, said)
        checks.equal("and leads there too", page.js("document.querySelector('.verdict a')?.pathname"), f"/console/hubs/{HUB}")
    # The first answers may come before the code that shows them.
    for _ in range(5):
        page.goto(rig.console)
        page.until(f"/APNs refuses the credential/.test({attention})", 20)
    rig.call("DELETE", "/simulator/faults")
    page.goto(rig.console)
    page.until("!!document.querySelector('.now[class*=is-]')")
    page.until("!!document.querySelector('.chart-box summary')")
    # What comes above may move it away from under the mouse.
    page.js("document.querySelector('.chart-box details').open = true")
    page.until("!!document.querySelector('.chart-box table')")
    rows = page.js("[...document.querySelectorAll('.chart-box tbody tr')].map(row => [...row.querySelectorAll('td')].map(cell => Number(cell.textContent) || 0))")
    counted = rig.call("GET", "/metrics/history?range=15m")["taken"]
    expected = round(sum(value or 0 for values in counted.values() for value in values))
    checks.that("the table adds up to all that was taken", abs(sum(map(sum, rows)) - expected) <= len(rows) * len(counted) / 2 and expected > 20, (rows, expected))


def why_not(page, rig, film, checks):
    """Support has a name and nothing else."""
    rig.device("fcmv1", "tablet", ["username:alice"])
    page.goto(rig.console)
    page.until("!!document.querySelector('.now[class*=is-]')")
    film.begin("why")
    film.click(".places a", "People")
    page.until("!!document.querySelector('.people-search input')")
    page.type(".people-search input", "alice")
    film.click(".people-search button")
    page.until("!!document.querySelector('.devices a')")
    checks.that("names stand in no address", "alice" not in page.js("location.href"))
    film.shoot()
    film.click(".devices a", "Web Push")
    page.until("!!document.querySelector('.meant a')")
    film.shoot()
    film.click(".meant a", "Half price")
    page.until("!!document.querySelector('.verdict')")
    checks.that("the verdict comes first", text(page).split("\n")[1:].index("Taken") < 6, text(page)[:200])
    film.end()
    page.goto(f"{rig.console}hubs/{HUB}/sends/{rig.sends[0]}/devices/phone7")
    page.until("!!document.querySelector('.verdict')")
    checks.that("a device that is gone is told so", "this device is gone" in text(page) and "410 Unregistered" in text(page), text(page)[:400])


def outage(page, rig, film, checks):
    """A push service that answers 503 to everything is told within seconds, with what waits and what is to be done; and its
    failures are sent again once."""
    attention = "(document.querySelector('[aria-label=\"Needs attention\"]')?.innerText ?? '')"
    page.goto(rig.console)
    page.until("!!document.querySelector('.now[class*=is-]')")
    film.begin("outage")
    rig.call("POST", "/simulator/faults", {"fault": "unavailable", "service": "fcmv1"})
    identifier = rig.send("beta", {"title": "During the outage"})
    began = time.monotonic()
    page.until(f"/FCM has answered 503 to everything since/.test({attention})", 20)
    checks.that("an outage is told within seconds", time.monotonic() - began < 8, time.monotonic() - began)
    page.until(f"/Pushes waiting: 4, of 1 send/.test({attention})", 20)
    told = page.js(attention)
    checks.that("with what Martlet does, and what there is to do", "Martlet keeps trying, next at" in told and "No action needed" in told, told)
    checks.that("the lamp is not green", page.js("document.querySelector('.now').classList.contains('is-trouble')"))
    film.end()
    film.click('[aria-label="Needs attention"] a', "FCM")
    page.until("/Pushes waiting: 4/.test(document.querySelector('section[aria-label=FCM]')?.innerText ?? '')")
    film.shoot()
    rig.call("DELETE", "/simulator/faults")
    rig.settled(identifier)
    page.goto(rig.console)
    page.until(f"!!document.querySelector('.now[class*=is-]') && !/answered 503/.test({attention})")


def sent_again(page, rig, film, checks):
    """What was sent again is not offered again, and leads to the send that did it."""
    rig.call("POST", "/simulator/faults", {"fault": "PayloadTooLarge", "service": "apns"})
    identifier = rig.send("city:seoul", {"title": "Too large for a while"})
    rig.settled(identifier)
    rig.call("DELETE", "/simulator/faults")
    page.goto(f"{rig.console}hubs/{HUB}/sends/failed")
    item = "[...document.querySelectorAll('.failed > li')].find(e => e.innerText.includes('Too large for a while'))"
    page.until(f"/Send again/.test({item}?.innerText ?? '')")
    film.begin("sent-again")
    page.js(f"{item}.querySelector('button').click()")
    page.until("!!document.querySelector('dialog .primary')")
    film.click("dialog .primary")
    page.until("/sends\\/[0-9a-f-]+$/.test(location.pathname)")
    again = page.js("location.pathname.split('/').pop()")
    rig.settled(again)
    page.goto(f"{rig.console}hubs/{HUB}/sends/failed")
    page.until(f"/Sent again/.test({item}?.innerText ?? '')")
    checks.that("it is not offered again", page.js(f"{item}.querySelector('button')") is None, page.js(f"{item}.innerText"))
    checks.equal("and leads to the send", page.js(f"{item}.querySelector('.resent').pathname"), f"/console/hubs/{HUB}/sends/{again}")
    checks.that("with what became of it", "3 of 3 taken" in page.js(f"{item}.innerText"), page.js(f"{item}.innerText"))
    film.end()


def device_gone(page, rig, film, checks):
    """A user whose only device is gone is distinguished from one who never had a device, with the time and
    the cause; Why takes the name of a user."""
    gone = rig.device("fcmv1", "bobs-phone", ["username:bob"])
    identifiers = [rig.send("username:bob", {"title": "Before"})]
    rig.settled(identifiers[0])
    rig.call("DELETE", f"/simulator/device?handle={urllib.parse.quote(gone, safe='')}")
    identifiers.append(rig.send("username:bob", {"title": "Nobody is there"}))
    rig.settled(identifiers[1])
    page.goto(f"{rig.console}hubs/{HUB}/people")
    page.js("sessionStorage.clear()")
    page.goto(f"{rig.console}hubs/{HUB}/people")
    film.begin("gone")
    page.type(".people-search input", "bob")
    film.click(".people-search button")
    page.until("/bob has no device any more/.test(document.querySelector('main').innerText)")
    checks.that("it is said what ended the last one", "FCM reported it as gone" in text(page), text(page))
    page.until("document.querySelectorAll('.meant-all > li').length === 2")
    verdicts = page.js("[...document.querySelectorAll('.verdicts .badge')].map(e => e.textContent)")
    checks.equal("and what became of each send", verdicts, ["Refused", "Taken"])
    film.shoot()
    page.type(".people-search input", "carol")
    page.click(".people-search button")
    page.until("/No results/.test(document.querySelector('main').innerText)")
    page.goto(f"{rig.console}hubs/{HUB}/sends/{identifiers[1]}")
    page.until("!!document.querySelector('input[name=who]')")
    page.type("input[name=who]", "bob")
    film.click(".why-form button")
    page.until("!!document.querySelector('.person a .badge')")
    row = page.js("document.querySelector('.person a').innerText")
    checks.that("Why takes the name of a user", "bobs-phone" in row and "Refused" in row and "reported it as gone" in row, row)
    checks.that("names stand in no address", "bob" not in page.js("location.href"))
    film.end()
    page.type("input[name=who]", "carol")
    page.click(".why-form button")
    page.until("/carol has no device/.test(document.querySelector('main').innerText)")
    page.type("input[name=who]", "bobs-phone")
    page.click(".why-form button")
    page.until("!!document.querySelector('.verdict')")
    checks.that("and the id of a device", page.js("location.pathname").endswith("/devices/bobs-phone"))
    page.goto(f"{rig.console}hubs/{HUB}/people/bobs-phone")
    page.until("/no longer registered/.test(document.querySelector('main').innerText)")
    checks.that("the page of the device says when it ended, and why", "reported as gone" in page.js("document.querySelector('.warn-notice').innerText"), text(page)[:400])


def whole_message(page, rig, film, checks):
    """A message in two languages with a variable and a button, to a canary that goes on by itself."""
    rig.device("fcmv1", "berlin-phone", ["canary", "lang:de"])
    for index in range(3):
        rig.device("fcmv1", f"canary{index}", ["canary", "lang:en"])
    page.goto(f"{rig.console}hubs/{HUB}/sends/new")
    page.type("input[name=title]", "Half price")
    page.type("textarea[name=text]", "$(name), every bike in the shop")
    page.type("[data-group=all] input", "canary")
    page.key("Enter")
    film.begin("whole-message")
    film.click("summary", "Other languages")
    film.click("details button", "Add a language")
    page.until("!!document.querySelector('.language input')")
    page.type(".language input", "de")
    page.until("document.querySelector('.language').innerText.includes('German')")
    page.type(".language .field input", "Halber Preis")
    page.type(".language textarea", "$(name), jedes Rad im Laden")
    film.click("summary", "Picture, sound")
    film.click("fieldset button", "Add a button")
    page.type("input[aria-label=Title]", "Buy")
    page.type("input[aria-label=Link]", "https://shop.example/buy")
    film.click("fieldset button", "Add a variable")
    page.type("input[aria-label=Name]", "name")
    page.type("input[aria-label=Default]", "Hello")
    page.type("input[aria-label='First so many devices']", "1")
    page.type("input[aria-label^='Minutes until']", "10")
    page.until("!document.querySelector('.compose-end .primary').disabled", 20)
    page.until("!!document.querySelector('.previews .segments')")
    film.shoot()
    film.click(".previews .segments button", "German")
    page.until("/Halber Preis/.test(document.querySelector('.looks').innerText)")
    checks.that("the preview has the language, the variable and the button", all(one in page.js("document.querySelector('.looks').innerText") for one in ("Hello, jedes Rad im Laden", "Buy")), page.js("document.querySelector('.looks').innerText"))
    page.js("document.querySelector('.compose-end button.plain').scrollIntoView()")
    film.click(".compose-end .primary")
    page.until("/sends\\/[0-9a-f-]+$/.test(location.pathname)", 40)
    identifier = page.js("location.pathname.split('/').pop()")
    content = rig.call("GET", f"/hubs/{HUB}/sends/{identifier}")
    body = json.loads(content["content"]["body"])
    checks.equal("what is sent is what was written", (body["title"], body["language"], body["variables"], body["actions"]), (
        {"en": "Half price", "de": "Halber Preis"}, "en", {"name": "Hello"}, [{"id": "button1", "title": "Buy", "link": "https://shop.example/buy"}]))
    page.until("/Holds until|holds until|continue/i.test(document.querySelector('main').innerText)", 20)
    status = rig.call("GET", f"/hubs/{HUB}/messages/{identifier}/status")
    checks.that("the canary goes on by itself", status["control"] == "holding" and status["goesOnAt"] is not None, status)
    film.end()
    page.goto(f"{rig.console}hubs/{HUB}/sends/new?copy={identifier}")
    page.until("document.querySelector('.language textarea')?.value === '$(name), jedes Rad im Laden'")
    page.until("document.querySelector('input[aria-label=Link]')?.value === 'https://shop.example/buy'")
    rig.call("POST", f"/hubs/{HUB}/messages/{identifier}/cancel", {})
    page.click(".compose-end button", "Discard")
    due = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 7200))
    made = rig.call("POST", f"/rest/{HUB}/schedulednotifications?{API}", {"title": "A typo"},
                    {"servicebusnotification-format": "message", "servicebusnotification-tags": "canary", "servicebusnotification-scheduletime": due})
    scheduled = re.search(r"/schedulednotifications/([^/?]+)", made["location"])[1]
    page.goto(f"{rig.console}hubs/{HUB}/sends/waiting")
    page.until("[...document.querySelectorAll('.agenda a.button')].length > 0 || !!document.querySelector('.segments')")
    page.goto(f"{rig.console}hubs/{HUB}/sends/new?change={scheduled}")
    page.until("document.querySelector('input[name=title]')?.value === 'A typo'")
    page.type("input[name=title]", " mended")
    page.until("/Replace the scheduled send/.test(document.querySelector('.compose-end .primary').textContent) && !document.querySelector('.compose-end .primary').disabled", 20)
    page.click(".compose-end .primary")
    page.until(f"location.pathname.endsWith('/sends/{scheduled}')", 20)
    checks.that("the text of a scheduled send is changed", "mended" in rig.call("GET", f"/hubs/{HUB}/sends/{scheduled}")["text"])
    rig.call("DELETE", f"/rest/{HUB}/schedulednotifications/{scheduled}?{API}")


def by_command(page, rig, film, checks):
    """What is changed by the command line is in the audit log."""
    processes.martlet(rig.binary, "hub", "limits", HUB, "--requests", "100000", "--data", rig.data)
    page.goto(f"{rig.console}server/audit")
    page.until("!!document.querySelector('tbody tr')")
    row = page.js("document.querySelector('tbody tr').innerText")
    checks.that("the audit log has what was changed by command", "Changed the limits" in row and "Command line" in row and f"uid {os.getuid()}" in row, row)
    film.begin("by-command")
    film.end()


def compose(page, rig, title):
    page.goto(f"{rig.console}hubs/{HUB}/sends/new")
    page.type("input[name=title]", title)
    page.type("textarea[name=text]", "Every bike in the shop")
    page.type("[data-group=all] input", "news")
    page.key("Enter")
    page.until("[...document.querySelectorAll('.chip')].some(e => e.textContent.includes('news'))")


def send_safely(page, rig, film, checks):
    """Compose, check, test, send, undo; then send, and watch."""
    film.page = page
    page.goto(rig.console)
    page.until("!!document.querySelector('.now')")
    film.begin("send")
    compose(page, rig, "Half price until noon")
    checks.that("nothing can be sent before the check", page.js("document.querySelector('.compose-end .primary').disabled"))
    page.until("!document.querySelector('.compose-end .primary').disabled")
    checks.that("the button names the number", "11 devices" in page.js("document.querySelector('.compose-end .primary').textContent"))
    checks.that("each platform has a preview", page.js("document.querySelectorAll('.looks .look-card').length") == 3)
    film.shoot()
    film.click(".compose-end button", "Send a test")
    page.type("dialog input", "username:alice || username:user1")
    film.click("dialog .primary")
    page.until("/Taken|sent/.test(document.querySelector('dialog .check-list, dialog .good')?.textContent ?? '')")
    results = page.js("document.querySelector('dialog .check-list').innerText")
    checks.that("a test shows by which name a push service finds the push again", re.search(r"APNs[^/]*Taken\s+apns-unique-id [0-9A-Za-z-]{36}", results), results)
    film.shoot()
    page.key("Escape")
    page.until("!document.querySelector('dialog')")
    film.click(".compose-end .primary")
    page.until("!!document.querySelector('.undo button')")
    film.shoot()
    page.js("document.querySelector('input[name=title]').focus()")
    checks.that("what is on its way cannot be edited", page.js("document.activeElement.closest('.undo') !== null && document.querySelector('.compose').inert"))
    film.click(".undo button")
    page.until("!!document.querySelector('.compose-end .primary')")
    checks.that("after Undo it can", not page.js("document.querySelector('.compose').inert"))
    newest = rig.call("GET", f"/hubs/{HUB}/sends?limit=1")["sends"][0]
    checks.equal("undone is not sent", (newest["state"].lower(), newest["succeeded"]) if newest["text"] == "Half price until noon" else None, ("canceled", 0))
    page.until("!document.querySelector('.compose-end .primary').disabled")
    film.click(".compose-end .primary")
    page.until("/sends\\/[0-9a-f]+$/.test(location.pathname)", 40)
    page.until("/Completed/.test(document.querySelector('.big-badge')?.textContent ?? '')")
    checks.that("the report says what was taken", "11 of 11 done" in text(page), text(page)[:300])
    film.end()


def campaign(page, rig, film, checks):
    """A draft is saved as a campaign, changed by somebody else, opened from the list, sent, and then shown as sent."""
    compose(page, rig, "Spring sale")
    film.begin("campaign")
    film.click(".compose-end button", "Save as campaign")
    page.until("document.querySelector('dialog input')?.value === 'Spring sale'")
    film.click("dialog .primary")
    page.until("/^Campaign: Spring sale$/.test(document.querySelector('.head [role=status]')?.textContent ?? '')")
    path = f"/hubs/{HUB}/campaigns"
    made = next(one for one in rig.call("GET", path)["campaigns"] if one["name"] == "Spring sale")
    draft = rig.call("GET", f"{path}/{made['id']}")["draft"]
    checks.equal("the server has the draft", (draft["title"], draft["to"]), ("Spring sale", "news"))
    rig.call("PUT", f"{path}/{made['id']}", {"name": made["name"], "draft": draft | {"text": "Two days only"}, "version": made["version"]})
    page.type("input[name=title]", "!")
    page.until("/not saved/.test(document.querySelector('.head [role=status]').textContent)")
    film.click(".compose-end button", "Save “Spring sale”")
    page.until("/Replace the newer version/.test(document.querySelector('dialog')?.textContent ?? '')")
    film.shoot()
    page.key("Escape")
    page.until("!document.querySelector('dialog')")
    checks.equal("a version that nobody has read is not replaced", rig.call("GET", f"{path}/{made['id']}")["draft"]["text"], "Two days only")
    page.goto(f"{rig.console}hubs/{HUB}/sends/campaigns")
    page.until("[...document.querySelectorAll('.campaigns .badge')].some(e => e.textContent === 'Draft')")
    film.shoot()
    film.click(".campaigns a", "Spring sale")
    page.until("/Open the newer version/.test(document.querySelector('dialog')?.textContent ?? '')")
    film.click("dialog .primary")
    page.until("document.querySelector('textarea[name=text]')?.value === 'Two days only'")
    page.until("!document.querySelector('.compose-end .primary').disabled")
    film.click(".compose-end .primary")
    page.until("/sends\\/[0-9a-f-]+$/.test(location.pathname)", 40)
    page.until("!!document.querySelector('.big-badge')")
    identifier = page.js("location.pathname.split('/').pop()")
    deadline = time.monotonic() + 10
    while rig.call("GET", f"{path}/{made['id']}")["send"] != identifier and time.monotonic() < deadline:
        pass
    page.goto(f"{rig.console}hubs/{HUB}/sends/campaigns")
    page.until("!!document.querySelector('.campaigns .badge.state-done')")
    checks.that("the list leads to the send", page.js("document.querySelector('.campaigns a').href").endswith(f"/sends/{identifier}"))
    film.end()


def stop(page, rig, film, checks):
    """A slow send is stopped after a question, and spares the rest."""
    identifier = rig.send("news", {"title": "Too early"}, martlet_rollout="rate=1")
    page.goto(f"{rig.console}hubs/{HUB}/sends/{identifier}")
    page.until("!document.querySelector('.controls .danger')?.disabled")
    film.begin("stop")
    film.click(".controls .danger")
    page.until("!!document.querySelector('dialog[open] .danger')")
    film.click("dialog .danger")
    page.until("/Stopped/.test(document.querySelector('.big-badge')?.textContent ?? '')")
    film.end()
    status = rig.settled(identifier)
    checks.that("what was spared was not sent", status["outcomes"].get("Canceled", 0) > 0, status["outcomes"])


def canary(page, rig, film, checks):
    """A canary with a waiting time says until when it holds, in Now, in Waiting and on its page, and goes on by a click."""
    identifier = rig.send("news", {"title": "Canary with a time"}, martlet_rollout="first=2; wait=PT10M; halt=50%/2")
    deadline = time.monotonic() + 20
    while rig.call("GET", f"/hubs/{HUB}/messages/{identifier}/status")["control"] != "holding" and time.monotonic() < deadline:
        time.sleep(0.05)
    until = rig.call("GET", f"/hubs/{HUB}/messages/{identifier}/status")["goesOnAt"][11:16]
    film.begin("canary")
    for address, row in ((f"hubs/{HUB}/sends/{identifier}", ".card"), (f"hubs/{HUB}/sends/waiting", ".held-item"), ("", "[aria-label='In progress'] li")):
        page.goto(rig.console + address)
        page.until(f"/goes out by itself/.test(document.querySelector({row!r})?.innerText ?? '')", 20)
        said = page.js(f"document.querySelector({row!r}).innerText")
        checks.that(f"{row} says until when", f"{until} UTC" in said and "Waiting for approval" not in text(page), said)
        film.shoot()
    film.click(".held button", "Continue now")
    status = rig.settled(identifier)
    checks.that("the rest went out", status["outcomes"].get("Success", 0) > 2, status["outcomes"])
    film.end()
    page.complaints()


def several_roles(page, rig, film, checks):
    """Every role of an operator is shown, and can be added, changed and removed."""
    def held():
        return next(one["roles"] for one in rig.call("GET", "/operators") if one["name"] == "lee")
    rig.call("POST", "/operators", {"name": "lee", "roles": [f"sender@{HUB}", "viewer@gone"]})
    page.goto(f"{rig.console}server/operators")
    row = "[...document.querySelectorAll('.operators li')].find(e => e.textContent.includes('lee'))"
    def open_dialog():
        page.until(f"!!{row}")
        page.js(f"[...{row}.querySelectorAll('button')].find(e => e.textContent === 'Roles').click()")
        page.until("!!document.querySelector('dialog .roles')")
    def shown():
        return page.js("[...document.querySelectorAll('.roles li')].map(e => [...e.querySelectorAll('select')].map(s => s.value).join('@'))")
    def choose(index, value):
        page.js(f"(e => {{ e.value = '{value}'; e.dispatchEvent(new Event('change')); }})(document.querySelectorAll('.roles select')[{index}])")
    def save():
        page.click("dialog .primary")
        page.until("!document.querySelector('dialog')")
    open_dialog()
    film.begin("roles")
    checks.equal("all roles are shown", sorted(shown()), sorted([f"sender@{HUB}", "viewer@gone"]))
    page.click("dialog button", "Add a role")
    page.until("document.querySelectorAll('.roles li').length === 3")
    film.shoot()
    save()
    checks.equal("a role is added", sorted(held()), sorted(["viewer", f"sender@{HUB}", "viewer@gone"]))
    open_dialog()
    place = shown().index(f"sender@{HUB}")
    choose(place * 2, "admin")
    page.js("[...document.querySelectorAll('.roles button')].find(e => e.ariaLabel.includes('viewer@gone')).click()")
    page.until("document.querySelectorAll('.roles li').length === 2")
    save()
    checks.equal("one is changed, and one removed", sorted(held()), sorted(["viewer", f"admin@{HUB}"]))
    film.end()


def signed_out_by_oneself(page, rig, film, checks):
    """Who signs out is asked what becomes of the drafts in this browser."""
    kept = "Object.keys(localStorage).filter(key => key.startsWith('draft')).length"
    for answer, left in (("Keep them", True), ("Delete them", False)):
        compose(page, rig, "Left behind")
        page.until("document.querySelector('main').innerText.includes('Draft kept')")
        page.click(".who")
        page.click(".menu button", "Sign out")
        page.until("!!document.querySelector('dialog')")
        checks.that("it is said who could read them", "Whoever uses this browser profile could read them" in page.js("document.querySelector('dialog').innerText"))
        film.page.click("dialog button", answer)
        page.until("!!document.querySelector('input[type=password]')")
        checks.that("a sign-out is not told as an end", "session has ended" not in text(page), text(page)[:200])
        checks.equal(f"{answer}: drafts are as chosen", page.js(kept) > 0, left)
        enter(page, rig)
    page.goto(f"{rig.console}hubs/{HUB}/sends/new")
    page.until("!!document.querySelector('input[name=title]')")
    checks.equal("nothing comes back", page.js("document.querySelector('input[name=title]').value"), "")
    checks.equal("an empty form is no draft", page.js(kept), 0)
    page.click(".who")
    page.click(".menu button", "Sign out")
    page.until("!!document.querySelector('input[type=password]')")
    enter(page, rig)


def drafts(page, rig, film, checks):
    """A draft survives a send to one device, which names that device alone."""
    compose(page, rig, "Kept for later")
    page.until("document.querySelector('main').innerText.includes('Draft kept')")
    page.goto(f"{rig.console}hubs/{HUB}/people/laptop")
    page.until("!!document.querySelector('a[href*=\"new?to\"]')")
    page.click('a[href*="new?to"]')
    page.until("/Kept for later/.test(document.querySelector('.quiet-notice')?.textContent ?? '')")
    checks.that("the send is for the device", "$InstallationId:{laptop}" in page.js("document.querySelector('main').textContent"), text(page)[:400])
    checks.equal("its form is empty", page.js("document.querySelector('input[name=title]').value"), "")
    page.click(".quiet-notice button", "Open")
    page.until("document.querySelector('input[name=title]')?.value === 'Kept for later'")
    page.click(".compose-end button", "Discard the draft")
    page.until("document.querySelector('input[name=title]')?.value === ''")


def whose_fault(page, rig, film, checks):
    """A device that the hub's credential does not allow is said to be that, in the check, in a test, in Failed and in Why."""
    cause = "The hub's credential does not allow subscriptions of this push service."
    rig.call("POST", f"/hubs/{HUB}/credentials/browser/generate", {"Subject": "mailto:ops@shop.example"})
    compose(page, rig, "Refused here")
    page.until(f"document.querySelector('.compose-side').innerText.includes({cause!r})")
    checks.that("the check does not say that all is well", "Ready" not in page.js("document.querySelector('.compose-side').innerText"))
    page.click(".compose-end button", "Send a test")
    page.type("dialog input", "username:alice && $InstallationId:{laptop}")
    page.click("dialog .primary")
    page.until(f"(document.querySelector('dialog .check-list')?.innerText ?? '').includes({cause!r})")
    page.type("dialog input", " &&")
    page.click("dialog .primary")
    page.until("!!document.querySelector('dialog .bad-notice .quote')")
    checks.that("a refusal is a sentence", "<" not in page.js("document.querySelector('dialog .quote').textContent"), page.js("document.querySelector('dialog').innerText"))
    page.key("Escape")
    identifier = rig.send("$InstallationId:{laptop}", {"title": "Refused here"})
    rig.settled(identifier)
    for address in (f"sends/{identifier}/devices/laptop", "sends/failed"):
        page.goto(f"{rig.console}hubs/{HUB}/{address}")
        page.until(f"document.querySelector('main').innerText.includes({cause!r})")
        checks.that(f"{address.split('/')[-1]} sends nobody the wrong way", "register again" not in text(page).split("ExpiredChannel")[0], text(page)[:400])
    page.complaints()
    rig.call("POST", "/session/confirm", {"password": PASSWORD})
    rig.call("DELETE", f"/hubs/{HUB}/credentials/browser")


def by_keyboard(page, rig, film, checks):
    """The same places without a mouse."""
    page.goto(rig.console)
    page.until("!!document.querySelector('.now[class*=is-]')")
    for key in "gs":
        page.key(key)
    page.until("!!document.querySelector('.sends a')")
    page.key("j")
    page.key("j")
    page.until("document.activeElement.closest('.list') !== null")
    page.key("Enter")
    page.until("!!document.querySelector('.funnel')")
    page.key("?")
    page.until("!!document.querySelector('dialog kbd')")
    page.key("Escape")
    page.until("!document.querySelector('dialog')")
    page.key("c")
    page.until("!!document.querySelector('input[name=title]')")
    page.type("input[name=title]", "By keyboard")
    page.type("[data-group=any] input", "city:berlin")
    page.key("Enter")
    page.until("!document.querySelector('.compose-end .primary').disabled")
    page.js("document.querySelector('input[name=title]').focus()")
    page.key("Enter", CTRL)
    page.until("!!document.querySelector('.undo button')")
    page.until("document.activeElement.closest('.undo') !== null")
    page.key("Enter")
    page.key("Tab")
    checks.equal("Undo is the next button", page.js("document.activeElement.textContent"), "Undo")
    page.key("Enter")
    page.until("!!document.querySelector('.compose-end .primary')")
    page.key("/")
    for key in "gn":
        page.key(key)


def signed_out(page, rig, film, checks):
    """A session that ends under the page leads to the form at once, without a click, and a draft survives it."""
    compose(page, rig, "A draft")
    page.until("document.querySelector('main').innerText.includes('Draft kept')")
    rig.sign_in()
    for session in rig.call("GET", "/sessions"):
        if not session["isCurrent"]:
            rig.call("DELETE", f"/sessions/{session['id']}")
    page.until("!!document.querySelector('input[type=password]')")
    checks.that("it says that the session has ended", "session has ended. Drafts are kept" in " ".join(text(page).split()), text(page)[:300])
    page.type("input[name=username]", NAME)
    page.type("input[name=password]", PASSWORD)
    page.click("button.primary")
    page.until("document.querySelector('input[name=title]')?.value === 'A draft'")


def second_factor(page, rig, film, checks):
    """It is set up, asked for, replaced by a recovery code, and turned off."""
    code = "input[autocomplete=one-time-code]"
    link = rig.invite("max", "sender")
    keeper, rig.cookie = rig.cookie, None
    rig.use(link)
    rig.cookie = keeper
    page.call("Network.clearBrowserCookies")
    enter(page, rig, "max")
    page.until("!!document.querySelector('.now[class*=is-]')")
    page.goto(f"{rig.console}account")
    page.until("[...document.querySelectorAll('section button')].some(e => e.textContent === 'Set up')")
    film.begin("second-factor")
    film.click("section button", "Set up")
    page.until("!!document.querySelector('.code')")
    secret = page.js("document.querySelector('.code').textContent").replace(" ", "")
    link = page.js("document.querySelector('a.address').getAttribute('href')")
    checks.that("the link has the secret", f"secret={secret}&" in link)
    checks.equal("a reader of QR codes reads the link", codes_in(page), [link])
    checks.that("the secret is in no address that was asked for", not any(secret in url for url, _ in page.requests()))
    page.type(f"section {code}", one_time_password(secret, int(time.time()) // 30))
    film.shoot()
    film.click("section button", "Turn on")
    page.until("document.querySelectorAll('.code > div').length === 10")
    codes = page.js("[...document.querySelectorAll('.code > div')].map(e => e.textContent)")
    page.call("Network.clearBrowserCookies")
    page.goto(rig.console)
    page.until("!!document.querySelector('input[type=password]')")
    checks.that("the code is not asked for before the password", page.js(f"document.querySelector('{code}').closest('.field').hidden"))
    page.type("input[name=username]", "max")
    page.type("input[name=password]", PASSWORD)
    film.click("button.primary")
    page.until(f"document.activeElement === document.querySelector('{code}')")
    page.type(code, "000000")
    film.click("button.primary")
    page.until("document.querySelector('main').innerText.includes('The code is wrong or was used already')")
    page.js(f"document.querySelector('{code}').value = ''")
    page.type(code, codes[0])
    film.click("button.primary")
    page.until("!!document.querySelector('.now[class*=is-]')")
    page.goto(f"{rig.console}account")
    page.until("document.querySelector('main').innerText.includes('9 recovery codes are left')")
    page.type(f"section {code}", codes[1])
    film.click("section button", "Turn off")
    page.until("document.querySelector('main').innerText.includes('your password alone signs you in')")
    film.end()
    page.call("Network.clearBrowserCookies")
    enter(page, rig)


def device_page(page, rig, film, checks):
    """A browser shows the fingerprint of its key, a phone without one does not."""
    page.goto(f"{rig.console}hubs/{HUB}/people/phone1")
    page.until("!!document.querySelector('main .facts')")
    checks.that("a device without a key shows none", "Key" not in page.js("document.querySelector('main .facts').innerText"))
    page.goto(f"{rig.console}hubs/{HUB}/people/laptop")
    page.until("!!document.querySelector('main .facts')")
    facts = page.js("document.querySelector('main .facts').innerText")
    checks.that("a device shows the fingerprint of its key", re.search(r"Key of the subscription\s+(\d{5} ?){8}", facts), facts)


def app_users(page, rig, film, checks):
    """A user of the app backend: found, shown with sessions and roles, given a new password, and the devices found."""
    page.goto(f"{rig.console}server/users")
    page.until("document.querySelectorAll('.users > li').length === 3")
    film.begin("app-users")
    page.type("input[type=search]", "AL")
    film.click("form[role=search] button")
    page.until("document.querySelectorAll('.users > li').length === 1")
    checks.that("names stand in no address", "al" not in page.js("location.href.split('/console/')[1]").lower())
    film.click(".users button", "Account")
    page.until("document.querySelectorAll('dialog .chip').length === 2")
    film.click("dialog .chip button[aria-label*=board]")
    page.until("document.querySelectorAll('dialog .chip').length === 1")
    page.type("dialog form input", "admin")
    film.click("dialog form button", "Add")
    page.until("document.querySelectorAll('dialog .chip').length === 2")
    checks.equal("the roles are the user's", rig.call("GET", "/users/alice")["roles"], ["admin", "editor"])
    page.type("dialog form input", "Not a role")
    film.click("dialog form button", "Add")
    page.until("/A role, such as admin/.test(document.querySelector('dialog .bad-notice')?.innerText ?? '')")
    film.click("dialog button", "New password")
    film.click("dialog form .danger", "New password")
    page.until("!!document.querySelector('dialog .code')")
    password = page.js("document.querySelector('dialog .code').textContent")
    film.shoot()
    checks.equal("the user logs in with the new password", rig.app("POST", "/api/sessions", {"user": "alice", "password": password}) // 100, 2)
    page.key("Escape")
    page.key("Escape")
    page.until("!document.querySelector('dialog')")
    film.click(".users button", "Account")
    page.until("/Sessions\\s+1/.test(document.querySelector('dialog')?.innerText ?? '')")
    film.click("dialog dd button", "End sessions")
    page.until("/Sessions\\s+0/.test(document.querySelector('dialog')?.innerText ?? '')")
    page.key("Escape")
    film.click(".users button", "Devices")
    page.until("document.querySelector('.people-search input')?.value === 'alice' && !!document.querySelector('.devices')")
    film.end()


def server_keys(page, rig, film, checks):
    """A new key of the server, and the older one removed; the log of fetches."""
    page.goto(f"{rig.console}server/keys")
    page.until("document.querySelectorAll('main .list > li').length === 1")
    film.begin("server-keys")
    film.click("main .primary", "New key")
    film.click("dialog .primary", "New key")
    page.until("document.querySelectorAll('main .list > li').length === 2 && !!document.querySelector('main .danger')")
    film.shoot()
    film.click("main .danger", "Remove older keys")
    page.type("dialog input", "retire")
    film.click("dialog .danger")
    page.until("document.querySelectorAll('main .list > li').length === 1 && !document.querySelector('main .danger')")
    status = rig.call("GET", "/server-key")
    checks.equal("one key is left, and everything is under it", (len(status["keys"]), status["left"]), (1, 0))
    film.end()
    page.goto(f"{rig.console}server/fetches")
    page.until("/alice/.test(document.querySelector('main tbody')?.innerText ?? '')")
    row = page.js("document.querySelector('main tbody tr').innerText")
    checks.that("who was refused a notification is in the log", "1234567" in row and "refused" in row, row)
    page.type("main form input", "nobody")
    page.click("main form button")
    page.until("/No fetches/.test(document.querySelector('main').innerText)")


def roles(page, rig, film, checks):
    """A viewer sees no button that the server would refuse."""
    link = rig.invite("mia", "viewer")
    keeper, rig.cookie = rig.cookie, None
    rig.use(link)
    rig.cookie = keeper
    page.call("Network.clearBrowserCookies")
    enter(page, rig, "mia")
    page.until("!!document.querySelector('.now[class*=is-]')")
    checks.that("a viewer is offered no new send", page.js("document.querySelector('a[href$=\"/new\"]')") is None)
    page.goto(f"{rig.console}hubs/{HUB}/sends/new")
    page.until("document.querySelector('main').innerText.includes('Your role does not allow this')")
    page.goto(f"{rig.console}server/operators")
    page.until("document.querySelector('main').innerText.includes('Your role does not allow this')")
    page.goto(rig.console)
    # The second figure comes by the stream, which tells why it ends.
    page.until("(line => line && (window.firstLine ??= line) !== line)(document.querySelector('.now .sentence p')?.textContent)")
    rig.call("PUT", "/operators/mia/roles", {"roles": ["sender"]})
    page.until("!!document.querySelector('input[type=password]')")
    checks.that("other roles end the session, and that is said", "Your roles have changed" in text(page), text(page)[:200])
    enter(page, rig, "mia")
    page.until("!!document.querySelector('a[href$=\"/new\"]')")
    page.goto(f"{rig.console}server/users")
    page.until("document.querySelectorAll('.users > li').length > 0")
    page.click(".users button", "Account")
    page.until("/Sessions/.test(document.querySelector('dialog')?.innerText ?? '')")
    checks.that("a sender sees users and can change none", page.js("document.querySelector('dialog form, dialog .danger')") is None)
    page.call("Network.clearBrowserCookies")
    enter(page, rig)


ALL = [is_it_working, outage, why_not, device_gone, sent_again, whole_message, by_command, send_safely, campaign, stop, canary, several_roles, signed_out_by_oneself, drafts, whose_fault, by_keyboard, signed_out, second_factor,
       device_page, app_users, server_keys, roles]
