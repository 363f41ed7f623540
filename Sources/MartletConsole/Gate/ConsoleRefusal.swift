import MartletCore
import MartletHTTP
import MartletModel

/// The reason why the console refuses a request.
enum ConsoleRefusal: Error, Hashable {
    case badRequest(String)
    case signedOut
    case badCredentials
    /// The password is right, but the code of the second factor is missing.
    case needsCode
    case badCode
    /// The operator's role is not sufficient.
    ///
    /// The values are the needed role and the hub for which it is needed; nil means all hubs.
    case forbidden(Role, hub: String?)
    case notFresh
    case crossSite
    case clearText
    case wrongHost
    case notFound
    case badLink
    /// This browser did not begin the sign-in at the identity provider, or the provider's answer is not valid for this
    /// sign-in.
    case badSignIn
    /// The identity provider did not let the person in.
    case providerRefused
    /// The identity provider gives the person no role. The value is the name of the person's operator; nil if there is
    /// none.
    case noRole(String?)
    /// The identity provider has authenticated the operator with this name, but the operator is disabled.
    case disabled(String)
    /// The identity provider does not answer, or its answer cannot be used. The value is the provider's name.
    case noProvider(String)
    case conflict(String)
    case tooLarge
    case notJSON
    case tooMany(retryAfter: Int64, String)
    case busy(String)
    /// The session could not be ended at sign-out, but the browser was told to forget it.
    case notEnded(String)

    /// The code of the refusal in the answer's JSON, by which a program recognizes it. Codes do not change.
    var code: String {
        switch self {
        case .badRequest: "bad-request"
        case .signedOut: "signed-out"
        case .badCredentials: "bad-credentials"
        case .needsCode: "needs-code"
        case .badCode: "bad-code"
        case .forbidden: "forbidden"
        case .notFresh: "not-fresh"
        case .crossSite: "cross-site"
        case .clearText: "clear-text"
        case .wrongHost: "wrong-host"
        case .notFound: "not-found"
        case .badLink: "bad-link"
        case .badSignIn: "bad-sign-in"
        case .providerRefused: "provider-refused"
        case .noRole: "no-role"
        case .disabled: "disabled"
        case .noProvider: "provider-unavailable"
        case .conflict: "conflict"
        case .tooLarge: "too-large"
        case .notJSON: "not-json"
        case .tooMany: "too-many"
        case .busy: "busy"
        case .notEnded: "not-ended"
        }
    }

    var status: HTTPStatus {
        switch self {
        case .badRequest: .badRequest
        case .signedOut, .badCredentials, .needsCode, .badCode, .badSignIn, .providerRefused: .unauthorized
        case .forbidden, .notFresh, .crossSite, .clearText, .noRole, .disabled: .forbidden
        case .wrongHost: 421
        case .notFound, .badLink: .notFound
        case .conflict: .conflict
        case .tooLarge: .contentTooLarge
        case .notJSON: 415
        case .tooMany: .tooManyRequests
        case .busy, .notEnded, .noProvider: .serviceUnavailable
        }
    }

    var sentence: String {
        switch self {
        case .badRequest(let sentence), .conflict(let sentence), .tooMany(_, let sentence), .busy(let sentence),
            .notEnded(let sentence):
            sentence
        case .signedOut: "Nobody is signed in, or the session has ended: sign in."
        case .needsCode: "This needs a code of your authenticator app, or a recovery code."
        case .badCode: "The code is wrong, too old, or was used already."
        case .badCredentials: "The name or the password is wrong."
        case .forbidden(let role, let hub):
            "This needs the role \(role.rawValue)\(hub.map { " for the hub '\($0)'" } ?? " for all hubs")."
        case .notFresh:
            "This needs a password, or a sign-in at the identity provider, of the last ten minutes: confirm that it is you."
        case .crossSite: "The request does not come from a page of this console."
        case .clearText:
            "The console is not served in clear text: use HTTPS, or the machine itself. A proxy that does TLS needs "
                + "serve --public-url."
        case .wrongHost:
            "This server has no such name: address it by its IP address, or start it with --public-url."
        case .notFound: "There is nothing here."
        case .badLink: "The link was used, has expired, or never was: ask for a new one."
        case .badSignIn: "This sign-in is not valid, or not any more: begin again."
        case .providerRefused: "The identity provider did not let you in."
        case .noRole: "The identity provider gives you no role here: ask for one of the groups that have a role."
        case .disabled: "You may not sign in any more: an administrator has disabled your access."
        case .noProvider(let name): "\(name) cannot be used for signing in now: it does not answer as it should."
        case .tooLarge: "The body is too large."
        case .notJSON: "The body must be JSON, with content-type: application/json."
        }
    }

    var response: HTTPResponse {
        var members: [String: JSON] = ["code": .string(code), "error": .string(sentence)]
        if case .forbidden(let role, let hub) = self {
            members["needs"] = .string(role.rawValue)
            members["hub"] = hub.map(JSON.string) ?? .null
        }
        var response = HTTPResponse(status, consoleJSON: .object(members))
        if case .tooMany(let seconds, _) = self { response.fields["retry-after"] = String(seconds) }
        return response
    }

    /// The name of the operator whom the refusal concerns, if it is known.
    var operatorName: String? {
        switch self {
        case .noRole(let name): name
        case .disabled(let name): name
        default: nil
        }
    }

    init(_ error: StorageError) {
        self = .busy(error.detail)
    }
}
