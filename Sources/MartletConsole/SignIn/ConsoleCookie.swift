import MartletHTTP

/// A cookie with a token of the console (RFC 6265). Because of the prefix `__Host-`, browsers refuse a cookie of this
/// name that another host or path sets.
struct ConsoleCookie: Sendable {
    /// The cookie of a session.
    static let session = ConsoleCookie(name: "__Host-martlet-console")
    /// The cookie of a sign-in that has begun at an identity provider.
    static let signIn = ConsoleCookie(name: "__Host-martlet-sign-in")

    let name: String

    private static let attributes = "; Path=/; Secure; HttpOnly; SameSite=Strict"
    /// The length of a token, in characters of Base64url.
    private static let tokenLength = 43

    /// Returns the token in a request's cookies; nil if there is none, or if there are several.
    func token(in fields: HTTPFields) -> String? {
        let tokens = fields.values(of: "cookie").flatMap { $0.split(separator: ";") }.compactMap { pair -> Substring? in
            let pair = pair.drop { $0 == " " }
            guard pair.hasPrefix(name + "=") else { return nil }
            return pair.dropFirst(name.count + 1)
        }
        guard tokens.count == 1, tokens[0].utf8.count == Self.tokenLength else { return nil }
        return String(tokens[0])
    }

    /// Returns the value of `Set-Cookie` for a new token.
    /// - Parameter seconds: The maximum lifetime of the cookie.
    func setting(_ token: String, seconds: Int64) -> String {
        "\(name)=\(token)\(Self.attributes); Max-Age=\(seconds)"
    }

    /// The value of `Set-Cookie` that removes the cookie.
    var removing: String { "\(name)=\(Self.attributes); Max-Age=0" }
}
