import MartletHTTP

/// The cookie of a session (RFC 6265). Because of the prefix `__Host-`, browsers refuse a cookie of this name that
/// another host or path sets.
enum SessionCookie {
    static let name = "__Host-martlet-console"
    private static let attributes = "; Path=/; Secure; HttpOnly; SameSite=Strict"
    /// The length of a session's token, in characters of Base64url.
    private static let tokenLength = 43

    /// Returns the token in a request's cookies; nil if there is none, or if there are several.
    static func token(in fields: HTTPFields) -> String? {
        let tokens = fields.values(of: "cookie").flatMap { $0.split(separator: ";") }.compactMap { pair -> Substring? in
            let pair = pair.drop { $0 == " " }
            guard pair.hasPrefix(name + "=") else { return nil }
            return pair.dropFirst(name.count + 1)
        }
        guard tokens.count == 1, tokens[0].utf8.count == tokenLength else { return nil }
        return String(tokens[0])
    }

    /// Returns the value of `Set-Cookie` for a new session.
    /// - Parameter seconds: The maximum lifetime of the session.
    static func setting(_ token: String, seconds: Int64) -> String {
        "\(name)=\(token)\(attributes); Max-Age=\(seconds)"
    }

    /// The value of `Set-Cookie` that removes the cookie.
    static let removing = "\(name)=\(attributes); Max-Age=0"
}
