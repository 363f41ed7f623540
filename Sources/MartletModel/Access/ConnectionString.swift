/// The address of a hub and an access key: `Endpoint=sb://HOST:PORT/;SharedAccessKeyName=NAME;SharedAccessKey=KEY`.
///
/// This is the only form that every client of the hub can parse: it has the scheme `sb`, a slash after the address, and
/// three parts (NotificationHubs.md, section 1.2). `text` has this form, unless the endpoint does not use TLS or a hub
/// is named. `init(_:)` also accepts other forms.
public struct ConnectionString: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The host, with the port if the text states one.
    public let authority: String
    /// True if the endpoint uses TLS; false only for the scheme `http`.
    public let isSecure: Bool
    public let keyName: String
    /// The key, an opaque text. It is used for signing as it is, without decoding.
    public let key: String
    /// The hub, if the text names one as `EntityPath`.
    public let hub: String?

    public init(authority: String, isSecure: Bool = true, keyName: String, key: String, hub: String? = nil) {
        self.authority = authority
        self.isSecure = isSecure
        self.keyName = keyName
        self.key = key
        self.hub = hub
    }

    /// Parses a connection string. The case of part names is ignored, as are unknown parts.
    /// - Throws: `ConnectionStringError` naming the part that is missing or wrong.
    public init(_ text: some StringProtocol) throws(ConnectionStringError) {
        var parts: [String: String] = [:]
        for part in text.split(separator: ";") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { throw .notAPair }
            parts[pair[0].lowercased().trimmed] = String(pair[1]).trimmed
        }
        guard let endpoint = parts["endpoint"] else { throw .missing("Endpoint") }
        guard let keyName = parts["sharedaccesskeyname"], !keyName.isEmpty else {
            throw .missing("SharedAccessKeyName")
        }
        guard let key = parts["sharedaccesskey"], !key.isEmpty else { throw .missing("SharedAccessKey") }
        let (authority, isSecure) = try Self.address(endpoint)
        self.init(
            authority: authority, isSecure: isSecure, keyName: keyName, key: key, hub: parts["entitypath"])
    }

    /// The connection string as text, for the configuration of clients. It contains the key.
    ///
    /// If the endpoint does not use TLS, the scheme is `http`. Not all clients can parse a connection string with this
    /// scheme (NotificationHubs.md, section 1.2).
    public var text: String {
        let endpoint = "Endpoint=\(isSecure ? "sb" : "http")://\(authority)/"
        let entity = hub.map { ";EntityPath=\($0)" } ?? ""
        return "\(endpoint);SharedAccessKeyName=\(keyName);SharedAccessKey=\(key)\(entity)"
    }

    /// The origin to which requests are sent, without a trailing slash.
    public var origin: String { "\(isSecure ? "https" : "http")://\(authority)" }

    /// A description without the key.
    public var description: String { "connection string of \(keyName) at \(authority)" }
    public var debugDescription: String { description }

    private static func address(_ endpoint: String) throws(ConnectionStringError) -> (String, Bool) {
        let lower = endpoint.lowercased()
        guard let scheme = ["sb://", "https://", "http://"].first(where: lower.hasPrefix) else { throw .badEndpoint }
        var authority = endpoint.dropFirst(scheme.count)
        while authority.last == "/" { authority.removeLast() }
        let isPlain = authority.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/?#@\\\"<>".utf8.contains($0) }
        guard !authority.isEmpty, isPlain else { throw .badEndpoint }
        return (String(authority), scheme != "http://")
    }
}

/// The reason why a text is not a connection string.
public enum ConnectionStringError: Error, Hashable, Sendable, CustomStringConvertible {
    case notAPair
    case missing(String)
    case badEndpoint

    public var description: String {
        switch self {
        case .notAPair: "A connection string consists of parts 'Name=Value' with semicolons between them."
        case .missing(let part): "The connection string has no \(part)."
        case .badEndpoint: "The Endpoint of a connection string has the form sb://HOST:PORT/ and no path."
        }
    }
}

extension StringProtocol {
    fileprivate var trimmed: String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0.isNewline || $0 == "\t" }
        let rest = drop(while: isSpace)
        guard let last = rest.lastIndex(where: { !isSpace($0) }) else { return "" }
        return String(rest[...last])
    }
}
