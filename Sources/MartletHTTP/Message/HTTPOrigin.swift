/// Scheme, host and port of a server (RFC 6454).
public struct HTTPOrigin: Hashable, Sendable, CustomStringConvertible {
    public enum Scheme: String, Hashable, Sendable {
        case http
        case https
    }

    public let scheme: Scheme
    /// The name or IP address of the server, in lower case; an IPv6 address has no brackets.
    public let host: String
    public let port: UInt16

    public init(scheme: Scheme, host: String, port: UInt16? = nil) {
        self.scheme = scheme
        self.host = host.lowercased()
        self.port = port ?? scheme.defaultPort
    }

    /// Parses `http://host[:port]` or `https://host[:port]`, optionally followed by a slash; nil for any other text.
    public init?(_ text: String) {
        guard let (origin, rest) = HTTPOrigin.splitting(text), rest.isEmpty || rest == "/" else { return nil }
        self = origin
    }

    /// Splits an absolute http or https URL into its origin and the rest (path, query and fragment, as written).
    /// Returns nil for any other text, and for a URL with user information, which does not belong in a configured
    /// address.
    public static func splitting(_ url: String) -> (origin: HTTPOrigin, rest: String)? {
        // An array is used because its indices are integers; string indices are slow.
        let bytes = Array(url.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8),
            let scheme = Scheme(rawValue: text(bytes[..<colon]).lowercased())
        else { return nil }
        let after = bytes[(colon + 3)...]
        let end = after.firstIndex(where: endsAuthority) ?? after.endIndex
        guard let (host, port) = hostAndPort(after[..<end]) else { return nil }
        return (HTTPOrigin(scheme: scheme, host: host, port: port), text(after[end...]))
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    /// The value of `Host` and `:authority`. Contains the port only if it is not the scheme's default.
    public var authority: String {
        // Bytes and sums, because characters and interpolation cost ten times as much, and each send asks four times.
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[" + host + "]" : host
        return port == scheme.defaultPort ? name : name + ":" + String(port)
    }

    public var description: String { scheme.rawValue + "://" + authority }

    private static func hostAndPort(_ text: ArraySlice<UInt8>) -> (String, UInt16?)? {
        guard !text.isEmpty, !text.contains(UInt8(ascii: "@")) else { return nil }
        if text.first == UInt8(ascii: "[") {
            guard let close = text.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            return port(text[(close + 1)...], host: text.dropFirst().prefix(upTo: close))
        }
        let colon = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        return port(text[colon...], host: text[..<colon])
    }

    private static func port(_ digits: ArraySlice<UInt8>, host: ArraySlice<UInt8>) -> (String, UInt16?)? {
        guard !host.isEmpty, host.allSatisfy(isHostByte) else { return nil }
        let name = text(host)
        guard let colon = digits.first else { return (name, nil) }
        let digits = digits.dropFirst()
        guard colon == UInt8(ascii: ":"), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = UInt16(text(digits))
        else { return nil }
        return (name, number)
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, 0x7F...0xFF, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"),
            UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"),
            UInt8(ascii: "%"):
            false
        default: true
        }
    }
}

extension HTTPOrigin.Scheme {
    /// The default port of the scheme: 80 or 443.
    public var defaultPort: UInt16 {
        switch self {
        case .http: 80
        case .https: 443
        }
    }

    /// The lowest port above the system ports (RFC 6335, section 6), which belong to well-known services.
    private static var firstFreePort: UInt16 { 1024 }

    /// Returns true if an address that an untrusted party chose may have this port: the default port of the scheme, or
    /// a port of at least 1024. The other ports belong to other services, to which no request must be directed.
    public func isUsual(_ port: UInt16) -> Bool { port == defaultPort || port >= Self.firstFreePort }
}
