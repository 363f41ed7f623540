"""What the composer says of a send when something goes wrong around it: what it says must be so, and a send that can still be
undone can be undone."""

import os
import signal

import jobs
from jobs import text
from rig import HUB, NAME, PASSWORD

SEND, SCHEDULED = ".compose-end .primary", "*/schedulednotifications*"
UNDO = ".undo button"


def status(rig, identifier):
    return rig.call("GET", f"/hubs/{HUB}/messages/{identifier}/status")


def sent(rig, title):
    """The sends of this text, newest first."""
    return [one for one in rig.call("GET", f"/hubs/{HUB}/sends?limit=30")["sends"] if one["text"] == title]


def compose(page, rig, title):
    """A new message, without the drafts that are kept."""
    page.goto(f"{rig.console}server")
    page.js("Object.keys(localStorage).filter(key => key.startsWith('draft:')).forEach(key => localStorage.removeItem(key)); sessionStorage.clear()")
    jobs.compose(page, rig, title)


def ready(page):
    page.until(f"!document.querySelector('{SEND}')?.disabled && !!document.querySelector('{SEND}')")


def waiting(page, rig, title):
    """A send in its ten seconds: its id."""
    compose(page, rig, title)
    ready(page)
    page.click(SEND)
    counting(page)
    return sent(rig, title)[0]["id"]


def counting(page):
    page.until("/ in \\d+ s/.test(document.querySelector('.undo')?.textContent ?? '')")


def discard(page):
    page.click(".compose-end button", "Discard the draft")
    page.until("document.querySelector('input[name=title]')?.value === ''")


def undone(page):
    page.until("/Undone. Nothing was sent/.test(document.querySelector('.toasts').textContent)")


def undo_is_kept_at(page, rig, film, checks):
    """An Undo that does not get through is tried until it does, and says so."""
    identifier = waiting(page, rig, "Undo is cut off")
    page.fail(SCHEDULED, "*/cancel*", "*/status*")
    page.click(UNDO)
    page.until("/Not undone yet/.test(document.querySelector('.undo')?.textContent ?? '')")
    checks.that("a failed Undo does not claim to have stopped anything", "stopped" not in page.js("document.body.innerText"))
    checks.equal("and Undo can be pressed", page.js(f"document.querySelector('{UNDO}').disabled"), False)
    page.release()
    undone(page)
    checks.equal("what is said to be undone is undone", (status(rig, identifier)["state"], status(rig, identifier)["startedAt"]), ("Canceled", None))
    checks.equal("the draft is still there", page.js("document.querySelector('input[name=title]').value"), "Undo is cut off")
    # The same text can be sent after it was undone.
    ready(page)
    page.click(SEND)
    counting(page)
    page.click(UNDO)
    undone(page)
    discard(page)


def undo_at_a_stalled_server(page, rig, film, checks):
    """While the server stands still beyond the ten seconds, nobody is told that the send was stopped."""
    identifier = waiting(page, rig, "The server stands still")
    os.kill(rig.server.process.pid, signal.SIGSTOP)
    try:
        page.click(UNDO)
        page.until("/It is due/.test(document.querySelector('.undo')?.textContent ?? '')", 20)
        shown = text(page) + page.js("document.querySelector('.toasts').innerText")
        checks.that("nothing is claimed", "stopped" not in shown and "Nothing was sent" not in shown and "Trying again" in shown, shown[-300:])
    finally:
        os.kill(rig.server.process.pid, signal.SIGCONT)
    said = page.until("document.querySelector('.toasts').innerText", 20)
    found = status(rig, identifier)
    truth = "Undone. Nothing was sent." if not found["startedAt"] else "Undo came too late. It was sent." if found["control"] != "canceled" else "It had already started. The rest was stopped."
    checks.equal("then what the server has done is told", said, truth)


def undo_after_a_sign_out(page, rig, film, checks):
    """An Undo that meets the end of the session is carried out after the next sign-in."""
    identifier = waiting(page, rig, "The session ends")
    page.call("Network.clearBrowserCookies")
    page.click(UNDO)
    page.until("!!document.querySelector('input[name=password]')")
    checks.that("it is said that Undo did not get through", "Undo has not reached the server" in text(page), text(page))
    page.type("input[name=username]", NAME)
    page.type("input[name=password]", PASSWORD)
    page.click("button.primary")
    undone(page)
    checks.equal("and it is undone", status(rig, identifier)["state"], "Canceled")
    discard(page)


def undo_after_a_reload(page, rig, film, checks):
    """A page that is loaded again shows the send that is under way."""
    identifier = waiting(page, rig, "Loaded again")
    page.goto(f"{rig.console}hubs/{HUB}/sends/new")
    counting(page)
    page.click(UNDO)
    undone(page)
    checks.equal("it could be undone", status(rig, identifier)["state"], "Canceled")
    checks.equal("and the draft is there", page.js("document.querySelector('input[name=title]').value"), "Loaded again")
    discard(page)


def undo_in_the_notice(page, rig, film, checks):
    """Who leaves the composer can undo with the mouse, and loses neither the draft nor the one begun since."""
    identifier = waiting(page, rig, "Left alone")
    page.click(".undo button", "Write another message")
    page.until("document.querySelector('input[name=title]')?.value === ''")
    page.type("input[name=title]", "The next message")
    page.click(".places a", "Sends")
    page.until("!!document.querySelector('.toasts button')")
    page.click(".toasts button", "Undo")
    undone(page)
    checks.equal("it is undone", status(rig, identifier)["state"], "Canceled")
    page.goto(f"{rig.console}hubs/{HUB}/sends/new")
    page.until("document.querySelector('input[name=title]')?.value === 'The next message'")
    page.until("/Left alone/.test(document.querySelector('.others')?.textContent ?? '')")
    page.click(".others button", "Discard")
    page.until("!document.querySelector('.others')")
    discard(page)


def answer_lost(page, rig, film, checks):
    """A send whose answer was lost is found, and is one send."""
    title = "The answer is lost"
    compose(page, rig, title)
    ready(page)
    page.lose(SCHEDULED)
    page.click(SEND)
    page.until("/not known whether the server has accepted/.test(document.querySelector('.undo')?.textContent ?? '')")
    page.release()
    counting(page)
    page.click(UNDO)
    undone(page)
    checks.equal("there is one send, and it is undone", [one["state"] for one in sent(rig, title)], ["Canceled"])
    # The request itself is lost: the page asks again.
    ready(page)
    page.fail(SCHEDULED)
    page.click(SEND)
    page.until("/not known whether/.test(document.querySelector('.undo')?.textContent ?? '')")
    page.click(UNDO)
    page.until("/Not undone yet/.test(document.querySelector('.undo')?.textContent ?? '')")
    page.release()
    undone(page)
    checks.equal("nothing goes out", {one["state"] for one in sent(rig, title)}, {"Canceled"})
    discard(page)


def refusal_stays(page, rig, film, checks):
    """A refused send is not covered by a later check."""
    compose(page, rig, "No space")
    ready(page)
    page.refuse(507, SCHEDULED)
    page.click(SEND)
    page.until("/Nothing was sent/.test(document.querySelector('.compose-end')?.textContent ?? '')")
    page.release()
    page.js("new Promise(done => setTimeout(done, 1500))")
    checks.that("it still says so", "Nothing was sent" in text(page))
    ready(page)
    page.click(SEND)
    counting(page)
    page.click(UNDO)
    undone(page)
    checks.equal("the server has one send of it", len(sent(rig, "No space")), 1)
    discard(page)


def enter_pressed_twice(page, rig, film, checks):
    """Enter that is pressed more than once, or a double click, sends once and undoes nothing."""
    compose(page, rig, "Impatient")
    ready(page)
    page.js(f"document.querySelector('{SEND}').focus()")
    for _ in range(3):
        page.key("Enter")
        page.js("new Promise(done => setTimeout(done, 60))")
    counting(page)
    page.key("Enter")
    places = page.js("[...document.querySelectorAll('.undo button')].map(e => e.getBoundingClientRect()).map(r => [r.x + r.width / 2, r.y + r.height / 2])")
    for x, y in places:
        for kind in ("mousePressed", "mouseReleased"):
            page.call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 2})
    page.js("new Promise(done => setTimeout(done, 300))")
    checks.that("its countdown is still there", page.js("!!document.querySelector('.undo')"))
    checks.equal("it goes out", [one["state"] for one in sent(rig, "Impatient")], ["Scheduled"])
    page.click(UNDO)
    undone(page)
    discard(page)


def two_tabs(page, rig, film, checks):
    """Two tabs with one draft: what is written in one is not lost by the other, and the same is not sent twice unasked. In
    the ten seconds, two operators have one campaign."""
    compose(page, rig, "From two tabs")
    ready(page)
    other = page.beside()
    other.look()
    other.goto(f"{rig.console}hubs/{HUB}/sends/new")
    other.until("document.querySelector('input[name=title]')?.value === 'From two tabs'")
    ready(other)
    third = page.beside()
    third.look()
    third.goto(f"{rig.console}hubs/{HUB}/sends/new")
    third.until("document.querySelector('input[name=title]')?.value === 'From two tabs'")
    third.type("input[name=title]", "Written in the other tab")
    page.click(SEND)
    counting(page)
    other.click(SEND)
    counting(other)
    checks.equal("two tabs that send the same show the same send", len(sent(rig, "From two tabs")), 1)
    two_operators(other, rig, checks)
    page.until("/sends\\/[0-9a-f]+$/.test(location.pathname)", 20)
    third.goto(f"{rig.console}hubs/{HUB}/sends/new")
    third.until("!!document.querySelector('input[name=title]')")
    checks.equal("the other tab's message is there after the first was sent", third.js("document.querySelector('input[name=title]').value"), "Written in the other tab")
    third.type("input[name=title]", "From two tabs")
    ready(third)
    third.until("/Send again to/.test(document.querySelector('.compose-end .primary').textContent)")
    checks.that("the same message again says when it was sent", "sent the same message before" in text(third))
    checks.equal("and leads to it", third.js("document.querySelector('.to-send a').pathname.split('/').pop()"), sent(rig, "From two tabs")[0]["id"])
    third.click(SEND)
    counting(third)
    third.click(UNDO)
    undone(third)
    checks.equal("it can be sent again on purpose", len(sent(rig, "From two tabs")), 2)
    discard(third)
    for tab in (other, third):
        tab.call("Page.close")


def two_operators(page, rig, checks):
    """The second operator with a campaign learns who sends it, and can send it after it was undone."""
    draft = {"title": "For everyone here", "text": "Come in", "to": "news"}
    made = rig.call("POST", f"/hubs/{HUB}/campaigns", {"name": "Both", "draft": draft})["id"]
    address = f"{rig.console}hubs/{HUB}/sends/new?campaign={made}"
    link = rig.invite("bob", "sender")
    other = page.beside(is_apart=True)
    other.look()
    other.goto(link)
    other.type("input[type=password]", "another swallow, without feet")
    other.click("button.primary")
    other.until("!!document.querySelector('.places')")
    for one in (page, other):
        one.goto(address)
        ready(one)
    page.click(SEND)
    counting(page)
    other.click(SEND)
    other.until("/ops has pressed Send for this campaign/.test(document.querySelector('.compose-end').textContent)")
    page.click(UNDO)
    undone(page)
    checks.that("an undone campaign has no changes", "not saved" not in page.js("document.querySelector('.head').innerText"), page.js("document.querySelector('.head').innerText"))
    ready(other)
    other.click(SEND)
    counting(other)
    other.click(UNDO)
    undone(other)
    checks.equal("each of them could send it", [(one["author"], one["state"]) for one in sent(rig, "For everyone here")], [("operator:bob", "Canceled"), ("operator:ops", "Canceled")])
    other.call("Page.close")
    discard(page)


ALL = [undo_is_kept_at, undo_at_a_stalled_server, undo_after_a_sign_out, undo_after_a_reload, undo_in_the_notice, answer_lost, refusal_stays, enter_pressed_twice, two_tabs]
