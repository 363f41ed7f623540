import MartletHTTP

/// The host and path that a token is valid for. This is the token's `sr` without the parts in which clients differ:
/// scheme, port, query, trailing slash, and the case of everything but ids (NotificationHubs.md, sections 2.2 and 2.3).
struct TokenAudience: Hashable {
    let host: String
    /// The decoded path segments; empty for the whole host.
    private let path: [String]
    /// `path` in lower case.
    private let foldedPath: [String]
    /// Whether the client that signed the path may have written its ids in lower case. Several clients convert the URL
    /// of each request to lower case before they sign it. Such a URL either includes the query, or has the scheme
    /// `http` and a slash at the end (NotificationHubs.md, section 2.2).
    private let mayHaveFoldedIDs: Bool

    init?(_ resource: some StringProtocol) {
        guard let url = PercentEncoding.decode(resource) else { return nil }
        let start = url.lowercased()
        guard let scheme = ["https://", "http://", "sb://"].first(where: start.hasPrefix) else { return nil }
        let rest = url.dropFirst(scheme.count)
        let address = rest.prefix { $0 != "?" && $0 != "#" }
        let slash = address.firstIndex(of: "/") ?? address.endIndex
        // An address with an @ before the path is refused. The text before the @ is the user part of a URL, which no
        // client of hubs signs. The text after the @ is the host, but other programs may read it as a part of the user.
        guard !address[..<slash].utf8.contains(UInt8(ascii: "@")) else { return nil }
        host = TokenAudience.withoutPort(address[..<slash])
        path = address[slash...].split(separator: "/").map { PercentEncoding.decode($0) ?? String($0) }
        foldedPath = path.map { $0.lowercased() }
        let isClients = rest[address.endIndex...].first == "?" || (scheme == "http://" && address.last == "/")
        mayHaveFoldedIDs = isClients && path == foldedPath
        guard !host.isEmpty else { return nil }
    }

    /// Returns whether the audience covers a request to one of `hosts` for the path of `segments`.
    /// - Parameter isID: Returns true if the segment at a position is an id, which is compared case-sensitively.
    func covers(_ segments: [String], at hosts: [String], isID: (Int) -> Bool) -> Bool {
        guard hosts.contains(host), path.count <= segments.count else { return false }
        return path.indices.allSatisfy { index in
            if path[index].utf8.elementsEqual(segments[index].utf8) { return true }
            return (mayHaveFoldedIDs || !isID(index)) && foldedPath[index] == segments[index].lowercased()
        }
    }

    /// Returns the host of an authority, in lower case.
    static func withoutPort(_ authority: some StringProtocol) -> String {
        let authority = authority.lowercased()
        let bytes = authority.utf8
        let afterBrackets = bytes.lastIndex(of: UInt8(ascii: "]")) ?? bytes.startIndex
        guard let colon = bytes[afterBrackets...].firstIndex(of: UInt8(ascii: ":")) else { return authority }
        return String(authority[..<colon])
    }
}
