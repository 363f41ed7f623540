/// The reverse proxies that are trusted to state the address of a client.
public struct TrustedProxies: Hashable, Sendable {
    /// The header field in which the proxies state the client's address.
    ///
    /// Only the configured field is read. The other field is ignored, even if a trusted proxy sends it.
    public enum Field: String, Hashable, Sendable, CaseIterable {
        case xForwardedFor = "x-forwarded-for"
        /// The `Forwarded` field of RFC 7239.
        case forwarded
    }

    public enum Problem: Error, Hashable, Sendable {
        case tooMany(limit: Int)
        /// An item of the list is not an address, a network or a known word.
        case unknown(String)
    }

    /// The maximum number of addresses, networks and words in a list.
    private static let countLimit = 64
    /// The maximum number of addresses in the header field of a request. A field with more addresses is ignored,
    /// because no real chain of proxies is that long.
    private static let hopLimit = 32
    private static let byteLimit = 4096

    private static let loopback = ["127.0.0.0/8", "::1/128"]
    private static let `private` = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"]

    private let networks: [IPNetwork]
    /// True if the peers of the Unix socket are trusted.
    public let includesUnixSocket: Bool
    public let field: Field

    /// The value that trusts no proxy.
    public static let none = TrustedProxies(networks: [], includesUnixSocket: false, field: .xForwardedFor)

    private init(networks: [IPNetwork], includesUnixSocket: Bool, field: Field) {
        self.networks = networks
        self.includesUnixSocket = includesUnixSocket
        self.field = field
    }

    /// Parses a list of proxies.
    /// - Parameter list: Addresses and networks (CIDR), separated by commas. The list may also contain the words
    ///   `loopback`, `private` (RFC 1918, fc00::/7 and loopback) and `unix` (all peers of the Unix socket).
    public init(_ list: some StringProtocol, field: Field = .xForwardedFor) throws(Problem) {
        let items = list.split(separator: ",").map { Self.trimmed(Substring($0)) }.filter { !$0.isEmpty }
        guard items.count <= Self.countLimit else { throw .tooMany(limit: Self.countLimit) }
        var networks: [IPNetwork] = []
        for item in items where item != "unix" {
            let texts =
                switch item {
                case "loopback": Self.loopback
                case "private": Self.private + Self.loopback
                default: [String(item)]
                }
            let found = texts.compactMap { IPNetwork($0) }
            guard found.count == texts.count else { throw .unknown(String(item)) }
            networks += found
        }
        self.init(networks: networks, includesUnixSocket: items.contains("unix"), field: field)
    }

    /// A copy that trusts no addresses and networks. It trusts the peers of the Unix socket if this value does.
    public var onlyUnixSocket: TrustedProxies {
        TrustedProxies(networks: [], includesUnixSocket: includesUnixSocket, field: field)
    }

    public var isEmpty: Bool { networks.isEmpty && !includesUnixSocket }
    /// True if peers of a TCP listener can be trusted, because the list contains addresses or networks.
    public var includesAddresses: Bool { !networks.isEmpty }

    /// Returns true if a peer is trusted.
    /// - Parameter address: An address in text form; empty for a peer of the Unix socket. Text that is not an IP
    ///   address is not trusted.
    public func contains(_ address: String) -> Bool {
        if address.isEmpty { return includesUnixSocket }
        guard !networks.isEmpty, let address = IPAddress(address) else { return false }
        return contains(address)
    }

    private func contains(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }

    /// Returns the address of the client of a request.
    ///
    /// The field is read from the right, because each proxy appends the address that it sees. Trusted proxies are
    /// skipped, and the first other address is the client. Anything to the left of that address may be forged.
    /// - Parameter peer: The address of the connection's peer, in text form.
    /// - Returns: The peer's address if the peer is not trusted, or if the field is missing, too long or without a
    ///   readable last element. Otherwise, the first address from the right that is not trusted. If there is none, the
    ///   leftmost address; if an element is unreadable before that, the trusted address to the right of that element.
    public func client(peer: String, fields: HTTPFields) -> String {
        guard contains(peer) else { return peer }
        var client = peer
        for hop in hops(of: fields) {
            guard let address = Self.address(hop) else { return client }
            client = address.description
            guard contains(address) else { return client }
        }
        return client
    }

    /// Returns true if the scheme fields of a trusted proxy's request state, or may state, that the client used no TLS.
    ///
    /// The client may have written the first elements of a list, and proxies differ in where they add their own
    /// element, so no position in a list can be trusted. Therefore `X-Forwarded-Proto` counts as TLS only if its single
    /// value is `https`. `Forwarded` counts as TLS only if every `proto` is `https`. If the proxy states no scheme, the
    /// client is assumed to have used TLS.
    public func saysClearText(_ fields: HTTPFields) -> Bool {
        let schemes = fields.values(of: "x-forwarded-proto")
        guard schemes.allSatisfy({ Self.isTLS(Substring($0)) }), schemes.count <= 1 else { return true }
        guard field == .forwarded else { return false }
        return fields.values(of: field.rawValue).contains { value in
            value.split(separator: ",").contains { !Self.parameters("proto", of: $0).allSatisfy(Self.isTLS) }
        }
    }

    private static func isTLS(_ scheme: Substring) -> Bool { trimmed(scheme).lowercased() == "https" }

    /// Returns the addresses in the field as text, the last one first. An element of `Forwarded` without `for` gives an
    /// empty text. Returns an empty array if the field exceeds `byteLimit` or `hopLimit`.
    private func hops(of fields: HTTPFields) -> [Substring] {
        let values = fields.values(of: field.rawValue)
        guard values.reduce(0, { $0 + $1.utf8.count }) <= Self.byteLimit else { return [] }
        let elements = values.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
        guard elements.count <= Self.hopLimit else { return [] }
        return elements.reversed().map { element in
            switch field {
            case .xForwardedFor: Self.trimmed(element)
            case .forwarded: Self.parameters("for", of: element).first ?? ""
            }
        }
    }

    /// Returns the values of a parameter in one element of the field of RFC 7239.
    private static func parameters(_ name: String, of element: Substring) -> [Substring] {
        element.split(separator: ";").compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, trimmed(parts[0]).lowercased() == name else { return nil }
            let value = trimmed(parts[1])
            guard value.count >= 2, value.first == "\"", value.last == "\"" else { return value }
            return value.dropFirst().dropLast()
        }
    }

    /// Parses an address with or without brackets and port.
    private static func address(_ text: Substring) -> IPAddress? {
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || isPort(rest) else { return nil }
            return IPAddress(text[text.index(after: text.startIndex)..<end])
        }
        if let colon = text.firstIndex(of: ":"), text.contains("."), !text[..<colon].contains(":"),
            isPort(text[colon...])
        {
            return IPAddress(text[..<colon])
        }
        return IPAddress(text)
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.first == ":" && (2...6).contains(text.count) && text.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}
