"""Sign-in to the console by an identity provider made of Authlib: who enters and with which roles, attacks on the way there and
back, a provider that changes its keys, is down, hangs or sends too much; then the pages in a real Chromium and a real Firefox.

    console_sign_in.py MARTLET
"""

import asyncio
import http.client
import json
import os
import re
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "console"))

import chromium  # noqa: E402
import firefox  # noqa: E402
import httpx  # noqa: E402
import processes  # noqa: E402
from checks import Checks  # noqa: E402
from code_provider import CLIENT, SECRET, Provider  # noqa: E402
from matrix import RULES, axe  # noqa: E402
from rig import WEB  # noqa: E402

checks = Checks("console-sign-in")
PASSWORD = "a swallow without feet"
ROLES = "admin=ops, sender@shop=marketing, viewer=everybody"
KEYS = "/hubs/shop/keys"


class Tab:
    """What a browser does, without one: the console's cookies here, the provider's in `provider`."""

    def __init__(self, port, provider):
        self.port, self.provider, self.cookies = port, provider, {}
        self.web = httpx.Client(timeout=30)

    def ask(self, method, path, body=None):
        """Status and document of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        origin = f"http://127.0.0.1:{self.port}"
        headers = {"origin": origin, "martlet-console": "1", "content-type": "application/json", "sec-fetch-site": "same-origin"}
        if self.cookies:
            headers["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        connection.request(method, "/console/api" + path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        for cookie in answer.headers.get_all("set-cookie") or []:
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies.pop(name, None)
            if value:
                self.cookies[name] = value
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if text else None

    def begin(self, fresh=False):
        """The provider's address."""
        status, document = self.ask("POST", "/sign-in/provider", {"fresh": fresh})
        return document["location"] if status == 200 else (status, document["code"])

    def visit(self, location, user=None, **changes):
        """What the provider adds to the address on the way back; None where it first wants to know who it is."""
        url = httpx.URL(location)
        url = url.copy_merge_params(changes)
        form = {"user": user} if user else None
        answer = self.web.request("POST" if form else "GET", url, data=form)
        return dict(httpx.URL(answer.headers["location"]).params) if answer.is_redirect else None

    def finish(self, answer):
        return self.ask("POST", "/sign-in/provider/finish", {name: answer.get(name) for name in ("state", "code", "iss") if name in answer})

    def sign_in(self, user, fresh=False):
        status, document = self.finish(self.visit(self.begin(fresh), user))
        return (status, document) if status == 200 else (status, document["code"])


class Judged:
    def __init__(self, binary, directory):
        self.binary, self.directory, self.data = os.path.abspath(binary), directory, os.path.join(directory, "data")
        self.secret, self.settings = os.path.join(directory, "secret"), os.path.join(directory, "martlet.conf")
        self.log = os.path.join(directory, "serve.log")
        self.provider = Provider()
        self.provider.users = {
            "ada": {"preferred_username": "ada", "groups": ["staff", "ops"]}, "bo": {"email": "bo@example.com", "groups": ["marketing"]},
            "eve": {"preferred_username": "eve", "groups": ["staff"]}, "mallory": {"preferred_username": "ops", "groups": ["everybody"]},
            "markup": {"preferred_username": "<img src=x onerror=alert(1)>\u202e", "groups": "everybody"},
            "zoe": {"preferred_username": "zoe", "groups": ["everybody"]},
        }
        self.write_secret(SECRET + "\n")
        self.write_settings()
        processes.create_hub(self.binary, self.data, "shop")
        processes.create_hub(self.binary, self.data, "other")
        self.server = processes.Server(
            self.binary, self.data, self.log, "--config", self.settings, "--console-files", os.path.abspath(WEB))

    def write_secret(self, text):
        with open(self.secret, "w") as file:
            file.write(text)

    def write_settings(self, **changes):
        settings = {"issuer": self.provider.issuer, "client-id": CLIENT, "client-secret-file": self.secret, "roles": ROLES, "name": "Example"}
        with open(self.settings, "w") as file:
            for name, value in (settings | {key.replace("_", "-"): value for key, value in changes.items()}).items():
                if value is not None:
                    file.write(f"console-oidc-{name} = {value}\n")

    def martlet(self, *arguments):
        return processes.martlet(self.binary, *arguments, "--data", self.data)

    def reload(self):
        return self.martlet("reload", "--config", self.settings)

    def tab(self):
        return Tab(self.server.port, self.provider)

    def said(self):
        with open(self.log) as log:
            return log.read()

    async def run(self):
        self.provider.faults = {"down"}
        await self.server.start()
        self.port = self.server.port
        self.provider.register(f"http://127.0.0.1:{self.port}/console/enter")
        try:
            await asyncio.to_thread(self.course)
        finally:
            self.provider.close()

    def course(self):
        self.options()
        self.absent()
        self.entry()
        self.attacks()
        self.changes()
        self.failures()
        self.pages()
        self.limits()
        self.audit()

    def options(self):
        """What is wrong with the options is said before a start."""
        def check(*options):
            done = processes.subprocess.run(
                [self.binary, "check", "--data", self.data, *options], capture_output=True, text=True, timeout=60)
            return done.returncode, done.stdout + done.stderr

        known = ["--console-oidc-issuer", self.provider.issuer, "--console-oidc-client-id", CLIENT, "--console-oidc-roles", ROLES]
        for sentence, options in [
            ("--console-oidc-roles needs --console-oidc-client-id", ["--console-oidc-roles", ROLES]),
            ("needs --console-oidc-issuer, or --oidc-issuer", ["--console-oidc-client-id", CLIENT]),
            ("needs --console-oidc-roles", known[:4]),
            ("'boss' is no role", known[:4] + ["--console-oidc-roles", "boss=ops"]),
            ("must contain 'openid'", known + ["--console-oidc-scopes", "profile"]),
            ("There is no file", known + ["--console-oidc-client-secret-file", os.path.join(self.directory, "nowhere")]),
            ("is not a regular file", known + ["--console-oidc-client-secret-file", self.directory]),
        ]:
            code, said = check(*options)
            checks.that(f"a check says: {sentence}", code != 0 and sentence in said, said)
        checks.that("a secret that can be read is said to be there", f"The secret for localhost is in {self.secret}." in check(
            *known, "--console-oidc-client-secret-file", self.secret)[1])

    def absent(self):
        link = self.martlet("operator", "invite", "ops", "--role", "admin")
        tab = self.tab()
        checks.equal("an operator with a password enters while the provider is away", tab.ask(
            "POST", "/link/use", {"token": link.strip().partition("#")[2], "password": PASSWORD})[0], 200)
        checks.that("the log says that it is away", "cannot be used for signing in. It answered 503" in self.said(), self.said())
        checks.equal("the page knows its name", self.tab().ask("GET", "/sign-in"), (200, {"provider": {"name": "Example"}}))
        checks.equal("nobody is sent there", self.tab().begin(), (503, "provider-unavailable"))
        self.local = tab
        self.provider.faults = set()
        deadline = time.monotonic() + 20
        while not isinstance(self.tab().begin(), str) and time.monotonic() < deadline:
            time.sleep(0.2)

    def entry(self):
        tab = self.tab()
        status, session = tab.sign_in("ada")
        checks.equal("a person of the group enters", (status, session["operator"], session["roles"], session["isServerAdmin"]), (200, "ada", ["admin"], True))
        checks.equal("freshly, as the provider says", (session["isFresh"], session["provider"], session["hasPassword"]), (True, "Example", False))
        checks.equal("with one cookie left", list(tab.cookies), ["__Host-martlet-console"])
        checks.equal("that opens what it should", tab.ask("GET", KEYS)[0], 200)
        self.ada = tab
        bo = self.tab()
        status, session = bo.sign_in("bo")
        checks.equal("a role of one hub is for that hub", (session["operator"], session["hubs"]), ("bo@example.com", [{"name": "shop", "role": "sender"}]))
        checks.equal("and for no other", [bo.ask("GET", f"/hubs/{hub}/sends")[0] for hub in ("shop", "other")], [200, 403])
        checks.equal("nobody enters without a role", self.tab().sign_in("eve"), (403, "no-role"))
        checks.equal("a person who cancels is told", self.denied(), (401, "provider-refused"))
        name = self.tab().sign_in("mallory")[1]["operator"]
        checks.that("a name that somebody has is not taken over", re.fullmatch("ops-[0-9a-f]{12}", name), name)
        checks.equal("markup is no name", self.tab().sign_in("markup")[1]["operator"], "imgsrcxonerroralert1")
        listed = self.martlet("operator", "list").splitlines()
        checks.that("the list has them", "ada admin" in listed and "bo@example.com sender@shop" in listed and not any("eve" in line for line in listed), listed)
        status, _ = self.local.ask("PUT", "/operators/ada/roles", {"roles": ["viewer"]})
        checks.equal("roles of the provider are not ours to change", status, 409)

    def denied(self):
        tab = self.tab()
        answer = tab.web.post(tab.begin(), data={"deny": "1"})
        params = dict(httpx.URL(answer.headers["location"]).params)
        status, document = tab.finish(params)
        return status, document["code"]

    def attacks(self):
        victim, thief = self.tab(), self.tab()
        stolen = victim.visit(victim.begin(), "ada")
        own = thief.visit(thief.begin(), "zoe")

        def tried(sentence, tab, answer, code="bad-sign-in"):
            checks.equal(sentence, (tab.finish(answer)[1].get("code"), "__Host-martlet-console" in tab.cookies), (code, False))

        tried("a state of another browser", thief, stolen)
        tried("no state that anybody knows", thief, stolen | {"state": "x" * 43})
        tried("a stolen code with the own state", thief, own | {"code": stolen["code"]})
        tried("another's answer in the victim's browser", victim, own)
        checks.equal("what others tried leaves the victim's sign-in as it was", victim.finish(stolen)[0], 200)

        self.provider.faults = {"no PKCE"}
        victim, thief = self.tab(), self.tab()
        stolen, own = victim.visit(victim.begin(), "ada"), thief.visit(thief.begin(), "zoe")
        tried("a stolen code at a provider without PKCE: the nonce is another's", thief, own | {"code": stolen["code"]})
        for fault, sentence in [
            ("no nonce", "a token without a nonce"), ("foreign iss", "an issuer of another in the answer"),
            ("no iss", "no issuer, of a provider that names itself"),
        ]:
            self.provider.faults = {fault}
            tab = self.tab()
            tried(sentence, tab, tab.visit(tab.begin(), "zoe"))

        self.provider.faults = {"any client", "no PKCE"}
        tab = self.tab()
        location = tab.begin()
        foreign = tab.visit(location, "ada", client_id="other")
        tried("a token that was issued to another client", tab, foreign)

        self.provider.faults = {"codes again"}
        tab = self.tab()
        answer, cookies = tab.visit(tab.begin(), "zoe"), dict(tab.cookies)
        checks.equal("a sign-in succeeds", tab.finish(answer)[0], 200)
        tab.cookies = cookies
        tried("but once, even where codes work twice", tab, answer)
        self.provider.faults = set()
        tab = self.tab()
        answer, cookies = tab.visit(tab.begin(), "zoe"), dict(tab.cookies)
        tab.finish(answer)
        tab.cookies = cookies
        tried("nor where they do not", tab, answer)
        foreign = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        foreign.request("POST", "/console/api/sign-in/provider", "{}", {"origin": "https://evil.example", "martlet-console": "1", "content-type": "application/json"})
        checks.equal("another site does not begin a sign-in", foreign.getresponse().status, 403)
        locations = {self.tab().begin().partition("?")[0] for _ in range(3)}
        checks.equal("a browser is sent to the provider and nowhere else", locations, {self.provider.issuer + "/authorize"})

    def changes(self):
        self.provider.change_key()
        tab = self.tab()
        checks.equal("a new key of the provider is found", tab.sign_in("zoe")[0], 200)
        checks.equal("a viewer may see", tab.ask("GET", "/hubs/other/sends")[0], 200)
        self.provider.users["zoe"]["groups"] = ["marketing"]
        later = self.tab()
        checks.equal("roles are those of the last sign-in", later.sign_in("zoe")[1]["roles"], ["sender@shop"])
        checks.equal("and no others", later.ask("GET", "/hubs/other/sends")[0], 403)
        checks.equal("sessions that began with others end", tab.ask("GET", "/session")[0], 401)
        self.provider.users["zoe"]["groups"] = []
        checks.equal("without a role nobody enters again", self.tab().sign_in("zoe"), (403, "no-role"))
        checks.equal("and open sessions end", later.ask("GET", "/session")[0], 401)
        self.provider.users["zoe"]["groups"] = ["everybody"]
        tab.sign_in("zoe")
        self.martlet("operator", "disable", "zoe")
        checks.equal("a disabled operator's session ends", tab.ask("GET", "/session")[0], 401)
        checks.equal("and none begins", self.tab().sign_in("zoe"), (403, "disabled"))
        self.martlet("operator", "enable", "zoe")
        checks.equal("until the operator is enabled", self.tab().sign_in("zoe")[0], 200)

        self.provider.faults = {"no auth_time"}
        tab = self.tab()
        checks.equal("a provider that does not say when it asked makes nothing fresh", (tab.sign_in("ada")[1]["isFresh"], tab.ask("GET", KEYS)[1]["code"]), (False, "not-fresh"))
        self.provider.faults = set()
        before = dict(tab.cookies)
        location = tab.begin(fresh=True)
        checks.equal("for a fresh sign-in the provider asks, though it knows who it is", tab.visit(location), None)
        checks.equal("which confirms the session that is there", (tab.finish(tab.visit(location, "ada"))[1]["isFresh"], tab.cookies), (True, before))
        checks.equal("and opens what needs it", tab.ask("GET", KEYS)[0], 200)

        self.write_settings(roles="viewer=ops", name="Other")
        checks.that("roles are taken up without a restart", "console-oidc-client-id" in self.reload())
        checks.equal("at the next sign-in", (self.tab().sign_in("ada")[1]["roles"], self.tab().ask("GET", "/sign-in")[1]["provider"]["name"]), (["viewer"], "Other"))
        self.write_settings()
        self.write_secret("another secret")
        self.reload()
        checks.equal("a wrong one is not the person's fault", self.tab().sign_in("ada"), (503, "provider-unavailable"))
        checks.that("but in the log", "does not accept this server as a client" in self.said())
        self.write_secret(SECRET)
        said = self.reload()
        checks.that("a file that has changed is read", "console-oidc-client-secret-file" in said, said)
        checks.equal("and works", self.tab().sign_in("ada")[1]["roles"], ["admin"])
        with open(self.settings, "w") as file:
            file.write("# nothing\n")
        self.reload()
        checks.equal("a provider can be taken away", (self.tab().ask("GET", "/sign-in")[1], self.tab().ask("POST", "/sign-in/provider", {})[0]), ({"provider": None}, 404))
        self.write_settings()
        self.reload()

    def failures(self):
        for fault in ("down", "huge"):
            tab = self.tab()
            answer = tab.visit(tab.begin(), "ada")
            self.provider.faults = {fault}
            began = time.monotonic()
            status, document = tab.finish(answer)
            checks.equal(f"a provider that is {fault} is told", (status, document["code"]), (503, "provider-unavailable"))
            checks.that("at once", time.monotonic() - began < 5)
            self.provider.faults = set()
        tab = self.tab()
        answer = tab.visit(tab.begin(), "ada")
        self.provider.faults = {"hangs"}
        began = time.monotonic()
        status, document = tab.finish(answer)
        took = time.monotonic() - began
        checks.equal("a provider that hangs is told", (status, document["code"]), (503, "provider-unavailable"))
        checks.that("after ten seconds", took < 14, took)
        self.provider.faults = set()
        self.provider.released.set()
        checks.equal("and everything goes on", self.tab().sign_in("ada")[0], 200)

    # The pages

    def pages(self):
        if chromium.program():
            browser = chromium.Chromium()
            try:
                self.in_chromium(browser)
            finally:
                browser.close()
        else:
            print("console-sign-in: no Chromium here", flush=True)
        if firefox.program():
            self.in_firefox()
        else:
            print("console-sign-in: no Firefox here", flush=True)

    def in_chromium(self, browser):
        page, console = browser.page(), f"http://127.0.0.1:{self.port}/console/"
        page.look()
        self.provider.faults = {"no auth_time"}
        page.goto(console + "hubs/shop/keys")
        page.until("[...document.querySelectorAll('button')].some(one => one.checkVisibility() && one.textContent.includes('Sign in with'))")
        self.accessible(page, "the sign-in page")
        page.click("button", "Sign in with Example")
        page.until("location.hostname === 'localhost' && !!document.querySelector('input[name=user]')")
        page.type("input[name=user]", "ada")
        page.click("#in")
        page.until("location.hostname === '127.0.0.1' && !!document.querySelector('.places')")
        checks.equal("the browser comes back to where it was, without the code", page.js("location.pathname + location.search"), "/console/hubs/shop/keys")
        checks.equal("and keeps no draft of the way", page.js("localStorage.getItem('sign-in')"), None)
        cookies = {one["name"]: (one["sameSite"], one["secure"], one["httpOnly"]) for one in page.call("Network.getCookies")["cookies"] if one["name"].startswith("__Host")}
        checks.equal("its only cookie is strict", cookies, {"__Host-martlet-console": ("Strict", True, True)})

        page.click("button", "Show them")
        page.until("!!document.querySelector('dialog a[target=_blank]')")
        page.js("window.kept = 'this page'")
        self.accessible(page, "the dialog")
        self.provider.faults = set()
        page.click("dialog a", "Continue with Example")
        other = browser.opened()
        other.until("!!document.querySelector('input[name=user]')")
        other.type("input[name=user]", "ada")
        other.click("#in")
        page.until("document.body?.innerText.includes('Endpoint=')")
        checks.equal("the provider confirms in another tab, and the first goes on as it was", page.js("window.kept"), "this page")
        checks.equal("no complaint", page.complaints(), [])

        page.goto(console + "enter?code=stolen&state=guessed&iss=x")
        page.until("document.body?.innerText.includes('The sign-in did not work')")
        self.accessible(page, "a sign-in that failed")
        checks.equal("a link of an attacker changes nothing", (page.js("location.search"), page.js("fetch('/console/api/session').then(a => a.status)")), ("", 200))
        page.call("Network.clearBrowserCookies")
        page.goto(console)
        page.click("button", "Sign in with Example")
        page.until("!!document.querySelector('input[name=user]')")
        page.type("input[name=user]", "eve")
        page.click("#in")
        checks.that("nobody enters without a role, and is told", page.until("document.body?.innerText.includes('no role here') && !!document.querySelector('.sign-in')"))
        checks.equal("no complaint either", page.complaints(), [])

    def accessible(self, page, name):
        page.js(axe() + ";0")
        found = page.js(f"axe.run(document, {{runOnly: {{type: 'tag', values: {json.dumps(RULES)}}}}}).then(r => [...r.violations, ...r.incomplete].map(v => v.id))")
        checks.equal(f"{name} satisfies axe", found, [])
        overflow = page.js("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        checks.that(f"{name} does not overflow", overflow <= 0, overflow)

    def in_firefox(self):
        browser = firefox.Firefox(os.path.join(self.directory, "firefox"), {}, os.path.join(self.directory, "firefox.log"))

        def until(expression, seconds=20):
            deadline = time.monotonic() + seconds
            while not (found := browser.run(f"return {expression}")) and time.monotonic() < deadline:
                time.sleep(0.05)
            return found

        try:
            browser.goto(f"http://127.0.0.1:{self.port}/console/server")
            until("[...document.querySelectorAll('button')].some(one => one.checkVisibility() && one.textContent.includes('Sign in with'))")
            browser.run("[...document.querySelectorAll('button')].find(one => one.textContent.includes('Sign in with')).click()")
            until("!!document.querySelector('input[name=user]')")
            browser.run("document.querySelector('input[name=user]').value = 'ada'; document.getElementById('in').click()")
            checks.that("Firefox comes back signed in", until("location.pathname === '/console/server' && !!document.querySelector('.places')"), browser.run("return document.body.innerText"))
        finally:
            browser.close()

    def limits(self):
        statuses = []
        while len(statuses) < 30 and 429 not in statuses:
            tab = self.tab()
            state = dict(httpx.URL(tab.begin()).params)["state"]
            statuses.append(tab.finish({"state": state, "code": "guessed", "iss": self.provider.issuer})[0])
        checks.that("guessed codes are slowed down", statuses[0] == 401 and statuses[-1] == 429, statuses)

    def audit(self):
        entries = self.local.ask("GET", "/audit/operators?limit=500")[1]["entries"]
        ways = {(one["operator"], one["answer"]) for one in entries if one["action"] == "sign in by provider"}
        for expected in [("ada", 200), ("bo@example.com", 200), ("?", 401), ("?", 403), ("zoe", 403)]:
            checks.that(f"the audit log has {expected}", expected in ways, ways)
        said = self.said() + json.dumps(entries)
        checks.that("no secret, code or state is in the log", SECRET not in said and "another secret" not in said and "stolen" not in said and "guessed" not in said)


async def main():
    with tempfile.TemporaryDirectory() as directory:
        judged = Judged(sys.argv[1], directory)
        try:
            await judged.run()
        finally:
            if judged.server.process and judged.server.process.returncode is None:
                await judged.server.kill()


checks.finish(main())
