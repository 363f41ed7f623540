"""A real, headless Firefox, driven over Marionette: on its socket a frame is LENGTH:JSON, a command [0, id, name, params],
an answer [1, id, error, result]."""

import json
import os
import shutil
import socket
import subprocess
import time

# So that nothing is asked of the world, and push is on under remote control.
QUIET = {
    "remote.prefs.recommended": False, "network.manage-offline-status": False,
    "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
    "network.dns.disablePrefetch": True, "network.prefetch-next": False, "app.update.disabledForTesting": True,
    "app.normandy.enabled": False, "browser.shell.checkDefaultBrowser": False, "browser.startup.page": 0,
    "browser.startup.homepage": "about:blank", "browser.newtabpage.enabled": False,
    "browser.aboutwelcome.enabled": False, "startup.homepage_welcome_url": "",
    "browser.safebrowsing.downloads.enabled": False, "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False, "browser.region.network.url": "", "browser.search.update": False,
    "datareporting.policy.dataSubmissionEnabled": False, "datareporting.healthreport.uploadEnabled": False,
    "toolkit.telemetry.enabled": False, "toolkit.telemetry.unified": False, "termsofuse.bypassNotification": True,
    "extensions.update.enabled": False, "extensions.systemAddon.update.enabled": False,
    "extensions.getAddons.cache.enabled": False, "services.settings.server": "data:,#none/v1",
    "browser.topsites.contile.enabled": False, "browser.discovery.enabled": False,
    "media.gmp-manager.updateEnabled": False, "security.remote_settings.intermediates.enabled": False,
}
START_TIMEOUT = 90


def program():
    """Where Firefox is, or None."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Refused(Exception):
    """Firefox did not do what it was told."""


class Firefox:
    def __init__(self, profile, preferences, log):
        """Starts on a profile that may have been used before."""
        os.makedirs(profile, exist_ok=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with open(os.path.join(profile, "user.js"), "w") as file:
            for name, value in (QUIET | preferences | {"marionette.port": port}).items():
                file.write(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n")
        command = [program(), "--headless", "--no-remote", "--profile", profile, "--marionette",
                   "--remote-allow-system-access"]
        environment = os.environ | {
            "HOME": profile, "MOZ_CRASHREPORTER_DISABLE": "1", "MOZ_HEADLESS_WIDTH": "1200",
            "MOZ_HEADLESS_HEIGHT": "800"}
        with open(log, "ab") as output:
            self._process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
        self._received, self._commands = b"", 0
        try:
            self._socket = self._connect(port)
            self._read()
            self.version = self._call("WebDriver:NewSession")["capabilities"]["browserVersion"]
            # A machine that does much else is slow, not wrong.
            self._call("WebDriver:SetTimeouts", {"script": 1000 * START_TIMEOUT})
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise

    def _connect(self, port):
        deadline = time.monotonic() + START_TIMEOUT
        while True:
            try:
                connection = socket.create_connection(("127.0.0.1", port), 1)
                connection.settimeout(START_TIMEOUT)
                return connection
            except OSError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise Refused("Firefox did not come up") from None
                time.sleep(0.05)

    def _more(self):
        piece = self._socket.recv(1 << 20)
        if not piece:
            raise Refused("Firefox has gone")
        self._received += piece

    def _read(self):
        while b":" not in self._received:
            self._more()
        length, _, self._received = self._received.partition(b":")
        while len(self._received) < int(length):
            self._more()
        frame, self._received = self._received[:int(length)], self._received[int(length):]
        return json.loads(frame)

    def _call(self, name, parameters=None):
        self._commands += 1
        frame = json.dumps([0, self._commands, name, parameters or {}]).encode()
        self._socket.sendall(b"%d:" % len(frame) + frame)
        _, _, error, result = self._read()
        if error:
            raise Refused(f"{name}: {error.get('error')}: {error.get('message')}")
        return result

    def goto(self, address):
        self._call("WebDriver:Navigate", {"url": address})

    def run(self, script, *arguments):
        """What the body of an asynchronous function returns in the page."""
        script = "return (async () => {" + script + "})()"
        return self._call("WebDriver:ExecuteScript", {"script": script, "args": list(arguments)})["value"]

    def run_inside(self, script, *arguments):
        """The same in the browser itself."""
        self._call("Marionette:SetContext", {"value": "chrome"})
        try:
            return self.run(script, *arguments)
        finally:
            self._call("Marionette:SetContext", {"value": "content"})

    def set(self, name, value):
        """Changes a preference; None takes the change back."""
        kind = {bool: "Bool", int: "Int", str: "String"}.get(type(value))
        if kind is None:
            self.run_inside("Services.prefs.clearUserPref(arguments[0])", name)
        else:
            self.run_inside(f"Services.prefs.set{kind}Pref(arguments[0], arguments[1])", name, value)

    def close(self):
        if self._process.returncode is not None:
            return
        try:
            self._call("Marionette:Quit", {"flags": ["eForceQuit"]})
        except (OSError, Refused):
            pass
        self._socket.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
