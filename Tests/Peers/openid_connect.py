"""PyPI's oidc-provider-mock, made of Authlib, as the identity provider of a real `martlet serve`: log-ins by the
authorization code flow, keys that change, and tokens that must not open anything, made by joserfc.

    openid_connect.py MARTLET
"""

import asyncio
import base64
import hmac
import json
import os
import sys
import tempfile
import threading
import time

import flask
import httpx
import oidc_provider_mock
import werkzeug.serving
from authlib import jose
from joserfc import jwk
from joserfc import jwt as joserfc_jwt
from oidc_provider_mock import _app as mock

import processes
from checks import Checks

checks = Checks("openid-connect")
REDIRECT = "https://app.example/callback"
HANDLE = "80AB" * 16


class Quiet(werkzeug.serving.WSGIRequestHandler):
    def log(self, *_):
        pass


class Provider:
    """The mock on a port of its own, with its keys at hand."""

    def __init__(self):
        self._app = oidc_provider_mock.app()
        self._app.debug = False
        self._storage = None
        self.asked = {}
        self.is_down = False
        self._app.before_request(self._note)
        self._server = werkzeug.serving.make_server(
            "127.0.0.1", 0, self._app.wsgi_app, threaded=True, request_handler=Quiet)
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        httpx.get(self.issuer + "/jwks")

    def _note(self):
        self._storage = flask.g.oidc_provider_mock_storage
        self.asked[flask.request.path] = self.asked.get(flask.request.path, 0) + 1
        if self.is_down:
            flask.abort(503)

    @property
    def key(self):
        """The private key as joserfc has it."""
        return jwk.import_key(self._storage.jwk.as_dict(is_private=True))

    @property
    def key_id(self):
        return self._storage.jwk.as_dict()["kid"]

    def change_key(self, kind="RSA"):
        mock._JWS_ALG = {"RSA": "RS256", "EC": "ES256"}[kind]
        if kind == "RSA":
            self._storage.jwk = jose.RSAKey.generate_key(is_private=True)
        else:
            # Authlib leaves out leading zeros of a coordinate, against RFC 7518, section 6.2.1.2: one key in 128 is refused.
            while True:
                self._storage.jwk = jose.ECKey.generate_key("P-256", is_private=True)
                parts = self._storage.jwk.as_dict()
                if all(len(base64.urlsafe_b64decode(parts[name] + "==")) == 32 for name in ("x", "y")):
                    break

    def log_in(self, user, claims, client="martlet"):
        """The token of a user by the authorization code flow."""
        with httpx.Client(base_url=self.issuer) as http:
            http.put(f"/users/{user}", json=claims).raise_for_status()
            asked = {"client_id": client, "redirect_uri": REDIRECT, "response_type": "code", "scope": "openid profile"}
            answer = http.post("/oauth2/authorize", params=asked, data={"sub": user})
            code = httpx.URL(answer.headers["location"]).params["code"]
            form = {"grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT}
            return http.post("/oauth2/token", data=form, auth=(client, "secret")).json()["id_token"]

    def claims(self, **changes):
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": "martlet", "exp": now + 300, "iat": now, "preferred_username": "alice"}
        return {name: value for name, value in (claims | changes).items() if value is not None}

    def sign(self, claims, key=None, **header):
        """A token of joserfc's making, with the provider's own key where no other is given."""
        key = key or self.key
        algorithm = "RS256" if key.key_type == "RSA" else "ES256"
        known = {"alg": algorithm, "kid": self.key_id, **header}
        return joserfc_jwt.encode(known, claims, key, algorithms=["RS256", "ES256"])

    def close(self):
        self._server.shutdown()


class Backend:
    def __init__(self, port):
        self._http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)

    def register(self, **authorization):
        """The answer to asking for an id; asked again where a slow machine has kept the provider from answering."""
        for _ in range(3):
            answer = self._http.post("/api/register", **authorization)
            if answer.status_code != 503:
                break
            time.sleep(int(answer.headers["retry-after"]))
        return answer

    def device(self, identifier, **authorization):
        body = {"Platform": "apns", "Handle": HANDLE, "Tags": []}
        return self._http.put(f"/api/register/{identifier}", json=body, **authorization)

    def forget(self, identifier, **authorization):
        return self._http.delete(f"/api/register/{identifier}", **authorization)


def encoded(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def bearer(token):
    return {"headers": {"Authorization": f"Bearer {token}"}}


def refused(backend, sentence, token, word, status=401):
    """A refusal must say what is wrong as RFC 6750 has it."""
    answer = backend.register(**bearer(token))
    checks.equal(f"{sentence} is refused", answer.status_code, status)
    shown = answer.headers.get_list("www-authenticate")
    if status == 401:
        checks.that(f"{sentence}: the field says it", any('error="invalid_token"' in field for field in shown), shown)
    checks.that(f"{sentence}: the sentence says it", word in answer.json()["message"], answer.text)


def log_ins(provider, backend):
    token = provider.log_in("u1", {"preferred_username": "Alice"})
    answer = backend.register(**bearer(token))
    checks.equal("a token of the provider opens the backend", answer.status_code, 200)
    identifier = answer.json()
    checks.equal("a device is registered with it", backend.device(identifier, **bearer(token)).status_code, 200)
    bob = provider.log_in("u2", {"preferred_username": "bob"})
    checks.equal("somebody without an account", backend.register(**bearer(bob)).status_code, 200)
    checks.equal("somebody else's device", backend.forget(identifier, **bearer(bob)).status_code, 404)
    checks.equal(
        "the account of the same name is the same user",
        backend.forget(identifier, auth=("alice", "wonderland")).status_code, 200)
    checks.equal("keys are asked for once", provider.asked["/jwks"], 2)
    refused(backend, "a token for another client", provider.log_in("u1", {}, client="other"), "meant for somebody else")
    refused(backend, "a token without a name", provider.log_in("u3", {}), "preferred_username", status=403)
    impossible = provider.log_in("u4", {"preferred_username": "alice || bob"})
    refused(backend, "a name that is an expression", impossible, "preferred_username", status=403)
    return token


def key_changes(provider, backend, old):
    provider.change_key()
    token = provider.log_in("u1", {"preferred_username": "alice"})
    checks.equal("a token of a new key", backend.register(**bearer(token)).status_code, 200)
    refused(backend, "a token of a key that was given up", old, "does not have")
    provider.change_key("EC")
    token = provider.log_in("u1", {"preferred_username": "alice"})
    checks.equal("a token of an elliptic key", backend.register(**bearer(token)).status_code, 200)
    provider.is_down = True
    checks.equal("while the provider is down", backend.register(**bearer(token)).status_code, 200)
    provider.is_down = False
    return token


def forgeries(provider, backend, token):
    good = provider.sign(provider.claims())
    checks.equal("a token of joserfc's making", backend.register(**bearer(good)).status_code, 200)
    now = int(time.time())
    elsewhere = Provider()
    refused(backend, "an expired token", provider.sign(provider.claims(exp=now - 61)), "expired")
    refused(backend, "a token without expiry", provider.sign(provider.claims(exp=None)), "expires")
    refused(backend, "a token of tomorrow", provider.sign(provider.claims(nbf=now + 3600)), "not valid yet")
    refused(backend, "a token from the future", provider.sign(provider.claims(iat=now + 3600)), "not valid yet")
    several = provider.claims(aud=["martlet", "other"], azp="other")
    refused(backend, "a token of another of its audiences", provider.sign(several), "several audiences")
    brought = provider.sign(provider.claims(), jku=elsewhere.issuer + "/jwks")
    refused(backend, "a token that says where its key is", brought, "header")
    refused(backend, "a token of another provider", elsewhere.sign(elsewhere.claims()), "somebody else")
    forged = provider.sign(provider.claims(), jwk.ECKey.generate_key("P-256"))
    refused(backend, "a token of a key that is called like the provider's", forged, "wrong")
    disguised = provider.sign(provider.claims(), elsewhere.key)
    refused(backend, "a token of a key of another kind, likewise", disguised, "does not have")
    header, payload, signature = good.split(".")
    other = provider.sign(provider.claims(preferred_username="bob")).split(".")[1]
    refused(backend, "a token with another's claims", f"{header}.{other}.{signature}", "wrong")
    tampered = signature[:-8] + ("A" if signature[-8] != "A" else "B") + signature[-7:]
    refused(backend, "a token with another signature", f"{header}.{payload}.{tampered}", "wrong")
    none = encoded(json.dumps({"alg": "none"}).encode())
    refused(backend, "a token without signature", f"{none}.{payload}.", "RS256 or ES256")
    signed = f'{encoded(json.dumps({"alg": "HS256"}).encode())}.{payload}'
    code = hmac.new(provider.key.as_pem(private=False), signed.encode(), "sha256").digest()
    refused(
        backend, "a token signed with the public key as a secret", f"{signed}.{encoded(code)}", "RS256 or ES256")
    refused(backend, "a token that is too long", good + "A" * 17_000, "too long")
    elsewhere.close()


def strangers(provider, backend):
    """However many keys are named that nobody has, the provider is left in peace."""
    before, start = provider.asked["/jwks"], time.monotonic()
    stranger = jwk.ECKey.generate_key("P-256")
    answers = {
        backend.register(**bearer(provider.sign(provider.claims(), stranger, kid=f"k{number}"))).status_code
        for number in range(100)
    }
    checks.equal("strangers are refused", answers, {401})
    asked, seconds = provider.asked["/jwks"] - before, time.monotonic() - start
    checks.that("the provider is asked a few times for a hundred strangers", asked <= 5 + seconds / 30, asked)
    checks.equal(
        "and its users are served", backend.register(**bearer(provider.sign(provider.claims()))).status_code, 200)


async def course(binary):
    provider = Provider()
    with tempfile.TemporaryDirectory() as directory:
        data = os.path.join(directory, "data")
        processes.create_hub(binary, data, "demo")
        processes.martlet(binary, "user", "add", "alice", "--password-stdin", "--data", data, stdin="wonderland\n")
        options = ["--oidc-issuer", provider.issuer, "--oidc-audience", "martlet"]
        server = processes.Server(binary, data, os.path.join(directory, "log"), *options)
        await server.start()
        try:
            await asyncio.to_thread(run, provider, Backend(server.port))
        finally:
            await server.stop()
            provider.close()


def run(provider, backend):
    token = log_ins(provider, backend)
    token = key_changes(provider, backend, token)
    forgeries(provider, backend, token)
    strangers(provider, backend)


if __name__ == "__main__":
    checks.finish(course(sys.argv[1]))
