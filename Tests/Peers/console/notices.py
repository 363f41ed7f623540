"""What the pages say of a send in narrow windows, behind a proxy, to other roles and after a session: it can be seen, it is so,
and it leads on."""

import datetime

from faults_of_sends import SCHEDULED, SEND, UNDO, compose, counting, discard, ready, sent, status, undone, waiting
from jobs import text
from rig import API, HUB, NAME, PASSWORD, WILD

SEEN = "(e => e && e.getClientRects().length > 0 && e.checkVisibility())"
OVERFLOW = "document.documentElement.scrollWidth > innerWidth"


def notice(page):
    return page.js("document.querySelector('.undo')?.innerText ?? ''")


def pause(page, seconds):
    page.js(f"new Promise(done => setTimeout(done, {seconds * 1000}))")


def sign_in(page, name=NAME, password=PASSWORD):
    page.type("input[name=username]", name)
    page.type("input[name=password]", password)
    page.click("button.primary")


def undo_in_a_narrow_window(page, rig, film, checks):
    """Undo, the countdown and what is known of the send are there at every width, with the mouse and with Tab."""
    for width in (320, 767):
        page.look(width=width, height=700)
        waiting(page, rig, f"At {width} pixels")
        places = page.js("[...document.querySelectorAll('.undo button')].map(e => e.getClientRects()[0]).map(r => r && [r.left, r.right])")
        checks.that(f"{width} px: both buttons have a place", len(places) == 2 and all(one and 0 <= one[0] < one[1] <= width for one in places), places)
        checks.that(f"{width} px: the countdown can be read", "Sending to" in notice(page) and "Undo" in notice(page), notice(page))
        checks.that(f"{width} px: nothing overflows", not page.js(OVERFLOW))
        page.key("Tab")
        checks.equal(f"{width} px: Tab reaches Undo", page.js("document.activeElement.textContent"), "Undo")
        page.key("Enter")
        undone(page)
        discard(page)
    compose(page, rig, "Refused on a phone")
    ready(page)
    page.refuse(507, SCHEDULED)
    page.click(SEND)
    page.until("/Nothing was sent/.test(document.querySelector('.compose-end')?.innerText ?? '')")
    page.release()
    gap = page.js("(([told, actions]) => actions.getBoundingClientRect().top - told.getBoundingClientRect().bottom)([...document.querySelector('.compose-end').children])")
    checks.that("a notice has a distance to the buttons below it", gap >= 8, gap)
    page.look(width=390, height=800)
    page.until("!!document.querySelector('.previews .look')")
    found = page.js("(e => [e.closest('.looks') === null, e.getBoundingClientRect().right <= innerWidth, [...document.querySelectorAll('.looks > *')].every(one => one.querySelector('.look'))])(document.querySelector('.previews > p'))")
    checks.equal("390 px: the preview's note is below the previews, and whole", found, [True, True, True])
    page.look()
    discard(page)


def page_of(page, rig, name, role):
    """A page of another operator, who is invited and signed in."""
    other = page.beside(is_apart=True)
    other.look()
    other.goto(rig.invite(name, role))
    other.type("input[type=password]", PASSWORD)
    other.click("button.primary")
    other.until("!!document.querySelector('.places')")
    return other


def undo_makes_nothing(page, rig, film, checks):
    """After Undo, a page that cannot know whether its request arrived does not make the send in order to find it."""
    title = "Undone before the server had it"
    compose(page, rig, title)
    ready(page)
    page.fail(SCHEDULED)
    page.click(SEND)
    page.until("/not known whether/.test(document.querySelector('.undo')?.textContent ?? '')")
    page.click(UNDO)
    page.until("/Not undone yet/.test(document.querySelector('.undo')?.textContent ?? '')")
    page.release()
    page.lose(SCHEDULED)
    pause(page, 3)
    page.release()
    page.fail("*/rest/*", "*/sends*")
    page.until("/It is due/.test(document.querySelector('.undo')?.textContent ?? '')", 30)
    checks.that("it does not wait for a start", "Waiting for the server to say" not in notice(page), notice(page))
    pause(page, 3)
    checks.equal("the server was never asked for it again", sent(rig, title), [])
    page.release()
    undone(page)
    checks.equal("it was not sent", sent(rig, title), [])
    checks.equal("what took its key goes to nobody and is undone", [(one["state"], one["expression"].startswith("undone:")) for one in sent(rig, "Undone")[:1]], [("Canceled", True)])
    page.goto(f"{rig.console}hubs/{HUB}/sends")
    page.until("!!document.querySelector('.sends a')")
    first = page.js("document.querySelector('.sends li').innerText")
    checks.that("the list says what it is, without the key", "Undone before it arrived" in first and "Goes to nobody" in first and "undone:" not in first, first)
    page.goto(f"{rig.console}hubs/{HUB}/sends/new")
    page.until("!!document.querySelector('input[name=title]')")
    discard(page)


def confidential_and_late(page, rig, film, checks):
    """Of a confidential send that is loaded again before its request has arrived, nobody says that nothing was sent."""
    compose(page, rig, "A secret")
    page.click("summary", "Picture, sound")
    page.until("!!document.querySelector('input[type=checkbox]')")
    page.click("label.choice", "Confidential")
    ready(page)
    page.fail(SCHEDULED)
    page.click(SEND)
    page.until("/not known whether/.test(document.querySelector('.undo')?.textContent ?? '')")
    sending = page.js("JSON.parse(localStorage.getItem(Object.keys(localStorage).find(key => key.startsWith('draft:')))).sending")
    page.release()
    page.goto(f"{rig.console}hubs/{HUB}/sends/new")
    page.until("/Looking for it/.test(document.querySelector('.undo')?.textContent ?? '')")
    pause(page, 4)
    checks.that("it is looked for", "Looking for it" in notice(page) and "Nothing was sent" not in page.js("document.body.innerText"), notice(page))
    rig.call("POST", f"/rest/{HUB}/schedulednotifications?{API}", {"title": "A secret"}, {
        "servicebusnotification-format": "message", "servicebusnotification-tags": "news", "martlet-confidential": "true",
        "servicebusnotification-scheduletime": sending["dues"][-1]})
    page.until("/It was sent/.test(document.querySelector('.compose-end').innerText) || /sends\\/[0-9a-f]+$/.test(location.pathname) || / in \\d+ s/.test(document.querySelector('.undo')?.textContent ?? '')")
    page.until("!document.querySelector('.undo')", 20)
    checks.that("a request that arrives late is found", "Nothing was sent" not in page.js("document.body.innerText"))


def undone_send(page, rig, film, checks):
    """The page of a send that was undone before it began."""
    identifier = waiting(page, rig, "Never began")
    page.click(UNDO)
    undone(page)
    page.goto(f"{rig.console}hubs/{HUB}/sends/{identifier}")
    page.until("!!document.querySelector('.big-badge')?.innerText")
    shown = text(page)
    checks.that("it says so", "Undone before it began; nothing was sent." in shown, shown[:400])
    checks.that("and nothing of devices", not any(one in shown for one in ("No device matched", "spared", "Funnel", "has started yet")), shown[:600])
    page.goto(f"{rig.console}hubs/{HUB}/sends")
    page.until("!!document.querySelector('.sends a')")
    checks.that("the list does not claim that it had no devices", "of 0" not in page.js("document.querySelector('.sends li').innerText"), page.js("document.querySelector('.sends li').innerText"))
    page.goto(f"{rig.console}hubs/{HUB}/sends/new")
    page.until("!!document.querySelector('input[name=title]')")
    discard(page)


def session_ends_before_undo(page, rig, film, checks):
    """The sign-in page says what goes out meanwhile; whoever may not send any more is told who can stop it."""
    identifier = waiting(page, rig, "Signed out too early")
    page.call("Network.clearBrowserCookies")
    page.click(UNDO)
    page.until("!!document.querySelector('input[name=password]')")
    checks.that("what is pending is said, and when it goes out", all(one in text(page) for one in ("Undo has not reached the server", "goes out at", f"devices of {HUB}")), text(page))
    page.until("/has probably begun. Sign in to stop the rest/.test(document.querySelector('main').innerText)", 20)
    sign_in(page)
    page.until("document.querySelector('.toasts').innerText", 20)
    checks.that("the rest is stopped, or it is said that it was sent", status(rig, identifier)["startedAt"] is not None)
    page.until("!!document.querySelector('.places')")
    # Undo goes on after the sign-in also if the composer was left.
    page.goto(f"{rig.console}hubs/{HUB}/sends/new")
    identifier = waiting(page, rig, "Signed out elsewhere")
    page.click(".places a", "Sends")
    page.until("!!document.querySelector('.toasts button')")
    page.call("Network.clearBrowserCookies")
    page.click(".toasts button", "Undo")
    page.until("!!document.querySelector('input[name=password]')")
    sign_in(page)
    undone(page)
    checks.equal("an Undo from elsewhere is carried out after the sign-in", status(rig, identifier)["state"], "Canceled")
    other = page_of(page, rig, "dora", "sender")
    compose(other, rig, "By an operator who is demoted")
    ready(other)
    other.click(SEND)
    counting(other)
    rig.call("PUT", "/operators/dora/roles", {"roles": ["viewer"]})
    other.until("/goes out at .* also if you do not sign in/.test(document.querySelector('main').innerText)")
    sign_in(other, "dora")
    other.until("/Whoever may send in this hub can stop/.test(document.querySelector('main').innerText)")
    checks.that("and that their role is not enough", "your role no longer lets you" in text(other), text(other))
    # A viewer is not told to do what viewers cannot.
    other.goto(f"{rig.console}server/audit")
    other.until("!!document.querySelector('.tabs a')")
    other.click(".tabs a", "Health")
    other.until("location.pathname === '/console/server'")
    # The address changes before the page does.
    other.until("document.querySelector('.tabs a[aria-current]')?.innerText === 'Health'")
    checks.equal("a viewer has no tabs of the server that are refused", other.js("[...document.querySelectorAll('.tabs a')].map(a => a.innerText)"), ["Health"])
    other.goto(f"{rig.console}hubs/elsewhere/sends")
    other.until("!!document.querySelector('.places')")
    other.call("Page.close")


def no_empty_promises(page, rig, film, checks):
    """Empty lists and menus lead a role only to what it may do."""
    rig.call("PUT", "/hubs/third", {})
    for name, role, check in (("ed", "viewer@third", "campaigns"), ("flo", "sender@third", "menu")):
        other = page_of(page, rig, name, role)
        if check == "campaigns":
            other.goto(f"{rig.console}hubs/third/sends/campaigns")
            other.until("!!document.querySelector('.empty')")
            checks.that("a viewer is not told to begin a send", "Start a new send" not in text(other) and "Whoever may send" in text(other), text(other))
        else:
            other.goto(f"{rig.console}hubs/{HUB}/sends")
            other.until("!!document.querySelector('.notice')")
            links = other.js("[...document.querySelectorAll('.places a')].map(a => a.pathname)")
            checks.that("at the address of a hub without a right, the menu leads to the hub with one", "/console/hubs/third" in links and not any(HUB in one for one in links), links)
        other.call("Page.close")
    rig.call("DELETE", "/hubs/third")


def slow_session(page, rig, film, checks):
    """A server that is slow to say who is signed in leaves no empty page."""
    page.hold("*/console/api/session")
    page.goto(rig.console)
    page.until("/Waiting for the server/.test(document.querySelector('main')?.innerText ?? '')", 10)
    checks.that("the frame is there", page.js(f"{SEEN}(document.querySelector('.top .mark'))"))
    page.release()
    page.goto(rig.console)
    page.until("!!document.querySelector('.now[class*=is-]')")
    checks.that("and goes when there is an answer", "Waiting for the server" not in text(page))


def check_that_refuses(page, rig, film, checks):
    """A check that is over is not waited for, and names what is on the page."""
    compose(page, rig, "Too long")
    page.type("textarea[name=text]", "x" * 9000)
    page.until("/Mend what the check names first/.test(document.querySelector('.to-send').innerText)")
    shown = text(page)
    checks.that("it says how long it may be, and names the box", "bytes and may have" in shown and "tick “Cut the text where it is too long”" in shown, shown[-900:])
    checks.that("and no field of the API", "truncate" not in shown, shown[-900:])
    page.type("textarea[name=text]", "short")
    ready(page)
    checks.that("then it is mended", "Mend what" not in text(page))
    discard(page)


def proxy_answers(page, rig, film, checks):
    """What a proxy answers is not shown as what the server says."""
    for number in (502, 404, 403, 429, 302):
        fields = [{"name": "content-type", "value": "text/html"}, {"name": "location", "value": "/elsewhere"}]
        page._intercept("Request", [f"*/console/api/hubs/{HUB}/sends?*"], "Fetch.fulfillRequest", {"responseCode": number, "responseHeaders": fields, "body": "PGh0bWw+PGgxPkJhZCBHYXRld2F5PC9oMT48L2h0bWw+"})
        page.goto(f"{rig.console}hubs/{HUB}/sends")
        page.until("/Something between this browser and the server answered/.test(document.querySelector('main').innerText)")
        shown = text(page)
        checks.that(f"{number}: it is said who answered, without markup", ("3xx" if number == 302 else str(number)) in shown and "<" not in shown and "in 0 seconds" not in shown, shown)
        page.release()
    page.goto(f"{rig.console}hubs/{HUB}/sends")
    page.until("!!document.querySelector('.sends a')")


def another_message(page, rig, film, checks):
    """The box that a send is under way changes when it was sent."""
    waiting(page, rig, "While I write the next")
    page.click(".undo button", "Write another message")
    page.until("/is being sent/.test(document.querySelector('.others')?.innerText ?? '')")
    checks.equal("an empty draft has no devices of another", page.js(f"document.querySelector('{SEND}').innerText"), "Send")
    page.until("/was sent/.test(document.querySelector('.others')?.innerText ?? '')", 30)
    checks.that("it is not being sent any more", "is being sent" not in page.js("document.querySelector('.others').innerText"))
    checks.equal("and leads to the send", page.js("document.querySelector('.others a').pathname.split('/').pop()"), sent(rig, "While I write the next")[0]["id"])


def turning_names(page, rig, film, checks):
    """A name that is written from right to left does not turn the sentence around it."""
    rig.call("POST", f"/hubs/{HUB}/campaigns", {"name": WILD[1], "draft": {"title": "Turned", "to": "news"}})
    page.goto(f"{rig.console}hubs/{HUB}/sends/campaigns")
    page.until("!!document.querySelector('.campaigns button')")
    labels = page.js("[...document.querySelectorAll('.campaigns button')].map(e => e.getAttribute('aria-label'))")
    checks.that("it is isolated", any("\u2068\u202eright" in one for one in labels), labels)


def changed(page, address, pattern, change, ready):
    """Opens a page that gets other answers than the server's: `change` is what becomes of `document`; and no events."""
    script = page.call("Page.addScriptToEvaluateOnNewDocument", {"source": """
        const ask = window.fetch; window.EventSource = class { close() {} addEventListener() {} };
        window.fetch = async (address, init) => { const answer = await ask(address, init); if (!/%s/.test(address)) return answer;
            const document = await answer.json(); %s; return new Response(JSON.stringify(document), {headers: {"content-type": "application/json"}}); };
        """ % (pattern, change)})["identifier"]
    page.goto(address)
    page.until(ready)
    page.call("Page.removeScriptToEvaluateOnNewDocument", {"identifier": script})


def what_is_not_known(page, rig, film, checks):
    """A whole that is not known has no share, and a quarantine has its platform's name."""
    address = f"{rig.console}hubs/{HUB}/sends/{rig.sends[0]}"
    width = "Number(document.querySelector('.card > div > .meter .taken')?.getAttribute('width'))"
    page.goto(address)
    page.until(f"{width} > 0")
    changed(page, address, "status$", "document.targeted = null; document.rollout = null", "!!document.querySelector('.card > div > .meter')")
    checks.equal("no bar is drawn", page.js(width), 0)
    changed(page, f"{rig.console}hubs/{HUB}", "services$", "document.platforms.find(one => one.platform === 'apns').quarantines = ['']", "!!document.querySelector('.services')")
    checks.that("a quarantine names the platform", "Nearly all devices of APNs are reported as gone." in text(page), text(page)[:600])


def slow_answers(page, rig, film, checks):
    """Answers that take seven seconds arrive, and the send has its ten seconds by the server's clock."""
    script = page.call("Page.addScriptToEvaluateOnNewDocument", {"source": """
        const ask = window.fetch; window.asked = [];
        window.fetch = (address, init) => { const isSlow = window.isSlow && /session$|schedulednotifications/.test(address); if (isSlow) asked.push(init.method);
            return ask(address, init).then(answer => isSlow ? new Promise((give, fail) => {
                init.signal?.addEventListener("abort", () => fail(new DOMException("", "AbortError"))); setTimeout(() => give(answer), 7000); }) : answer); };
        """})["identifier"]
    title = "Slowly"
    compose(page, rig, title)
    ready(page)
    page.js("window.isSlow = true")
    page.click(SEND)
    page.until("/Asking the server/.test(document.querySelector('.compose-end').innerText)")
    page.until("!!document.querySelector('.undo')", 30)
    asked = page.until("/sends\\/[0-9a-f]+$/.test(location.pathname) && asked", 60)
    page.call("Page.removeScriptToEvaluateOnNewDocument", {"identifier": script})
    found = sent(rig, title)
    checks.equal("it is one send, and is told to be", (len(found), page.js("location.pathname.split('/').pop()")), (1, found[0]["id"]))
    seconds = [datetime.datetime.fromisoformat(found[0][name].replace("Z", "+00:00")) for name in ("acceptedAt", "dueAt")]
    checks.that("it had its ten seconds", (seconds[1] - seconds[0]).total_seconds() > 9, seconds)
    checks.that("it was not asked for again and again", asked.count("POST") <= 3, asked)


def sign_out_without_a_disk(page, rig, film, checks):
    """Who signs out while the server can write nothing is signed out in the browser, and is told of the session."""
    page.goto(rig.console)
    page.until("!!document.querySelector('.who')")
    page.refuse(503, "*/console/api/sign-out", document={"code": "not-ended", "error": "The disk is full."})
    page.click(".who")
    page.click(".menu button", "Sign out")
    page.until("!!document.querySelector('dialog') || !!document.querySelector('input[name=password]')")
    if page.js("!!document.querySelector('dialog')"):
        checks.that("it is said who could read the drafts", "Whoever uses this browser profile could read them" in page.js("document.querySelector('dialog').innerText"))
        page.click("dialog .primary")
    page.until("!!document.querySelector('input[name=password]')")
    checks.that("it says what could not be done", "could not end the session" in page.js("document.querySelector('.toasts').innerText"))
    page.release()
    page.goto(rig.console)
    page.until("!!document.querySelector('.places')")


def signed_out_in_another_tab(page, rig, film, checks):
    """After a sign-out in one tab, no tab shows anything of the session: not its hub, a send that goes out, or a dialog."""
    other, third = page.beside(), page.beside()
    for one in (other, third):
        one.look()
    other.goto(f"{rig.console}hubs/{HUB}/limits")
    other.click("button", "Change")
    other.until("!!document.querySelector('dialog input')")
    third.goto(rig.console)
    third.until("!!document.querySelector('.who')")
    waiting(page, rig, "Before I leave")
    third.click(".who")
    third.click(".menu button", "Sign out")
    # A draft whose send has begun meanwhile is not asked about.
    third.until("!!document.querySelector('dialog') || !!document.querySelector('input[name=password]')")
    if third.js("!!document.querySelector('dialog')"):
        third.click("dialog button", "Keep them")
    for name, one in (("the tab itself", third), ("a tab with a send", page), ("a tab with a dialog", other)):
        one.until("!!document.querySelector('input[name=password]') && !document.querySelector('.sign-in .notice')")
        shown = one.js("document.body.textContent")
        checks.that(f"{name} shows nothing of the session", not any(word in shown for word in (HUB, NAME, "device", "goes out", "ended")), shown)
        checks.equal(f"{name} has no dialog and no address of it", one.js("[!!document.querySelector('dialog'), location.pathname]"), [False, "/console/"])
    for one in (other, third):
        one.call("Page.close")
    sign_in(page)
    page.until("!!document.querySelector('.places')")


ALL = [undo_in_a_narrow_window, undo_makes_nothing, confidential_and_late, undone_send, session_ends_before_undo, no_empty_promises,
       slow_session, check_that_refuses, proxy_answers, another_message, turning_names, what_is_not_known, slow_answers, sign_out_without_a_disk,
       signed_out_in_another_tab]
