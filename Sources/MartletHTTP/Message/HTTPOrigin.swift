/// Scheme, host and port: what a connection is made to (RFC 6454).
public struct HTTPOrigin: Hashable, Sendable, CustomStringConvertible {
    public enum Scheme: String, Hashable, Sendable {
        case http
        case https
    }

    public let scheme: Scheme
    /// A name or an address; an IPv6 address stands without its brackets. Lower case.
    public let host: String
    public let port: UInt16

    public init(scheme: Scheme, host: String, port: UInt16? = nil) {
        self.scheme = scheme
        self.host = host.lowercased()
        self.port = port ?? scheme.defaultPort
    }

    /// Reads `https://host[:port]`, with nothing but an optional slash behind it.
    public init?(_ text: String) {
        guard let (origin, rest) = HTTPOrigin.splitting(text), rest.isEmpty || rest == "/" else { return nil }
        self = origin
    }

    /// Cuts an absolute http or https URL into its origin and the rest (path, query and fragment, as written).
    /// User information is refused: it has no place in an address that a program is given.
    public static func splitting(_ url: String) -> (origin: HTTPOrigin, rest: String)? {
        guard let colon = url.range(of: "://"), let scheme = Scheme(rawValue: url[..<colon.lowerBound].lowercased())
        else { return nil }
        let behind = url[colon.upperBound...]
        let end = behind.firstIndex { "/?#".contains($0) } ?? behind.endIndex
        guard let (host, port) = hostAndPort(behind[..<end]) else { return nil }
        return (HTTPOrigin(scheme: scheme, host: host, port: port), String(behind[end...]))
    }

    /// The value of `Host` and `:authority`: the port only where it is not the scheme's own.
    public var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == scheme.defaultPort ? name : "\(name):\(port)"
    }

    public var description: String { "\(scheme.rawValue)://\(authority)" }

    private static func hostAndPort(_ text: Substring) -> (String, UInt16?)? {
        guard !text.isEmpty, !text.contains("@") else { return nil }
        if text.first == "[" {
            guard let close = text.firstIndex(of: "]") else { return nil }
            let host = text[text.index(after: text.startIndex)..<close]
            return port(text[text.index(after: close)...], host: host)
        }
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        return port(text[colon...], host: text[..<colon])
    }

    private static func port(_ text: Substring, host: Substring) -> (String, UInt16?)? {
        let allowed = host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !#""<>\^`{|}%"#.utf8.contains($0) }
        guard !host.isEmpty, allowed else { return nil }
        if text.isEmpty { return (String(host), nil) }
        let digits = text.dropFirst()
        guard text.first == ":", digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(digits)
        else { return nil }
        return (String(host), number)
    }
}

extension HTTPOrigin.Scheme {
    /// 80 or 443.
    public var defaultPort: UInt16 {
        switch self {
        case .http: 80
        case .https: 443
        }
    }
}

extension StringProtocol {
    /// The first range of a literal; the standard library has it only in Foundation's clothes.
    fileprivate func range(of literal: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(literal) { return start..<index(start, offsetBy: literal.count) }
            start = index(after: start)
        }
        return nil
    }
}
