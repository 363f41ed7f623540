"""The six jobs of the console as films: each by mouse and by keyboard alone, a picture before every action, with the seconds and
the actions counted. The seconds are those of the server and the browser: nobody reads or thinks.

A film is a sheet of its pictures. The ring shows where the mouse clicks; the keyboard's focus shows itself.
"""

import base64
import datetime
import json
import os
import time

import certificates
import processes
from rig import HUB, PASSWORD

WIDTH, HEIGHT, COLUMNS, FRAME = 900, 620, 3, 450
SHIFT = 8
# How often Tab is pressed until a control must have the focus.
REACH = 90

STYLE = """
* { box-sizing: border-box; margin: 0; } body { font: 15px/1.35 system-ui, sans-serif; background: #e9e9ee; color: #16161a; padding: 20px; }
main { display: grid; grid-template-columns: repeat(%d, %dpx); gap: 16px; } figure { background: #fff; border-radius: 8px; overflow: hidden; }
.shot { position: relative; } img { width: 100%%; display: block; } figcaption { padding: 8px 12px; min-height: 3.6em; } b { color: #5a3fc0; }
i { position: absolute; width: 34px; height: 34px; margin: -17px; border: 4px solid #e0338c; border-radius: 50%%; background: #e0338c33; }
""" % (COLUMNS, FRAME)


class Film:
    """The pictures of one job, with its seconds: what the pictures take is not counted."""

    def __init__(self, page):
        self.page, self.frames, self.started, self.paused = page, [], time.monotonic(), 0.0

    @property
    def seconds(self):
        return time.monotonic() - self.started - self.paused

    def shoot(self, caption, at=None):
        before, seconds = time.monotonic(), self.seconds
        picture = self.page.call("Page.captureScreenshot", {"format": "webp", "quality": 85})["data"]
        self.frames.append((picture, caption, at, seconds))
        self.paused += time.monotonic() - before

    def sheet(self, browser, path):
        """Writes all pictures as one."""
        page = browser.page()
        page.look(COLUMNS * FRAME + (COLUMNS - 1) * 16 + 40, 400)
        page.js("""((style, frames, width, height) => {
            document.head.append(Object.assign(document.createElement("style"), {textContent: style}));
            const main = document.body.appendChild(document.createElement("main"));
            for (const [index, [picture, caption, at, seconds]] of frames.entries()) {
              const figure = main.appendChild(document.createElement("figure"));
              const shot = figure.appendChild(Object.assign(document.createElement("div"), {className: "shot"}));
              shot.append(Object.assign(new Image(), {src: `data:image/webp;base64,${picture}`}));
              if (at) {
                const ring = shot.appendChild(document.createElement("i"));
                ring.style.left = `${at[0] / width * 100}%`;
                ring.style.top = `${at[1] / height * 100}%`;
              }
              const words = figure.appendChild(document.createElement("figcaption"));
              words.append(Object.assign(document.createElement("b"), {textContent: `${index + 1}  ${seconds.toFixed(1)} s  `}), caption);
            }
            return Promise.all([...document.images].map(image => image.decode())).then(() => 1);
        })""" + f"({json.dumps(STYLE)}, {json.dumps(self.frames)}, {WIDTH}, {HEIGHT})")
        size = page.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        data = page.call("Page.captureScreenshot", {"format": "webp", "quality": 60, "captureBeyondViewport": True, "clip": clip})["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
        browser.call("Target.closeTarget", {"targetId": page.target})


def finding(css, text):
    """JavaScript for the first usable element that has the text, in the open dialog if there is one."""
    return (f"[...(document.querySelector('dialog[open]') ?? document).querySelectorAll({json.dumps(css)})]"
            f".find(e => e.checkVisibility() && !e.disabled && e.textContent.includes({json.dumps(text or '')}))")


# JavaScript: whether the middle of the element `e` is in sight and nothing lies over it.
SEEN = ("(r => { const at = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2); return at !== null && (e.contains(at) || at.contains(e)); })"
        "(e.getBoundingClientRect())")


class Mouse:
    """Clicks, and types what must be typed."""

    name = "mouse"

    def __init__(self, page, film):
        self.page, self.film, self.actions, self.texts = page, film, 0, 0

    def press(self, css, text=None, caption=""):
        found = finding(css, text)
        self.page.until(f"!!{found}")
        where = (f"(e => {{ if (!{SEEN}) e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect(); "
                 f"return [r.x + r.width / 2, r.y + r.height / 2]; }})({found})")
        self.film.shoot(caption or f"Click “{self.page.js(f'{found}.innerText').strip() or text}”.", self.page.js(where))
        # What came meanwhile may have moved it.
        x, y = self.page.js(where)
        for kind in ("mousePressed", "mouseReleased"):
            self.page.call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1})
        self.actions += 1

    def write(self, css, text, what):
        self.press(css, None, f"Type {what}.")
        self._type(css, text)

    def _type(self, css, text):
        self.page.until(f"document.activeElement === {finding(css, None)}")
        self.page.js("document.activeElement.select()")
        self.page.call("Input.insertText", {"text": text})
        self.texts += 1

    def place(self, name, _key):
        self.press(".places a", name)

    def new_send(self):
        self.press("header a[href$='/sends/new']", None, "Click “New send”.")

    def submit(self, css, text=None):
        self.press(css, text)

    def close(self):
        self.press("dialog .actions button", "Close")

    def certificate(self):
        """Chooses a certificate instead of a signing key."""
        self.press("dialog .choices label", "Certificate")

    def file(self, css, path, what):
        self.page.files(path, lambda: self.press(css, None, f"Choose {what}."))


class Keyboard(Mouse):
    """Presses keys alone: Tab until a control has the focus, then the key that uses it; or the console's own keys."""

    name = "keyboard"

    def key(self, name, modifiers=0):
        self.page.key(name, modifiers)
        self.actions += 1

    def reach(self, css, text=None):
        found = finding(css, text)
        self.page.until(f"!!{found}")
        for _ in range(REACH):
            if self.page.js(f"document.activeElement === {found}"):
                # Focus Not Obscured (WCAG 2.2, 2.4.11).
                assert self.page.js(f"(e => {SEEN})(document.activeElement)"), f"{css} {text or ''} has the focus and is not seen"
                return
            # Shift and Tab, where that is the way.
            is_behind = self.page.js(f"document.activeElement !== document.body && Boolean(document.activeElement.compareDocumentPosition({found}) & 2)")
            self.key("Tab", SHIFT if is_behind else 0)
        raise AssertionError(f"{REACH} times Tab do not reach {css} {text or ''}: {self.page.js('document.activeElement.outerHTML.slice(0, 300)')}")

    def press(self, css, text=None, caption=""):
        self.reach(css, text)
        said = self.page.js("document.activeElement.innerText").strip() or text
        self.film.shoot(caption or f"Tab to “{said}”, then Enter.")
        self.key("Space" if self.page.js("['radio', 'checkbox', 'file'].includes(document.activeElement.type)") else "Enter")

    def write(self, css, text, what):
        self.reach(css)
        self.film.shoot(f"Type {what}.")
        self._type(css, text)

    def place(self, name, key):
        self.film.shoot(f"Press g, then {key}, for {name}.")
        self.key("g")
        self.key(key)

    def new_send(self):
        self.film.shoot("Press c for a new send.")
        self.key("c")

    def submit(self, css, text=None):
        self.film.shoot("Press Enter.")
        self.key("Enter")

    def close(self):
        self.film.shoot("Press Esc.")
        self.key("Escape")

    def certificate(self):
        self.reach("dialog .choices input")
        self.film.shoot("Arrow keys choose a certificate instead of a signing key.")
        self.key("ArrowDown")


def text(page):
    return page.js("document.querySelector('main').innerText")


ATTENTION = "(document.querySelector('[aria-label=\"Needs attention\"]')?.innerText ?? '')"


def ready_now(page, rig):
    page.goto(rig.console)
    page.until("!!document.querySelector('.now[class*=is-]')")


# A job goes to where its film begins, yields, and then does the job with a hand.

def first_hour(page, rig):
    link = rig.invite()
    page.goto("about:blank")
    hand = yield
    page.goto(link)
    page.until("!!document.querySelector('input[type=password]')")
    hand.write("input[type=password]", PASSWORD, "a password, on the page that the link of martlet operator invite opens")
    hand.submit("button.primary")
    page.until("!!document.querySelector('.step.is-here input')")
    hand.write(".step.is-here input", HUB, "a name for the hub, which is there already")
    hand.submit(".step.is-here button.primary")
    page.until("document.querySelectorAll('.step.is-done').length === 1")
    hand.press(".step.is-here button.primary")
    page.until("document.querySelectorAll('.step.is-done').length === 2")
    hand.press(".step.is-here button.primary")
    page.until("!!document.querySelector('.phone .look-card')")
    page.until("document.querySelectorAll('.step.is-done').length === 3")
    hand.film.shoot("The notification is on the phone.")


def working(page, rig):
    page.goto("about:blank")
    hand = yield
    ready_now(page, rig)
    assert text(page).startswith(("All notifications are going out.", "Notifications are going out.")), text(page)[:200]
    hand.film.shoot("One sentence: notifications are going out. Below it what needs attention, and the figures.")


def why_not(page, rig):
    page.goto(rig.console)
    page.js("sessionStorage.clear()")
    ready_now(page, rig)
    hand = yield
    hand.place("People", "p")
    page.until("!!document.querySelector('.people-search input')")
    hand.write(".people-search input", "alice", "the name")
    hand.submit(".people-search button")
    page.until("[...document.querySelectorAll('.verdicts a')].some(e => e.textContent.includes('phone7'))")
    hand.press(".verdicts a", "phone7", f"Her phone refused “Half price”: {'click it' if hand.name == 'mouse' else 'Tab to it, then Enter'}.")
    page.until("/this device is gone/.test(document.querySelector('.verdict')?.innerText ?? '')")
    hand.film.shoot("The verdict first, then what to do, then every step with its time.")


def send_safely(page, rig):
    ready_now(page, rig)
    hand = yield
    hand.new_send()
    page.until("!!document.querySelector('input[name=title]')")
    hand.write("input[name=title]", "Half price until noon", "a title")
    hand.write("textarea[name=text]", "Every bike in the shop, today only", "a text")
    hand.write("[data-group=all] input", "news", "a tag, and press Enter: who gets it")
    page.key("Enter")
    hand.actions += 1
    hand.write("input[aria-label='First so many devices']", "3", "how many devices get it first, before it waits for a decision")
    page.until("!document.querySelector('.compose-end .primary').disabled")
    hand.press(".compose-end button", "Send a test")
    page.until("!!document.querySelector('dialog input')")
    hand.write("dialog input", "username:alice", "who tests it")
    hand.submit("dialog .primary")
    page.until("/Taken|sent/.test(document.querySelector('dialog .check-list, dialog .good')?.textContent ?? '')")
    hand.close()
    page.until("!document.querySelector('dialog')")
    hand.press(".compose-end .primary")
    page.until("!!document.querySelector('.undo button')")
    hand.film.shoot("Ten seconds to undo. It goes out by itself.")
    page.until("/sends\\/[0-9a-f-]+$/.test(location.pathname)", 40)
    page.until("[...document.querySelectorAll('.controls .primary')].some(e => e.checkVisibility() && !e.disabled)")
    hand.press(".controls .primary", None, f"Three devices have it, and it waits. {'Click' if hand.name == 'mouse' else 'Tab to'} “Continue”.")
    page.until("/Completed/.test(document.querySelector('.big-badge')?.textContent ?? '')")
    hand.film.shoot("The same page is the report.")


def stop(page, rig):
    identifier = rig.send("news", {"title": "Too early"}, martlet_rollout="rate=1")
    page.goto(f"{rig.console}hubs/{HUB}/sends/{identifier}")
    page.until("document.querySelector('.controls .danger')?.disabled === false")
    hand = yield
    hand.press(".controls .danger")
    page.until("!!document.querySelector('dialog[open] .danger')")
    hand.press("dialog .danger")
    page.until("/Stopped/.test(document.querySelector('.big-badge')?.textContent ?? '')")
    hand.film.shoot("Stopped. The page says how many were spared.")
    assert rig.settled(identifier)["outcomes"].get("Canceled", 0) > 0


def outage(page, rig):
    ready_now(page, rig)
    rig.call("POST", "/simulator/faults", {"fault": "unavailable", "service": "fcmv1"})
    identifier = rig.send("beta", {"title": "During the outage"})
    hand = yield
    page.until(f"/FCM has answered 503 to everything since/.test({ATTENTION}) && /Pushes waiting: 4/.test({ATTENTION})", 30)
    hand.press('[aria-label="Needs attention"] a', "FCM", "Now tells what fails, since when, what waits, and that nothing needs to be done.")
    page.until("/Pushes waiting: 4/.test(document.querySelector('section[aria-label=FCM]')?.innerText ?? '')")
    hand.film.shoot("The hub's page says it too, beside the services that work.")
    rig.call("DELETE", "/simulator/faults")
    rig.settled(identifier)


def expiry(page, rig):
    day = datetime.timedelta(days=1)
    old, new = (os.path.join(os.path.dirname(rig.data), name) for name in ("old.pem", "new.pem"))
    certificates.make_client_identity(old, "Apple Push Services: com.example.app", 12.5 * day)
    certificates.make_client_identity(new, "Apple Push Services: com.example.app", 390 * day)
    processes.martlet(rig.binary, "hub", "credential", "set", HUB, "apns", "--certificate-file", old, "--topic", "com.example.app", "--data", rig.data)
    page.goto("about:blank")
    hand = yield
    ready_now(page, rig)
    page.until(f"/The credential for APNs expires in 12 days/.test({ATTENTION})")
    hand.press('[aria-label="Needs attention"] a', "APNs", "Now says it from 30 days before. Follow the line.")
    page.until("!!document.querySelector('section[aria-label=APNs] button')")
    hand.press("section[aria-label=APNs] button", "Replace")
    page.until("!!document.querySelector('dialog .choices')")
    hand.certificate()
    hand.file("dialog input[type=file]", new, "the file of the new certificate")
    hand.write("dialog input[type=text]", "com.example.app", "the bundle ID of the app")
    hand.submit("dialog .primary")
    page.until("!document.querySelector('dialog')")
    page.until("/Checked and saved/.test(document.body.innerText)")
    hand.film.shoot("It was checked before it was stored.")
    ready_now(page, rig)
    page.until(f"!/expires/.test({ATTENTION})")
    hand.film.shoot("Now has nothing more to say of it.")


# The job, what a person asks, and what the specification allows, in seconds; stopping is the end of a safe send.
JOBS = [
    (first_hour, "first-hour", "The first notification", 300), (working, "working", "Is it working right now?", 2),
    (why_not, "why", "Why did Alice not get it?", 30), (send_safely, "send", "Send this safely", 300), (stop, "stop", "… and stop it", 2),
    (outage, "outage", "A push service is down", None), (expiry, "expiry", "A credential expires in 12 days", None),
]


def film(page, browser, rig, kind, job, path):
    """Makes one film; its seconds and actions."""
    course = job(page, rig)
    next(course)
    film = Film(page)
    hand = kind(page, film)
    try:
        course.send(hand)
    except StopIteration:
        pass
    except Exception:
        if path:
            film.shoot("It goes no further.")
            film.sheet(browser, path)
        raise
    # A film ends with its last picture: what is put in order after it is no part of the job.
    seconds = film.frames[-1][3]
    if path:
        film.sheet(browser, path)
    return {"seconds": seconds, "actions": hand.actions, "texts": hand.texts, "frames": len(film.frames)}


def counted(count, what):
    return f"{count} {what}{'' if count == 1 else 's'}"


def document(found, browser, folder):
    """Writes the page with the table and the films of the mouse."""
    lines = [
        "# The console's jobs, filmed", "",
        "What people come to the console for ([Console](../Console.md)), done in a real Chromium on a real server with its simulator: by mouse, and by "
        "keyboard alone. `make console-films` makes this page anew, and fails where a job cannot be done, or takes longer than it may.", "",
        f"The seconds are those of server and browser ({browser}, two processors that other programs used as well): nobody reads or thinks. A text that is typed is one action, "
        "however long it is. By keyboard, each Tab is an action. The ten seconds in which a send can be undone are part of it.", "",
        "| job | it may take | by mouse | by keyboard |", "|---|---|---|---|",
    ]
    for _, name, title, limit in JOBS:
        mouse, keys = found["mouse"][name], found["keyboard"][name]
        cells = [", ".join([f"{one['seconds']:.1f} s", counted(one["actions"], action), counted(one["texts"], "text")]) for one, action in ((mouse, "click"), (keys, "key"))]
        lines.append(f"| {title} | {f'{limit} s' if limit else '–'} | {cells[0]} | {cells[1]} |")
    for _, name, title, _ in JOBS:
        lines += ["", f"## {title}", "", f"![{title}: {counted(found['mouse'][name]['frames'], 'picture')}](film-{name}.webp)"]
    with open(os.path.join(folder, "Jobs.md"), "w") as file:
        file.write("\n".join(lines) + "\n")
