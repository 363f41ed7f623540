import MartletHTTP

/// The host and path that a token is good for: its `sr` without what clients do not agree on, which is scheme, port,
/// query, case and trailing slash (wire document, sections 2.2 and 2.3).
struct TokenAudience: Hashable {
    let host: String
    /// Decoded and in lower case; empty for the whole host.
    let path: [String]

    init?(_ resource: some StringProtocol) {
        guard let url = PercentEncoding.decode(resource)?.lowercased() else { return nil }
        guard let scheme = ["https://", "http://", "sb://"].first(where: url.hasPrefix) else { return nil }
        let address = url.dropFirst(scheme.count).prefix { $0 != "?" && $0 != "#" }
        let slash = address.firstIndex(of: "/") ?? address.endIndex
        host = TokenAudience.withoutPort(address[..<slash])
        path = address[slash...].split(separator: "/").map { PercentEncoding.decode($0)?.lowercased() ?? String($0) }
        guard !host.isEmpty else { return nil }
    }

    /// Whether a request to one of `hosts` for the path of `segments` is within the audience.
    func covers(_ segments: [String], at hosts: [String]) -> Bool {
        guard hosts.contains(host), path.count <= segments.count else { return false }
        return zip(path, segments).allSatisfy { $0 == $1.lowercased() }
    }

    /// The host of an authority, in lower case.
    static func withoutPort(_ authority: some StringProtocol) -> String {
        let authority = authority.lowercased()
        let bytes = authority.utf8
        let afterBrackets = bytes.lastIndex(of: UInt8(ascii: "]")) ?? bytes.startIndex
        guard let colon = bytes[afterBrackets...].firstIndex(of: UInt8(ascii: ":")) else { return authority }
        return String(authority[..<colon])
    }
}
