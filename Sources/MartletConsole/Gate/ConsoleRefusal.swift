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
    case conflict(String)
    case tooLarge
    case notJSON
    case tooMany(retryAfter: Int64, String)
    case busy(String)

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
        case .conflict: "conflict"
        case .tooLarge: "too-large"
        case .notJSON: "not-json"
        case .tooMany: "too-many"
        case .busy: "busy"
        }
    }

    var status: HTTPStatus {
        switch self {
        case .badRequest: .badRequest
        case .signedOut, .badCredentials, .needsCode, .badCode: .unauthorized
        case .forbidden, .notFresh, .crossSite, .clearText: .forbidden
        case .wrongHost: 421
        case .notFound, .badLink: .notFound
        case .conflict: .conflict
        case .tooLarge: .contentTooLarge
        case .notJSON: 415
        case .tooMany: .tooManyRequests
        case .busy: .serviceUnavailable
        }
    }

    var sentence: String {
        switch self {
        case .badRequest(let sentence), .conflict(let sentence), .tooMany(_, let sentence), .busy(let sentence):
            sentence
        case .signedOut: "Nobody is signed in, or the session has ended: sign in."
        case .needsCode: "This needs a code of your authenticator app, or a recovery code."
        case .badCode: "The code is wrong, too old, or was used already."
        case .badCredentials: "The name or the password is wrong."
        case .forbidden(let role, let hub):
            "This needs the role \(role.rawValue)\(hub.map { " for the hub '\($0)'" } ?? " for all hubs")."
        case .notFresh: "This needs a password that was entered in the last ten minutes: confirm yours."
        case .crossSite: "The request does not come from a page of this console."
        case .clearText:
            "The console is not served in clear text: use HTTPS, or the machine itself. A proxy that does TLS needs "
                + "serve --public-url."
        case .wrongHost:
            "This server has no such name: address it by its IP address, or start it with --public-url."
        case .notFound: "There is nothing here."
        case .badLink: "The link was used, has expired, or never was: ask for a new one."
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

    init(_ error: StorageError) {
        self = .busy(error.detail)
    }
}
