"""An identity provider made of Authlib's authorization server: the authorization code flow with PKCE, a login page with a
session of its own, and faults that are switched on by name. It shares no code with Martlet.

Its host is `localhost`, so that for a browser it is another site than a console at 127.0.0.1.
"""

import json
import secrets
import threading
import time
import warnings

warnings.filterwarnings("ignore", module="authlib")

import flask  # noqa: E402
import werkzeug.serving  # noqa: E402
from authlib.integrations.flask_oauth2 import AuthorizationServer  # noqa: E402
from authlib.oauth2 import OAuth2Error  # noqa: E402
from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, grants  # noqa: E402
from authlib.oauth2.rfc7636 import CodeChallenge  # noqa: E402
from authlib.oauth2.rfc9207 import IssuerParameter  # noqa: E402
from authlib.oidc.core import OpenIDCode, UserInfo  # noqa: E402
from joserfc import jwk  # noqa: E402

CLIENT, SECRET = "console", "a secret: with / and %"


class Quiet(werkzeug.serving.WSGIRequestHandler):
    def log(self, *_):
        pass


class Client(ClientMixin):
    def __init__(self, identifier, redirect_uris):
        self.identifier, self.redirect_uris = identifier, redirect_uris

    def get_client_id(self):
        return self.identifier

    def get_default_redirect_uri(self):
        return None

    def get_allowed_scope(self, scope):
        return scope

    def check_redirect_uri(self, uri):
        return uri in self.redirect_uris

    def check_client_secret(self, secret):
        return secret == SECRET

    def check_endpoint_auth_method(self, method, endpoint):
        return method == "client_secret_basic"

    def check_response_type(self, kind):
        return kind == "code"

    def check_grant_type(self, kind):
        return kind == "authorization_code"


class Code(AuthorizationCodeMixin):
    def __init__(self, **facts):
        self.__dict__ |= facts

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope

    def get_nonce(self):
        return self.nonce

    def get_auth_time(self):
        return self.auth_time

    def get_acr(self):
        return None

    def get_amr(self):
        return None


class User:
    def __init__(self, subject, claims):
        self.subject, self.claims = subject, claims

    def get_user_id(self):
        return self.subject


class Provider:
    """The server on a port of its own. `faults` has the names of the faults that are on, `users` the claims by name."""

    def __init__(self):
        self.faults, self.users, self.codes, self.sessions = set(), {}, {}, {}
        self.clients, self.asked, self.released = {}, [], threading.Event()
        self.change_key()
        self._app = flask.Flask(__name__)
        self._grants()
        self._routes()
        self._server = werkzeug.serving.make_server("127.0.0.1", 0, self._app.wsgi_app, threaded=True, request_handler=Quiet)
        self.port = self._server.server_port
        self.issuer = f"http://localhost:{self.port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def register(self, *redirect_uris):
        for identifier in (CLIENT, "other"):
            self.clients[identifier] = Client(identifier, redirect_uris)

    def change_key(self):
        self.key = jwk.RSAKey.generate_key(2048, {"kid": secrets.token_hex(4), "alg": "RS256", "use": "sig"})

    def close(self):
        self.released.set()
        self._server.shutdown()
        self._server.server_close()

    def _grants(self):
        provider = self
        self._authorization = AuthorizationServer(
            self._app, query_client=lambda identifier: provider.clients.get(identifier), save_token=lambda token, request: None)

        class Grant(grants.AuthorizationCodeGrant):
            TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic"]

            def save_authorization_code(self, code, request):
                data = request.payload.data
                user, at = request.user.subject, provider.sessions[flask.g.token][1]
                provider.codes[code] = Code(
                    code=code, client=request.client.identifier, redirect_uri=data.get("redirect_uri"), scope=data.get("scope"),
                    nonce=None if "no nonce" in provider.faults else data.get("nonce"), user=user,
                    auth_time=None if "no auth_time" in provider.faults else at,
                    code_challenge=None if "no PKCE" in provider.faults else data.get("code_challenge"),
                    code_challenge_method=data.get("code_challenge_method"))

            def query_authorization_code(self, code, client):
                found = provider.codes.get(code)
                return found if found and (found.client == client.identifier or "any client" in provider.faults) else None

            def delete_authorization_code(self, code):
                if "codes again" not in provider.faults:
                    provider.codes.pop(code.code, None)

            def authenticate_user(self, code):
                return User(code.user, provider.users[code.user])

        class Challenge(CodeChallenge):
            def validate_code_verifier(self, grant, result):
                if "no PKCE" not in provider.faults:
                    super().validate_code_verifier(grant, result)

        class Token(OpenIDCode):
            def exists_nonce(self, nonce, request):
                return False

            def resolve_client_private_key(self, client):
                return provider.key

            def get_client_claims(self, client):
                return {"iss": provider.issuer}

            def get_encode_header(self, client):
                return {"alg": "RS256", "kid": provider.key.kid}

            def get_compatible_claims(self, request):
                claims = super().get_compatible_claims(request) | {"aud": [request.authorization_code.client]}
                if "no auth_time" in provider.faults:
                    del claims["auth_time"]
                return claims

            def generate_user_info(self, user, scope):
                return UserInfo(sub=user.subject, **user.claims)

        class Issuer(IssuerParameter):
            def get_issuer(self):
                return {"foreign iss": "https://other.example", "no iss": None}.get(
                    next(iter(provider.faults & {"foreign iss", "no iss"}), ""), provider.issuer)

        self._authorization.register_grant(Grant, [Challenge(required=True), Token(require_nonce=True)])
        self._authorization.register_extension(Issuer())

    def _routes(self):
        app = self._app

        @app.before_request
        def note():
            self.asked.append(flask.request.path)
            if "down" in self.faults:
                flask.abort(503)
            if "hangs" in self.faults and not flask.request.path.startswith("/authorize"):
                self.released.wait(30)
            if "huge" in self.faults:
                return flask.Response((b'{"a":"' + b"x" * 65536 for _ in range(1000)), content_type="application/json")

        @app.get("/.well-known/openid-configuration")
        def configuration():
            return {
                "issuer": self.issuer, "authorization_endpoint": self.issuer + "/authorize", "token_endpoint": self.issuer + "/token",
                "jwks_uri": self.issuer + "/keys", "response_types_supported": ["code"], "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"], "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["client_secret_basic"], "authorization_response_iss_parameter_supported": True}

        @app.get("/keys")
        def keys():
            answer = flask.jsonify({"keys": [self.key.as_dict(private=False)]})
            answer.headers["cache-control"] = "max-age=300"
            return answer

        @app.post("/token")
        def token():
            return self._authorization.create_token_response()

        @app.route("/authorize", methods=["GET", "POST"])
        def authorize():
            flask.g.token = flask.request.cookies.get("provider", "")
            try:
                consent = self._authorization.get_consent_grant()
            except OAuth2Error as error:
                return str(error.description or error.error), 400
            if flask.request.method == "POST":
                if flask.request.form.get("deny"):
                    return self._authorization.create_authorization_response(grant_user=None, grant=consent)
                flask.g.token = secrets.token_urlsafe(8)
                self.sessions[flask.g.token] = flask.request.form["user"], int(time.time())
            elif flask.g.token not in self.sessions or ("login" in flask.request.args.get("prompt", "") and "no prompt" not in self.faults):
                return ('<!doctype html><html lang="en"><title>Provider</title><form method="post"><input name="user" autofocus>'
                        '<button id="in">Sign in</button><button id="out" name="deny" value="1">Cancel</button></form>')
            user = self.sessions[flask.g.token][0]
            answer = self._authorization.create_authorization_response(grant_user=User(user, self.users[user]), grant=consent)
            answer.set_cookie("provider", flask.g.token, samesite="Lax")
            return answer


if __name__ == "__main__":
    served = Provider()
    print(json.dumps({"issuer": served.issuer}), flush=True)
    threading.Event().wait()
