"""A real, headless Chromium, driven over its DevTools pipe: a message is JSON that ends with a NUL byte, on descriptor 3 to
the browser and on 4 from it."""

import base64
import fcntl
import json
import os
import selectors
import shutil
import subprocess
import tempfile
import time

FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
    "--no-default-browser-check", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-features=Translate", "--hide-scrollbars", "--lang=en",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
]
PATIENCE = 60
KEYS = {
    "Enter": ("Enter", 13, "\r"), "Tab": ("Tab", 9, ""), "Escape": ("Escape", 27, ""), "Backspace": ("Backspace", 8, ""),
    "Space": (" ", 32, " "), "ArrowDown": ("ArrowDown", 40, ""),
}


def program():
    """Where Chromium is, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Refused(Exception):
    """Chromium did not do what it was told, or what was waited for did not come."""


class Chromium:
    def __init__(self):
        self._profile = tempfile.mkdtemp(prefix="chromium-")
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        # Moved out of the way of 3 and 4, which the child makes of them.
        inner = [fcntl.fcntl(one, fcntl.F_DUPFD, 20) for one in (to_browser, from_browser)]
        os.close(to_browser)
        os.close(from_browser)

        def descriptors():
            os.dup2(inner[0], 3)
            os.dup2(inner[1], 4)

        self._log = open(os.path.join(self._profile, "log"), "wb")
        self._process = subprocess.Popen(
            [program(), "--remote-debugging-pipe", f"--user-data-dir={self._profile}", *FLAGS, "about:blank"],
            preexec_fn=descriptors, close_fds=False, stdout=self._log, stderr=self._log)
        for one in inner:
            os.close(one)
        self._buffer, self._number, self._answers, self.events, self.hooks = b"", 0, {}, [], []
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._read, selectors.EVENT_READ)

    def pump(self, timeout):
        if not self._selector.select(timeout):
            return
        piece = os.read(self._read, 1 << 20)
        if not piece:
            raise Refused("Chromium has gone")
        self._buffer += piece
        *messages, self._buffer = self._buffer.split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self._answers[message["id"]] = message
            elif not any(hook(message) for hook in list(self.hooks)):
                self.events.append(message)

    def tell(self, method, parameters=None, session=None):
        """Sends a command and does not wait; its number."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        return self._number

    def call(self, method, parameters=None, session=None, timeout=PATIENCE):
        number, deadline = self.tell(method, parameters, session), time.monotonic() + timeout
        while number not in self._answers:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Refused(f"no answer to {method}")
            self.pump(left)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise Refused(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def page(self, context=None):
        """A tab; in a context with cookies of its own a window, because of the tabs of a window only one is visible."""
        apart = {"browserContextId": context, "newWindow": True} if context else {}
        return self._attached(self.call("Target.createTarget", {"url": "about:blank"} | apart)["targetId"])

    def context(self):
        return self.call("Target.createBrowserContext")["browserContextId"]

    def opened(self, timeout=PATIENCE):
        """A tab that a page has opened."""
        deadline = time.monotonic() + timeout
        while True:
            for target in self.call("Target.getTargets")["targetInfos"]:
                if target["type"] == "page" and not target["attached"] and target["url"] != "about:blank":
                    return self._attached(target["targetId"])
            if time.monotonic() > deadline:
                raise Refused("no tab was opened")
            self.pump(0.05)

    def _attached(self, target):
        return Page(self, self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"], target)

    def close(self):
        try:
            self.call("Browser.close", timeout=5)
        except (Refused, OSError):
            pass
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for one in (self._write, self._read):
            os.close(one)
        self._log.close()
        shutil.rmtree(self._profile, ignore_errors=True)


class Page:
    def __init__(self, browser, session, target):
        self._browser, self._session, self.target = browser, session, target
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        # What the policy refuses is counted from the first byte of every document.
        self.call("Page.addScriptToEvaluateOnNewDocument", {"source":
            "window.violations = []; addEventListener('securitypolicyviolation', "
            "event => violations.push(event.effectiveDirective + ' ' + event.blockedURI), true);"})

    def call(self, method, parameters=None, timeout=PATIENCE):
        return self._browser.call(method, parameters, self._session, timeout)

    def beside(self, is_apart=False):
        """Another tab of the same browser; `is_apart` with cookies and a storage of its own."""
        return self._browser.page(self._browser.context() if is_apart else None)

    def close(self):
        self._browser.call("Target.closeTarget", {"targetId": self.target})

    def look(self, width=1280, height=820, theme="light", reduced=True, forced=False):
        self.call("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700})
        self.call("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": theme},
            {"name": "prefers-reduced-motion", "value": "reduce" if reduced else "no-preference"},
            {"name": "forced-colors", "value": "active" if forced else "none"}]})

    def goto(self, address):
        self._browser.events.clear()
        answer = self.call("Page.navigate", {"url": address})
        if answer.get("errorText"):
            raise Refused(f"{address}: {answer['errorText']}")
        deadline = time.monotonic() + PATIENCE
        while not any(event["method"] == "Page.loadEventFired" for event in self._browser.events):
            if time.monotonic() > deadline:
                raise Refused(f"{address} did not load")
            self._browser.pump(1)

    def js(self, expression):
        answer = self.call("Runtime.evaluate", {"expression": expression, "awaitPromise": True, "returnByValue": True})
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Refused(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def until(self, expression, timeout=PATIENCE):
        """The first true value of the expression."""
        deadline = time.monotonic() + timeout
        while not (found := self.js(expression)):
            if time.monotonic() > deadline:
                raise Refused(f"waited for {expression}\n{self.js('document.body.innerText.slice(0, 1500)')}")
            self._browser.pump(0.03)
        return found

    def click(self, css, text=None):
        """A click with real events in the middle of the first element that has the text."""
        find = (f"[...document.querySelectorAll({json.dumps(css)})].find(e => e.checkVisibility() && !e.disabled"
                + (f" && e.textContent.includes({json.dumps(text)})" if text else "") + ")")
        self.until(f"!!{find}")
        x, y = self.js(f"(e => {{ e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect(); "
                       f"return [r.x + r.width / 2, r.y + r.height / 2]; }})({find})")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1})

    def type(self, css, text):
        """Replaces what is in a field by typed text."""
        self.until(f"!!document.querySelector({json.dumps(css)})")
        self.js(f"(e => {{ e.focus(); e.select && e.select(); }})(document.querySelector({json.dumps(css)}))")
        self.call("Input.insertText", {"text": text})

    def key(self, name, modifiers=0):
        """Presses a key: one of `KEYS`, or a letter."""
        code, number, text = KEYS.get(name, (name, ord(name.upper()[0]), name))
        event = {"key": code, "windowsVirtualKeyCode": number, "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", {"type": "keyDown", "text": text, **event} if text else {"type": "rawKeyDown", **event})
        self.call("Input.dispatchKeyEvent", {"type": "keyUp", **event})

    def picture(self, path, whole=False):
        options = {"format": "webp" if path.endswith(".webp") else "png"}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            options |= {"captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", options)["data"]))

    def files(self, path, open_chooser):
        """Chooses a file in the dialog that `open_chooser` makes the browser open."""
        self.call("Page.setInterceptFileChooserDialog", {"enabled": True})
        open_chooser()
        deadline = time.monotonic() + PATIENCE
        while not (opened := [event for event in self._browser.events if event["method"] == "Page.fileChooserOpened"]):
            if time.monotonic() > deadline:
                raise Refused("no dialog for files was opened")
            self._browser.pump(0.05)
        self.call("DOM.setFileInputFiles", {"files": [path], "backendNodeId": opened[-1]["params"]["backendNodeId"]})
        self.call("Page.setInterceptFileChooserDialog", {"enabled": False})

    def complaints(self):
        """What the page has thrown or logged as an error, and what the policy has refused, since the last `goto`."""
        self._browser.pump(0)
        found = [event["params"]["exceptionDetails"].get("exception", {}).get("description", "exception")
                 for event in self._browser.events if event["method"] == "Runtime.exceptionThrown"]
        found += [event["params"]["entry"]["text"] for event in self._browser.events
                  if event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error"
                  and event["params"]["entry"]["source"] != "network"]
        return found + self.js("window.violations")

    def requests(self):
        """The addresses that were asked for since the last `goto`, with the bytes of their answers where they are known."""
        sizes = {event["params"]["requestId"]: event["params"]["encodedDataLength"] for event in self._browser.events if event["method"] == "Network.loadingFinished"}
        return [(event["params"]["request"]["url"], sizes.get(event["params"]["requestId"]))
                for event in self._browser.events if event["method"] == "Network.requestWillBeSent"]

    def hold(self, pattern):
        """Keeps requests waiting for ever, until `release`."""
        self.call("Fetch.enable", {"patterns": [{"urlPattern": pattern}]})
        hook = lambda event: event["method"] == "Fetch.requestPaused"
        self._browser.hooks.append(hook)

    def fail(self, *patterns):
        """Requests do not reach the server."""
        self._intercept("Request", patterns, "Fetch.failRequest", {"errorReason": "ConnectionRefused"})

    def lose(self, *patterns):
        """Requests reach the server, and their answers are lost."""
        self._intercept("Response", patterns, "Fetch.failRequest", {"errorReason": "ConnectionReset"})

    def refuse(self, status, *patterns, document={"error": "refused by the test"}):
        """Requests are refused with a document and do not reach the server."""
        body = base64.b64encode(json.dumps(document).encode()).decode()
        self._intercept("Request", patterns, "Fetch.fulfillRequest", {
            "responseCode": status, "responseHeaders": [{"name": "content-type", "value": "application/json"}], "body": body})

    def _intercept(self, stage, patterns, command, parameters):
        self.call("Fetch.enable", {"patterns": [{"urlPattern": pattern, "requestStage": stage} for pattern in patterns]})

        def hook(event):
            if event["method"] != "Fetch.requestPaused" or event.get("sessionId") != self._session:
                return False
            self._browser.tell(command, {"requestId": event["params"]["requestId"], **parameters}, self._session)
            return True
        self._browser.hooks.append(hook)

    def rewrite(self, pattern, change):
        """Answers requests itself: `change` makes a body of the address."""
        self.call("Fetch.enable", {"patterns": [{"urlPattern": pattern}]})

        def hook(event):
            if event["method"] != "Fetch.requestPaused":
                return False
            body = base64.b64encode(change(event["params"]["request"]["url"]).encode()).decode()
            fields = [{"name": "content-type", "value": "text/javascript; charset=utf-8"}]
            self._browser.tell("Fetch.fulfillRequest", {"requestId": event["params"]["requestId"], "responseCode": 200, "responseHeaders": fields, "body": body}, self._session)
            return True
        self._browser.hooks.append(hook)

    def release(self):
        self._browser.hooks.clear()
        self.call("Fetch.disable")
