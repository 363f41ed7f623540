"""What the pages say when the server does not answer, when the session ends under them, and when somebody else changes what
they show. On a server of its own, which is stopped and killed."""

import asyncio
import os
import signal
import time

import processes
from rig import API, HUB, NAME, PASSWORD, Rig, enter

# Pages that claim something, each with what is there when it is loaded.
PAGES = [("", ".now[class*=is-]"), ("hubs/shop", ".services"), ("hubs/shop/sends/new", "input[name=title]"), ("server", ".figures")]
# Whether the page says that it is old: the band, and nothing green.
OLD = "/connection to the server is lost/.test(document.querySelector('.band')?.innerText ?? '') && document.body.classList.contains('stale')"
COLOURS = """(() => { const good = Object.assign(document.createElement('p'), {className: 'probe'}); document.body.append(good);
    good.style.color = 'var(--good)'; const green = getComputedStyle(good).color; good.remove();
    return [...document.querySelectorAll('.lamp, .badge, .good')].filter(one => one.checkVisibility()
        && [getComputedStyle(one).color, getComputedStyle(one).backgroundColor].includes(green)).map(one => one.outerHTML); })()"""


def text(page):
    return " ".join(page.js("document.querySelector('main').innerText").split())


def says(page, words, timeout=60):
    """The seconds until the page says it."""
    began = time.monotonic()
    page.until(f"document.body.innerText.replace(/\\s+/g, ' ').includes({words!r})", timeout)
    return time.monotonic() - began


def opened(pages, rig, addresses=PAGES):
    for page, (address, ready) in zip(pages, addresses):
        page.goto(rig.console + address)
        page.until(f"!!document.querySelector({ready!r})")


async def silent(pages, rig, checks):
    """A server that is stopped gives no answer and ends no stream: within seconds, nothing claims to be live."""
    identifier = rig.send("news", {"title": "Slow"}, martlet_rollout="first=1")
    addresses = [*PAGES[:3], (f"hubs/{HUB}/sends/{identifier}", ".funnel")]
    opened(pages, rig, addresses)
    says(pages[0], ", live")
    checks.that("a page that is live has something green", pages[1].js(COLOURS))
    rig.signal(signal.SIGSTOP)
    began = time.monotonic()
    for page in pages:
        page.until(OLD)
    took = time.monotonic() - began
    checks.that("silence is noticed within seconds", took < 20, took)
    for page, (address, _) in zip(pages, addresses):
        checks.equal(f"/{address}: nothing is green", page.js(COLOURS), [])
    checks.equal("the sentence is grey", *pages[0].js("['.sentence h1', '.figures .name'].map(css => getComputedStyle(document.querySelector(css)).color)"))
    checks.that("Now says from when it is", "; connection lost" in text(pages[0]) and ", live" not in text(pages[0]), text(pages[0])[:200])
    checks.that("a send says from when it is", "; connection lost" in text(pages[3]), text(pages[3])[:300])
    # A stop that is not answered says so, and is made when there is an answer.
    pages[3].click(".controls .danger")
    pages[3].click("dialog .danger")
    took = says(pages[3], "The server does not answer: the send may still be going out. This page keeps trying to stop it.")
    checks.that("a stop without an answer says so", took < 20, took)
    pages[2].click(".places a", "People")
    says(pages[2], "The server does not answer")
    rig.signal(signal.SIGCONT)
    says(pages[0], ", live")
    pages[0].until("!document.body.classList.contains('stale')")
    pages[2].until("!!document.querySelector('.people-search')")
    pages[3].until("document.querySelector('.big-badge').innerText.includes('Stopped')")
    checks.equal("the stop was made", rig.call("GET", f"/hubs/{HUB}/messages/{identifier}/status")["control"], "canceled")
    checks.that("a send that is over offers nothing to do", not pages[3].js("document.querySelector('.controls button').checkVisibility()"))
    checks.that("and complains of nothing", "does not answer" not in text(pages[3]), text(pages[3])[:300])


async def killed(pages, rig, checks):
    """A server that was killed: what was begun meanwhile is done when it is back, without a click."""
    identifier = rig.send("news", {"title": "Slower"}, martlet_rollout="first=1")
    addresses = [("", ".now[class*=is-]"), ("server", ".figures"), ("server", ".figures"), (f"hubs/{HUB}/sends/{identifier}", ".funnel")]
    opened(pages, rig, addresses)
    says(pages[0], ", live")
    await rig.server.kill()
    pages[3].click(".controls button", "Pause")
    took = says(pages[3], "The server does not answer: the send may still be going out. This page keeps trying to pause it.")
    checks.that("a pause without an answer says so", took < 5, took)
    pages[1].click(".places a", "Sends")
    pages[2].click(".tabs a", "Audit")
    for page in pages[1:3]:
        says(page, "The server does not answer")
    says(pages[0], "; connection lost")
    await rig.restart()
    says(pages[0], ", live")
    pages[1].until("!!document.querySelector('.sends a')")
    says(pages[2], "Registered a device")
    pages[3].until("document.querySelector('.big-badge').innerText.includes('Paused')")
    checks.equal("the pause was made", rig.call("GET", f"/hubs/{HUB}/messages/{identifier}/status")["control"], "paused")
    pages[3].click(".controls .danger")
    pages[3].click("dialog .danger")
    pages[3].until("document.querySelector('.big-badge').innerText.includes('Stopped')")
    # A page that was served and then has no answer for its session.
    pages[1].fail("*/console/api/session")
    pages[1].goto(rig.console)
    says(pages[1], "The server does not answer")
    pages[1].release()
    pages[1].until("!!document.querySelector('.now[class*=is-]')")


async def ended(pages, rig, checks):
    """The end of a session is said on every page, and why."""
    opened(pages, rig, [*PAGES[1:], (f"hubs/{HUB}/people", ".people-search")])
    # Whoever has just opened a page has a stream a moment later.
    await asyncio.sleep(1)
    processes.martlet(rig.binary, "operator", "end-sessions", NAME, "--data", rig.data)
    for page, (address, _) in zip(pages, [*PAGES[1:], ("people", "")]):
        took = says(page, "session has ended")
        checks.that(f"{address}: the end of the session is said at once", took < 20, took)
    rig.sign_in()
    link = rig.invite("mia", "admin")
    keeper, rig.cookie = rig.cookie, None
    rig.use(link)
    mia, rig.cookie = rig.cookie, keeper
    enter(pages[0], rig, "mia")
    opened(pages[:1], rig, PAGES[2:3])
    await asyncio.sleep(1)
    rig.cookie = mia
    rig.call("PUT", "/session/password", {"password": PASSWORD, "new": PASSWORD + " again"})
    rig.cookie = keeper
    took = says(pages[0], "session has ended")
    checks.that("a new password elsewhere is said at once", took < 20, took)
    enter(pages[0], rig, "mia", PASSWORD + " again")
    opened(pages[:1], rig, PAGES[3:])
    await asyncio.sleep(1)
    rig.call("PUT", "/operators/mia/roles", {"roles": ["viewer"]})
    took = says(pages[0], "Your roles have changed")
    checks.that("other roles are said at once", took < 20, took)
    enter(pages[0], rig)


async def left(pages, rig, checks):
    """A sign-out in one window leaves nothing of the session in the others, and is not told as its end."""
    opened(pages, rig)
    await asyncio.sleep(1)
    pages[0].click(".who")
    pages[0].click(".menu button", "Sign out")
    for page, (address, _) in zip(pages, PAGES):
        page.until("!!document.querySelector('input[name=password]') && !document.querySelector('.sign-in .notice')")
        shown = page.js("document.body.textContent")
        checks.that(f"/{address}: nothing of the session is there", not any(word in shown for word in (HUB, NAME, "ended")), shown)
    enter(pages[0], rig)


async def others(pages, rig, checks):
    """What somebody else changes is on an open page within seconds, and is not undone by a save."""
    rig.call("POST", f"/rest/{HUB}/schedulednotifications?{API}", {"title": "Soon"}, {
        "servicebusnotification-format": "message", "servicebusnotification-tags": "news",
        "servicebusnotification-scheduletime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 50))})
    identifier = rig.call("GET", f"/hubs/{HUB}/sends?state=scheduled")["sends"][0]["id"]
    opened(pages[:1], rig, [(f"hubs/{HUB}/sends/{identifier}", ".funnel")])
    counted = "document.querySelector('main').innerText.match(/in \\d+ seconds/)?.[0]"
    first = pages[0].until(counted)
    pages[0].until(f"(now => now && now !== '{first}')({counted})")
    opened(pages, rig, [("server/operators", ".operators"), (f"hubs/{HUB}", ".services"), (f"hubs/{HUB}/limits", "dl.facts"), (f"hubs/{HUB}/limits", "dl.facts")])
    pages[2].click("button", "Change")
    pages[2].until("!!document.querySelector('dialog input')")
    rig.call("PUT", f"/hubs/{HUB}/limits", {"requestRate": 111})
    rig.call("PUT", "/operators/mia/roles", {"roles": ["sender"]})
    rig.call("DELETE", f"/hubs/{HUB}/credentials/browser")
    pages[2].js("document.querySelectorAll('dialog input')[1].focus()")
    pages[2].call("Input.insertText", {"text": "222"})
    pages[2].click("dialog .primary")
    pages[2].until("!document.querySelector('dialog')")
    found = rig.call("GET", f"/hubs/{HUB}/limits")
    checks.equal("a change of another limit stays", (found["requestRate"], found["backlog"]), (111, 222))
    pages[0].until("[...document.querySelectorAll('.operators li')].some(one => /mia/.test(one.innerText) && /sender/.test(one.innerText))")
    pages[3].until("/111/.test(document.querySelector('dl.facts').innerText) && /222/.test(document.querySelector('dl.facts').innerText)")
    pages[1].until("!/Usable/.test(document.querySelector('section[aria-label=\"Web Push\"]')?.innerText ?? '')")
    rig.call("DELETE", f"/hubs/{HUB}")
    for page in pages[1:3]:
        says(page, "Nothing is here")
    checks.that("a hub that is gone is not shown any more", not pages[1].js("!!document.querySelector('.services')"), text(pages[1])[:200])


ALL = [silent, killed, ended, left, others]


async def judge(browser, binary, directory, checks, chosen=None):
    jobs = [job for job in ALL if not chosen or job.__name__ in chosen]
    if not jobs:
        return
    began = time.monotonic()
    folder = os.path.join(directory, "unanswered")
    os.makedirs(folder)
    rig = Rig(binary, folder)
    try:
        await rig.start()
        context = browser.context()
        rig.use(rig.invite())
        rig.invite("mia")
        rig.call("PUT", f"/hubs/{HUB}", {})
        rig.call("POST", f"/hubs/{HUB}/credentials/browser/generate", {"Subject": "mailto:ops@shop.example"})
        for index in range(4):
            rig.device("apns", f"phone{index}", ["news"], topic="com.example.app")
        pages = [browser.page(context) for _ in range(4)]
        for page in pages:
            page.look()
        enter(pages[0], rig)
        for job in jobs:
            at = time.monotonic()
            await job(pages, rig, checks)
            print(f"console-pages: {job.__name__}: {time.monotonic() - at:.1f} s", flush=True)
            for page in pages:
                checks.equal(f"{job.__name__} brings no complaint", page.complaints(), [])
        for page in pages:
            page.close()
    finally:
        if rig.server.process and rig.server.process.returncode is None:
            rig.signal(signal.SIGCONT)
        await rig.stop()
    print(f"console-pages: unanswered: {time.monotonic() - began:.1f} s", flush=True)
