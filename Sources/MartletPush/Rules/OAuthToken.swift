import MartletCore
import MartletHTTP
import MartletModel

/// Access tokens as several push services give them (RFC 6749, sections 4.4 and 5; RFC 7523, section 2.1).
enum OAuthToken {
    /// How long before its end a token is not sent with any more.
    private static let margin: Duration = .seconds(60)
    /// How long to wait before asking again where the service does not say.
    private static let faultWait: Duration = .seconds(10)
    /// How long to wait after an answer that is not one.
    private static let nonsenseWait: Duration = .seconds(60)

    /// Asks for a token with a form.
    /// - Parameters:
    ///   - form: Names and values, not encoded, in the order in which they are sent.
    ///   - path: The token endpoint after its origin, with the first slash.
    static func exchange(
        _ form: KeyValuePairs<String, String>, to origin: HTTPOrigin, path: String,
        settings: TransportSettings = TransportSettings()
    ) -> Authorization {
        let body = form.map { "\(PercentEncoding.encode($0.key))=\(PercentEncoding.encode($0.value))" }
        let fields: HTTPFields = ["content-type": "application/x-www-form-urlencoded", "accept": "application/json"]
        return .exchange(
            TokenExchange(
                HTTPRequest(.post, path, fields: fields, body: Array(body.joined(separator: "&").utf8)), to: origin,
                settings: settings))
    }

    /// Reads the answer: a token, a credential that is refused, which stops everything, or a reason to ask again later.
    static func answer(_ response: HTTPResponse, at now: Timestamp) -> TokenAnswer {
        let status = response.status.code
        let body = try? JSON(parsing: response.bytes, maximumDepth: 8)
        switch status {
        case 200:
            guard let body, let token = token(body, at: now) else {
                return .refused(nonsense("an answer that is no token"))
            }
            return .token(token)
        case 408, 425, 429, 500..<600:
            let wait = RetryAfter.wait(response.fields, at: now) ?? faultWait
            return .refused(
                Outcome(
                    .tokenProviderUnreachable, reason: "status \(status)",
                    .retry(after: wait, scope: .platform)))
        case 400..<500:
            let word = AnswerWord.checked(body?["error"]?.string ?? body?["reason"]?.string)
            return .refused(Outcome(.invalidCredentials, reason: word ?? "status \(status)", .stop))
        default:
            return .refused(nonsense("status \(status)"))
        }
    }

    private static func token(_ body: JSON, at now: Timestamp) -> AuthorizationToken? {
        guard let value = body["access_token"]?.string, isSendable(value), let lifetime = lifetime(body) else {
            return nil
        }
        return AuthorizationToken(
            value: value, renewableAt: now, expiresAt: now + (lifetime - min(margin, lifetime / 10)))
    }

    /// Some services write the number of seconds as text.
    private static func lifetime(_ body: JSON) -> Duration? {
        let member = body["expires_in"]
        guard let seconds = member?.integer ?? member?.string.flatMap(Int64.init), seconds > 0 else { return nil }
        return .seconds(min(seconds, 86_400))
    }

    /// Whether the token can be in a field.
    private static func isSendable(_ token: String) -> Bool {
        (1...16_384).contains(token.utf8.count) && token.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    private static func nonsense(_ reason: String) -> Outcome {
        Outcome(
            .tokenProviderInterfaceError, reason: reason, .retry(after: nonsenseWait, scope: .platform))
    }
}
