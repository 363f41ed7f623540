import MartletCore
import MartletHTTP
import MartletModel

/// Builds requests for access tokens and parses the answers, for the push services that use OAuth 2 (RFC 6749, sections
/// 4.4 and 5; RFC 7523, section 2.1).
enum OAuthToken {
    /// How long before its real expiry a token counts as expired. For a token with a lifetime of less than ten minutes,
    /// a tenth of the lifetime is used instead.
    private static let margin: Duration = .seconds(60)
    /// The maximum size of an answer, in bytes.
    private static let answerLimit = 64 * 1024
    /// The wait before the next request for a token if the service is unavailable and specifies no wait.
    private static let faultWait: Duration = .seconds(10)
    /// The wait before the next request for a token after an invalid answer.
    private static let unexpectedAnswerWait: Duration = .seconds(60)

    /// Returns the request that gets an access token from a token endpoint.
    ///
    /// The parameters are sent as a form in the body.
    /// - Parameters:
    ///   - form: The names and values of the form, not yet percent-encoded, in the order in which they are sent.
    ///   - path: The path of the token endpoint, with its leading slash.
    static func exchange(
        _ form: KeyValuePairs<String, String>, to origin: HTTPOrigin, path: String,
        settings: TransportSettings = TransportSettings()
    ) -> Authorization {
        let body = form.map { "\(PercentEncoding.encode($0.key))=\(PercentEncoding.encode($0.value))" }
        let fields: HTTPFields = ["content-type": "application/x-www-form-urlencoded", "accept": "application/json"]
        var request = HTTPRequest(.post, path, fields: fields, body: Array(body.joined(separator: "&").utf8))
        request.answerLimit = answerLimit
        return .exchange(TokenExchange(request, to: origin, settings: settings))
    }

    /// Parses the answer of a token endpoint.
    /// - Returns: The token, or a refusal. If the endpoint has refused the credential, the refusal stops all pushes of
    ///   the hub to this platform. After any other refusal, the token is requested again later.
    static func answer(_ response: HTTPResponse, at now: Timestamp) -> TokenAnswer {
        let status = response.status.code
        let body = try? JSON(parsing: response.bytes, maximumDepth: 8)
        switch status {
        case 200:
            guard let body, let token = token(body, at: now) else {
                return .refused(unexpectedAnswer("an answer that is no token"))
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
            return .refused(unexpectedAnswer("status \(status)"))
        }
    }

    private static func token(_ body: JSON, at now: Timestamp) -> AuthorizationToken? {
        guard let value = body["access_token"]?.string, isSendable(value), let lifetime = lifetime(body) else {
            return nil
        }
        return AuthorizationToken(
            value: value, renewableAt: now, expiresAt: now + (lifetime - min(margin, lifetime / 10)))
    }

    /// Returns the lifetime that an answer states for the token, reduced to one day if it is longer; nil if the answer
    /// states no valid lifetime.
    ///
    /// Some services write the number of seconds as text.
    private static func lifetime(_ body: JSON) -> Duration? {
        let member = body["expires_in"]
        guard let seconds = member?.integer ?? member?.string.flatMap(Int64.init), seconds > 0 else { return nil }
        return .seconds(min(seconds, 86_400))
    }

    /// Returns whether the token consists of characters that are allowed in a header field.
    private static func isSendable(_ token: String) -> Bool {
        (1...16_384).contains(token.utf8.count) && token.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    private static func unexpectedAnswer(_ reason: String) -> Outcome {
        Outcome(
            .tokenProviderInterfaceError, reason: reason, .retry(after: unexpectedAnswerWait, scope: .platform))
    }
}
