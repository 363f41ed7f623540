/// The address of the server: `https://push.example.org`, with a port and a path if needed.
///
/// Unencrypted addresses are refused, because the requests carry passwords and device tokens. The only exception, for
/// development, is this machine itself: `http://localhost:8080`.
public struct ServerAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address without a trailing slash.
    let base: String

    /// - Throws: `PushClientError` of kind `badServer` or `insecureServer`.
    public init(_ text: String) throws(PushClientError) {
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let scheme = parts.first?.lowercased(), scheme == "https" || scheme == "http" else {
            throw PushClientError(.badServer, "The server's address must begin with https://.")
        }
        let rest = parts[1]
        let authority = rest.prefix { $0 != "/" }
        guard rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !#"?#@\"<>^`{|}"#.utf8.contains($0) }),
            let host = Self.host(authority), !host.isEmpty
        else {
            throw PushClientError(
                .badServer, "The server's address must be https://HOST[:PORT][/PATH] and nothing besides.")
        }
        guard scheme == "https" || Self.isLoopback(host) else {
            throw PushClientError(
                .insecureServer, "The server's address must begin with https://: passwords would travel in the clear.")
        }
        var base = "\(scheme)://\(authority.lowercased())\(rest.dropFirst(authority.count))"
        while base.hasSuffix("/") { base.removeLast() }
        self.base = base
    }

    public var description: String { base }

    /// Returns the host of `HOST[:PORT]`; nil if the text has another form, for example if the port is not a number.
    private static func host(_ authority: Substring) -> String? {
        var host = authority[...]
        var port: Substring?
        if authority.first == "[" {
            guard let close = authority.firstIndex(of: "]") else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<close]
            let after = authority[authority.index(after: close)...]
            guard after.isEmpty || after.first == ":" else { return nil }
            port = after.isEmpty ? nil : after.dropFirst()
        } else if let colon = authority.firstIndex(of: ":") {
            host = authority[..<colon]
            port = authority[authority.index(after: colon)...]
        }
        if let port, UInt16(port) == nil || port.first == "+" { return nil }
        return host.lowercased()
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
    }
}
